/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs a target program under the collector and reads its traces. Any error fails the running test.
 */
#ifndef FG_TESTS_INTEGRATION_COLLECTOR_RUN_TARGET_H
#define FG_TESTS_INTEGRATION_COLLECTOR_RUN_TARGET_H

#include "tests/support/scratch.h"
#include "tests/targets/trace.h"

#include <stdbool.h>

enum {
	RUN_WORDS = 12
};

struct run {
	const char *words
		/* first the name of the target, or an absolute path; NULL ends the list */
		[RUN_WORDS];
	const char *settings[RUN_WORDS]; /* "FASTGATE_COLLECTOR_...=value", NULL at the end */
	bool without_collector;
	bool forbid_perf; /* a seccomp filter answers perf_event_open with EACCES */
	int exit_code;    /* expected */
};

/* The outcome of the last run. */
extern struct outcome {
	struct trace *traces;
	char *output;
	struct fg_scratch scratch;
} outcome;

/* Do programs run under an emulator? Signals are slow there, and perf events are missing. */
bool is_emulated(void);
void run_target(const struct run *run);
/* The tear-down of each test that runs a target. */
int outcome_release(void **state);
/* Returns the value that follows a name in the target's output. */
double outcome_truth(const char *name);
/* Returns the absolute path of a target, in a buffer that the fourth call after this one reuses. */
const char *target_path(const char *name);

/* Call in a child process: changes to the root that anywhere.sh made, if any. */
void enter_test_root(void);

#endif
