/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One build, linked several times with its code in other places: everything in .text shifted within
 * a cache line by 0, 16, 32 and 48 bytes, which are all places that a function may get there, and
 * through the page, where code competes with that of other libraries for a cache's sets.  Libraries
 * of the project are shifted with it.
 *
 * The command that linked it was noted while it was built (link_record.h), and is repeated several
 * times at once; a project that links in a way of its own has `build.relink`, which links in place
 * and so one at a time.  Each file made is compared with the original and thrown away unless its
 * machine code is the same.
 */
#ifndef FG_RUNNER_LAYOUTS_H
#define FG_RUNNER_LAYOUTS_H

#include "model/environment.h"
#include "model/plan.h"
#include "runner/target.h"

#include <signal.h>

struct fg_layouts_options {
	const struct fg_target *target;
	const struct fg_environment *build; /* its facts */
	const struct fg_command *relink;    /* argc 0: the noted commands are repeated */
	/*
	 * Give up (FG_ELIMIT) if the links take longer than this, or took longer last time: after
	 * the first of them, which shows it.  0: however long it takes.
	 */
	int64_t within_ns;
	int64_t more_within_ns; /* what the links of more than FG_LINE_PLACES may take */
	uint64_t bytes_max;     /* on the disk, of more than FG_LINE_PLACES; and made at once */
	size_t at_once;         /* noted links beside each other; 0: one */
	unsigned most;          /* layouts: FG_LAYOUTS_MAX, or fewer by a factor of 2 or 4 */
	const volatile sig_atomic_t *interrupted;
};

/*
 * Fills target->layouts, once per build: files of an earlier call are used again, and more are
 * added if it made fewer than can be had now.  On failure there are none, and the message says why
 * in one line.
 */
int fg_layouts_make(const struct fg_layouts_options *options, struct fg_target_layouts *layouts,
		    struct fg_error *err) FG_NODISCARD;

/* Would fg_layouts_make() find as many as are wanted made already? */
bool fg_layouts_are_made(const struct fg_layouts_options *options);

#endif
