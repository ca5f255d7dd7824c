/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who is to blame, as the stored verdicts say: the first function of a benchmark that the gate is
 * sure about.  Inside perfdb/server/ only.
 */
#ifndef FG_PERFDB_SERVER_API_CAUSE_H
#define FG_PERFDB_SERVER_API_CAUSE_H

#include "base/json_write.h"
#include "model/verdict.h"

struct fg_store;

enum {
	FG_CAUSE_RUNS = 8 /* reports that are read for one answer */
};

/* Verdicts read so far; zero-initialised: none. */
struct fg_causes {
	struct fg_store *store;
	struct {
		char run[37];
		struct fg_verdict verdict;
	} items[FG_CAUSE_RUNS];
	size_t count;
};

/* Member "cause", unless nothing is known. */
void fg_cause_write(struct fg_causes *causes, const char *run, const char *benchmark,
		    struct fg_json_writer *w);
void fg_causes_release(struct fg_causes *causes);

#endif
