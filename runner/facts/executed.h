/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which functions a repetition under callgrind executed, and which of them are not the same in the
 * other build.  Whatever cannot be told speaks for a difference.
 */
#ifndef FG_RUNNER_EXECUTED_H
#define FG_RUNNER_EXECUTED_H

#include "model/executed.h"
#include "runner/target.h"

/* From the files of callgrind, one after the other, of this arm; `executed` is empty before. */
void fg_executed_from_callgrind(const struct fg_target *target, const char *callgrind, size_t size,
				struct fg_executed *executed);
/* It read this file (absolute), and did not make it itself. */
void fg_executed_take_input(const struct fg_target *target, const char *path,
			    struct fg_executed *executed);
/* What a file that it reads is in this arm: digest of the content, or "absent". */
char *fg_executed_input_now(const struct fg_target *target, const struct fg_executed_input *input);
/* The same functions, in files as this arm has them now. */
void fg_executed_copy(const struct fg_target *target, const struct fg_executed *from,
		      struct fg_executed *to);

enum {
	FG_EXECUTED_KEY_PART = 17
};

/* What a set was made from, so that it is used for nothing else: digests, as text. */
struct fg_executed_key {
	char benchmark[FG_EXECUTED_KEY_PART]; /* its name */
	char build[FG_EXECUTED_KEY_PART];     /* code of this arm */
	char configuration[FG_EXECUTED_KEY_PART];
	char environment[FG_EXECUTED_KEY_PART];
};

/* False: its code cannot be told. */
bool fg_executed_key_of(const struct fg_target *target, const struct fg_environment *build,
			const struct fg_environment *host, struct fg_executed_key *key);

#endif
