/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The parts of a readable C++ name. This looks at the text, not at the language: brackets
 * of all kinds are skipped as wholes, operators (operator<, operator(), operator new) are known,
 * return types of templates are dropped.
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
 * scope.  Text alone cannot tell a class from a namespace: the first part is what both call home.
 */
void fg_name_namespace(const char *name, struct fg_strbuf *text);

#endif
