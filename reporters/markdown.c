// SPDX-License-Identifier: Apache-2.0
/*
 * Markdown for GitHub's step summary and for a pull-request comment: one writer, two budgets.
 *
 * The card's sentence comes first, then the table, the rest of the card, and details benchmark by
 * benchmark, worst first, if they fit; omissions are reported. A comment is limited to 4 KB, about
 * one screen. GitHub rejects a step summary above 1 MiB.
 *
 * Names are in <code>, with every special character of Markdown and HTML as a character reference;
 * servers create no mentions or links inside <code>. Elsewhere references do not prevent mentions
 * and links (servers look for "@somebody" and "#12" in the rendered page), so a zero-width space
 * follows the sign. GitLab would execute a line that begins with "/merge", so a slash at the
 * beginning of a line also becomes a reference. Lines of a diff block are not escaped: each line
 * begins with a sign and a number, so it cannot end the block. Details are quoted from the terminal
 * report.
 */
#include "base/text.h"
#include "model/links.h"
#include "reporters/card.h"
#include "reporters/figures.h"
#include "reporters/formats.h"
#include "reporters/names.h"
#include "reporters/terminal_page.h"
#include "reporters/verdict_queries.h"

#include <ctype.h>

#define WITHOUT_WIDTH "\xe2\x80\x8b"

enum {
	SUMMARY_BUDGET_BYTES = 900 * 1000,
	COMMENT_BUDGET_BYTES = 4000,
	FOOTER_BYTES = 512,
	DETAILS_BYTES = 1000, /* bytes of a comment reserved for details */
	NAME_COLUMNS = 100,
	ROW_NAME_COLUMNS = 60,
	MAX_TAIL_BYTES = 4000,
	MAX_ERROR_BYTES = 160, /* maximum size of an error in a table row, in bytes */
	SHORT_COMMIT = 12,
};

/* One page in the text, and its size limit. */
struct page {
	size_t start; /* offset of the page in the text */
	size_t budget;
	bool is_brief; /* the page is a comment */
};

static const char *const signs[] = {
	[FG_OUTCOME_PASS] = "✅", /* one symbol per outcome */
	[FG_OUTCOME_NEW] = "🆕",
	[FG_OUTCOME_MISSING] = "❔",
	[FG_OUTCOME_IMPROVEMENT] = "🚀",
	[FG_OUTCOME_PLACEMENT] = "📍",
	[FG_OUTCOME_INCONCLUSIVE] = "🤷",
	[FG_OUTCOME_CREEP] = "🐌",
	[FG_OUTCOME_REGRESSION] = "❌",
	[FG_OUTCOME_ERROR] = "💥",
};

static const char *sign_of(const struct fg_benchmark_verdict *benchmark)
{
	return fg_report_probably(benchmark) ? "❓" : signs[benchmark->outcome];
}

static void add_escaped(struct fg_strbuf *text, const char *plain)
{
	fg_text_add_references(text, plain, strlen(plain), "!\"#$&'*:;<>?@[\\]^_`{|}~");
}

/* Adds an uncut text as code, linked if there is an address. */
static void add_linked_text(struct fg_strbuf *text, const char *plain, const struct fg_strbuf *url)
{
	if (url->length > 0) {
		fg_strbuf_add_text(text, "<a href=\"");
		add_escaped(text, fg_strbuf_text(url));
		fg_strbuf_add_text(text, "\">");
	}
	fg_strbuf_add_text(text, "<code>");
	add_escaped(text, plain);
	fg_strbuf_add_text(text, "</code>");
	if (url->length > 0)
		fg_strbuf_add_text(text, "</a>");
}

static void add_linked(struct fg_strbuf *text, const char *name, const struct fg_strbuf *url)
{
	struct fg_strbuf clean = {0};

	fg_report_add_name(&clean, name, NAME_COLUMNS);
	add_linked_text(text, fg_strbuf_text(&clean), url);
	fg_strbuf_release(&clean);
}

/* Adds the text in `clean` and empties it. */
static void add_clean_code(struct fg_strbuf *text, struct fg_strbuf *clean)
{
	add_linked_text(text, fg_strbuf_text(clean), &(struct fg_strbuf){0});
	fg_strbuf_release(clean);
}

static void add_code(struct fg_strbuf *text, const char *name)
{
	add_linked(text, name, &(struct fg_strbuf){0});
}

/* Adds an untrusted line that may begin a line of the page. */
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

/* Adds a sentence by fastgate that may quote untrusted text. */
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

static void add_row(struct fg_strbuf *text, const struct fg_benchmark_verdict *benchmark)
{
	const struct fg_metric_verdict *metric = fg_report_headline(benchmark);
	const char *remark = fg_report_remark(benchmark);
	struct fg_strbuf words = {0};

	fg_strbuf_printf(text, "| %s %s | ", sign_of(benchmark), fg_report_state(benchmark));
	fg_report_add_name(&words, benchmark->name, ROW_NAME_COLUMNS);
	add_clean_code(text, &words);
	fg_strbuf_add_text(text, " | ");
	if (benchmark->error)
		remark = benchmark->error;
	if (remark) {
		fg_report_add_clean(&words, remark, MAX_ERROR_BYTES);
		add_sentence(text, fg_strbuf_text(&words));
		fg_strbuf_clear(&words);
	} else {
		if (strcmp(metric->name, "cpu_time") != 0) {
			add_sentence(text, metric->label);
			fg_strbuf_add_char(text, ' ');
		}
		fg_report_add_change(text, metric);
		fg_strbuf_add_char(text, ' ');
		fg_report_add_interval(text, metric);
		fg_report_add_levels(&words, metric);
	}
	fg_strbuf_add_text(text, " | ");
	add_sentence(text, fg_strbuf_text(&words));
	fg_strbuf_add_text(text, " |\n");
	fg_strbuf_release(&words);
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

/* Adds the card's lines with their costs. */
static void add_hunk(struct fg_strbuf *text, const struct fg_card *card, const struct fg_run *run)
{
	if (card->hunk.count == 0)
		return;
	add_place(text, card->culprit, run);
	fg_strbuf_add_text(text, "\n\n```diff\n");
	for (size_t i = 0; i < card->hunk.count; i++) {
		fg_hunk_add_line(text, &card->hunk, i, 0);
		fg_strbuf_add_char(text, '\n');
	}
	fg_strbuf_add_text(text, "```\n\n");
}

/* Adds text from the terminal report. */
static void add_quoted(struct fg_strbuf *text, const char *lines)
{
	fg_strbuf_add_text(text, "<pre>");
	for (const char *at = lines; *at;) {
		const size_t length = strcspn(at, "\n");
		char *line = fg_xstrndup(at, length);

		add_line(text, line);
		fg_strbuf_add_char(text, '\n');
		free(line);
		at += length + (at[length] == '\n');
	}
	fg_strbuf_add_text(text, "</pre>\n\n");
}

/* Is the benchmark's row in the table enough, without details? */
static bool is_confirmed(const struct fg_benchmark_verdict *benchmark)
{
	return benchmark->outcome == FG_OUTCOME_NEW || benchmark->outcome == FG_OUTCOME_MISSING;
}

/* Adds the benchmark's details, quoted from the terminal report. */
static void add_details(struct fg_strbuf *text, const struct fg_report *report,
			const struct fg_benchmark_verdict *benchmark, bool is_brief)
{
	const bool open = !is_brief && (benchmark->outcome == FG_OUTCOME_REGRESSION ||
					benchmark->outcome == FG_OUTCOME_ERROR);
	struct fg_strbuf lines = {0};

	fg_strbuf_printf(text, "<details%s><summary>%s ", open ? " open" : "", sign_of(benchmark));
	add_code(text, benchmark->name);
	fg_strbuf_printf(text, " %s</summary>\n\n", fg_report_state(benchmark));
	fg_terminal_quote(report, benchmark, !is_brief, &lines);
	add_quoted(text, fg_strbuf_text(&lines));
	fg_strbuf_add_text(text, "</details>\n\n");
	fg_strbuf_release(&lines);
}

static void add_circumstances(struct fg_strbuf *text, const struct fg_report *report, bool is_brief)
{
	struct fg_strbuf lines = {0};

	fg_terminal_quote_circumstances(report, !is_brief, &lines);
	if (lines.length > 0) {
		fg_strbuf_add_text(text, "<details><summary>Circumstances</summary>\n\n");
		add_quoted(text, fg_strbuf_text(&lines) + strspn(fg_strbuf_text(&lines), "\n"));
		fg_strbuf_add_text(text, "</details>\n\n");
	}
	fg_strbuf_release(&lines);
}

/* Appends a piece if it fits into the budget, which includes the footer. */
static bool add_if_it_fits(struct fg_strbuf *text, const struct fg_strbuf *piece, size_t start,
			   size_t budget)
{
	if (text->length - start + piece->length + FOOTER_BYTES > budget)
		return false;
	fg_strbuf_add(text, fg_strbuf_text(piece), piece->length);
	return true;
}

static size_t count_loud(const struct fg_verdict *verdict)
{
	size_t count = 0;

	for (size_t i = 0; i < verdict->benchmark_count; i++)
		count += !fg_report_is_quiet(&verdict->benchmarks[i]);
	return count;
}

static void add_quiet_one(struct fg_strbuf *text, const struct fg_verdict *verdict,
			  const struct fg_benchmark_verdict *benchmark)
{
	const char *remark = fg_report_remark(benchmark);
	struct fg_strbuf name = {0};

	fg_report_add_benchmark_name(&name, verdict, benchmark, ROW_NAME_COLUMNS);
	add_clean_code(text, &name);
	fg_strbuf_add_char(text, ' ');
	if (remark)
		fg_strbuf_add_text(text, remark);
	else
		fg_report_add_change(text, fg_report_headline(benchmark));
}

/*
 * Adds the passed benchmarks, which are not in the table: "parse +0.1 %, hash −0.2 % and 40 more".
 */
static void add_quiet_list(struct fg_strbuf *text, const struct fg_verdict *verdict,
			   const struct page *page)
{
	const size_t count = verdict->benchmark_count - count_loud(verdict);
	struct fg_strbuf one = {0};
	const char *separator = "";
	size_t left_out = 0;

	if (count == 0)
		return;
	fg_strbuf_printf(text, "<details><summary>%s %zu passed</summary>\n\n",
			 signs[FG_OUTCOME_PASS], count);
	for (size_t i = 0; i < verdict->benchmark_count; i++) {
		if (!fg_report_is_quiet(&verdict->benchmarks[i]))
			continue;
		fg_strbuf_clear(&one);
		fg_strbuf_add_text(&one, separator);
		add_quiet_one(&one, verdict, &verdict->benchmarks[i]);
		left_out += left_out > 0 || !add_if_it_fits(text, &one, page->start, page->budget);
		separator = ", ";
	}
	if (left_out > 0)
		fg_strbuf_printf(text, "%s%zu more", left_out < count ? " and " : "", left_out);
	fg_strbuf_add_text(text, "\n\n</details>\n\n");
	fg_strbuf_release(&one);
}

/*
 * Adds the table, worst benchmark first, without the passed benchmarks. Returns the number of rows
 * that did not fit.
 */
static size_t add_table(struct fg_strbuf *text, const struct fg_verdict *verdict,
			const struct page *page, const size_t *order)
{
	const size_t keep = page->is_brief ? DETAILS_BYTES : 0;
	struct fg_strbuf row = {0};
	size_t left_out = 0;

	if (count_loud(verdict) == 0)
		return 0;
	fg_strbuf_add_text(text, "| verdict | benchmark | change | levels |\n|---|---|---|---|\n");
	for (size_t i = 0; i < verdict->benchmark_count; i++) {
		const struct fg_benchmark_verdict *benchmark = &verdict->benchmarks[order[i]];

		if (fg_report_is_quiet(benchmark))
			continue;
		fg_strbuf_clear(&row);
		add_row(&row, benchmark);
		left_out += left_out > 0 ||
			    !add_if_it_fits(text, &row, page->start, page->budget - keep);
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

		if (fg_report_is_quiet(benchmark) || is_confirmed(benchmark))
			continue;
		fg_strbuf_clear(&piece);
		add_details(&piece, report, benchmark, page->is_brief);
		left_out += !add_if_it_fits(text, &piece, page->start, page->budget);
	}
	fg_strbuf_clear(&piece);
	add_circumstances(&piece, report, page->is_brief);
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
	struct fg_strbuf url = {0};

	if (baseline->commit && candidate->commit) {
		fg_strbuf_add_text(text, "Baseline ");
		add_commit(text, run, FG_ARM_BASELINE);
		fg_strbuf_add_text(text, " → candidate ");
		add_commit(text, run, FG_ARM_CANDIDATE);
		fg_strbuf_printf(text, "%s. ", candidate->dirty ? " with uncommitted changes" : "");
	}
	(void)fg_web_link_run(run, &url);
	fg_strbuf_add_text(text, "fastgate run ");
	add_linked(text, run->id, &url);
	fg_strbuf_add_char(text, '\n');
	fg_strbuf_release(&url);
}

/*
 * Adds the run's sentence, and a summary if there are several benchmarks and the run did not pass.
 */
static void add_lead(struct fg_strbuf *text, const struct fg_verdict *verdict)
{
	static const struct fg_card_style style = {
		.add_text = add_sentence,
		.add_code = add_code,
	};

	fg_strbuf_printf(text, "### %s ", signs[verdict->outcome]);
	fg_card_add_run_sentence(text, verdict, &style);
	fg_strbuf_add_text(text, "\n\n");
	if (verdict->benchmark_count > 1 && verdict->outcome != FG_OUTCOME_PASS) {
		fg_report_add_summary(text, verdict);
		fg_strbuf_add_text(text, "\n\n");
	}
}

static void add_steps(struct fg_strbuf *text, const struct fg_card *card, const struct fg_run *run)
{
	struct fg_strbuf url = {0};

	if (card->why) {
		fg_strbuf_add_text(text, "- why: ");
		add_escaped(text, card->why);
		fg_strbuf_add_char(text, '\n');
	}
	if (card->change) {
		(void)fg_web_link_commit(run, FG_ARM_CANDIDATE, &url);
		fg_strbuf_add_text(text, "- change: ");
		add_linked_text(text, card->change, &url);
		fg_strbuf_add_char(text, '\n');
	}
	for (size_t i = 0; i < card->next_count; i++) {
		fg_strbuf_clear(&url);
		if (strcmp(card->next[i].what, "see") == 0)
			fg_strbuf_add_text(&url, card->next[i].text);
		fg_strbuf_printf(text, "- %s: ", card->next[i].what);
		add_linked_text(text, card->next[i].text, &url);
		fg_strbuf_add_char(text, '\n');
	}
	if (card->why || card->change || card->next_count > 0)
		fg_strbuf_add_char(text, '\n');
	fg_strbuf_release(&url);
}

static void write_markdown(const struct fg_report *report, struct fg_strbuf *text,
			   const struct page *page)
{
	const struct fg_verdict *verdict = report->verdict;
	size_t *order = fg_report_worst_first(verdict);
	struct fg_arena arena = {0};
	struct fg_strbuf steps = {0};
	struct page rows = *page;
	struct fg_card card;
	size_t left_out = 0;

	fg_card_make(report, NULL, &arena, &card);
	add_hunk(&steps, &card, report->run);
	add_steps(&steps, &card, report->run);
	add_lead(text, verdict);
	rows.budget -= steps.length;
	left_out = add_table(text, verdict, &rows, order);
	fg_strbuf_add(text, fg_strbuf_text(&steps), steps.length);
	left_out += add_all_details(text, report, page, order);
	free(order);
	add_quiet_list(text, verdict, page);
	if (left_out > 0)
		fg_strbuf_printf(text,
				 "%zu part%s did not fit here; see the HTML or JSON report.\n\n",
				 left_out, left_out == 1 ? "" : "s");
	add_sides(text, report->run);
	fg_strbuf_release(&steps);
	fg_arena_release(&arena);
}

void fg_report_markdown(const struct fg_report *report, const struct fg_report_options *options,
			struct fg_strbuf *text)
{
	(void)options;
	write_markdown(report, text,
		       &(struct page){.start = text->length, .budget = SUMMARY_BUDGET_BYTES});
}

/*
 * Adds the project's name, with '_' for everything but ASCII letters, digits and '.': "--" or '>'
 * would end the marker, and '?' or '&' would end a part of an address.
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

void fg_report_comment(const struct fg_report *report, const struct fg_report_options *options,
		       struct fg_strbuf *text)
{
	const size_t start = text->length;

	(void)options;
	fg_report_comment_marker(report->run, text);
	fg_strbuf_add_char(text, '\n');
	write_markdown(
		report, text,
		&(struct page){.start = start, .budget = COMMENT_BUDGET_BYTES, .is_brief = true});
}
