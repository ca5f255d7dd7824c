/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the accepted regressions that a commit message declares. */
#ifndef FG_GATE_COMMIT_TRAILERS_H
#define FG_GATE_COMMIT_TRAILERS_H

#include "base/arena.h"
#include "base/error.h"
#include "model/policy.h"

/*
 * Reads accepted regressions from the lines "Fastgate-Accept: NAME METRIC reason" of a commit
 * message. NAME is in double quotes if it contains spaces; "*" stands for any name or metric.
 * `commit` names the source. The array *accepts and its strings live in the arena. FG_EPARSE: a
 * line does not follow the form. FG_ELIMIT: there are too many lines.
 */
int fg_gate_accepts_of_message(const char *message, const char *commit, struct fg_arena *arena,
			       struct fg_accept **accepts, size_t *count, struct fg_error *err)
	FG_NODISCARD;

#endif
