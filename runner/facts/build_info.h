/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Build facts of an arm's program: compiler, its version and flags, build-id, size,
 * every shared library with its build-id; and the facts that the user asks for, literal or as the
 * output of a command.
 */
#ifndef FG_RUNNER_BUILD_INFO_H
#define FG_RUNNER_BUILD_INFO_H

#include "base/error.h"
#include "model/build_facts.h"
#include "model/plan.h"
#include "runner/target.h"

#include <signal.h>

/* Facts that cannot be determined are left out; nothing here fails a run. */
void fg_build_capture(const struct fg_target *target, struct fg_build_facts *build);

/*
 * Do both arms run the same program with the same arguments, files (fg_target_same_files) and
 * libraries? Libraries are compared by build-id; a library without a build-id counts as different.
 */
bool fg_build_is_identical(const struct fg_target *a, const struct fg_target *b,
			   const struct fg_build_facts *build_a,
			   const struct fg_build_facts *build_b);

/*
 * Do the programs differ in debug information only? Everything that is loaded must be the same, at
 * the same addresses, and so must the inputs (code_facts.h).
 */
bool fg_build_loads_the_same(const struct fg_target *a, const struct fg_target *b,
			     const struct fg_build_facts *build_a,
			     const struct fg_build_facts *build_b);

struct fg_record_options {
	const struct fg_recorded_fact *facts;
	size_t count;
	const char *folder;                       /* working directory of the commands */
	bool identity;                            /* include the facts in the fingerprint */
	const volatile sig_atomic_t *interrupted; /* may be NULL */
};

/* Adds "user.NAME" facts. FG_ECHILD with the fact's name: a command failed. */
int fg_build_record(const struct fg_record_options *options, struct fg_environment *environment,
		    struct fg_error *err) FG_NODISCARD;

/*
 * Splits gcc's producer string "GNU C17 12.2.0 -mtune=generic -O2" into name and version, and flags
 * (or "").
 */
void fg_build_split_producer(const char *producer, char **compiler, char **flags);

#endif
