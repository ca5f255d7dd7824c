// SPDX-License-Identifier: Apache-2.0
/*
 * Which arguments functions were called with.  Functions first; with a pattern for functions the
 * call paths to each of them; with a trace that one in full, and how its arguments are spread.
 */
#include "profile/domains.h"
#include "profile/views/view_private.h"

#include <math.h>

enum {
	FEW_TRACES = 20,
	FEW_HINTS = 8,
};

enum column {
	COLUMN_CALLS,
	COLUMN_LEAST,
	COLUMN_MOST,
	COLUMN_MEAN,
	COLUMN_ZEROS,
	COLUMN_NEGATIVES,
	COLUMN_DENORMALS,
	COLUMN_INFINITIES,
	COLUMN_NANS,
	COLUMN_REPEATS,
	COLUMN_TRACES,
	COLUMN_TRACE,
	COLUMN_FUNCTION,
	COLUMN_NAME,
	COLUMN_COUNT
};

static const struct fg_view_column columns[COLUMN_COUNT] = {
	[COLUMN_CALLS] = {.key = "calls", .title = "calls", .kind = FG_CELL_COUNT},
	[COLUMN_LEAST] = {.key = "min", .title = "min", .kind = FG_CELL_COUNT},
	[COLUMN_MOST] = {.key = "max", .title = "max", .kind = FG_CELL_COUNT},
	[COLUMN_MEAN] = {.key = "mean", .title = "mean", .kind = FG_CELL_COUNT, .optional = 4},
	[COLUMN_ZEROS] = {.key = "zeros", .title = "zero", .kind = FG_CELL_COUNT, .optional = 5},
	[COLUMN_NEGATIVES] = {.key = "negative",
			      .title = "negative",
			      .kind = FG_CELL_COUNT,
			      .optional = 6},
	[COLUMN_DENORMALS] = {.key = "denormal",
			      .title = "denormal",
			      .kind = FG_CELL_COUNT,
			      .optional = 3},
	[COLUMN_INFINITIES] = {.key = "infinite",
			       .title = "inf",
			       .kind = FG_CELL_COUNT,
			       .optional = 2},
	[COLUMN_NANS] = {.key = "nan", .title = "NaN", .kind = FG_CELL_COUNT, .optional = 1},
	[COLUMN_REPEATS] = {.key = "repeats",
			    .title = "same",
			    .kind = FG_CELL_COUNT,
			    .optional = 7},
	[COLUMN_TRACES] = {.key = "traces", .title = "traces", .kind = FG_CELL_COUNT},
	[COLUMN_TRACE] = {.key = "trace", .title = "trace", .kind = FG_CELL_COUNT},
	[COLUMN_FUNCTION] = {.key = "function",
			     .title = "function",
			     .kind = FG_CELL_TEXT,
			     .left = true},
	[COLUMN_NAME] = {.key = "name", .title = "called by", .kind = FG_CELL_TEXT, .left = true},
};

static struct fg_view_cell cell_of_real(struct fg_view_table *table, double value)
{
	char text[FG_NUMBER_TEXT_SIZE];
	struct fg_view_cell cell = fg_cell_count(value);

	(void)snprintf(text, sizeof(text), "%.6g", value);
	cell.text = fg_arena_strdup(&table->arena, text);
	return cell;
}

static void fill_row(struct fg_view_table *table, struct fg_view_row *row,
		     const struct fg_argument_figures *seen)
{
	struct fg_view_cell *cells = row->cells;

	cells[COLUMN_CALLS] = fg_cell_count(seen->values);
	cells[COLUMN_ZEROS] = fg_cell_count(seen->zeros);
	cells[COLUMN_NEGATIVES] = fg_cell_count(seen->negatives);
	cells[COLUMN_DENORMALS] = fg_cell_count(seen->denormals);
	cells[COLUMN_INFINITIES] = fg_cell_count(seen->infinities);
	cells[COLUMN_NANS] = fg_cell_count(seen->nans);
	cells[COLUMN_REPEATS] = fg_cell_count(seen->repeats);
	if (!(fg_argument_finite(seen) > 0))
		return;
	cells[COLUMN_LEAST] = cell_of_real(table, seen->least);
	cells[COLUMN_MOST] = cell_of_real(table, seen->most);
	cells[COLUMN_MEAN] = cell_of_real(table, seen->sum / fg_argument_finite(seen));
}

/* ---- functions ---- */

struct sum {
	struct fg_domain domain;
	double traces;
};

static int most_called_first(const void *left, const void *right)
{
	const struct fg_domain *a = left;
	const struct fg_domain *b = right;
	const int names = strcmp(a->function, b->function);

	if (names == 0 && a->argument != b->argument)
		return a->argument < b->argument ? -1 : 1;
	if (a->seen.values > b->seen.values || a->seen.values < b->seen.values)
		return a->seen.values > b->seen.values ? -1 : 1;
	return names ? names : (a->stack > b->stack) - (a->stack < b->stack);
}

/* One for each function and argument, the most called first; to be freed. */
static struct sum *sum_up(const struct fg_profile *profile, size_t *count)
{
	struct sum *sums = fg_xcalloc(profile->domain_count + 1, sizeof(sums[0]));
	struct fg_map index = {0};

	*count = 0;
	for (size_t i = 0; i < profile->domain_count; i++) {
		const struct fg_domain *domain = &profile->domains[i];
		char *name = fg_domain_name(domain);
		bool is_new = false;
		const size_t at = (size_t)*fg_map_add_text(&index, name, *count, &is_new);

		if (is_new)
			sums[(*count)++].domain = (struct fg_domain){.function = domain->function,
								     .signature = domain->signature,
								     .argument = domain->argument};
		fg_argument_join(&sums[at].domain.seen, &domain->seen);
		sums[at].traces++;
		free(name);
	}
	fg_map_release(&index);
	qsort(sums, *count, sizeof(sums[0]), most_called_first);
	return sums;
}

static void list_functions(struct fg_view_table *table, const struct fg_profile *profile,
			   const struct fg_view_options *options)
{
	size_t count = 0;
	struct sum *sums = sum_up(profile, &count);
	const size_t limit = fg_view_limit(options, count);

	for (size_t i = 0; i < count && i < limit; i++) {
		struct fg_view_row *row = fg_view_add_row(table);
		char *name = fg_domain_name(&sums[i].domain);

		fill_row(table, row, &sums[i].domain.seen);
		row->cells[COLUMN_TRACES] = fg_cell_count(sums[i].traces);
		row->cells[COLUMN_FUNCTION] = fg_cell_text(table, sums[i].domain.signature);
		row->cells[COLUMN_NAME] = fg_cell_text(table, name);
		free(name);
	}
	if (count > limit)
		fg_view_note(table, "%zu of %zu functions (--rows N, --all)", limit, count);
	free(sums);
}

/* ---- call paths ---- */

static const struct fg_domain **in_order(const struct fg_profile *profile,
					 const struct fg_pattern *pattern, size_t *count)
{
	const struct fg_domain **order =
		fg_xcalloc(profile->domain_count + 1, sizeof(const struct fg_domain *));

	*count = 0;
	for (size_t i = 0; i < profile->domain_count; i++)
		if (!pattern || fg_pattern_matches(pattern, profile->domains[i].function))
			order[(*count)++] = &profile->domains[i];
	return order;
}

static int most_called_of(const void *left, const void *right)
{
	return most_called_first(*(const struct fg_domain *const *)left,
				 *(const struct fg_domain *const *)right);
}

/* What is to be said of the call paths, of those that are called most. */
static void add_hints(struct fg_view_table *table, const struct fg_profile *profile)
{
	size_t count = 0;
	const struct fg_domain **order = in_order(profile, NULL, &count);
	unsigned said = 0;

	qsort(order, count, sizeof(order[0]), most_called_of);
	for (size_t i = 0; i < count && said < FEW_HINTS; i++) {
		struct fg_strbuf hint = {0};
		struct fg_strbuf path = {0};
		char *name = fg_domain_name(order[i]);

		fg_argument_hint(order[i]->function, &order[i]->seen, &hint);
		fg_profile_add_path(&path, profile, order[i]->stack);
		for (char *line = hint.length ? hint.data : NULL; line && *line;) {
			char *end = strchr(line, '\n');

			*end = '\0';
			fg_view_note(table, "%s, trace %u (%s): %s", name, order[i]->stack,
				     fg_strbuf_text(&path), line);
			line = end + 1;
			said++;
		}
		fg_strbuf_release(&hint);
		fg_strbuf_release(&path);
		free(name);
	}
	free(order);
}

static int list_traces(struct fg_view_table *table, const struct fg_profile *profile,
		       const struct fg_view_options *options, struct fg_error *err)
{
	struct fg_pattern pattern;
	const struct fg_domain **order = NULL;
	size_t count = 0;
	int status = fg_pattern_compile(options->function, &pattern, err);

	if (status != FG_OK)
		return status;
	order = in_order(profile, &pattern, &count);
	qsort(order, count, sizeof(order[0]), most_called_of);
	fg_pattern_release(&pattern);

	const size_t limit = fg_view_limit(options, FEW_TRACES);

	for (size_t i = 0; i < count && i < limit; i++) {
		struct fg_view_row *row = fg_view_add_row(table);
		struct fg_strbuf path = {0};
		char *name = fg_domain_name(order[i]);

		fill_row(table, row, &order[i]->seen);
		fg_profile_add_path(&path, profile, order[i]->stack);
		row->cells[COLUMN_TRACE] = fg_cell_count(order[i]->stack);
		row->cells[COLUMN_FUNCTION] = fg_cell_text(table, name);
		row->cells[COLUMN_NAME] = fg_cell_text(table, fg_strbuf_text(&path));
		fg_strbuf_release(&path);
		free(name);
	}
	if (count > limit)
		fg_view_note(table, "%zu of %zu traces (--rows N, --all)", limit, count);
	free(order);
	return FG_OK;
}

/* ---- one call path ---- */

static void add_bins(struct fg_view_table *table, const struct fg_argument_figures *seen)
{
	double most = 0;

	for (unsigned i = 0; i < FG_ARGUMENT_BINS; i++)
		most = fmax(most, seen->bins[i]);
	for (unsigned i = 0; i < FG_ARGUMENT_BINS; i++) {
		char range[FG_NUMBER_TEXT_SIZE];

		if (seen->bins[i] > 0)
			fg_view_add_bar(table, COLUMN_CALLS, fg_argument_bin_text(i, range),
					seen->bins[i], most);
	}
}

static int show_trace(struct fg_view_table *table, const struct fg_profile *profile, unsigned trace,
		      struct fg_error *err)
{
	bool is_found = false;

	for (size_t i = 0; i < profile->domain_count; i++) {
		const struct fg_domain *domain = &profile->domains[i];
		struct fg_view_row *row = NULL;
		char *name = NULL;

		if (domain->stack != trace)
			continue;
		if (!is_found)
			fg_view_add_frames(table, profile, trace);
		is_found = true;
		name = fg_domain_name(domain);
		row = fg_view_add_row(table);
		row->rule_before = true;
		row->style = FG_VIEW_PRIMARY;
		fill_row(table, row, &domain->seen);
		row->cells[COLUMN_FUNCTION] = fg_cell_text(table, domain->signature);
		row->cells[COLUMN_NAME] = fg_cell_text(table, name);
		add_bins(table, &domain->seen);
		free(name);
	}
	if (!is_found)
		return fg_error_set(err, FG_ENOENT,
				    "no arguments were seen on trace %u: view -V domains -f "
				    "FUNCTION lists the traces of a function",
				    trace);
	return FG_OK;
}

int fg_view_domains(const struct fg_profile *profile, const struct fg_view_options *options,
		    struct fg_view_table *table, struct fg_error *err)
{
	if (profile->domain_count == 0)
		return fg_error_set(err, FG_EUNSUPPORTED,
				    "no arguments were recorded: use fastgate record --domains");
	fg_view_columns(table, columns, COLUMN_COUNT);
	if (options->trace || !options->function) {
		table->columns[COLUMN_FUNCTION].key = "signature";
		table->columns[COLUMN_FUNCTION].title = "signature";
		table->columns[COLUMN_NAME].title = "function";
	}
	if (options->trace)
		return show_trace(table, profile, options->trace, err);
	if (options->function)
		return list_traces(table, profile, options, err);
	list_functions(table, profile, options);
	add_hints(table, profile);
	return FG_OK;
}
