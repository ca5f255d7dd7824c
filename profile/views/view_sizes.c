// SPDX-License-Identifier: Apache-2.0
/*
 * How large the allocations of functions are, and how many allocations their blocks outlive: in
 * classes of powers of two, each a measure of its own.  All together as a histogram, then functions
 * with their quantiles; with a pattern for functions those it names, each with its histogram.
 */
#include "profile/views/view_private.h"

#include <math.h>

enum {
	FEW_FUNCTIONS = 30,
	CLASSES_MAX = 64,
};

/* The property that is classified. */
struct spread {
	const char *family;
	const char *word; /* of record --measure */
	const char *title;
	const char *(*format)(double value, char text[FG_NUMBER_TEXT_SIZE]);
};

static const struct spread sizes = {
	.family = "heap.sizes.",
	.word = "sizes",
	.title = "allocations",
	.format = fg_format_size,
};
static const struct spread lifetimes = {
	.family = "heap.lifetimes.",
	.word = "lifetimes",
	.title = "blocks freed",
	.format = fg_format_count,
};

struct class
{
	const char *measure;
	double end; /* the largest value in it */
};

struct classes {
	const struct spread *spread;
	struct class items[CLASSES_MAX]; /* smallest first */
	size_t count;
};

struct histogram {
	double counts[CLASSES_MAX];
	double total;
};

static int smallest_first(const void *left, const void *right)
{
	const struct class *a = left;
	const struct class *b = right;

	return (a->end > b->end) - (a->end < b->end);
}

static void find_classes(const struct fg_profile *profile, struct classes *classes)
{
	const size_t length = strlen(classes->spread->family);

	for (size_t i = 0; i < profile->measure_count && classes->count < CLASSES_MAX; i++) {
		const char *name = profile->measures[i].is.name;
		char *end = NULL;
		double value = 0;

		if (strncmp(name, classes->spread->family, length) != 0)
			continue;
		value = strtod(name + length, &end);
		if (end != name + length && !*end)
			classes->items[classes->count++] = (struct class){name, value};
	}
	qsort(classes->items, classes->count, sizeof(classes->items[0]), smallest_first);
}

/* ---- by function ---- */

struct functions {
	struct fg_calltree labels; /* each function once */
	struct histogram *items;   /* by label */
	size_t capacity;
	struct histogram all;
};

static struct histogram *histogram_of(struct functions *functions, const struct fg_label *label)
{
	const uint32_t at = fg_calltree_label(&functions->labels, label);

	if (at >= functions->capacity) {
		const size_t capacity = 2 * ((size_t)at + 1);

		functions->items =
			fg_xreallocarray(functions->items, capacity, sizeof(functions->items[0]));
		memset(functions->items + functions->capacity, 0,
		       (capacity - functions->capacity) * sizeof(functions->items[0]));
		functions->capacity = capacity;
	}
	return &functions->items[at];
}

static void add(struct histogram *histogram, size_t class, double count)
{
	histogram->counts[class] += count;
	histogram->total += count;
}

static int add_class(struct functions *functions, const struct fg_profile *profile,
		     const struct fg_view_options *options, const struct classes *classes,
		     size_t class, struct fg_error *err)
{
	struct fg_calltree_query query = options->query;
	struct fg_label_figures *figures = NULL;
	struct fg_calltree tree;
	size_t count = 0;
	int status = FG_OK;

	query.measure = classes->items[class].measure;
	status = fg_calltree_build(profile, &query, &tree, err);
	if (status != FG_OK)
		return status;
	count = fg_calltree_flat(&tree, &figures);
	for (size_t i = 0; i < count; i++) {
		const struct fg_weight *weight =
			options->by_inclusive ? &figures[i].inclusive[0] : &figures[i].self[0];

		if (weight->value > 0)
			add(histogram_of(functions, &tree.labels[figures[i].label]), class,
			    weight->value);
	}
	add(&functions->all, class, tree.inclusive[0][0].value);
	free(figures);
	fg_calltree_release(&tree);
	return FG_OK;
}

/* ---- rows ---- */

enum column {
	COLUMN_SHARE,
	COLUMN_COUNTED,
	COLUMN_MEDIAN,
	COLUMN_P90,
	COLUMN_P99,
	COLUMN_MOST,
	COLUMN_LIBRARY,
	COLUMN_NAME,
	COLUMN_COUNT
};

static const struct fg_view_column columns[COLUMN_COUNT] = {
	[COLUMN_SHARE] = {"share", "%", .kind = FG_CELL_SHARE},
	[COLUMN_COUNTED] = {.key = "count", .kind = FG_CELL_COUNT},
	[COLUMN_MEDIAN] = {"median", "half ≤", .kind = FG_CELL_COUNT},
	[COLUMN_P90] = {"p90", "90 % ≤", .kind = FG_CELL_COUNT, .optional = 2},
	[COLUMN_P99] = {"p99", "99 % ≤", .kind = FG_CELL_COUNT, .optional = 3},
	[COLUMN_MOST] = {"max", "all ≤", .kind = FG_CELL_COUNT},
	[COLUMN_LIBRARY] = {"library", "library", .kind = FG_CELL_TEXT, .left = true,
			    .optional = 1},
	[COLUMN_NAME] = {"name", "name", .kind = FG_CELL_TEXT, .left = true},
};

/* The end of the class in which the quantile lies. */
static double quantile(const struct classes *classes, const struct histogram *histogram,
		       double share)
{
	const double wanted = share * histogram->total;
	double seen = 0;
	size_t last = 0;

	for (size_t i = 0; i < classes->count; i++) {
		if (!(histogram->counts[i] > 0))
			continue;
		last = i;
		seen += histogram->counts[i];
		if (seen >= wanted)
			break;
	}
	return classes->items[last].end;
}

static struct fg_view_cell cell_of_end(struct fg_view_table *table, const struct spread *spread,
				       double end)
{
	char text[FG_NUMBER_TEXT_SIZE];
	struct fg_view_cell cell = fg_cell_count(end);

	cell.text = fg_arena_strdup(&table->arena, spread->format(end, text));
	return cell;
}

static struct fg_view_row *add_row(struct fg_view_table *table, const struct classes *classes,
				   const struct histogram *histogram, const char *name)
{
	static const double shares[COLUMN_COUNT] = {
		[COLUMN_MEDIAN] = 0.5,
		[COLUMN_P90] = 0.9,
		[COLUMN_P99] = 0.99,
		[COLUMN_MOST] = 1,
	};
	struct fg_view_row *row = fg_view_add_row(table);

	row->cells[COLUMN_COUNTED] = fg_cell_count(histogram->total);
	for (unsigned i = 0; i < COLUMN_COUNT; i++)
		if (shares[i] > 0)
			row->cells[i] = cell_of_end(table, classes->spread,
						    quantile(classes, histogram, shares[i]));
	row->cells[COLUMN_NAME] = fg_cell_text(table, name);
	return row;
}

static void add_bars(struct fg_view_table *table, const struct classes *classes,
		     const struct histogram *histogram)
{
	double most = 0;

	for (size_t i = 0; i < classes->count; i++)
		most = fmax(most, histogram->counts[i]);
	for (size_t i = 0; i < classes->count; i++) {
		char end[FG_NUMBER_TEXT_SIZE];
		char range[FG_NUMBER_TEXT_SIZE + 8];

		if (!(histogram->counts[i] > 0))
			continue;
		(void)snprintf(range, sizeof(range), "≤ %s",
			       classes->spread->format(classes->items[i].end, end));
		fg_view_add_bar(table, COLUMN_COUNTED, range, histogram->counts[i], most);
		table->rows[table->row_count - 1].only_text = true;
	}
}

static void list_functions(struct fg_view_table *table, const struct classes *classes,
			   const struct functions *functions, const struct fg_view_options *options,
			   const struct fg_pattern *pattern)
{
	const size_t limit = fg_view_limit(options, FEW_FUNCTIONS);
	const size_t end = functions->labels.label_count < functions->capacity
				   ? functions->labels.label_count
				   : functions->capacity;
	struct fg_view_ranked *ranked = fg_xcalloc(end + 1, sizeof(*ranked));
	size_t count = 0;

	for (uint32_t i = 0; i < end; i++) {
		const double total = functions->items[i].total;

		if (total > 0 &&
		    (!pattern || fg_view_matches(pattern, &functions->labels.labels[i])) &&
		    (pattern || options->all || total >= options->floor * functions->all.total))
			ranked[count++] = (struct fg_view_ranked){i, total};
	}
	fg_view_rank(ranked, count);
	for (size_t i = 0; i < count && i < limit; i++) {
		const struct histogram *of = &functions->items[ranked[i].index];
		const struct fg_label *label = &functions->labels.labels[ranked[i].index];
		struct fg_view_row *row = add_row(table, classes, of, label->name);

		row->rule_before = pattern ? i > 0 : i == 0;
		row->style = pattern ? FG_VIEW_PRIMARY : FG_VIEW_PLAIN;
		row->cells[COLUMN_SHARE] = fg_cell_share(of->total / functions->all.total);
		row->cells[COLUMN_LIBRARY] = fg_cell_library(table, label);
		if (pattern)
			add_bars(table, classes, of);
	}
	if (count > limit)
		fg_view_note(table, "%zu more functions (--rows N, --all)", count - limit);
	if (count == 0 && pattern)
		fg_view_note(table, "no function of that name was counted");
	free(ranked);
}

static int make(const struct spread *spread, const struct fg_profile *profile,
		const struct fg_view_options *options, struct fg_view_table *table,
		struct fg_error *err)
{
	struct classes classes = {.spread = spread};
	struct functions functions = {0};
	struct fg_pattern pattern;
	int status = FG_OK;

	find_classes(profile, &classes);
	if (classes.count == 0)
		return fg_error_set(err, FG_EUNSUPPORTED,
				    "%s were not counted: use fastgate record --measure heap,%s",
				    spread->word, spread->word);
	if (options->function) {
		status = fg_pattern_compile(options->function, &pattern, err);
		if (status != FG_OK)
			return status;
	}
	fg_calltree_init(&functions.labels, 1, "");
	for (size_t i = 0; i < classes.count && status == FG_OK; i++)
		status = add_class(&functions, profile, options, &classes, i, err);
	if (status == FG_OK) {
		fg_view_columns(table, columns, COLUMN_COUNT);
		table->columns[COLUMN_COUNTED].title = spread->title;
		if (!options->function && functions.all.total > 0) {
			add_row(table, &classes, &functions.all, "all functions")->style =
				FG_VIEW_PRIMARY;
			add_bars(table, &classes, &functions.all);
		}
		list_functions(table, &classes, &functions, options,
			       options->function ? &pattern : NULL);
	}
	if (options->function)
		fg_pattern_release(&pattern);
	free(functions.items);
	fg_calltree_release(&functions.labels);
	return status;
}

int fg_view_sizes(const struct fg_profile *profile, const struct fg_view_options *options,
		  struct fg_view_table *table, struct fg_error *err)
{
	return make(&sizes, profile, options, table, err);
}

int fg_view_lifetimes(const struct fg_profile *profile, const struct fg_view_options *options,
		      struct fg_view_table *table, struct fg_error *err)
{
	return make(&lifetimes, profile, options, table, err);
}
