/* SPDX-License-Identifier: Apache-2.0 */
/* Accepted slowdowns that a commit message declares. */
#ifndef FG_GATE_COMMIT_TRAILERS_H
#define FG_GATE_COMMIT_TRAILERS_H

#include "base/arena.h"
#include "base/error.h"
#include "model/policy.h"

/*
 * Accepted slowdowns from a commit message: lines "Fastgate-Accept: NAME METRIC reason", NAME in
 * double quotes when it holds blanks, "*" for any.  `commit` names the source.  Text lives in the
 * arena.  A line that does not follow the form is FG_EPARSE.  *accepts is an array in the arena.
 */
int fg_gate_accepts_of_message(const char *message, const char *commit, struct fg_arena *arena,
			       struct fg_accept **accepts, size_t *count, struct fg_error *err)
	FG_NODISCARD;

#endif
