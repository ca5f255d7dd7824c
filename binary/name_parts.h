/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The parts of a readable C++ name, found without parsing the language: brackets of all kinds are
 * skipped as a whole, operators (operator<, operator(), operator new) are recognised, return types
 * of templates are dropped.
 */
#ifndef FG_SYMBOLS_NAME_PARTS_H
#define FG_SYMBOLS_NAME_PARTS_H

#include "base/strbuf.h"

/*
 * "std::vector<int, std::allocator<int> >::push_back(int&&)" →
 * "std::vector<...>::push_back(int&&)".
 */
void fg_name_collapse_templates(const char *name, struct fg_strbuf *text);
/* The name without return type, arguments and qualifiers: "reco::Fitter<T>::fit". */
void fg_name_qualified(const char *name, struct fg_strbuf *text);
/* The enclosing scope of a function, "reco::Fitter<T>"; "" for a global function. */
void fg_name_scope(const char *name, struct fg_strbuf *text);
/*
 * The outer namespace, "reco" of "reco::detail::Fitter<T>::fit(Track&)"; "" for a name without any
 * scope. The text does not show whether the first part is a class or a namespace; either is
 * returned.
 */
void fg_name_namespace(const char *name, struct fg_strbuf *text);

#endif
