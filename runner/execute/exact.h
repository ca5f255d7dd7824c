/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The exact meter: how many instructions one repetition executes, and where.  Two instruments, in
 * order: valgrind's callgrind, which tells every function and every call, and the processor's
 * counter of instructions in user mode, which tells the whole program only.
 */
#ifndef FG_RUNNER_EXACT_H
#define FG_RUNNER_EXACT_H

#include "runner/runner.h"

struct fg_exact_request {
	enum fg_arm arm;
	int64_t timeout_ns;
	bool flat; /* functions without the contexts that call them */
};

struct fg_exact_reading {
	const char *meter;     /* "callgrind", "hardware counter"; NULL: none */
	char *callgrind;       /* its files, one after the other; NULL: there are none */
	size_t callgrind_size; /* in bytes */
	double instructions;   /* of the whole program, where there are no files */
	char *why;             /* why not a better meter, or none; NULL: nothing to say */
};

/*
 * FG_OK also where it cannot be counted: `meter` is NULL then and `why` says it.  FG_EINTERRUPTED:
 * the user asked to stop.  The plan's measure.exact says which instruments are allowed.
 */
int fg_runner_exact(struct fg_runner_job *job, const struct fg_exact_request *request,
		    struct fg_exact_reading *reading, struct fg_error *err) FG_NODISCARD;
/* As above with callgrind alone, without contexts of calls; whatever the plan says. */
int fg_runner_callgrind(struct fg_runner_job *job, const struct fg_exact_request *request,
			struct fg_exact_reading *reading, struct fg_error *err) FG_NODISCARD;
bool fg_runner_has_callgrind(void);
void fg_exact_reading_release(struct fg_exact_reading *reading);

#endif
