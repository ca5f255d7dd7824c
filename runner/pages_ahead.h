/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes the next pages of the trace files in a folder, from outside of the programs that write
 * them: there it takes time inside a signal handler (docs/collector-safety.md).  Whoever waits for
 * such a program looks now and then.
 *
 * Programs can write anything into these files, cut them and remove them at any time.  Nothing but
 * pages that are not used yet is made, at most FG_PAGES_AHEAD_MAX_BYTES of each file, within its
 * size, and whatever fails is left to the program.  A full disk raises no signal here.
 */
#ifndef FG_RUNNER_PAGES_AHEAD_H
#define FG_RUNNER_PAGES_AHEAD_H

#include "base/base.h"

enum {
	FG_PAGES_AHEAD_LOOK_MS = 500, /* the first look is due after twice as long */
	/* of a file whose program takes less than half of it from one look to the next */
	FG_PAGES_AHEAD_MIN_BYTES = 32 * 4096,
	FG_PAGES_AHEAD_MAX_BYTES = 4 << 20,
	FG_PAGES_AHEAD_FILES_MAX = 64,  /* that are written to at a time */
	FG_PAGES_AHEAD_IDLE_LOOKS = 240 /* after so many without news a file is left alone */
};

struct fg_pages_ahead;

/* The folder need not exist. */
struct fg_pages_ahead *fg_pages_ahead_new(const char *folder);
void fg_pages_ahead_look(struct fg_pages_ahead *ahead);
/* May be NULL. */
void fg_pages_ahead_free(struct fg_pages_ahead *ahead);

#endif
