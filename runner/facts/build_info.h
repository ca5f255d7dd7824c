/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How the program of an arm was built, as facts: compiler, its version and flags, build-id, size,
 * every shared library with its build-id; and the facts that the user asks for, literal or as the
 * output of a command.
 */
#ifndef FG_RUNNER_BUILD_INFO_H
#define FG_RUNNER_BUILD_INFO_H

#include "base/error.h"
#include "model/environment.h"
#include "model/plan.h"
#include "runner/target.h"

#include <signal.h>

/* What cannot be found out is left out; nothing here fails a run. */
void fg_build_capture(const struct fg_target *target, struct fg_environment *build);

/*
 * The same program with the same libraries?  By build-ids where all have one, by content otherwise;
 * and the same arguments and files (fg_target_same_files).
 */
bool fg_build_is_identical(const struct fg_target *a, const struct fg_target *b,
			   const struct fg_environment *build_a,
			   const struct fg_environment *build_b);

/*
 * Programs that differ in their debug information alone: everything that is loaded is the same, at
 * the same addresses, and so are the inputs (code_facts.h).
 */
bool fg_build_is_loaded_alike(const struct fg_target *a, const struct fg_target *b,
			      const struct fg_environment *build_a,
			      const struct fg_environment *build_b);

struct fg_record_options {
	const struct fg_recorded_fact *facts;
	size_t count;
	const char *folder;                       /* that the commands run in */
	bool identity;                            /* they are part of the fingerprint */
	const volatile sig_atomic_t *interrupted; /* may be NULL */
};

/* "user.NAME" facts; a command that fails is FG_ECHILD with the fact's name. */
int fg_build_record(const struct fg_record_options *options, struct fg_environment *environment,
		    struct fg_error *err) FG_NODISCARD;

/*
 * The parts of gcc's producer string "GNU C17 12.2.0 -mtune=generic -O2": name and version, and
 * flags ("" when none).
 */
void fg_build_split_producer(const char *producer, char **compiler, char **flags);

#endif
