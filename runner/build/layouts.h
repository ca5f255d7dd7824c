/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Links one build several times, with its code at other addresses. All of .text is shifted within a
 * cache line by 0, 16, 32 and 48 bytes, which are all the places that a function aligned to 16
 * bytes can have there, and within the page, where code competes with the code of other libraries
 * for cache sets. Libraries of the project are shifted as well.
 *
 * The link's command was recorded during the build (link_record.h) and is repeated, several times
 * in parallel. Each new file is compared with the original and discarded unless its machine code is
 * the same.
 */
#ifndef FG_RUNNER_LAYOUTS_H
#define FG_RUNNER_LAYOUTS_H

#include "model/build_facts.h"
#include "model/plan.h"
#include "runner/target.h"

#include <signal.h>

struct fg_layouts_options {
	const struct fg_target *target;
	const struct fg_build_facts *build; /* the target's facts */
	/*
	 * Gives up (FG_ELIMIT) if linking FG_LINE_PLACES layouts would take longer than this,
	 * judged by the last build's links or by the first link. 0: no limit.
	 */
	int64_t within_ns;
	int64_t more_within_ns; /* time limit for links beyond FG_LINE_PLACES layouts */
	/* disk space limit for layouts beyond FG_LINE_PLACES, and for parallel links */
	uint64_t bytes_max;
	size_t at_once; /* links to run in parallel; 0: one */
	/* maximum number of layouts: FG_LAYOUTS_MAX, or a half or a quarter of it */
	unsigned most;
	const volatile sig_atomic_t *interrupted;
};

/*
 * Fills `layouts`. Files of an earlier call for the same build are reused. On failure `layouts`
 * stays empty, and the message gives the reason in one line.
 */
int fg_layouts_make(const struct fg_layouts_options *options, struct fg_target_layouts *layouts,
		    struct fg_error *err) FG_NODISCARD;

/* Were layouts of this build linked already? */
bool fg_layouts_are_made(const struct fg_layouts_options *options);

#endif
