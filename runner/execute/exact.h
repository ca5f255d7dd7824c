/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The exact meter counts the instructions of one repetition by function and call, with valgrind's
 * callgrind.
 */
#ifndef FG_RUNNER_EXACT_H
#define FG_RUNNER_EXACT_H

#include "base/strbuf.h"
#include "runner/runner.h"

struct fg_exact_request {
	enum fg_arm arm;
	int64_t timeout_ns;
	bool flat;      /* functions only, without calling contexts */
	bool simulated; /* also cache misses and mispredicted branches, which takes longer */
};

struct fg_exact_reading {
	char *callgrind;       /* contents of callgrind's files, concatenated; NULL: none */
	size_t callgrind_size; /* in bytes */
	char *why;             /* the reason, if `callgrind` is NULL */
};

/*
 * Returns FG_OK even if nothing could be counted: `why` then has the reason. FG_EINTERRUPTED: the
 * user asked to stop.
 */
int fg_runner_exact(struct fg_runner_job *job, const struct fg_exact_request *request,
		    struct fg_exact_reading *reading, struct fg_error *err) FG_NODISCARD;
bool fg_runner_has_callgrind(void);

enum fg_callgrind_flag {
	FG_CALLGRIND_FLAT = 1 << 0,     /* functions only, without calling contexts */
	FG_CALLGRIND_CHILDREN = 1 << 1, /* also the processes that the program starts */
	FG_CALLGRIND_SIMULATE = 1 << 2, /* caches and branch prediction */
};

/*
 * Returns the words to put in front of a command to run it under callgrind, which writes to
 * `folder`.
 */
char **fg_callgrind_words(const char *folder, unsigned flags); /* NULL at the end */
/* Appends callgrind's files to `all`. FG_ECHILD: no file; the message is valgrind's, if any. */
int fg_callgrind_read(const char *folder, struct fg_strbuf *all, struct fg_error *err) FG_NODISCARD;
void fg_exact_reading_release(struct fg_exact_reading *reading);

#endif
