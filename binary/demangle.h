/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Demangles C++ linkage names (Itanium ABI, through the C++ runtime's own demangler).  Compiler
 * suffixes stay, in brackets: "fit(Track&) [.isra.0]", "work() [.cold]".  docs/decisions/ says why
 * the C++ runtime and not libiberty.
 */
#ifndef FG_SYMBOLS_DEMANGLE_H
#define FG_SYMBOLS_DEMANGLE_H

#include "base/base.h"
#include "base/strbuf.h"

enum {
	FG_DEMANGLE_MAX_INPUT = 8192,   /* longer names are left alone */
	FG_DEMANGLE_MAX_OUTPUT = 65536, /* and so are names whose readable form would be longer */
};

/*
 * Appends the readable form and returns true, or appends nothing and returns false: the name is not
 * a mangled one.
 */
bool fg_demangle(const char *linkage, struct fg_strbuf *readable);

#endif
