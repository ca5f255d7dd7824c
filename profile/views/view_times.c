// SPDX-License-Identifier: Apache-2.0
/*
 * How long calls of functions took.  Functions first; with a pattern for functions the call paths
 * to each of them; with a trace that one in full, and how its durations are spread.
 */
#include "base/number.h"
#include "profile/call_times.h"
#include "profile/views/view_private.h"

#include <math.h>

enum {
	FEW_TRACES = 20,
};

enum column {
	COLUMN_RETURNED,
	COLUMN_TOTAL,
	COLUMN_OWN,
	COLUMN_MEAN,
	COLUMN_LEAST,
	COLUMN_MEDIAN,
	COLUMN_P90,
	COLUMN_P99,
	COLUMN_MOST,
	COLUMN_TRACES,
	COLUMN_TRACE,
	COLUMN_FUNCTION,
	COLUMN_NAME,
	COLUMN_COUNT
};

static const struct fg_view_column columns[COLUMN_COUNT] = {
	[COLUMN_RETURNED] = {.key = "calls", .title = "calls", .kind = FG_CELL_COUNT},
	[COLUMN_TOTAL] = {.key = "total_ns", .title = "total", .kind = FG_CELL_COUNT},
	[COLUMN_OWN] = {.key = "own_ns", .title = "own", .kind = FG_CELL_COUNT, .optional = 5},
	[COLUMN_MEAN] = {.key = "mean_ns", .title = "mean", .kind = FG_CELL_COUNT},
	[COLUMN_LEAST] = {.key = "min_ns", .title = "min", .kind = FG_CELL_COUNT, .optional = 3},
	[COLUMN_MEDIAN] = {.key = "median_ns", .title = "median", .kind = FG_CELL_COUNT},
	[COLUMN_P90] = {.key = "p90_ns", .title = "90 %", .kind = FG_CELL_COUNT, .optional = 4},
	[COLUMN_P99] = {.key = "p99_ns", .title = "99 %", .kind = FG_CELL_COUNT, .optional = 2},
	[COLUMN_MOST] = {.key = "max_ns", .title = "max", .kind = FG_CELL_COUNT},
	[COLUMN_TRACES] = {.key = "traces",
			   .title = "traces",
			   .kind = FG_CELL_COUNT,
			   .optional = 1},
	[COLUMN_TRACE] = {.key = "trace", .title = "trace", .kind = FG_CELL_COUNT},
	[COLUMN_FUNCTION] = {.key = "function",
			     .title = "function",
			     .kind = FG_CELL_TEXT,
			     .left = true},
	[COLUMN_NAME] = {.key = "name", .title = "called by", .kind = FG_CELL_TEXT, .left = true},
};

/* In a unit of its own: the columns hold nanoseconds beside seconds. */
static struct fg_view_cell cell_of_time(struct fg_view_table *table, double ns)
{
	char text[FG_NUMBER_TEXT_SIZE];
	struct fg_view_cell cell = fg_cell_count(ns);

	cell.text = fg_arena_strdup(&table->arena, fg_format_duration(ns, text));
	return cell;
}

static void fill_row(struct fg_view_table *table, struct fg_view_row *row,
		     const struct fg_call_durations *of)
{
	struct fg_view_cell *cells = row->cells;

	cells[COLUMN_RETURNED] = fg_cell_count(of->returned);
	cells[COLUMN_TOTAL] = cell_of_time(table, of->total_ns);
	cells[COLUMN_OWN] = cell_of_time(table, of->own_ns);
	cells[COLUMN_MEAN] = cell_of_time(table, of->total_ns / of->returned);
	cells[COLUMN_LEAST] = cell_of_time(table, of->least_ns);
	cells[COLUMN_MEDIAN] = cell_of_time(table, fg_call_durations_quantile(of, 0.5));
	cells[COLUMN_P90] = cell_of_time(table, fg_call_durations_quantile(of, 0.9));
	cells[COLUMN_P99] = cell_of_time(table, fg_call_durations_quantile(of, 0.99));
	cells[COLUMN_MOST] = cell_of_time(table, of->most_ns);
}

static int longest_first(const void *left, const void *right)
{
	const struct fg_call_durations *a = left;
	const struct fg_call_durations *b = right;
	const int names = strcmp(a->function, b->function);

	if (a->total_ns > b->total_ns || a->total_ns < b->total_ns)
		return a->total_ns > b->total_ns ? -1 : 1;
	return names ? names : (a->stack > b->stack) - (a->stack < b->stack);
}

/* ---- functions ---- */

static void list_functions(struct fg_view_table *table, const struct fg_profile *profile,
			   const struct fg_view_options *options)
{
	struct fg_call_durations *sums = fg_xcalloc(profile->duration_count + 1, sizeof(sums[0]));
	struct fg_map index = {0};
	size_t count = 0;

	for (size_t i = 0; i < profile->duration_count; i++) {
		const struct fg_call_durations *durations = &profile->durations[i];
		bool is_new = false;
		const size_t at =
			(size_t)*fg_map_add_text(&index, durations->function, count, &is_new);

		if (is_new)
			sums[count++].function = durations->function;
		fg_call_durations_join(&sums[at], durations);
		sums[at].stack++; /* here the number of traces */
	}
	fg_map_release(&index);
	qsort(sums, count, sizeof(sums[0]), longest_first);

	const size_t limit = fg_view_limit(options, count);

	for (size_t i = 0; i < count && i < limit; i++) {
		struct fg_view_row *row = fg_view_add_row(table);

		fill_row(table, row, &sums[i]);
		row->cells[COLUMN_TRACES] = fg_cell_count(sums[i].stack);
		row->cells[COLUMN_NAME] = fg_cell_text(table, sums[i].function);
	}
	if (count > limit)
		fg_view_note(table, "%zu of %zu functions (--rows N, --all)", limit, count);
	free(sums);
}

/* ---- call paths ---- */

static int list_traces(struct fg_view_table *table, const struct fg_profile *profile,
		       const struct fg_view_options *options, struct fg_error *err)
{
	struct fg_call_durations *order = NULL;
	struct fg_pattern pattern;
	size_t count = 0;
	int status = fg_pattern_compile(options->function, &pattern, err);

	if (status != FG_OK)
		return status;
	order = fg_xcalloc(profile->duration_count + 1, sizeof(order[0]));
	for (size_t i = 0; i < profile->duration_count; i++)
		if (fg_pattern_matches(&pattern, profile->durations[i].function))
			order[count++] = profile->durations[i];
	fg_pattern_release(&pattern);
	qsort(order, count, sizeof(order[0]), longest_first);

	const size_t limit = fg_view_limit(options, FEW_TRACES);

	for (size_t i = 0; i < count && i < limit; i++) {
		struct fg_view_row *row = fg_view_add_row(table);
		struct fg_strbuf path = {0};

		fill_row(table, row, &order[i]);
		fg_profile_add_path(&path, profile, order[i].stack);
		row->cells[COLUMN_TRACE] = fg_cell_count(order[i].stack);
		row->cells[COLUMN_FUNCTION] = fg_cell_text(table, order[i].function);
		row->cells[COLUMN_NAME] = fg_cell_text(table, fg_strbuf_text(&path));
		fg_strbuf_release(&path);
	}
	if (count > limit)
		fg_view_note(table, "%zu of %zu traces (--rows N, --all)", limit, count);
	free(order);
	return FG_OK;
}

/* ---- one call path ---- */

static void add_bins(struct fg_view_table *table, const struct fg_call_durations *durations)
{
	double most = 0;

	for (unsigned i = 0; i < FG_CALL_TIME_BINS; i++)
		most = fmax(most, durations->bins[i]);
	for (unsigned i = 0; i < FG_CALL_TIME_BINS; i++) {
		struct fg_strbuf range = {0};

		if (!(durations->bins[i] > 0))
			continue;
		fg_call_durations_bin_text(i, &range);
		fg_view_add_bar(table, COLUMN_RETURNED, fg_strbuf_text(&range), durations->bins[i],
				most);
		fg_strbuf_release(&range);
	}
}

static int show_trace(struct fg_view_table *table, const struct fg_profile *profile, unsigned trace,
		      struct fg_error *err)
{
	bool is_found = false;

	for (size_t i = 0; i < profile->duration_count; i++) {
		const struct fg_call_durations *durations = &profile->durations[i];
		struct fg_view_row *row = NULL;

		if (durations->stack != trace)
			continue;
		if (!is_found)
			fg_view_add_frames(table, profile, trace);
		is_found = true;
		row = fg_view_add_row(table);
		row->rule_before = true;
		row->style = FG_VIEW_PRIMARY;
		fill_row(table, row, durations);
		row->cells[COLUMN_NAME] = fg_cell_text(table, durations->function);
		add_bins(table, durations);
	}
	if (!is_found)
		return fg_error_set(err, FG_ENOENT,
				    "no calls were timed on trace %u: view -V times -f FUNCTION "
				    "lists the traces of a function",
				    trace);
	return FG_OK;
}

int fg_view_times(const struct fg_profile *profile, const struct fg_view_options *options,
		  struct fg_view_table *table, struct fg_error *err)
{
	if (profile->duration_count == 0)
		return fg_error_set(err, FG_EUNSUPPORTED,
				    "no calls were timed: use fastgate record --calls ... --times");
	fg_view_columns(table, columns, COLUMN_COUNT);
	if (options->trace || !options->function)
		table->columns[COLUMN_NAME].title = "function";
	if (options->trace)
		return show_trace(table, profile, options->trace, err);
	if (options->function)
		return list_traces(table, profile, options, err);
	list_functions(table, profile, options);
	return FG_OK;
}
