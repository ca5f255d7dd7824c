/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One sentence of cause: what every report, title and status begins with.
 *
 *	wordcount 11.6 % slower: find table.c:16 (+5.0 ms)
 *
 * The same words everywhere; formats only choose how text and names are escaped.
 */
#ifndef FG_REPORTERS_CAUSE_H
#define FG_REPORTERS_CAUSE_H

#include "base/strbuf.h"
#include "model/verdict.h"

/* How a format writes words that may quote a stranger, and names of code.  NULL: as they are. */
struct fg_cause_style {
	void (*add_text)(struct fg_strbuf *text, const char *plain);
	void (*add_code)(struct fg_strbuf *text, const char *name);
};

/* Every outcome has a sentence.  `style` may be NULL: clean text in one line. */
void fg_report_add_cause(struct fg_strbuf *text, const struct fg_benchmark_verdict *benchmark,
			 const struct fg_cause_style *style);
/*
 * For the whole run: the largest regression, or what else is worst, and how many more there are;
 * "3 benchmarks: 3 passed" when nothing happened.
 */
void fg_report_add_run_cause(struct fg_strbuf *text, const struct fg_verdict *verdict,
			     const struct fg_cause_style *style);

#endif
