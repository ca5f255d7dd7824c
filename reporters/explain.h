/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The answer card of a run, or of one of its benchmarks, and the evidence for it, in one bounded
 * document for a reviewer or a coding assistant: the rule and its numbers, the lines and
 * instructions that differ with their costs, counted work, callers, what was ruled out, and
 * commands that reproduce it.
 *
 * It holds no values of the environment or of facts, only their names, and neither commands nor
 * output of the measured program: these may hold secrets.
 */
#ifndef FG_REPORTERS_EXPLAIN_H
#define FG_REPORTERS_EXPLAIN_H

#include "reporters/reporter.h"

#define FG_EXPLAIN_SCHEMA "fastgate-explain/1"

enum {
	FG_EXPLAIN_BYTES = 32 * 1024, /* at most */
};

/* `benchmark` NULL: the leading one. The others that did not pass have a line each. */
void fg_explain_json(const struct fg_report *report, const struct fg_benchmark_verdict *benchmark,
		     struct fg_strbuf *text);
/* For people, with the sentences of the JSON. */
void fg_explain_text(const struct fg_report *report, const struct fg_benchmark_verdict *benchmark,
		     struct fg_strbuf *text);

#endif
