// SPDX-License-Identifier: Apache-2.0
/*
 * The terminal report.
 *
 * The card's sentence comes first, then one line per benchmark, in columns, worst first. A
 * benchmark that needs attention also gets its blame and its other metrics; several passed
 * benchmarks share a line. The card's mechanism, change and next steps come last.
 *
 *	reconstruct is 4.8 % slower: fit(Track&) fit.cpp:88 (+9.7 ms)
 *
 *	reconstruct   cpu time   +4.8 %  [+3.1, +6.6]   210 ms → 220 ms   22 pairs, 7 s   REGRESSION
 *	  93 %  fit(Track&)  fit.cpp:88   +9.7 ms   main → loop → fit
 *	   7 %  everything else   +0.7 ms
 *	max rss  +0.0 %  pass      wall time  not judged in duet
 *
 * A narrow terminal loses the effort column first, then the levels, the interval and the metric;
 * name, change and verdict stay. A verdict in capitals needs attention; colour only repeats the
 * text.
 */
#include "base/text.h"
#include "reporters/figures.h"
#include "reporters/formats.h"
#include "reporters/names.h"
#include "reporters/terminal_page.h"
#include "reporters/verdict_queries.h"

#include <math.h>

enum {
	MAX_TAIL_LINES = 10, /* maximum number of lines of a failed program's output */
	MAX_DIFFERENCES = 6, /* maximum number of differing facts listed without --verbose */
	FUNCTION_COLUMNS = 44,
	FOLDED_COLUMNS = 100, /* width of folded lines if the output is not a terminal */
	AROUND_FOLDED = 30,   /* columns of a folded line for text other than names */
	QUOTED_COLUMNS = 120,
	MAX_UNFOLDED = 8, /* maximum number of benchmarks with separate lines if all passed */
};

/* --- the other metrics --- */

static bool other_is_shown(const struct fg_terminal_page *page,
			   const struct fg_metric_verdict *metric)
{
	if (metric->accepted) /* an accepted metric has its own line */
		return false;
	return page->options->verbose || metric->gated ||
	       (metric->decided && metric->outcome == FG_OUTCOME_REGRESSION);
}

static void add_other(const struct fg_terminal_page *page, struct fg_strbuf *cell,
		      const struct fg_metric_verdict *metric, enum fg_schedule schedule)
{
	fg_report_add_name(cell, metric->label, 24);
	if (!metric->decided) {
		fg_strbuf_printf(cell, "  not judged in %s", fg_schedule_name(schedule));
		return;
	}
	if (isfinite(metric->ratio)) {
		fg_strbuf_add_text(cell, "  ");
		fg_report_add_change(cell, metric);
	}
	if (page->options->verbose) {
		fg_strbuf_add_text(cell, "  ");
		fg_report_add_interval(cell, metric);
		fg_strbuf_add_text(cell, "  ");
		fg_report_add_levels(cell, metric);
	}
	fg_strbuf_printf(cell, "  %s%s", fg_outcome_name(metric->outcome),
			 metric->gated || metric->outcome == FG_OUTCOME_PASS ? ""
									     : " (informational)");
}

/*
 * Adds the metrics other than the headline metric, as many per line as fit; with --verbose, one per
 * line.
 */
static void add_others(const struct fg_terminal_page *page,
		       const struct fg_benchmark_verdict *benchmark)
{
	const struct fg_metric_verdict *headline = fg_report_headline(benchmark);
	size_t used = 0;

	for (size_t i = 0; i < benchmark->metric_count; i++) {
		const struct fg_metric_verdict *metric = &benchmark->metrics[i];
		struct fg_strbuf cell = {0};
		size_t width = 0;

		if (metric == headline || !other_is_shown(page, metric))
			continue;
		add_other(page, &cell, metric, benchmark->schedule);
		width = fg_text_width(fg_strbuf_text(&cell));
		if (used > 0 &&
		    (page->options->verbose ||
		     used + 6 + width > (page->options->width ? page->options->width : 100))) {
			fg_strbuf_add_char(page->text, '\n');
			used = 0;
		}
		if (used > 0)
			fg_strbuf_add_text(page->text, "      ");
		fg_strbuf_add_text(page->text, fg_strbuf_text(&cell));
		used += width + (used > 0 ? 6 : 0);
		fg_strbuf_release(&cell);
	}
	if (used > 0)
		fg_strbuf_add_char(page->text, '\n');
}

/* --- notes of a benchmark --- */

static size_t count_lines(const char *text)
{
	size_t lines = 0;

	for (const char *at = text; at && *at; at++)
		lines += *at == '\n' || at[1] == '\0';
	return lines;
}

static const char *add_quoted_line(const struct fg_terminal_page *page, const char *line)
{
	const size_t length = strcspn(line, "\n");
	struct fg_strbuf quoted = {0};

	fg_strbuf_add_text(&quoted, "| ");
	fg_text_add_clean(&quoted, line, length, 400);
	fg_terminal_add_line(page, FG_TERMINAL_DIM, &quoted);
	fg_strbuf_release(&quoted);
	return line + length + (line[length] == '\n');
}

static void add_failure(const struct fg_terminal_page *page,
			const struct fg_benchmark_verdict *benchmark)
{
	const char *line = benchmark->error_tail;
	size_t lines = count_lines(line);

	if (benchmark->error)
		fg_terminal_add_sentence(page, NULL, benchmark->error);
	for (; lines > MAX_TAIL_LINES && !page->options->verbose; lines--)
		line = strchr(line, '\n') + 1;
	for (; lines > 0; lines--)
		line = add_quoted_line(page, line);
}

static void add_hint(const struct fg_terminal_page *page,
		     const struct fg_benchmark_verdict *benchmark)
{
	const char *probably = fg_report_probably(benchmark);
	struct fg_strbuf line = {0};

	/* The card's sentence already has this hint for the card's benchmark. */
	if (probably && benchmark != page->card->benchmark)
		fg_terminal_add_sentence(page, NULL, probably);
	if (probably)
		return;
	if (benchmark->outcome == FG_OUTCOME_INCONCLUSIVE &&
	    fg_report_add_detectable(&line, fg_report_headline(benchmark))) {
		fg_strbuf_add_text(&line, "; more pairs would detect smaller changes");
		fg_terminal_add_sentence(page, NULL, fg_strbuf_text(&line));
	}
	fg_strbuf_release(&line);
}

static void add_notes(const struct fg_terminal_page *page, const struct fg_notes *notes)
{
	for (size_t i = 0; i < notes->count; i++)
		fg_terminal_add_sentence(page, FG_TERMINAL_DIM, notes->items[i]);
}

/*
 * Gives the reason for the schedule: in full with --verbose, otherwise in short, and only if the
 * schedule is not a duet.
 */
static void add_schedule(const struct fg_terminal_page *page,
			 const struct fg_benchmark_verdict *benchmark, const char *reason)
{
	struct fg_strbuf line = {0};
	const char *end = strstr(reason, " (");

	if (page->options->verbose) {
		fg_terminal_add_sentence(page, FG_TERMINAL_DIM, reason);
		return;
	}
	if (benchmark->schedule == FG_SCHEDULE_DUET)
		return;
	fg_strbuf_printf(&line, "schedule %s: ", fg_schedule_name(benchmark->schedule));
	fg_strbuf_add(&line, reason, end ? (size_t)(end - reason) : strlen(reason));
	fg_terminal_add_sentence(page, FG_TERMINAL_DIM, fg_strbuf_text(&line));
	fg_strbuf_release(&line);
}

static void add_benchmark_notes(const struct fg_terminal_page *page,
				const struct fg_benchmark_verdict *benchmark)
{
	struct fg_note_place place = {0};
	const char *note = NULL;

	add_notes(page, &benchmark->notes);
	while ((note = fg_report_next_metric_note(benchmark, &place)))
		fg_terminal_add_sentence(page, FG_TERMINAL_DIM, note);
}

static bool has_findings(const struct fg_benchmark_verdict *benchmark)
{
	for (size_t i = 0; i < benchmark->measure_count; i++) {
		if (benchmark->measures[i].moved_count > 0)
			return true;
	}
	return benchmark->time.moved_count > 0 || benchmark->notes.count > 0;
}

static void add_accepts(const struct fg_terminal_page *page,
			const struct fg_benchmark_verdict *benchmark)
{
	for (size_t i = 0; i < benchmark->metric_count; i++) {
		const struct fg_metric_verdict *metric = &benchmark->metrics[i];
		struct fg_strbuf line = {0};

		if (!metric->accepted)
			continue;
		fg_report_add_name(&line, metric->label, 24);
		fg_strbuf_add_char(&line, ' ');
		fg_report_add_change(&line, metric);
		fg_strbuf_add_char(&line, ' ');
		fg_report_add_accept(&line, metric->accepted);
		fg_terminal_add_sentence(page, NULL, fg_strbuf_text(&line));
		fg_strbuf_release(&line);
	}
}

static bool needs_details(const struct fg_terminal_page *page,
			  const struct fg_benchmark_verdict *benchmark)
{
	if (page->options->verbose || benchmark->outcome != FG_OUTCOME_PASS)
		return true;
	for (size_t i = 0; i < benchmark->metric_count; i++) {
		if (benchmark->metrics[i].accepted)
			return true;
	}
	return has_findings(benchmark);
}

static void add_others_verbose(const struct fg_terminal_page *page,
			       const struct fg_benchmark_verdict *benchmark)
{
	static const char *const titles[] = {"library", "region"};
	const struct fg_blame *blame = &benchmark->time;
	const struct fg_node_verdict *const lists[] = {blame->libraries, blame->regions};
	const size_t counts[] = {blame->library_count, blame->region_count};

	if (!page->options->verbose)
		return;
	for (size_t l = 0; l < FG_ARRAY_SIZE(lists); l++) {
		for (size_t i = 0; i < counts[l]; i++) {
			struct fg_strbuf line = {0};

			fg_strbuf_printf(&line, "%s ", titles[l]);
			fg_report_add_name(&line, lists[l][i].name, FUNCTION_COLUMNS);
			fg_strbuf_add_text(&line, "   ");
			fg_report_add_delta(&line, lists[l][i].unit, lists[l][i].delta);
			fg_strbuf_printf(&line, "   %s", fg_outcome_name(lists[l][i].outcome));
			fg_terminal_add_line(page, NULL, &line);
			fg_strbuf_release(&line);
		}
	}
	if (benchmark->set_aside > 0) {
		struct fg_strbuf line = {0};

		fg_strbuf_printf(&line, "%u pair%s set aside", benchmark->set_aside,
				 benchmark->set_aside == 1 ? "" : "s");
		fg_terminal_add_line(page, FG_TERMINAL_DIM, &line);
		fg_strbuf_release(&line);
	}
}

static void add_benchmark(const struct fg_terminal_page *page, size_t index)
{
	const struct fg_benchmark_verdict *benchmark = &page->report->verdict->benchmarks[index];

	fg_terminal_table_add_row(page, index);
	if (!needs_details(page, benchmark))
		return;
	if (benchmark->outcome == FG_OUTCOME_ERROR)
		add_failure(page, benchmark);
	add_hint(page, benchmark);
	fg_terminal_add_blame(page, benchmark);
	add_others_verbose(page, benchmark);
	add_accepts(page, benchmark);
	add_benchmark_notes(page, benchmark);
	if (benchmark->outcome != FG_OUTCOME_PASS || page->options->verbose)
		add_others(page, benchmark);
}

/* --- around the benchmarks --- */

/*
 * Is this difference worth a line? Programs that differ always have different build ids, and the
 * host's load differs between any two sessions.
 */
static bool is_worth_a_line(const struct fg_fact_difference *difference)
{
	return difference->identity || (strcmp(difference->key, "build.id") != 0 &&
					!fg_text_starts_with(difference->key, "host."));
}

static void add_differences(const struct fg_terminal_page *page)
{
	const struct fg_verdict *verdict = page->report->verdict;
	size_t left = 0;
	size_t shown = 0;

	for (size_t i = 0; i < verdict->environment_difference_count; i++) {
		const struct fg_fact_difference *difference = &verdict->environment_difference[i];
		struct fg_strbuf line = {0};

		if (!page->options->verbose &&
		    (!is_worth_a_line(difference) || shown == MAX_DIFFERENCES)) {
			left++;
			continue;
		}
		fg_strbuf_add_text(&line, "differs: ");
		fg_report_add_name(&line, difference->key, 40);
		fg_strbuf_add_text(&line, "  ");
		fg_report_add_name(&line, difference->baseline ? difference->baseline : "(absent)",
				   60);
		fg_strbuf_add_text(&line, " → ");
		fg_report_add_name(&line,
				   difference->candidate ? difference->candidate : "(absent)", 60);
		fg_terminal_add_line(page, NULL, &line);
		fg_strbuf_release(&line);
		shown++;
	}
	if (left > 0 && shown > 0)
		fg_terminal_add_sentence(page, FG_TERMINAL_DIM,
					 "more differences in build or host: --verbose");
}

/* Lists the reasons for the benchmarks' schedules; equal reasons in a row appear once. */
static void add_schedules(const struct fg_terminal_page *page)
{
	const struct fg_verdict *verdict = page->report->verdict;
	const char *last = NULL;

	for (size_t i = 0; i < verdict->benchmark_count; i++) {
		const struct fg_benchmark_verdict *benchmark = &verdict->benchmarks[i];
		const char *reason = fg_report_schedule_reason(page->report, benchmark);

		if (!reason || (last && strcmp(last, reason) == 0))
			continue;
		add_schedule(page, benchmark, reason);
		last = reason;
	}
}

/*
 * With --verbose, adds sampling rates, their cost, the clocks, and the time that sampling misses.
 */
static void add_sampling(const struct fg_terminal_page *page)
{
	const struct fg_verdict *verdict = page->report->verdict;

	for (size_t i = 0; page->options->verbose && i < verdict->benchmark_count; i++) {
		const struct fg_benchmark_verdict *benchmark = &verdict->benchmarks[i];
		struct fg_strbuf line = {0};

		if (!(benchmark->sampling.rate_hz > 0))
			continue;
		fg_strbuf_printf(&line, "%s: ", benchmark->name);
		fg_report_add_sampling(&line, &benchmark->sampling);
		fg_terminal_add_sentence(page, FG_TERMINAL_DIM, fg_strbuf_text(&line));
		fg_strbuf_release(&line);
	}
}

static void add_circumstances(const struct fg_terminal_page *page)
{
	const size_t before = page->text->length;

	fg_strbuf_add_char(page->text, '\n');
	if (page->card) /* a quote in another format has no card, and no room for reasons */
		add_schedules(page);
	add_sampling(page);
	add_differences(page);
	add_notes(page, &page->report->verdict->notes);
	if (page->text->length == before + 1) { /* nothing was added */
		page->text->length = before;
		page->text->data[before] = '\0';
	}
}

static void add_sides(const struct fg_terminal_page *page)
{
	const struct fg_run *run = page->report->run;
	struct fg_strbuf line = {0};

	if (!page->options->verbose)
		return;
	fg_strbuf_printf(&line, "run %s", run->id);
	for (size_t arm = 0; arm < FG_ARM_COUNT; arm++) {
		const struct fg_side *side = &run->sides[arm];

		if (!side->commit && !side->describe)
			continue;
		fg_strbuf_add_text(&line,
				   arm == FG_ARM_BASELINE ? "   baseline " : "   candidate ");
		if (side->commit)
			fg_strbuf_printf(&line, "%.12s", side->commit);
		if (side->describe) {
			fg_strbuf_add_text(&line, side->commit ? " (" : "");
			fg_report_add_name(&line, side->describe, 40);
			fg_strbuf_add_text(&line, side->commit ? ")" : "");
		}
		if (side->dirty)
			fg_strbuf_add_text(&line, " with uncommitted changes");
	}
	fg_report_add_name(page->text, fg_strbuf_text(&line), fg_terminal_room(page, 0));
	fg_strbuf_add_char(page->text, '\n');
	fg_strbuf_release(&line);
}

/* Breaks the overall verdict between its parts at the terminal's edge. */
static void add_summary_parts(const struct fg_terminal_page *page, const char *summary)
{
	const size_t width = page->options->width;
	size_t used = 0;

	while (*summary) {
		const size_t length = strcspn(summary, ",") + (strchr(summary, ',') != NULL);

		if (width > 0 && used > 0 && used + length > width) {
			fg_strbuf_add_text(page->text, "\n ");
			used = 1;
		}
		fg_strbuf_add(page->text, summary, length);
		used += length;
		summary += length;
	}
	if (width > 0 &&
	    used + 3 + strlen(fg_terminal_outcomes[page->report->verdict->outcome].word) > width)
		fg_strbuf_add_char(page->text, '\n');
	else
		fg_strbuf_add_text(page->text, "   ");
}

static void add_summary(const struct fg_terminal_page *page)
{
	const struct fg_verdict *verdict = page->report->verdict;
	struct fg_strbuf line = {0};

	if (verdict->benchmark_count == 0) {
		fg_strbuf_add_text(page->text, "no benchmark ran   ");
		fg_terminal_add_styled(page, fg_terminal_outcomes[verdict->outcome].color,
				       fg_terminal_outcomes[verdict->outcome].word);
		fg_strbuf_add_char(page->text, '\n');
		return;
	}
	if (verdict->benchmark_count == 1)
		return;
	fg_report_add_summary(&line, verdict);
	fg_strbuf_add_char(page->text, '\n');
	add_summary_parts(page, fg_strbuf_text(&line));
	fg_terminal_add_styled(page, fg_terminal_outcomes[verdict->outcome].color,
			       fg_terminal_outcomes[verdict->outcome].word);
	fg_strbuf_add_char(page->text, '\n');
	fg_strbuf_release(&line);
}

/* Adds "48 passed: parse, hash, sort and 45 more". */
static void add_folded(const struct fg_terminal_page *page, bool after_details)
{
	const size_t width = page->options->width ? page->options->width : FOLDED_COLUMNS;
	struct fg_strbuf names = {0};
	size_t count = 0;
	size_t left = 0;

	for (size_t i = 0; i < page->report->verdict->benchmark_count; i++) {
		const char *name = fg_strbuf_text(&page->rows[i].cells[FG_COLUMN_NAME]);

		if (!page->rows[i].folded)
			continue;
		if (left > 0 ||
		    fg_text_width(fg_strbuf_text(&names)) + fg_text_width(name) + AROUND_FOLDED >
			    width)
			left++;
		else
			fg_strbuf_printf(&names, "%s%s", count > 0 ? ", " : ": ", name);
		count++;
	}
	if (count > 0)
		fg_strbuf_printf(page->text, "%s%zu passed%s", after_details ? "\n" : "", count,
				 fg_strbuf_text(&names));
	if (left > 0 && left < count)
		fg_strbuf_printf(page->text, " and %zu more", left);
	if (count > 0)
		fg_strbuf_add_char(page->text, '\n');
	fg_strbuf_release(&names);
}

/*
 * Folds passed benchmarks without findings into one line, unless --verbose is given, only one
 * benchmark passed, or all benchmarks passed and are few.
 */
static void fold(struct fg_terminal_page *page)
{
	const struct fg_verdict *verdict = page->report->verdict;
	size_t quiet = 0;

	for (size_t i = 0; i < verdict->benchmark_count; i++)
		quiet += fg_report_is_quiet(&verdict->benchmarks[i]);
	if (page->options->verbose || quiet < 2 ||
	    (quiet == verdict->benchmark_count && quiet <= MAX_UNFOLDED))
		return;
	for (size_t i = 0; i < verdict->benchmark_count; i++)
		page->rows[i].folded = fg_report_is_quiet(&verdict->benchmarks[i]) &&
				       !has_findings(&verdict->benchmarks[i]);
}

/* A blank line separates a benchmark with details from its neighbours. */
static void add_benchmarks(const struct fg_terminal_page *page)
{
	const struct fg_verdict *verdict = page->report->verdict;
	size_t *order = fg_report_worst_first(verdict);
	bool had_details = false;

	for (size_t i = 0; i < verdict->benchmark_count; i++) {
		const bool details = needs_details(page, &verdict->benchmarks[order[i]]);

		if (page->rows[order[i]].folded)
			continue;
		if (i > 0 && (details || had_details))
			fg_strbuf_add_char(page->text, '\n');
		add_benchmark(page, order[i]);
		had_details = details;
	}
	free(order);
	add_folded(page, had_details);
}

/*
 * Adds the card's sentence if the benchmark is worse, better or probably slower. The rows show any
 * other outcome.
 */
static void add_sentence(const struct fg_terminal_page *page)
{
	const struct fg_benchmark_verdict *lead = page->card->benchmark;

	if (!lead || (lead->outcome != FG_OUTCOME_REGRESSION &&
		      lead->outcome != FG_OUTCOME_IMPROVEMENT && !fg_report_probably(lead)))
		return;
	fg_terminal_add_paragraph(page, FG_TERMINAL_BOLD, page->card->sentence);
	fg_strbuf_add_char(page->text, '\n');
}

static void add_steps(const struct fg_terminal_page *page)
{
	struct fg_strbuf steps = {0};
	char *rest = NULL;

	fg_card_add_steps(page->card, &steps);
	if (steps.length > 0)
		fg_strbuf_add_char(page->text, '\n');
	rest = steps.data;
	for (const char *line; (line = fg_text_next_line(&rest));)
		fg_terminal_add_paragraph(page, NULL, line);
	fg_strbuf_release(&steps);
}

void fg_terminal_quote(const struct fg_report *report, const struct fg_benchmark_verdict *benchmark,
		       bool verbose, struct fg_strbuf *text)
{
	const struct fg_report_options options = {.verbose = verbose, .width = QUOTED_COLUMNS};
	const struct fg_card none = {0};
	struct fg_benchmark_verdict copy = *benchmark;
	const struct fg_verdict alone = {.benchmarks = &copy, .benchmark_count = 1};
	const struct fg_report of_one = {
		.run = report->run, .verdict = &alone, .profiles = report->profiles};
	struct fg_strbuf body = {0};
	struct fg_terminal_page page = {
		.report = &of_one, .options = &options, .card = &none, .text = &body};

	fg_terminal_table_init(&page);
	fg_terminal_table_lay_out(&page);
	add_benchmark(&page, 0);
	fg_terminal_finish(&page, text);
	fg_terminal_table_release(&page);
	fg_strbuf_release(&body);
}

void fg_terminal_quote_circumstances(const struct fg_report *report, bool verbose,
				     struct fg_strbuf *text)
{
	const struct fg_report_options options = {.verbose = verbose, .width = QUOTED_COLUMNS};
	struct fg_strbuf body = {0};
	const struct fg_terminal_page page = {.report = report, .options = &options, .text = &body};

	add_circumstances(&page);
	fg_terminal_finish(&page, text);
	fg_strbuf_release(&body);
}

void fg_report_terminal(const struct fg_report *report, const struct fg_report_options *options,
			struct fg_strbuf *text)
{
	struct fg_arena arena = {0};
	struct fg_card card;
	struct fg_strbuf body = {0};
	struct fg_terminal_page page = {
		.report = report, .options = options, .card = &card, .text = &body};

	fg_card_make(report, NULL, &arena, &card);
	fg_terminal_table_init(&page);
	fold(&page);
	fg_terminal_table_lay_out(&page);
	add_sentence(&page);
	add_sides(&page);
	add_benchmarks(&page);
	add_circumstances(&page);
	add_summary(&page);
	add_steps(&page);
	fg_terminal_finish(&page, text);
	fg_terminal_table_release(&page);
	fg_arena_release(&arena);
	fg_strbuf_release(&body);
}
