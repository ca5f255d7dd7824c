// SPDX-License-Identifier: Apache-2.0
/*
 * Writes the result of a search for people. All names are escaped, because they come from commits.
 */
#include "base/clock.h"
#include "base/number.h"
#include "base/text.h"
#include "cli/bisect/search.h"
#include "reporters/web/assets.h"

#include <math.h>

enum {
	SHOWN_COMMITS = 20,
	SUBJECT_MAX = 70,
};

/* Commits less likely than this are not listed. */
static const double min_shown = 0.005;

double fg_search_seconds(const struct fg_bisect_search *search)
{
	return search->seconds_before +
	       (double)(fg_clock_monotonic_ns() - search->started_ns) / FG_NS_PER_S;
}

const char *fg_search_subject(const struct fg_bisect_search *search)
{
	return search->request.measure ? search->request.measure : search->request.metric;
}

/* ---- sentences ---- */

static void add_name(struct fg_strbuf *text, const char *name)
{
	fg_text_add_clean(text, name, strlen(name), SUBJECT_MAX);
}

static void add_subject(const struct fg_bisect_search *search, struct fg_strbuf *text)
{
	const char *name = fg_search_subject(search);
	const struct fg_metric *metric = fg_metric_find_builtin(name);

	add_name(text, search->request.benchmark);
	fg_strbuf_add_text(text, ", ");
	if (search->request.function) {
		add_name(text, search->request.function);
		fg_strbuf_add_text(text, search->request.measure ? ", " : "");
	}
	if (search->request.measure || !search->request.function)
		add_name(text, metric ? metric->label : name);
}

static void add_nothing(const struct fg_bisect_search *search, struct fg_strbuf *text)
{
	char words[FG_NUMBER_TEXT_SIZE];

	fg_strbuf_add_text(text, "nothing to find: ");
	add_subject(search, text);
	fg_strbuf_printf(text, " is not slower at %.12s than at %.12s", search->range.bad,
			 search->range.good);
	if (search->ends.outcome == FG_OUTCOME_PLACEMENT)
		fg_strbuf_add_text(text, ", except for the effect of code placement");
	if (isfinite(search->ends.smallest))
		fg_strbuf_printf(text, "; a change of %s would have been detected",
				 fg_format_change(search->ends.smallest, words));
}

static void add_head(const struct fg_bisect_search *search, struct fg_strbuf *text)
{
	char words[FG_NUMBER_TEXT_SIZE];

	if (search->state == FG_SEARCH_NOTHING) {
		add_nothing(search, text);
		return;
	}
	add_subject(search, text);
	fg_strbuf_printf(text, ": %s from %.12s to %.12s, %zu commit%s",
			 fg_format_change(exp(search->look.whole) - 1, words), search->range.good,
			 search->range.bad, search->range.count,
			 search->range.count == 1 ? "" : "s");
}

/* Adds "Sort lists, by Ann Example: +30.1 % against its parent, regression, in find". */
static void add_step(const struct fg_bisect_search *search, size_t index, struct fg_strbuf *text)
{
	const struct fg_bisect_step *step = &search->look.steps[index];
	const struct fg_range_commit *commit = &search->range.commits[step->last];
	const struct fg_search_verdict *verdict = &search->steps[index];
	char words[FG_NUMBER_TEXT_SIZE];

	add_name(text, commit->subject);
	fg_strbuf_add_text(text, ", by ");
	add_name(text, commit->author);
	if (step->first < step->last)
		fg_strbuf_printf(text, ", or one of the %zu before it that cannot be measured",
				 step->last - step->first);
	if (index >= search->confirmed || !isfinite(verdict->ratio)) {
		fg_strbuf_printf(text, ": %s", fg_format_change(exp(step->size) - 1, words));
		return;
	}
	fg_strbuf_printf(text, ": %s against its parent, %s",
			 fg_format_change(verdict->ratio - 1, words),
			 fg_outcome_name(verdict->outcome));
	if (verdict->function) {
		fg_strbuf_add_text(text, ", in ");
		add_name(text, verdict->function);
	}
	if (verdict->outcome == FG_OUTCOME_PLACEMENT)
		fg_strbuf_add_text(text, ": only code placement changed");
}

static void add_commit(const struct fg_bisect_search *search, size_t index, struct fg_strbuf *text)
{
	const size_t pairs = search->model.commits[index].pair_count;

	add_name(text, search->range.commits[index].subject);
	fg_strbuf_add_text(text, ", by ");
	add_name(text, search->range.commits[index].author);
	if (pairs > 0)
		fg_strbuf_printf(text, "; %zu %s%s", pairs,
				 search->model.is_exact ? "count" : "pair", pairs == 1 ? "" : "s");
	if (search->commits[index].error)
		fg_strbuf_printf(text, "; not measured: %s", search->commits[index].error);
}

/* Returns the plural ending for a count that is printed without decimals. */
static const char *plural(double count)
{
	return lround(count) == 1 ? "" : "s";
}

static void add_end(const struct fg_bisect_search *search, struct fg_strbuf *text)
{
	char words[FG_NUMBER_TEXT_SIZE];

	if (search->state != FG_SEARCH_FOUND)
		fg_strbuf_printf(text, "%s: 95 %% of the probability is in %zu commit%s; ",
				 search->state == FG_SEARCH_STOPPED
					 ? "the budget ran out (--resume continues)"
					 : "no single commit can be blamed with certainty",
				 search->look.left, search->look.left == 1 ? "" : "s");
	fg_strbuf_printf(text, "%.0f %% of the change explained; %.0f build%s, %.0f %s%s, %s",
			 100 * search->look.explained, search->builds, plural(search->builds),
			 search->pairs, search->model.is_exact ? "count" : "pair",
			 plural(search->pairs),
			 fg_format_duration(fg_search_seconds(search) * FG_NS_PER_S, words));
}

/* ---- formats ---- */

struct format {
	/* Text at the beginning, around the table and its parts, and at the end. */
	const char *head;
	const char *table;
	const char *row;
	const char *cell;
	const char *row_end;
	const char *table_end;
	const char *end;
	bool is_marked_up; /* escapes text, and shows cards */
	bool is_page;      /* an HTML page, with a bar for every commit */
};

static const struct format formats[] = {
	[FG_SEARCH_TEXT] = {.head = "",
			    .table = "\n",
			    .row = "",
			    .cell = "  ",
			    .row_end = "\n",
			    .table_end = "",
			    .end = "\n"},
	[FG_SEARCH_MARKDOWN] = {.head = "### ",
				.table = "\n\n| probability | commit | subject |\n|---|---|---|\n",
				.row = "| ",
				.cell = " | ",
				.row_end = " |\n",
				.table_end = "\n",
				.end = "\n",
				.is_marked_up = true},
	[FG_SEARCH_HTML] = {.head = "<h1>",
			    .table =
				    "</h1>\n<table class=\"data\">\n<thead><tr><th>Probability</th>"
				    "<th>Commit</th><th>Subject</th></tr></thead>\n<tbody>\n",
			    .row = "<tr><td>",
			    .cell = "</td><td class=\"grow\">",
			    .row_end = "</td></tr>\n",
			    .table_end = "</tbody>\n</table>\n<p>",
			    .end = "</p>\n",
			    .is_marked_up = true,
			    .is_page = true},
};

/* Every character that Markdown or HTML would act on becomes a reference. */
static void add_words(const struct format *format, struct fg_strbuf *plain, struct fg_strbuf *text)
{
	fg_text_add_references(text, fg_strbuf_text(plain), plain->length,
			       format->is_marked_up ? "<>&\"'`*_[]()#@|\\~!:/" : "");
	fg_strbuf_release(plain);
}

/* Adds a row and releases `words`. */
static void add_row(const struct format *format, double probability, const char *hash,
		    struct fg_strbuf *words, struct fg_strbuf *text)
{
	fg_strbuf_add_text(text, format->row);
	if (format->is_page)
		fg_strbuf_printf(text, "<meter value=\"%.4f\"></meter> ", probability);
	fg_strbuf_printf(text, "%5.1f %%%s%.12s%s", 100 * probability, format->cell, hash,
			 format->cell);
	add_words(format, words, text);
	fg_strbuf_add_text(text, format->row_end);
}

static void add_rows(const struct fg_bisect_search *search, const struct format *format,
		     struct fg_strbuf *text)
{
	const bool lists = format->is_page || search->state != FG_SEARCH_FOUND;
	const size_t most = format->is_page ? search->range.count : SHOWN_COMMITS;
	size_t shown = 0;
	struct fg_strbuf words = {0};

	for (size_t i = 0; i < search->look.step_count; i++) {
		const struct fg_bisect_step *step = &search->look.steps[i];

		add_step(search, i, &words);
		add_row(format, step->probability, search->range.commits[step->last].hash, &words,
			text);
	}
	for (size_t i = 0; lists && i < search->range.count && shown < most; i++) {
		const double probability =
			search->look.probability ? search->look.probability[i] : 0;

		if (!(probability > min_shown) && !format->is_page)
			continue;
		add_commit(search, i, &words);
		add_row(format, probability, search->range.commits[i].hash, &words, text);
		shown++;
	}
}

/* Adds the answer card of each commit found, compared with its parent. */
static void add_cards(const struct fg_bisect_search *search, const struct format *format,
		      struct fg_strbuf *text)
{
	struct fg_strbuf words = {0};

	for (size_t i = 0; i < search->confirmed && format->is_marked_up; i++) {
		if (!search->steps[i].card)
			continue;
		fg_strbuf_add_text(text, "\n<pre>");
		fg_strbuf_add_text(&words, search->steps[i].card);
		add_words(format, &words, text);
		fg_strbuf_add_text(text, "</pre>\n");
	}
}

/* The page contains no scripts, and its policy forbids them. */
static void begin_page(struct fg_strbuf *text)
{
	const struct fg_web_asset *style = fg_web_asset_find("style.css");

	FG_ASSERT(style);
	fg_strbuf_add_text(text,
			   "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
			   "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src "
			   "'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action "
			   "'none'\">\n<meta name=\"viewport\" content=\"width=device-width, "
			   "initial-scale=1\">\n<title>fastgate bisect</title>\n<style>");
	fg_strbuf_add(text, style->data, style->size);
	fg_strbuf_add_text(text, "</style>\n</head>\n<body>\n<main id=\"page\">\n");
}

void fg_search_write(const struct fg_bisect_search *search, enum fg_search_format format,
		     struct fg_strbuf *text)
{
	const struct format *as = &formats[format];
	struct fg_strbuf words = {0};

	if (as->is_page)
		begin_page(text);
	fg_strbuf_add_text(text, as->head);
	add_head(search, &words);
	add_words(as, &words, text);
	if (search->state == FG_SEARCH_NOTHING) {
		fg_strbuf_add_text(text, as->is_page ? "</h1>\n" : "\n");
	} else {
		fg_strbuf_add_text(text, as->table);
		add_rows(search, as, text);
		fg_strbuf_add_text(text, as->table_end);
		add_end(search, &words);
		add_words(as, &words, text);
		fg_strbuf_add_text(text, as->end);
		add_cards(search, as, text);
	}
	if (as->is_page)
		fg_strbuf_add_text(text, "</main>\n</body>\n</html>\n");
}
