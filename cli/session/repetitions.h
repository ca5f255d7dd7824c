/* SPDX-License-Identifier: Apache-2.0 */
/* Pairs of a benchmark: each repetition is stored, then its samples are read into the profile. */
#ifndef FG_CLI_SESSION_REPETITIONS_H
#define FG_CLI_SESSION_REPETITIONS_H

#include "cli/session/session.h"
#include "runner/runner.h"

/*
 * Measures until this many pairs count or nothing more can be done; 0: only the steps before the
 * first pair.
 */
int fg_session_measure_pairs(struct fg_session *session, struct fg_runner_job *job, unsigned wanted,
			     enum fg_runner_state *state, struct fg_error *err) FG_NODISCARD;
/* Discards the pairs so far, which were set aside, together with their profiles. */
int fg_session_give_up_pairs(struct fg_session *session, const struct fg_runner_job *job,
			     struct fg_error *err) FG_NODISCARD;
/* Makes `profiles` as long as the run has series; a series without samples has NULL. */
void fg_session_make_room_for_profiles(struct fg_session *session);
/* The profile set of a series, created on first use. */
struct fg_profile_set *fg_session_profile_of(struct fg_session *session, size_t series);

#endif
