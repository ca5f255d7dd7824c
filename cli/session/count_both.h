/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Counting repetitions after the pairs: each side once, and a second time if the sides do not agree
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
	bool has_baseline;          /* the baseline runs here, rather than being a stored run */
	uint32_t first_pair;        /* pair number of its first row in the set */
	/* *counted is set to false if this side has no count; the caller knows why */
	int (*count)(void *context, enum fg_arm arm, struct fg_profile *profile, bool *counted,
		     struct fg_error *err);
	/* after the first repetition: do both sides agree? */
	bool (*is_equal)(const struct fg_profile_set *set, uint32_t first_pair);
	void *context; /* of `count` */
};

/* *done: repetitions that completed on all sides; the first stands without the second. */
int fg_session_count_both(const struct fg_count_both *both, unsigned *done, struct fg_error *err)
	FG_NODISCARD;

#endif
