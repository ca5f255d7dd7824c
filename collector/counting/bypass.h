/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Libraries whose calls of malloc do not reach ours: one that is opened with RTLD_DEEPBIND finds
 * the C library's first.
 */
#ifndef FG_COLLECTOR_BYPASS_H
#define FG_COLLECTOR_BYPASS_H

#include <stddef.h>
#include <stdint.h>

enum {
	FG_BYPASS_FUNCTIONS = 3,
};

/* Functions that may be called past the counter, and the addresses of the real ones. */
struct fg_bypassed {
	const char *names[FG_BYPASS_FUNCTIONS];
	uintptr_t reals[FG_BYPASS_FUNCTIONS];
};

/*
 * The path of the first loaded library that was bound to one of them, or NULL; it is valid while
 * the library stays.  Takes the loader's lock.
 */
const char *fg_bypass_find(const struct fg_bypassed *what);

#endif
