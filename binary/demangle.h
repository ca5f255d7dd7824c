/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Demangles C++ linkage names (Itanium ABI, through the C++ runtime's own demangler). Compiler
 * suffixes stay, in brackets: "fit(Track&) [.isra.0]", "work() [.cold]". docs/decisions/ explains
 * why libiberty's demangler is not used.
 */
#ifndef FG_BINARY_DEMANGLE_H
#define FG_BINARY_DEMANGLE_H

#include "base/base.h"
#include "base/strbuf.h"

enum {
	FG_DEMANGLE_MAX_INPUT = 8192,   /* longer names are not demangled */
	FG_DEMANGLE_MAX_OUTPUT = 65536, /* names with a longer readable form are not demangled */
};

/*
 * Appends the readable form and returns true. Returns false and appends nothing if the name is not
 * mangled or is too long.
 */
bool fg_demangle(const char *linkage, struct fg_strbuf *readable);

#endif
