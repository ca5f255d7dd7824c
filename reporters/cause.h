/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The cause in one sentence, at the beginning of every report, title and status.
 *
 *	wordcount 11.6 % slower: find table.c:16 (+5.0 ms)
 *
 * The words are the same everywhere; a format only chooses how to escape text and names.
 */
#ifndef FG_REPORTERS_CAUSE_H
#define FG_REPORTERS_CAUSE_H

#include "base/strbuf.h"
#include "model/verdict.h"

/* How a format escapes words that may quote a stranger, and names of code. NULL: no escaping. */
struct fg_cause_style {
	void (*add_text)(struct fg_strbuf *text, const char *plain);
	void (*add_code)(struct fg_strbuf *text, const char *name);
};

/* Every outcome has a sentence.  `style` may be NULL: clean text in one line. */
void fg_report_add_cause(struct fg_strbuf *text, const struct fg_benchmark_verdict *benchmark,
			 const struct fg_cause_style *style);
/*
 * For the whole run: the largest regression, or the worst other outcome, and the number of others;
 * "3 benchmarks: 3 passed" if nothing happened.
 */
void fg_report_add_run_cause(struct fg_strbuf *text, const struct fg_verdict *verdict,
			     const struct fg_cause_style *style);

#endif
