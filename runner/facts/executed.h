/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Records the functions that a repetition under callgrind executed and the files that it read, with
 * digests by which a later change is recognised.
 */
#ifndef FG_RUNNER_EXECUTED_H
#define FG_RUNNER_EXECUTED_H

#include "model/executed.h"
#include "runner/target.h"

/* Reads the concatenated callgrind files of this arm; `executed` must be empty. */
void fg_executed_from_callgrind(const struct fg_target *target, const char *callgrind, size_t size,
				struct fg_executed *executed);
/* Adds an absolute path that the benchmark read and did not create itself. */
void fg_executed_take_input(const struct fg_target *target, const char *path,
			    struct fg_executed *executed);
/*
 * Returns the current state of an input in this arm: digest of the content, "absent" or
 * "unreadable".
 */
char *fg_executed_input_now(const struct fg_target *target, const struct fg_executed_input *input);
/* Copies the record, with the current identities of this arm's files with code. */
void fg_executed_copy(const struct fg_target *target, const struct fg_executed *from,
		      struct fg_executed *to);

enum {
	FG_EXECUTED_KEY_PART = 17
};

/*
 * Digests, as text, of everything that a record of executed functions depends on; a record is used
 * only if its key is equal.
 */
struct fg_executed_key {
	char benchmark[FG_EXECUTED_KEY_PART]; /* name of the benchmark */
	char build[FG_EXECUTED_KEY_PART];     /* code of this arm */
	char configuration[FG_EXECUTED_KEY_PART];
	char environment[FG_EXECUTED_KEY_PART];
};

/* Returns false if the arm's code cannot be identified. */
bool fg_executed_key_of(const struct fg_target *target, const struct fg_build_facts *build,
			const struct fg_environment *host, struct fg_executed_key *key);

#endif
