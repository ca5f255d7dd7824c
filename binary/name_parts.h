/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The parts of a readable C++ name, found without parsing the language: brackets of all kinds are
 * skipped as a whole, operators (operator<, operator(), operator new) are recognised, return types
 * of templates are dropped.
 */
#ifndef FG_BINARY_NAME_PARTS_H
#define FG_BINARY_NAME_PARTS_H

#include "base/strbuf.h"

/*
 * Appends a shorter form: "std::vector<int, std::allocator<int> >::push_back(int&&)" becomes
 * "std::vector<...>::push_back(int&&)".
 */
void fg_name_collapse_templates(const char *name, struct fg_strbuf *text);
/* Appends the name without return type, arguments and qualifiers: "reco::Fitter<T>::fit". */
void fg_name_qualified(const char *name, struct fg_strbuf *text);
/* Appends the enclosing scope of a function, "reco::Fitter<T>"; "" for a global function. */
void fg_name_scope(const char *name, struct fg_strbuf *text);
/*
 * Appends the outer namespace, "reco" of "reco::detail::Fitter<T>::fit(Track&)"; "" for a name
 * without any scope. The text does not show whether the first part is a class or a namespace;
 * either is appended.
 */
void fg_name_namespace(const char *name, struct fg_strbuf *text);

#endif
