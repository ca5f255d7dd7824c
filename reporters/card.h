/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The answer card: the result, its cause, the commit that brought it, and the next steps.
 *
 *	wordcount is 11.6 % slower: find table.c:16 (+5.0 ms)
 *	-   14   0.3 ms  if (entry->hash == hash && !strcmp(entry->word, word))
 *	+   16   5.3 ms  if (!strcmp(entry->word, word))
 *	why: called 2 times as often (400 → 800)
 *	change: 1eca4e8a0c11 "look words up by their text" (#41) by A. Author
 *	explain: fastgate explain 01990e2b-7c40
 *	again: fastgate run wordcount --against 5d1f0c2b9a7e
 *	which: fastgate bisect 5d1f0c2b9a7e 1eca4e8a0c11 --bench wordcount
 *	accept: Fastgate-Accept: wordcount cpu_time REASON
 *
 * Every report, page, comment, status, feed and webhook takes its wording from here, so that all
 * formats agree. A format only decides how to escape text and names.
 */
#ifndef FG_REPORTERS_CARD_H
#define FG_REPORTERS_CARD_H

#include "base/arena.h"
#include "base/json_write.h"
#include "base/strbuf.h"
#include "model/verdict.h"
#include "reporters/reporter.h"

/* ---- source_lines.c ---- */

/* Rows of a listing, in the listing's order; borrowed from the listing. */
struct fg_hunk {
	const struct fg_source_row *rows[FG_SOURCE_ROWS_MAX];
	size_t count;
	size_t cost_columns;
	size_t indent; /* blanks shared by all lines */
};

/*
 * Takes the most relevant rows, at most `most`: changed lines, most expensive first, then the
 * hottest line. FG_SOURCE_ROWS_MAX takes all rows.
 */
void fg_hunk_take(const struct fg_source_listing *source, size_t most, struct fg_hunk *hunk);
/* Adds "-   21  14.1 ms  while (entry && ...", no newline; `columns` 0: unlimited. */
void fg_hunk_add_line(struct fg_strbuf *text, const struct fg_hunk *hunk, size_t row,
		      size_t columns);

/* ---- the card ---- */

enum {
	FG_CARD_STEPS = 6,
	FG_CARD_LINES = 6, /* maximum number of source lines shown */
};

struct fg_card_step {
	const char *what; /* "see", "explain", "again", "count", "which", "accept" */
	const char *text; /* address, command, or line of a commit message; safe to display */
};

/* Strings live in the arena; everything else belongs to the report. */
struct fg_card {
	const struct fg_benchmark_verdict *benchmark; /* NULL: no benchmark ran */
	const char *sentence;
	const struct fg_node_verdict *culprit; /* the function named in the sentence, or NULL */
	struct fg_hunk hunk;                   /* the culprit's source lines; may be empty */
	bool is_leading;                       /* this is the card of the whole run */
	const char *why; /* the culprit's mechanism; NULL if nothing was counted */
	/* the commit, if the benchmark is worse or probably slower; NULL if unknown */
	const char *change;
	struct fg_card_step next[FG_CARD_STEPS];
	size_t next_count;
};

/*
 * Makes a benchmark's card. `benchmark` NULL makes the card of the whole run, which is about the
 * leading benchmark.
 */
void fg_card_make(const struct fg_report *report, const struct fg_benchmark_verdict *benchmark,
		  struct fg_arena *arena, struct fg_card *card);
/* Adds mechanism, change and next steps, one per line: "again: fastgate run ...". */
void fg_card_add_steps(const struct fg_card *card, struct fg_strbuf *text);
/* Writes the member "mechanism", unless it is NULL. */
void fg_card_write_mechanism(const struct fg_mechanism *mechanism, struct fg_json_writer *w);
/* Writes the member "answer" of fastgate-report/1. */
void fg_card_write_json(const struct fg_report *report,
			const struct fg_benchmark_verdict *benchmark, struct fg_json_writer *w);

/* A format's escapes for untrusted text and for names from code. NULL members: plain clean text. */
struct fg_card_style {
	void (*add_text)(struct fg_strbuf *text, const char *plain);
	void (*add_code)(struct fg_strbuf *text, const char *name);
};

/* Adds the benchmark's sentence, whatever its outcome. */
void fg_card_add_sentence(struct fg_strbuf *text, const struct fg_benchmark_verdict *benchmark,
			  const struct fg_card_style *style);
/*
 * Adds the sentence for the whole run: the leading benchmark's sentence and the number of other
 * benchmarks in the same state (after an improvement, also the number of inconclusive benchmarks),
 * or "3 benchmarks: 3 passed" if several benchmarks ran and all passed.
 */
void fg_card_add_run_sentence(struct fg_strbuf *text, const struct fg_verdict *verdict,
			      const struct fg_card_style *style);

#endif
