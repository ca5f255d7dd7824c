// SPDX-License-Identifier: Apache-2.0
/*
 * Markdown for GitHub's step summary and for a pull-request comment: one writer, two budgets.
 *
 * GitHub rejects a step summary above 1 MiB and a comment above 65,536 characters, so the text is
 * built in pieces: always the table, then details benchmark by benchmark, worst first, as long as
 * they fit; omissions are reported.  Names are in <code>, with every special character of Markdown
 * and HTML as a character reference; servers create no mentions or links inside <code>.  Elsewhere
 * references do not prevent them (servers look for "@somebody" and "#12" in the rendered page), so
 * a zero-width space follows the sign. GitLab would execute a line that begins with "/merge".
 */
#include "base/text.h"
#include "model/links.h"
#include "reporters/cause.h"
#include "reporters/figures.h"
#include "reporters/formats.h"
#include "reporters/names.h"
#include "reporters/next.h"
#include "reporters/source_lines.h"
#include "reporters/verdict_queries.h"

#include <ctype.h>
#include <math.h>

#define WITHOUT_WIDTH "\xe2\x80\x8b"

enum {
	SUMMARY_BUDGET_BYTES = 900 * 1000,
	COMMENT_BUDGET_BYTES = 60 *
			       /*
		 * below 64 KiB, since some servers count a reference as one character and others do
		 * not
		 */
			       1024,
	FOOTER_BYTES = 512,
	NAME_COLUMNS = 100,
	MAX_FUNCTIONS = 20,
	MAX_DIFFERENCES = 40,
	MAX_TAIL_BYTES = 4000,
	SHORT_COMMIT = 12,
	SOURCE_LINES = 8, /* of the first blamed function */
};

/* A variant of the text and its size limit. */
struct page {
	size_t start; /* offset of the text */
	size_t budget;
	bool is_brief; /* passed benchmarks share one folded list */
};

static const char *const signs[] = {
	[FG_OUTCOME_PASS] = "✅", /* one symbol each */
	[FG_OUTCOME_NEW] = "🆕",
	[FG_OUTCOME_MISSING] = "❔",
	[FG_OUTCOME_IMPROVEMENT] = "🚀",
	[FG_OUTCOME_PLACEMENT] = "📍",
	[FG_OUTCOME_INCONCLUSIVE] = "🤷",
	[FG_OUTCOME_CREEP] = "🐌",
	[FG_OUTCOME_REGRESSION] = "❌",
	[FG_OUTCOME_ERROR] = "💥",
};

static void add_escaped(struct fg_strbuf *text, const char *plain)
{
	for (const char *at = plain; *at; at++) {
		if (ispunct((unsigned char)*at) && isascii((unsigned char)*at) &&
		    !strchr(".,-+/ %()=", *at))
			fg_strbuf_printf(text, "&#%d;", *at);
		else
			fg_strbuf_add_char(text, *at);
	}
}

/* Adds the text in `clean` and empties it. */
static void add_clean_code(struct fg_strbuf *text, struct fg_strbuf *clean)
{
	fg_strbuf_add_text(text, "<code>");
	add_escaped(text, fg_strbuf_text(clean));
	fg_strbuf_add_text(text, "</code>");
	fg_strbuf_release(clean);
}

static void add_code(struct fg_strbuf *text, const char *name)
{
	struct fg_strbuf clean = {0};

	fg_report_add_name(&clean, name, NAME_COLUMNS);
	add_clean_code(text, &clean);
}

static void add_function_code(struct fg_strbuf *text, const struct fg_blame *blame,
			      const struct fg_node_verdict *node)
{
	struct fg_strbuf clean = {0};

	fg_report_add_function_name(&clean, blame, node, NAME_COLUMNS, false);
	add_clean_code(text, &clean);
}

/* As code, with a link if there is an address. */
static void add_linked(struct fg_strbuf *text, const char *name, const struct fg_strbuf *url)
{
	if (url->length > 0) {
		fg_strbuf_add_text(text, "<a href=\"");
		add_escaped(text, fg_strbuf_text(url));
		fg_strbuf_add_text(text, "\">");
	}
	add_code(text, name);
	if (url->length > 0)
		fg_strbuf_add_text(text, "</a>");
}

/* A stranger's line, which may be the first on its line. */
static void add_line(struct fg_strbuf *text, const char *line)
{
	const size_t blanks = strspn(line, " ");

	fg_strbuf_add(text, line, blanks);
	line += blanks;
	if (*line == '/') {
		fg_strbuf_add_text(text, "&#47;");
		line++;
	}
	add_escaped(text, line);
}

/* A sentence of ours that may quote a stranger. */
static void add_sentence(struct fg_strbuf *text, const char *plain)
{
	struct fg_strbuf clean = {0};
	struct fg_strbuf part = {0};

	fg_report_add_clean(&clean, plain, MAX_TAIL_BYTES);
	for (const char *at = fg_strbuf_text(&clean); *at; at++) {
		fg_strbuf_add_char(&part, *at);
		if (strchr("@#!", *at) && isalnum((unsigned char)at[1]))
			fg_strbuf_add_text(&part, WITHOUT_WIDTH);
	}
	add_line(text, fg_strbuf_text(&part));
	fg_strbuf_release(&part);
	fg_strbuf_release(&clean);
}

/* The cells of a metric: "cpu time | +4.8 % | [+3.1, +6.6] | 210 ms → 220 ms". */
static void add_metric_cells(struct fg_strbuf *text, const struct fg_metric_verdict *metric)
{
	struct fg_strbuf levels = {0};

	add_sentence(text, metric->label);
	fg_strbuf_add_text(text, " | ");
	fg_report_add_change(text, metric);
	fg_strbuf_add_text(text, " | ");
	fg_report_add_interval(text, metric);
	fg_strbuf_add_text(text, " | ");
	fg_report_add_levels(&levels, metric);
	add_sentence(text, fg_strbuf_text(&levels));
	fg_strbuf_release(&levels);
}

static void add_row(struct fg_strbuf *text, const struct fg_benchmark_verdict *benchmark)
{
	const struct fg_metric_verdict *metric = fg_report_headline(benchmark);

	fg_strbuf_add_text(text, "| ");
	add_code(text, benchmark->name);
	fg_strbuf_add_text(text, " | ");
	if (metric && fg_report_has_change(metric) && !benchmark->identical)
		add_metric_cells(text, metric);
	else
		fg_strbuf_printf(text, "%s | | | ",
				 benchmark->unaffected  ? fg_report_unaffected
				 : benchmark->identical ? "same binaries"
							: "");
	fg_strbuf_add_text(text, " | ");
	fg_report_add_effort(text, benchmark, metric);
	fg_strbuf_printf(text, " | %s %s |\n", signs[benchmark->outcome],
			 fg_outcome_name(benchmark->outcome));
}

static void add_place(struct fg_strbuf *text, const struct fg_node_verdict *node,
		      const struct fg_run *run)
{
	const char *file = node->source ? node->source->file : node->file;
	struct fg_strbuf place = {0};
	struct fg_strbuf url = {0};

	fg_report_add_place(&place, node, false);
	(void)fg_web_link_place(run, file, node->line, &url);
	if (place.length > 0)
		add_linked(text, fg_strbuf_text(&place), &url);
	fg_strbuf_release(&url);
	fg_strbuf_release(&place);
}

static void add_function(struct fg_strbuf *text, const struct fg_blame *blame,
			 const struct fg_node_verdict *node, const struct fg_run *run)
{
	struct fg_strbuf cell = {0};

	fg_strbuf_add_text(text, "| ");
	fg_report_add_share(text, node->share_of_change);
	fg_strbuf_add_text(text, " | ");
	add_function_code(text, blame, node);
	fg_strbuf_add_text(text, " | ");
	add_place(text, node, run);
	fg_strbuf_add_text(text, " | ");
	fg_report_add_delta(text, node->unit, node->delta);
	fg_strbuf_add_text(text, " | ");
	if (node->path_count > 0) {
		fg_strbuf_clear(&cell);
		fg_report_add_path(&cell, &node->paths[0], NAME_COLUMNS);
		add_code(text, fg_strbuf_text(&cell));
	}
	fg_strbuf_add_text(text, " |\n");
	fg_strbuf_release(&cell);
}

static void add_not_sure(struct fg_strbuf *text, const struct fg_blame *blame)
{
	const char *separator = "Not sure: ";

	for (size_t i = 0; i < blame->function_count; i++) {
		const struct fg_node_verdict *node = &blame->functions[i];

		if (node->standing != FG_STANDING_NOT_SURE)
			continue;
		fg_strbuf_add_text(text, separator);
		add_function_code(text, blame, node);
		fg_strbuf_add_char(text, ' ');
		fg_report_add_delta(text, node->unit, node->delta);
		separator = ", ";
	}
	if (*separator == ',')
		fg_strbuf_add_text(text, "\n\n");
}

/* The rows add up to the total change. */
static void add_functions(struct fg_strbuf *text, const struct fg_blame *blame,
			  const struct fg_run *run)
{
	const size_t shown = fg_min_size(fg_report_sure_count(blame), MAX_FUNCTIONS);
	const struct fg_remainder rest = fg_report_everything_else(blame, shown);

	if (shown == 0)
		return;
	fg_strbuf_add_text(text, "| share | function | where | own ");
	if (fg_report_is_time(blame->unit))
		fg_strbuf_add_text(text, "time");
	else
		add_sentence(text, blame->label);
	fg_strbuf_add_text(text, ", with unchanged libraries");
	fg_strbuf_add_text(text, " | path |\n|---:|---|---|---:|---|\n");
	for (size_t i = 0; i < shown; i++)
		add_function(text, blame, &blame->functions[i], run);
	if (isfinite(rest.delta)) {
		fg_strbuf_add_text(text, "| ");
		fg_report_add_share(text, rest.share);
		fg_strbuf_add_text(text, " | everything else | | ");
		fg_report_add_delta(text, blame->unit, rest.delta);
		fg_strbuf_add_text(text, " | |\n");
	}
	fg_strbuf_add_char(text, '\n');
}

/* Lines of the first changed function, or of the hottest one, with their costs. */
static void add_source(struct fg_strbuf *text, const struct fg_blame *blame,
		       const struct fg_run *run)
{
	const struct fg_source_listing *source =
		fg_report_sure_count(blame) > 0 ? blame->functions[0].source : NULL;
	bool chosen[FG_SOURCE_ROWS_MAX];
	struct fg_source_layout layout;
	struct fg_strbuf line = {0};
	struct fg_strbuf url = {0};

	if (!source)
		return;
	(void)fg_report_choose_source(source, SOURCE_LINES, chosen);
	layout = fg_report_source_layout(source, chosen);
	(void)fg_web_link_place(run, source->file, blame->functions[0].line, &url);
	add_linked(text, source->file, &url);
	fg_strbuf_release(&url);
	fg_strbuf_add_text(text, "\n\n<pre>");
	for (size_t i = 0; i < source->row_count; i++) {
		if (!chosen[i])
			continue;
		fg_strbuf_clear(&line);
		fg_report_add_source_line(&line, &source->rows[i], &layout, NAME_COLUMNS);
		add_line(text, fg_strbuf_text(&line));
		fg_strbuf_add_char(text, '\n');
	}
	fg_strbuf_add_text(text, "</pre>\n\n");
	fg_strbuf_release(&line);
}

static void add_moved(struct fg_strbuf *text, const struct fg_blame *blame)
{
	for (size_t i = 0; i < blame->moved_count; i++) {
		fg_strbuf_printf(text, "Moved, not %s: ",
				 fg_report_is_time(blame->unit) ? "slower" : "more");
		add_code(text, blame->moved[i].from);
		fg_strbuf_add_text(text, " → ");
		add_code(text, blame->moved[i].to);
		fg_strbuf_add_text(text, " (");
		add_sentence(text, blame->moved[i].kind);
		fg_strbuf_add_text(text, ")\n\n");
	}
}

static void add_blame(struct fg_strbuf *text, const struct fg_benchmark_verdict *benchmark,
		      const struct fg_run *run)
{
	const struct fg_blame *blame = NULL;

	for (size_t i = 0; (blame = fg_report_blame(benchmark, i)); i++) {
		add_functions(text, blame, run);
		add_source(text, blame, run);
		add_not_sure(text, blame);
		add_moved(text, blame);
	}
}

static void add_metrics(struct fg_strbuf *text, const struct fg_benchmark_verdict *benchmark)
{
	if (benchmark->metric_count == 0)
		return;
	fg_strbuf_add_text(
		text,
		"| metric | change | interval | levels | verdict |\n|---|---:|---|---|---|\n");
	for (size_t i = 0; i < benchmark->metric_count; i++) {
		const struct fg_metric_verdict *metric = &benchmark->metrics[i];
		struct fg_strbuf cell = {0};

		fg_strbuf_add_text(text, "| ");
		add_metric_cells(text, metric);
		fg_strbuf_printf(text, " | %s%s",
				 metric->decided ? fg_outcome_name(metric->outcome) : "not judged",
				 metric->gated ? "" : ", informational");
		if (metric->accepted) {
			fg_report_add_accept(&cell, metric->accepted);
			fg_strbuf_add_text(text, ", ");
			add_sentence(text, fg_strbuf_text(&cell));
		}
		fg_strbuf_add_text(text, " |\n");
		fg_strbuf_release(&cell);
	}
	fg_strbuf_add_char(text, '\n');
}

static void add_quoted(struct fg_strbuf *text, const char *lines)
{
	if (!lines || !*lines)
		return;
	fg_strbuf_add_text(text, "<pre>");
	for (const char *at = lines; *at;) {
		const size_t length = strcspn(at, "\n");
		struct fg_strbuf clean = {0};

		fg_text_add_clean(&clean, at, length, MAX_TAIL_BYTES);
		add_line(text, fg_strbuf_text(&clean));
		fg_strbuf_add_text(text, "\n");
		fg_strbuf_release(&clean);
		at += length + (at[length] == '\n');
	}
	fg_strbuf_add_text(text, "</pre>\n\n");
}

static void add_failure(struct fg_strbuf *text, const struct fg_benchmark_verdict *benchmark)
{
	if (benchmark->error) {
		add_sentence(text, benchmark->error);
		fg_strbuf_add_text(text, "\n\n");
	}
	add_quoted(text, benchmark->error_tail);
	add_quoted(text, benchmark->error_stacks);
}

static void add_note(struct fg_strbuf *text, const char *note)
{
	fg_strbuf_add_text(text, "> ");
	add_sentence(text, note);
	fg_strbuf_add_text(text, "\n\n");
}

static void add_notes(struct fg_strbuf *text, const struct fg_notes *notes)
{
	for (size_t i = 0; i < notes->count; i++)
		add_note(text, notes->items[i]);
}

static void add_metric_notes(struct fg_strbuf *text, const struct fg_benchmark_verdict *benchmark)
{
	struct fg_note_place place = {0};
	const char *note = NULL;

	while ((note = fg_report_next_metric_note(benchmark, &place)))
		add_note(text, note);
}

static void add_sampling(struct fg_strbuf *text, const struct fg_sampling *sampling)
{
	struct fg_strbuf words = {0};

	if (!(sampling->rate_hz > 0))
		return;
	fg_report_add_sampling(&words, sampling);
	if (sampling->expected_cost > 0)
		fg_strbuf_printf(&words, "; about %.1f %% of the CPU time, of both sides alike",
				 100 * sampling->expected_cost);
	fg_strbuf_add_text(text, "Sampled: ");
	add_sentence(text, fg_strbuf_text(&words));
	fg_strbuf_add_text(text, ".\n\n");
	fg_strbuf_release(&words);
}

static void add_details(struct fg_strbuf *text, const struct fg_benchmark_verdict *benchmark,
			const struct fg_run *run, bool is_brief)
{
	const bool open = benchmark->outcome == FG_OUTCOME_REGRESSION ||
			  benchmark->outcome == FG_OUTCOME_ERROR;
	struct fg_strbuf seen = {0};

	fg_strbuf_printf(text, "<details%s><summary>%s ", open ? " open" : "",
			 signs[benchmark->outcome]);
	add_code(text, benchmark->name);
	fg_strbuf_printf(text, " %s</summary>\n\n", fg_outcome_name(benchmark->outcome));
	add_failure(text, benchmark);
	if (benchmark->outcome == FG_OUTCOME_INCONCLUSIVE &&
	    fg_report_add_detectable(&seen, fg_report_headline(benchmark)))
		fg_strbuf_printf(text, "Inconclusive: %s.\n\n", fg_strbuf_text(&seen));
	fg_strbuf_release(&seen);
	add_blame(text, benchmark, run);
	add_metrics(text, benchmark);
	add_notes(text, &benchmark->notes);
	add_metric_notes(text, benchmark);
	if (!is_brief)
		add_sampling(text, &benchmark->sampling);
	fg_strbuf_add_text(text, "</details>\n\n");
}

static void add_differences(struct fg_strbuf *text, const struct fg_verdict *verdict)
{
	const size_t shown = fg_min_size(verdict->environment_difference_count, MAX_DIFFERENCES);

	if (shown == 0)
		return;
	fg_strbuf_add_text(text, "<details><summary>What differs in build and host</summary>\n\n"
				 "| what | baseline | candidate |\n|---|---|---|\n");
	for (size_t i = 0; i < shown; i++) {
		const struct fg_fact_difference *difference = &verdict->environment_difference[i];

		fg_strbuf_add_text(text, "| ");
		add_code(text, difference->key);
		fg_strbuf_add_text(text, " | ");
		add_code(text, difference->baseline ? difference->baseline : "(absent)");
		fg_strbuf_add_text(text, " | ");
		add_code(text, difference->candidate ? difference->candidate : "(absent)");
		fg_strbuf_add_text(text, " |\n");
	}
	if (shown < verdict->environment_difference_count)
		fg_strbuf_printf(text, "| %zu more | | |\n",
				 verdict->environment_difference_count - shown);
	fg_strbuf_add_text(text, "\n</details>\n\n");
}

/* Appends a piece if it fits into the budget (with room for the footer). */
static bool add_if_it_fits(struct fg_strbuf *text, const struct fg_strbuf *piece, size_t start,
			   size_t budget)
{
	if (text->length - start + piece->length + FOOTER_BYTES > budget)
		return false;
	fg_strbuf_add(text, fg_strbuf_text(piece), piece->length);
	return true;
}

/* A benchmark of which only name and change matter: comments fold it into one list. */
static bool is_quiet(const struct fg_benchmark_verdict *benchmark)
{
	if (benchmark->outcome != FG_OUTCOME_PASS || benchmark->time.moved_count > 0)
		return false;
	for (size_t i = 0; i < benchmark->metric_count; i++) {
		if (benchmark->metrics[i].accepted)
			return false;
	}
	return true;
}

static size_t count_loud(const struct fg_verdict *verdict)
{
	size_t count = 0;

	for (size_t i = 0; i < verdict->benchmark_count; i++)
		count += !is_quiet(&verdict->benchmarks[i]);
	return count;
}

static void add_quiet_one(struct fg_strbuf *text, const struct fg_benchmark_verdict *benchmark)
{
	const struct fg_metric_verdict *metric = fg_report_headline(benchmark);

	add_code(text, benchmark->name);
	if (benchmark->unaffected) {
		fg_strbuf_add_text(text, " unchanged code");
	} else if (benchmark->identical) {
		fg_strbuf_add_text(text, " same binaries");
	} else if (metric && fg_report_has_change(metric)) {
		fg_strbuf_add_char(text, ' ');
		fg_report_add_change(text, metric);
	}
}

/* "parse +0.1 %, hash same binaries": the passed benchmarks, without a table. */
static size_t add_quiet_list(struct fg_strbuf *text, const struct fg_verdict *verdict, size_t start,
			     size_t budget)
{
	const size_t count = verdict->benchmark_count - count_loud(verdict);
	struct fg_strbuf one = {0};
	const char *separator = "";
	size_t left_out = 0;

	if (count == 0)
		return 0;
	fg_strbuf_printf(text, "<details><summary>%s %zu passed</summary>\n\n",
			 signs[FG_OUTCOME_PASS], count);
	for (size_t i = 0; i < verdict->benchmark_count; i++) {
		if (!is_quiet(&verdict->benchmarks[i]))
			continue;
		fg_strbuf_clear(&one);
		fg_strbuf_add_text(&one, separator);
		add_quiet_one(&one, &verdict->benchmarks[i]);
		left_out += !add_if_it_fits(text, &one, start, budget);
		separator = ", ";
	}
	fg_strbuf_add_text(text, "\n\n</details>\n\n");
	fg_strbuf_release(&one);
	return left_out;
}

static size_t add_table(struct fg_strbuf *text, const struct fg_verdict *verdict,
			const struct page *page, const size_t *order)
{
	struct fg_strbuf row = {0};
	size_t left_out = 0;

	if (verdict->benchmark_count == 0 || (page->is_brief && count_loud(verdict) == 0))
		return 0;
	fg_strbuf_add_text(
		text, "| benchmark | metric | change | interval | levels | effort | verdict |\n"
		      "|---|---|---:|---|---|---|---|\n");
	for (size_t i = 0; i < verdict->benchmark_count; i++) {
		const struct fg_benchmark_verdict *benchmark = &verdict->benchmarks[order[i]];

		if (page->is_brief && is_quiet(benchmark))
			continue;
		fg_strbuf_clear(&row);
		add_row(&row, benchmark);
		left_out += !add_if_it_fits(text, &row, page->start, page->budget);
	}
	fg_strbuf_add_char(text, '\n');
	fg_strbuf_release(&row);
	return left_out;
}

static size_t add_all_details(struct fg_strbuf *text, const struct fg_report *report,
			      const struct page *page, const size_t *order)
{
	const struct fg_verdict *verdict = report->verdict;
	struct fg_strbuf piece = {0};
	size_t left_out = 0;

	for (size_t i = 0; i < verdict->benchmark_count; i++) {
		const struct fg_benchmark_verdict *benchmark = &verdict->benchmarks[order[i]];

		if (page->is_brief && is_quiet(benchmark))
			continue;
		fg_strbuf_clear(&piece);
		add_details(&piece, benchmark, report->run, page->is_brief);
		left_out += !add_if_it_fits(text, &piece, page->start, page->budget);
	}
	if (page->is_brief)
		left_out += add_quiet_list(text, verdict, page->start, page->budget);
	fg_strbuf_clear(&piece);
	add_differences(&piece, verdict);
	add_notes(&piece, &verdict->notes);
	left_out += !add_if_it_fits(text, &piece, page->start, page->budget);
	fg_strbuf_release(&piece);
	return left_out;
}

static void add_commit(struct fg_strbuf *text, const struct fg_run *run, enum fg_arm arm)
{
	char shortened[SHORT_COMMIT + 1] = "";
	struct fg_strbuf url = {0};

	(void)snprintf(shortened, sizeof(shortened), "%s", run->sides[arm].commit);
	(void)fg_web_link_commit(run, arm, &url);
	add_linked(text, shortened, &url);
	fg_strbuf_release(&url);
}

static void add_sides(struct fg_strbuf *text, const struct fg_run *run)
{
	const struct fg_side *baseline = &run->sides[FG_ARM_BASELINE];
	const struct fg_side *candidate = &run->sides[FG_ARM_CANDIDATE];

	if (baseline->commit && candidate->commit) {
		fg_strbuf_add_text(text, "Baseline ");
		add_commit(text, run, FG_ARM_BASELINE);
		fg_strbuf_add_text(text, " → candidate ");
		add_commit(text, run, FG_ARM_CANDIDATE);
		fg_strbuf_printf(text, "%s. ", candidate->dirty ? " with uncommitted changes" : "");
	}
	fg_strbuf_printf(text, "Run <code>%s</code>\n", run->id);
}

/* The cause in one sentence; for several benchmarks, then a summary. */
static void add_lead(struct fg_strbuf *text, const struct fg_verdict *verdict)
{
	static const struct fg_cause_style style = {
		.add_text = add_sentence,
		.add_code = add_code,
	};

	if (verdict->benchmark_count == 0) {
		fg_strbuf_add_text(text, "No benchmark ran.\n\n");
		return;
	}
	fg_report_add_run_cause(text, verdict, &style);
	fg_strbuf_add_text(text, "\n\n");
	if (verdict->benchmark_count > 1 && verdict->outcome != FG_OUTCOME_PASS) {
		fg_report_add_summary(text, verdict);
		fg_strbuf_add_text(text, "\n\n");
	}
}

static void add_next(struct fg_strbuf *text, const struct fg_report *report)
{
	struct fg_advice steps[FG_ADVICE_MAX];
	struct fg_arena arena = {0};
	const size_t count = fg_report_advice(report, &arena, steps);

	for (size_t i = 0; i < count; i++) {
		fg_strbuf_printf(text, "- %s: <code>", steps[i].label);
		add_escaped(text, steps[i].text);
		fg_strbuf_add_text(text, "</code>\n");
	}
	if (count > 0)
		fg_strbuf_add_char(text, '\n');
	fg_arena_release(&arena);
}

static void write_markdown(const struct fg_report *report, struct fg_strbuf *text,
			   const struct page *page)
{
	const struct fg_verdict *verdict = report->verdict;
	size_t *order = fg_report_worst_first(verdict);
	size_t left_out = 0;

	fg_strbuf_printf(text, "## %s fastgate: %s\n\n", signs[verdict->outcome],
			 fg_outcome_name(verdict->outcome));
	add_lead(text, verdict);
	add_next(text, report);
	left_out = add_table(text, verdict, page, order);
	left_out += add_all_details(text, report, page, order);
	free(order);
	if (left_out > 0)
		fg_strbuf_printf(
			text,
			"%zu parts did not fit here; the HTML and JSON reports have them.\n\n",
			left_out);
	add_sides(text, report->run);
}

int fg_report_markdown(const struct fg_report *report, const struct fg_report_options *options,
		       struct fg_strbuf *text, struct fg_error *err)
{
	(void)options;
	(void)err;
	write_markdown(report, text,
		       &(struct page){.start = text->length, .budget = SUMMARY_BUDGET_BYTES});
	return FG_OK;
}

/*
 * Keeps letters, digits, '.' and '_': "--" and '>' would end the marker, '?' and '&' a part of an
 * address.
 */
static void add_plain_project(struct fg_strbuf *text, const struct fg_run *run)
{
	const char *project = run->project ? run->project : "";

	for (size_t used = 0; *project && used < NAME_COLUMNS; project++, used++) {
		const bool plain = isascii((unsigned char)*project) &&
				   (isalnum((unsigned char)*project) || *project == '.');

		fg_strbuf_add(text, plain ? project : "_", 1);
	}
}

void fg_report_comment_marker(const struct fg_run *run, struct fg_strbuf *text)
{
	fg_strbuf_add_text(text, "<!-- fastgate:");
	add_plain_project(text, run);
	fg_strbuf_add_text(text, " -->");
}

void fg_report_status_name(const struct fg_run *run, struct fg_strbuf *text)
{
	fg_strbuf_add_text(text, "fastgate/");
	add_plain_project(text, run);
}

void fg_report_title(const struct fg_verdict *verdict, struct fg_strbuf *text)
{
	fg_strbuf_printf(text, "%s: ", fg_outcome_name(verdict->outcome));
	fg_report_add_run_cause(text, verdict, NULL);
}

int fg_report_comment(const struct fg_report *report, const struct fg_report_options *options,
		      struct fg_strbuf *text, struct fg_error *err)
{
	const size_t start = text->length;

	(void)options;
	(void)err;
	fg_report_comment_marker(report->run, text);
	fg_strbuf_add_char(text, '\n');
	write_markdown(
		report, text,
		&(struct page){.start = start, .budget = COMMENT_BUDGET_BYTES, .is_brief = true});
	return FG_OK;
}
