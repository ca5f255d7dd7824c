/* SPDX-License-Identifier: Apache-2.0 */
/* Advice after a regression, in the same words in every format. Private to reporters/. */
#ifndef FG_REPORTERS_NEXT_H
#define FG_REPORTERS_NEXT_H

#include "base/arena.h"
#include "reporters/reporter.h"

enum {
	FG_ADVICE_MAX = 3,
};

struct fg_advice {
	const char *label; /* "change", "again", "accept" */
	const char *text;  /* clean */
};

/*
 * For the worst regression of a run: the change that was measured, the command that measures it
 * again, and the line of a commit message that accepts it, as far as they are known. Returns how
 * many there are; 0: nothing regressed.
 */
size_t fg_report_advice(const struct fg_report *report, struct fg_arena *arena,
			struct fg_advice steps[FG_ADVICE_MAX]);

#endif
