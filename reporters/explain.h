/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The answer card of a run, or of one of its benchmarks, and the evidence for it, in one bounded
 * document for a reviewer or a coding assistant: the rule and its numbers, the lines and
 * instructions that differ, with their costs, counted work, callers, causes that were ruled out,
 * and commands that reproduce the run.
 *
 * The document contains the names of environment variables and facts, but not their values, the
 * commands or the output of the measured program, which may contain secrets.
 */
#ifndef FG_REPORTERS_EXPLAIN_H
#define FG_REPORTERS_EXPLAIN_H

#include "reporters/reporter.h"

#define FG_EXPLAIN_SCHEMA "fastgate-explain/1"

enum {
	FG_EXPLAIN_BYTES = 32 * 1024, /* size limit of the document */
};

/*
 * `benchmark` NULL: the leading benchmark. Up to ten other benchmarks that did not pass get one
 * line each.
 */
void fg_explain_json(const struct fg_report *report, const struct fg_benchmark_verdict *benchmark,
		     struct fg_strbuf *text);
/* Writes the document as text for people, with the benchmark's part of the terminal report. */
void fg_explain_text(const struct fg_report *report, const struct fg_benchmark_verdict *benchmark,
		     struct fg_strbuf *text);

#endif
