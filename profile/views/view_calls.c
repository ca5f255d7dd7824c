// SPDX-License-Identifier: Apache-2.0
/*
 * The arguments of functions (domains) and the durations of their calls (times). Without a pattern,
 * the view lists functions; with a pattern, the call paths to each matching function; with the
 * number of a call path, this path in full and a histogram of its figures.
 */
#include "base/text.h"
#include "profile/called.h"
#include "profile/views/view_private.h"

#include <math.h>

enum {
	FEW_TRACES = 20,
	FEW_HINTS = 8,
	AT_END = 4, /* number of shared last columns: traces, trace, function, name */
};

struct subject {
	const struct fg_called_kind *kind;
	const char *never;   /* text for a call path without figures */
	const char *missing; /* error message if the profile has no such data */
	bool is_arguments;   /* has signatures and hints */
};

static const struct fg_view_column last_columns[AT_END] = {
	{"traces", "traces", .kind = FG_CELL_COUNT, .optional = 1},
	{"trace", "trace", .kind = FG_CELL_COUNT},
	{"function", "function", .kind = FG_CELL_TEXT, .left = true},
	{"name", "called by", .kind = FG_CELL_TEXT, .left = true},
};

static const struct subject arguments = {
	.kind = &fg_called_arguments,
	.never = "no arguments were seen",
	.missing = "no arguments were recorded: use fastgate record --domains",
	.is_arguments = true,
};

static const struct subject durations = {
	.kind = &fg_called_durations,
	.never = "no calls were timed",
	.missing = "no calls were timed: use fastgate record --calls ... --times",
};

/* ---- rows ---- */

struct shown {
	struct fg_view_table *table;
	const struct subject *subject;
	const struct fg_profile *profile;
	struct fg_called_function *list;
	size_t count;
};

static void set_columns(const struct shown *shown)
{
	const struct fg_called_kind *kind = shown->subject->kind;
	struct fg_view_column columns[FG_CALLED_COLUMNS_MAX + AT_END];

	for (size_t i = 0; i < kind->column_count; i++)
		columns[i] = (struct fg_view_column){.key = kind->columns[i].key,
						     .title = kind->columns[i].title,
						     .kind = FG_CELL_COUNT,
						     .optional = kind->columns[i].optional};
	memcpy(&columns[kind->column_count], last_columns, sizeof(last_columns));
	fg_view_columns(shown->table, columns, kind->column_count + AT_END);
}

/*
 * Adds a row and returns its last four cells: traces, trace, function, name. Each cell has its own
 * unit: a column holds nanoseconds next to seconds.
 */
static struct fg_view_cell *add_row(const struct shown *shown,
				    const struct fg_called_function *called)
{
	const struct fg_called_kind *kind = shown->subject->kind;
	struct fg_view_cell *cells = fg_view_add_row(shown->table)->cells;
	double values[FG_CALLED_COLUMNS_MAX];
	char text[FG_NUMBER_TEXT_SIZE];

	kind->read(called->figures, values);
	for (size_t i = 0; i < kind->column_count; i++) {
		if (isnan(values[i]))
			continue;
		cells[i] = fg_cell_count(values[i]);
		cells[i].text = fg_arena_strdup(&shown->table->arena,
						fg_called_text(&kind->columns[i], values[i], text));
	}
	return cells + kind->column_count;
}

static void list_functions(const struct shown *shown, const struct fg_view_options *options)
{
	struct fg_view_table *table = shown->table;
	size_t count = shown->count;
	struct fg_called_function *sums =
		fg_called_sums(shown->subject->kind, shown->list, &table->arena, &count);
	const size_t limit = fg_view_limit(options, count);

	fg_called_sort(sums, count);
	for (size_t i = 0; i < count && i < limit; i++) {
		struct fg_view_cell *cells = add_row(shown, &sums[i]);

		cells[0] = fg_cell_count(sums[i].stack);
		cells[2] = fg_cell_text(table, sums[i].signature);
		cells[3] = fg_cell_text(table, sums[i].name);
	}
	if (count > limit)
		fg_view_note(table, "%zu of %zu functions (--rows N, --all)", limit, count);
	free(sums);
}

/* Adds hints about the call paths with the most calls. */
static void add_hints(const struct shown *shown)
{
	unsigned said = 0;

	for (size_t i = 0; i < shown->count && said < FEW_HINTS; i++) {
		const struct fg_called_function *called = &shown->list[i];
		struct fg_strbuf hint = {0};
		struct fg_strbuf path = {0};
		char *rest = NULL;

		fg_argument_hint(called->function, called->figures, &hint);
		fg_profile_add_path(&path, shown->profile, called->stack);
		rest = hint.data;
		for (char *line; (line = fg_text_next_line(&rest)); said++)
			fg_view_note(shown->table, "%s, call path %u (%s): %s", called->name,
				     called->stack, fg_strbuf_text(&path), line);
		fg_strbuf_release(&hint);
		fg_strbuf_release(&path);
	}
}

static int list_traces(const struct shown *shown, const struct fg_view_options *options,
		       struct fg_error *err)
{
	struct fg_view_table *table = shown->table;
	const size_t limit = fg_view_limit(options, FEW_TRACES);
	struct fg_pattern pattern;
	size_t found = 0;

	FG_TRY(fg_pattern_compile(options->function, &pattern, err));
	for (size_t i = 0; i < shown->count; i++) {
		const struct fg_called_function *called = &shown->list[i];
		struct fg_strbuf path = {0};
		struct fg_view_cell *cells = NULL;

		if (!fg_pattern_matches(&pattern, called->function) || found++ >= limit)
			continue;
		cells = add_row(shown, called);
		fg_profile_add_path(&path, shown->profile, called->stack);
		cells[1] = fg_cell_count(called->stack);
		cells[2] = fg_cell_text(table, called->name);
		cells[3] = fg_cell_text(table, fg_strbuf_text(&path));
		fg_strbuf_release(&path);
	}
	if (found > limit)
		fg_view_note(table, "%zu of %zu call paths (--rows N, --all)", limit, found);
	fg_pattern_release(&pattern);
	return FG_OK;
}

/* ---- one call path ---- */

static void add_bins(struct fg_view_table *table, const struct fg_called_kind *kind,
		     const void *figures)
{
	unsigned count = 0;
	const double *bins = kind->bins(figures, &count);
	double most = 0;

	for (unsigned i = 0; i < count; i++)
		most = fmax(most, bins[i]);
	for (unsigned i = 0; i < count; i++) {
		struct fg_strbuf range = {0};

		if (!(bins[i] > 0))
			continue;
		kind->bin_text(i, &range);
		fg_view_add_bar(table, 0, fg_strbuf_text(&range), bins[i], most);
		fg_strbuf_release(&range);
	}
}

static int show_trace(const struct shown *shown, unsigned trace, struct fg_error *err)
{
	struct fg_view_table *table = shown->table;
	bool is_found = false;

	for (size_t i = 0; i < shown->count; i++) {
		const struct fg_called_function *called = &shown->list[i];
		struct fg_view_cell *cells = NULL;

		if (called->stack != trace)
			continue;
		if (!is_found)
			fg_view_add_frames(table, shown->profile, trace);
		is_found = true;
		cells = add_row(shown, called);
		table->rows[table->row_count - 1].rule_before = true;
		table->rows[table->row_count - 1].style = FG_VIEW_PRIMARY;
		cells[2] = fg_cell_text(table, called->signature);
		cells[3] = fg_cell_text(table, called->name);
		add_bins(table, shown->subject->kind, called->figures);
	}
	if (!is_found)
		return fg_error_set(
			err, FG_ENOENT,
			"%s on call path %u: view -V %s -f FUNCTION lists the call paths of a "
			"function",
			shown->subject->never, trace, table->name);
	return FG_OK;
}

static int show(const struct shown *shown, const struct fg_view_options *options,
		struct fg_error *err)
{
	const struct subject *subject = shown->subject;
	struct fg_view_column *last = NULL;

	if (shown->count == 0)
		return fg_error_set(err, FG_EUNSUPPORTED, "%s", subject->missing);
	set_columns(shown);
	last = &shown->table->columns[shown->table->column_count - 1];
	if (options->trace || !options->function) {
		last->title = "function";
		if (subject->is_arguments)
			last[-1].key = last[-1].title = "signature";
	}
	if (options->trace)
		return show_trace(shown, options->trace, err);
	if (!options->function)
		list_functions(shown, options);
	fg_called_sort(shown->list, shown->count);
	if (options->function)
		return list_traces(shown, options, err);
	if (subject->is_arguments)
		add_hints(shown);
	return FG_OK;
}

static int make(const struct subject *subject, const struct fg_profile *profile,
		const struct fg_view_options *options, struct fg_view_table *table,
		struct fg_error *err)
{
	struct shown shown = {.table = table, .subject = subject, .profile = profile};
	int status = FG_OK;

	shown.list = subject->kind->list(profile, &table->arena, &shown.count);
	status = show(&shown, options, err);
	free(shown.list);
	return status;
}

int fg_view_domains(const struct fg_profile *profile, const struct fg_view_options *options,
		    struct fg_view_table *table, struct fg_error *err)
{
	return make(&arguments, profile, options, table, err);
}

int fg_view_times(const struct fg_profile *profile, const struct fg_view_options *options,
		  struct fg_view_table *table, struct fg_error *err)
{
	return make(&durations, profile, options, table, err);
}
