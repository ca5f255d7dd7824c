// SPDX-License-Identifier: Apache-2.0
/*
 * The answer in a few lines.
 *
 * One line a benchmark, in columns; a benchmark that needs attention gets its blame and its other
 * metrics below.
 *
 *	reconstruct   cpu time   +4.8 %  [+3.1, +6.6]   210 ms → 220 ms   22 pairs, 7 s   REGRESSION
 *	  93 %  fit(Track&)  fit.cpp:88   +9.7 ms   main → loop → fit
 *	   5 %  unattributed
 *	max rss  +0.0 %  pass      wall time  not decided in duet
 *
 * A narrow terminal loses the effort column first, then the levels, then the interval; name, change
 * and verdict stay. Words in capitals want somebody to look; colour only repeats what the words
 * say.
 */
#include "base/number.h"
#include "base/text.h"
#include "reporters/formats.h"

#include <ctype.h>
#include <math.h>

enum column {
	COLUMN_NAME,
	COLUMN_METRIC,
	COLUMN_CHANGE,
	COLUMN_INTERVAL,
	COLUMN_LEVELS,
	COLUMN_EFFORT,
	COLUMN_VERDICT,
	COLUMN_COUNT,
};

enum {
	MAX_NAME_COLUMNS = 40,
	MIN_NAME_COLUMNS = 8,
	MAX_BLAMED = 5,      /* functions shown unless --verbose */
	MAX_TAIL_LINES = 10, /* of a program that failed */
	MAX_DIFFERENCES = 3, /* of the environment, unless --verbose */
	FUNCTION_COLUMNS = 44,
	MAX_SENTENCE_BYTES = 2000,
};

/* Between a column and the one before it. */
static const unsigned gap[COLUMN_COUNT] = {0, 3, 3, 2, 3, 3, 3};
/* What a narrow terminal loses, first to last. */
static const enum column given_up[] = {COLUMN_EFFORT, COLUMN_LEVELS, COLUMN_INTERVAL,
				       COLUMN_METRIC};

static const struct {
	const char *word;
	const char *color;
} looks[] = {
	[FG_OUTCOME_PASS] = {"pass", "\033[32m"},
	[FG_OUTCOME_NEW] = {"new", "\033[36m"},
	[FG_OUTCOME_MISSING] = {"MISSING", "\033[33m"},
	[FG_OUTCOME_IMPROVEMENT] = {"improvement", "\033[1;32m"},
	[FG_OUTCOME_INCONCLUSIVE] = {"INCONCLUSIVE", "\033[1;33m"},
	[FG_OUTCOME_REGRESSION] = {"REGRESSION", "\033[1;31m"},
	[FG_OUTCOME_ERROR] = {"ERROR", "\033[1;35m"},
};

#define BOLD  "\033[1m"
#define DIM   "\033[2m"
#define RESET "\033[0m"

struct row {
	struct fg_strbuf cells[COLUMN_COUNT];
	const char *words; /* instead of numbers: "same binaries on both sides" */
};

struct page {
	const struct fg_report *report;
	const struct fg_report_options *options;
	struct fg_strbuf *text;
	struct row *rows; /* one per benchmark */
	size_t width[COLUMN_COUNT];
	bool hidden[COLUMN_COUNT];
};

static void add_styled(const struct page *page, const char *style, const char *words)
{
	if (page->options->color)
		fg_strbuf_add_text(page->text, style);
	fg_strbuf_add_text(page->text, words);
	if (page->options->color)
		fg_strbuf_add_text(page->text, RESET);
}

static size_t room_for_text(const struct page *page, size_t used)
{
	const size_t width = page->options->width;

	if (width == 0)
		return 0;
	return width > used + 10 ? width - used : 10;
}

static const char *words_instead_of_numbers(const struct fg_benchmark_verdict *benchmark,
					    const struct fg_metric_verdict *headline)
{
	if (benchmark->outcome == FG_OUTCOME_ERROR)
		return "could not be measured";
	if (benchmark->outcome == FG_OUTCOME_NEW)
		return "nothing to compare with yet";
	if (benchmark->outcome == FG_OUTCOME_MISSING)
		return "in the baseline only";
	if (benchmark->identical)
		return "same binaries on both sides";
	if (!headline || !fg_report_has_change(headline))
		return "nothing was compared";
	return NULL;
}

static void fill_row(struct row *row, const struct fg_benchmark_verdict *benchmark)
{
	const struct fg_metric_verdict *headline = fg_report_headline(benchmark);

	fg_report_add_name(&row->cells[COLUMN_NAME], benchmark->name, MAX_NAME_COLUMNS);
	fg_strbuf_add_text(&row->cells[COLUMN_VERDICT], looks[benchmark->outcome].word);
	if (benchmark->pairs > 0 && benchmark->outcome != FG_OUTCOME_ERROR)
		fg_report_add_effort(&row->cells[COLUMN_EFFORT], benchmark);
	row->words = words_instead_of_numbers(benchmark, headline);
	if (row->words)
		return;
	fg_report_add_name(&row->cells[COLUMN_METRIC], headline->label, 24);
	fg_report_add_change(&row->cells[COLUMN_CHANGE], headline);
	fg_report_add_interval(&row->cells[COLUMN_INTERVAL], headline);
	fg_report_add_levels(&row->cells[COLUMN_LEVELS], headline);
}

static size_t cell_width(const struct row *row, enum column column)
{
	return fg_text_width(fg_strbuf_text(&row->cells[column]));
}

static size_t table_width(const struct page *page)
{
	size_t total = 0;

	for (size_t c = 0; c < COLUMN_COUNT; c++) {
		if (!page->hidden[c] && page->width[c] > 0)
			total += page->width[c] + gap[c];
	}
	return total;
}

/* Widths of the columns; then what does not fit goes, and the name gets what is left. */
static void lay_out(struct page *page)
{
	const size_t width = page->options->width;
	size_t total = 0;

	for (size_t i = 0; i < page->report->verdict->benchmark_count; i++) {
		for (size_t c = 0; c < COLUMN_COUNT; c++) {
			const size_t wanted = cell_width(&page->rows[i], (enum column)c);

			if (wanted > page->width[c])
				page->width[c] = wanted;
		}
	}
	if (width == 0)
		return;
	for (size_t i = 0; i < FG_ARRAY_SIZE(given_up) && table_width(page) > width; i++) {
		if (i < 3 || page->width[COLUMN_NAME] <= MIN_NAME_COLUMNS)
			page->hidden[given_up[i]] = true;
	}
	total = table_width(page);
	if (total > width) {
		const size_t over = total - width;
		const size_t name = page->width[COLUMN_NAME];

		page->width[COLUMN_NAME] =
			name > over + MIN_NAME_COLUMNS ? name - over : MIN_NAME_COLUMNS;
	}
}

static void pad_to(struct fg_strbuf *text, size_t have, size_t want)
{
	if (have < want)
		fg_strbuf_add_repeated(text, ' ', want - have);
}

static void add_name_cell(const struct page *page, const struct row *row)
{
	struct fg_strbuf name = {0};

	fg_report_add_name(&name, fg_strbuf_text(&row->cells[COLUMN_NAME]),
			   page->width[COLUMN_NAME]);
	add_styled(page, BOLD, fg_strbuf_text(&name));
	pad_to(page->text, fg_text_width(fg_strbuf_text(&name)), page->width[COLUMN_NAME]);
	fg_strbuf_release(&name);
}

/* The words run over the columns of the numbers. */
static void add_words_cell(const struct page *page, const struct row *row)
{
	size_t room = 0;
	struct fg_strbuf words = {0};

	for (size_t c = COLUMN_METRIC; c < COLUMN_EFFORT; c++) {
		if (!page->hidden[c] && page->width[c] > 0)
			room += page->width[c] + gap[c];
	}
	room = room > gap[COLUMN_METRIC] ? room - gap[COLUMN_METRIC] : 0;
	if (room == 0)
		room = strlen(row->words);
	fg_report_add_name(&words, row->words, page->options->width > 0 ? room : 0);
	fg_strbuf_add_repeated(page->text, ' ', gap[COLUMN_METRIC]);
	fg_strbuf_add_text(page->text, fg_strbuf_text(&words));
	pad_to(page->text, fg_text_width(fg_strbuf_text(&words)), room);
	fg_strbuf_release(&words);
}

static void add_cell(const struct page *page, const struct row *row, enum column column)
{
	const size_t have = cell_width(row, column);
	const bool right = column == COLUMN_CHANGE;

	if (page->hidden[column] || page->width[column] == 0)
		return;
	fg_strbuf_add_repeated(page->text, ' ', gap[column]);
	if (right)
		pad_to(page->text, have, page->width[column]);
	fg_strbuf_add_text(page->text, fg_strbuf_text(&row->cells[column]));
	if (!right)
		pad_to(page->text, have, page->width[column]);
}

static void add_row(const struct page *page, const struct row *row, enum fg_outcome outcome)
{
	add_name_cell(page, row);
	if (row->words) {
		add_words_cell(page, row);
	} else {
		for (size_t c = COLUMN_METRIC; c < COLUMN_EFFORT; c++)
			add_cell(page, row, (enum column)c);
	}
	add_cell(page, row, COLUMN_EFFORT);
	fg_strbuf_add_repeated(page->text, ' ', gap[COLUMN_VERDICT]);
	add_styled(page, looks[outcome].color, looks[outcome].word);
	fg_strbuf_add_char(page->text, '\n');
}

/* A line of words below a benchmark, indented, cut at the terminal's edge. */
static void add_line(const struct page *page, const char *style, const struct fg_strbuf *words)
{
	struct fg_strbuf fitted = {0};

	fg_report_add_name(&fitted, fg_strbuf_text(words), room_for_text(page, 2));
	fg_strbuf_add_text(page->text, "  ");
	if (style)
		add_styled(page, style, fg_strbuf_text(&fitted));
	else
		fg_strbuf_add_text(page->text, fg_strbuf_text(&fitted));
	fg_strbuf_add_char(page->text, '\n');
	fg_strbuf_release(&fitted);
}

/* A sentence below a benchmark: broken between words where the terminal ends. */
static void add_words(const struct page *page, const char *style, const char *words)
{
	const size_t room = room_for_text(page, 2);
	struct fg_strbuf line = {0};
	struct fg_strbuf clean = {0};
	const char *at = NULL;

	fg_text_add_clean(&clean, words, strlen(words), MAX_SENTENCE_BYTES);
	for (at = fg_strbuf_text(&clean); *at;) {
		const size_t length = strcspn(at, " ");
		char *word = fg_xstrndup(at, length);

		if (room > 0 && line.length > 0 &&
		    fg_text_width(fg_strbuf_text(&line)) + 1 + fg_text_width(word) > room) {
			add_line(page, style, &line);
			fg_strbuf_clear(&line);
			fg_strbuf_add_char(&line, ' ');
		}
		fg_strbuf_printf(&line, "%s%s", line.length > 0 ? " " : "", word);
		free(word);
		at += length + strspn(at + length, " ");
	}
	add_line(page, style, &line);
	fg_strbuf_release(&clean);
	fg_strbuf_release(&line);
}

/* --- blame --- */

static void add_share(struct fg_strbuf *line, double share)
{
	if (isfinite(share))
		fg_strbuf_printf(line, "%2.0f %%  ", fabs(share) < 0.005 ? 0.0 : share * 100);
	else
		fg_strbuf_add_text(line, "      ");
}

static void add_blamed(const struct page *page, const struct fg_node_verdict *node)
{
	struct fg_strbuf line = {0};
	struct fg_strbuf path = {0};
	size_t used = 0;

	add_share(&line, node->share_of_change);
	fg_report_add_name(&line, node->name, FUNCTION_COLUMNS);
	if (node->file) {
		fg_strbuf_add_text(&line, "  ");
		fg_report_add_place(&line, node, page->options->verbose);
	}
	fg_strbuf_add_text(&line, "   ");
	fg_report_add_delta_ms(&line, node->delta_ms);
	used = fg_text_width(fg_strbuf_text(&line)) + 5;
	if (node->path_count > 0 &&
	    (page->options->width == 0 || page->options->width > used + 20)) {
		fg_report_add_path(&path, &node->paths[0],
				   page->options->width == 0 ? 0 : page->options->width - used);
		fg_strbuf_printf(&line, "   %s", fg_strbuf_text(&path));
	}
	add_line(page, NULL, &line);
	for (size_t i = 1; page->options->verbose && i < node->path_count; i++) {
		fg_strbuf_clear(&line);
		fg_strbuf_add_text(&line, "         ");
		fg_report_add_delta_ms(&line, node->paths[i].delta_ms);
		fg_strbuf_add_text(&line, "   ");
		fg_report_add_path(&line, &node->paths[i], room_for_text(page, 24));
		add_line(page, NULL, &line);
	}
	fg_strbuf_release(&path);
	fg_strbuf_release(&line);
}

static bool is_worth_a_line(const struct fg_node_verdict *node)
{
	return node->outcome == FG_OUTCOME_REGRESSION || node->outcome == FG_OUTCOME_IMPROVEMENT ||
	       (isfinite(node->share_of_change) && fabs(node->share_of_change) >= 0.01);
}

static void add_rest(const struct page *page, size_t count, double share, double delta_ms)
{
	struct fg_strbuf line = {0};

	add_share(&line, share);
	fg_strbuf_printf(&line, "%zu other function%s   ", count, count == 1 ? "" : "s");
	fg_report_add_delta_ms(&line, delta_ms);
	add_line(page, NULL, &line);
	fg_strbuf_release(&line);
}

static void add_unattributed(const struct page *page, const struct fg_benchmark_verdict *benchmark)
{
	const double share = benchmark->unattributed_ms / benchmark->total_delta_ms;
	struct fg_strbuf line = {0};

	if (!isfinite(share) || fabs(share) < 0.005)
		return;
	add_share(&line, share);
	fg_strbuf_add_text(&line, "unattributed");
	add_line(page, NULL, &line);
	fg_strbuf_release(&line);
}

static void add_blame(const struct page *page, const struct fg_benchmark_verdict *benchmark)
{
	size_t shown = 0;
	size_t left = 0;
	double left_share = 0;
	double left_ms = 0;

	for (size_t i = 0; i < benchmark->function_count; i++) {
		const struct fg_node_verdict *node = &benchmark->functions[i];

		if (page->options->verbose || (shown < MAX_BLAMED && is_worth_a_line(node))) {
			add_blamed(page, node);
			shown++;
		} else {
			left++;
			left_share += node->share_of_change;
			left_ms += node->delta_ms;
		}
	}
	if (left > 0 && shown > 0 && !(fabs(left_share) < 0.01))
		add_rest(page, left, left_share, left_ms);
	if (benchmark->function_count > 0)
		add_unattributed(page, benchmark);
	for (size_t i = 0; i < benchmark->moved_count; i++) {
		const struct fg_moved *moved = &benchmark->moved[i];
		char number[FG_NUMBER_TEXT_SIZE] = "";
		struct fg_strbuf line = {0};

		fg_strbuf_add_text(&line, "moved, not slower: ");
		fg_report_add_plain_name(&line, moved->from, FUNCTION_COLUMNS);
		fg_strbuf_add_text(&line, " → ");
		fg_report_add_plain_name(&line, moved->to, FUNCTION_COLUMNS);
		fg_strbuf_printf(&line, "   %s   %s",
				 fg_format_duration(fabs(moved->moved_ms) * 1e6, number),
				 moved->kind);
		add_words(page, NULL, fg_strbuf_text(&line));
		fg_strbuf_release(&line);
	}
}

/* --- the other metrics --- */

static bool other_is_shown(const struct page *page, const struct fg_metric_verdict *metric)
{
	if (metric->accepted) /* has a line of its own */
		return false;
	return page->options->verbose || metric->gated ||
	       (metric->decided && metric->outcome == FG_OUTCOME_REGRESSION);
}

static void add_other(const struct page *page, struct fg_strbuf *cell,
		      const struct fg_metric_verdict *metric, enum fg_schedule schedule)
{
	fg_report_add_name(cell, metric->label, 24);
	if (!metric->decided) {
		fg_strbuf_printf(cell, "  not decided in %s", fg_schedule_name(schedule));
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
									     : " (shown only)");
}

/* In one line as long as they fit; with --verbose one line each. */
static void add_others(const struct page *page, const struct fg_benchmark_verdict *benchmark)
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

/* --- what else a benchmark has to say --- */

static void add_failure(const struct page *page, const struct fg_benchmark_verdict *benchmark)
{
	const char *line = benchmark->error_tail;
	size_t lines = 0;

	if (benchmark->error)
		add_words(page, NULL, benchmark->error);
	if (!line || !*line)
		return;
	for (const char *at = line; *at; at++)
		lines += *at == '\n' && at[1] != '\0';
	for (; lines >= MAX_TAIL_LINES; lines--)
		line = strchr(line, '\n') + 1;
	while (*line) {
		const size_t length = strcspn(line, "\n");
		struct fg_strbuf words = {0};

		fg_strbuf_add_text(&words, "| ");
		fg_text_add_clean(&words, line, length, 400);
		add_line(page, DIM, &words);
		fg_strbuf_release(&words);
		line += length + (line[length] == '\n');
	}
}

static void add_hint(const struct page *page, const struct fg_benchmark_verdict *benchmark)
{
	const struct fg_metric_verdict *headline = fg_report_headline(benchmark);
	struct fg_strbuf line = {0};

	if (benchmark->outcome != FG_OUTCOME_INCONCLUSIVE || !headline ||
	    !isfinite(headline->smallest_detectable))
		return;
	fg_strbuf_printf(
		&line, "this run could have seen a change of %.2g %%; more pairs see smaller ones",
		headline->smallest_detectable * 100);
	add_words(page, NULL, fg_strbuf_text(&line));
	fg_strbuf_release(&line);
}

static void add_notes(const struct page *page, const struct fg_notes *notes)
{
	for (size_t i = 0; i < notes->count; i++)
		add_words(page, DIM, notes->items[i]);
}

/* Why `auto` chose its schedule is a detail. */
static void add_benchmark_notes(const struct page *page,
				const struct fg_benchmark_verdict *benchmark)
{
	const struct fg_series *series = fg_report_series(page->report, benchmark);
	const char *detail = series ? series->schedule_reason : NULL;
	struct fg_note_place place = {0};
	const char *note = NULL;

	for (size_t i = 0; i < benchmark->notes.count; i++) {
		note = benchmark->notes.items[i];
		if (page->options->verbose || !detail || strcmp(note, detail) != 0)
			add_words(page, DIM, note);
	}
	while ((note = fg_report_next_metric_note(benchmark, &place)))
		add_words(page, DIM, note);
}

static bool has_news(const struct page *page, const struct fg_benchmark_verdict *benchmark)
{
	const struct fg_series *series = fg_report_series(page->report, benchmark);
	const char *detail = series ? series->schedule_reason : NULL;

	for (size_t i = 0; i < benchmark->notes.count; i++) {
		if (!detail || strcmp(benchmark->notes.items[i], detail) != 0)
			return true;
	}
	return benchmark->moved_count > 0;
}

static void add_accepts(const struct page *page, const struct fg_benchmark_verdict *benchmark)
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
		add_words(page, NULL, fg_strbuf_text(&line));
		fg_strbuf_release(&line);
	}
}

static bool needs_words(const struct page *page, const struct fg_benchmark_verdict *benchmark)
{
	if (page->options->verbose || benchmark->outcome != FG_OUTCOME_PASS)
		return true;
	for (size_t i = 0; i < benchmark->metric_count; i++) {
		if (benchmark->metrics[i].accepted)
			return true;
	}
	return has_news(page, benchmark);
}

static void add_others_verbose(const struct page *page,
			       const struct fg_benchmark_verdict *benchmark)
{
	static const char *const titles[] = {"library", "region"};
	const struct fg_node_verdict *const lists[] = {benchmark->libraries, benchmark->regions};
	const size_t counts[] = {benchmark->library_count, benchmark->region_count};

	if (!page->options->verbose)
		return;
	for (size_t l = 0; l < FG_ARRAY_SIZE(lists); l++) {
		for (size_t i = 0; i < counts[l]; i++) {
			struct fg_strbuf line = {0};

			fg_strbuf_printf(&line, "%s ", titles[l]);
			fg_report_add_name(&line, lists[l][i].name, FUNCTION_COLUMNS);
			fg_strbuf_add_text(&line, "   ");
			fg_report_add_delta_ms(&line, lists[l][i].delta_ms);
			fg_strbuf_printf(&line, "   %s", fg_outcome_name(lists[l][i].outcome));
			add_line(page, NULL, &line);
			fg_strbuf_release(&line);
		}
	}
	if (benchmark->set_aside > 0) {
		struct fg_strbuf line = {0};

		fg_strbuf_printf(&line, "%u pair%s set aside", benchmark->set_aside,
				 benchmark->set_aside == 1 ? "" : "s");
		add_line(page, DIM, &line);
		fg_strbuf_release(&line);
	}
}

static void add_benchmark(const struct page *page, size_t index)
{
	const struct fg_benchmark_verdict *benchmark = &page->report->verdict->benchmarks[index];

	add_row(page, &page->rows[index], benchmark->outcome);
	if (!needs_words(page, benchmark))
		return;
	if (benchmark->outcome == FG_OUTCOME_ERROR)
		add_failure(page, benchmark);
	add_hint(page, benchmark);
	add_blame(page, benchmark);
	add_others_verbose(page, benchmark);
	add_accepts(page, benchmark);
	add_benchmark_notes(page, benchmark);
	if (benchmark->outcome != FG_OUTCOME_PASS || page->options->verbose)
		add_others(page, benchmark);
}

/* --- around the benchmarks --- */

static void add_differences(const struct page *page)
{
	const struct fg_verdict *verdict = page->report->verdict;
	size_t left = 0;
	size_t shown = 0;

	for (size_t i = 0; i < verdict->environment_difference_count; i++) {
		const struct fg_fact_difference *difference = &verdict->environment_difference[i];
		struct fg_strbuf line = {0};

		if (!page->options->verbose &&
		    (!difference->identity || shown == MAX_DIFFERENCES)) {
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
		add_line(page, NULL, &line);
		fg_strbuf_release(&line);
		shown++;
	}
	if (left > 0 && shown > 0)
		add_words(page, DIM, "more differs in build or host: --verbose shows it");
}

static void add_circumstances(const struct page *page)
{
	const size_t before = page->text->length;

	fg_strbuf_add_char(page->text, '\n');
	add_differences(page);
	add_notes(page, &page->report->verdict->notes);
	if (page->text->length == before + 1) { /* nothing was said */
		page->text->length = before;
		page->text->data[before] = '\0';
	}
}

static void add_sides(const struct page *page)
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
	fg_report_add_name(page->text, fg_strbuf_text(&line), room_for_text(page, 0));
	fg_strbuf_add_char(page->text, '\n');
	fg_strbuf_release(&line);
}

/* The verdict of the whole, broken between its parts where the terminal ends. */
static void add_summary_words(const struct page *page, const char *words)
{
	const size_t width = page->options->width;
	size_t used = 0;

	while (*words) {
		const size_t length = strcspn(words, ",") + (strchr(words, ',') != NULL);

		if (width > 0 && used > 0 && used + length > width) {
			fg_strbuf_add_text(page->text, "\n ");
			used = 1;
		}
		fg_strbuf_add(page->text, words, length);
		used += length;
		words += length;
	}
	if (width > 0 && used + 3 + strlen(looks[page->report->verdict->outcome].word) > width)
		fg_strbuf_add_char(page->text, '\n');
	else
		fg_strbuf_add_text(page->text, "   ");
}

static void add_summary(const struct page *page)
{
	const struct fg_verdict *verdict = page->report->verdict;
	struct fg_strbuf line = {0};

	if (verdict->benchmark_count == 0) {
		fg_strbuf_add_text(page->text, "no benchmark ran   ");
		add_styled(page, looks[verdict->outcome].color, looks[verdict->outcome].word);
		fg_strbuf_add_char(page->text, '\n');
		return;
	}
	if (verdict->benchmark_count == 1)
		return;
	fg_report_add_summary(&line, verdict);
	fg_strbuf_add_char(page->text, '\n');
	add_summary_words(page, fg_strbuf_text(&line));
	add_styled(page, looks[verdict->outcome].color, looks[verdict->outcome].word);
	fg_strbuf_add_char(page->text, '\n');
	fg_strbuf_release(&line);
}

/* A blank line parts a benchmark with words below it from its neighbours. */
static void add_benchmarks(const struct page *page)
{
	const struct fg_verdict *verdict = page->report->verdict;

	for (size_t i = 0; i < verdict->benchmark_count; i++) {
		const bool parted = i > 0 && (needs_words(page, &verdict->benchmarks[i]) ||
					      needs_words(page, &verdict->benchmarks[i - 1]));

		if (parted)
			fg_strbuf_add_char(page->text, '\n');
		add_benchmark(page, i);
	}
}

/*
 * For a locale without them: the few signs outside ASCII that this reporter writes, and "?" for all
 * others.
 */
static void add_as_ascii(struct fg_strbuf *text, const char *utf8)
{
	static const struct {
		const char *sign;
		const char *ascii;
	} signs[] = {{"→", "->"}, {"…", "..."}, {"µ", "u"}, {"±", "+-"},
		     {"×", "x"},  {"−", "-"},   {"–", "-"}};

	while (*utf8) {
		size_t i = 0;

		if (isascii((unsigned char)*utf8)) {
			fg_strbuf_add_char(text, *utf8++);
			continue;
		}
		while (i < FG_ARRAY_SIZE(signs) && !fg_text_starts_with(utf8, signs[i].sign))
			i++;
		fg_strbuf_add_text(text, i < FG_ARRAY_SIZE(signs) ? signs[i].ascii : "?");
		utf8++;
		while (((unsigned char)*utf8 & 0xC0U) == 0x80U)
			utf8++;
	}
}

static void trim_line_ends(struct fg_strbuf *to, const char *from)
{
	while (*from) {
		const size_t length = strcspn(from, "\n");
		size_t kept = length;

		while (kept > 0 && from[kept - 1] == ' ')
			kept--;
		fg_strbuf_add(to, from, kept);
		if (from[length] == '\n')
			fg_strbuf_add_char(to, '\n');
		from += length + (from[length] == '\n');
	}
}

int fg_report_terminal(const struct fg_report *report, const struct fg_report_options *options,
		       struct fg_strbuf *text, struct fg_error *err)
{
	const struct fg_verdict *verdict = report->verdict;
	struct fg_strbuf body = {0};
	struct fg_strbuf ascii = {0};
	struct page page = {.report = report, .options = options, .text = &body};

	(void)err;
	page.rows = fg_xcalloc(verdict->benchmark_count, sizeof(page.rows[0]));
	for (size_t i = 0; i < verdict->benchmark_count; i++)
		fill_row(&page.rows[i], &verdict->benchmarks[i]);
	lay_out(&page);
	add_sides(&page);
	add_benchmarks(&page);
	add_circumstances(&page);
	add_summary(&page);
	if (options->ascii)
		add_as_ascii(&ascii, fg_strbuf_text(&body));
	trim_line_ends(text, fg_strbuf_text(options->ascii ? &ascii : &body));
	for (size_t i = 0; i < verdict->benchmark_count; i++) {
		for (size_t c = 0; c < COLUMN_COUNT; c++)
			fg_strbuf_release(&page.rows[i].cells[c]);
	}
	free(page.rows);
	fg_strbuf_release(&ascii);
	fg_strbuf_release(&body);
	return FG_OK;
}
