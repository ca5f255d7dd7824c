/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Repetitions that count after the pairs: each side once, and a second time where they do not agree
 * (instructions in exact.c, events in counts.c).
 */
#ifndef FG_CLI_SESSION_COUNT_BOTH_H
#define FG_CLI_SESSION_COUNT_BOTH_H

#include "cli/session/session.h"
#include "profile/profile.h"
#include "runner/runner.h"

struct fg_count_both {
	const struct fg_benchmark *benchmark;
	struct fg_profile_set *set; /* of the benchmark's series */
	bool has_baseline;          /* it runs here, not in a stored run */
	uint32_t first_pair;        /* of its rows in the set */
	/* *counted false: there is no count of this side, and the caller knows why */
	int (*count)(void *context, enum fg_arm arm, struct fg_profile *profile, bool *counted,
		     struct fg_error *err);
	/* after the first repetition: do both sides agree? */
	bool (*is_equal)(const struct fg_profile_set *set, uint32_t first_pair);
	void *context; /* of `count` */
};

/* *done: repetitions that have all their sides; the first stands without the second. */
int fg_session_count_both(const struct fg_count_both *both, unsigned *done, struct fg_error *err)
	FG_NODISCARD;

#endif
