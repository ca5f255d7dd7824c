/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The binary file jit-PID.dump ("jitdump", of perf) in which JIT compilers describe the code that
 * they make: a header, then records of code that was loaded or moved.  Whatever else it records
 * (lines, unwind tables, the code itself) is passed over.
 */
#ifndef FG_SYMBOLS_JIT_DUMP_H
#define FG_SYMBOLS_JIT_DUMP_H

#include "base/base.h"

struct fg_jit_code {
	uint64_t start, size;
	uint64_t moved_from; /* 0: it is new */
	const char *name;    /* lies in the data; NULL where it is moved and keeps its name */
};

bool fg_jit_dump_is(const char *data, size_t size);
/*
 * Tells `take` of each record of code.  One that is cut short ends it: a program may be killed
 * while writing.
 */
void fg_jit_dump_read(const char *data, size_t size,
		      void (*take)(void *context, const struct fg_jit_code *code), void *context);

#endif
