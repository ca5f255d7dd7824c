// SPDX-License-Identifier: Apache-2.0
/*
 * Units of work (events, images, requests): how long they take and how much that varies, in all and
 * in each region, then the slowest ones.  A unit's CPU time is that of its samples, so for units
 * shorter than the sampling period only sums and means over many of them say anything; the notes
 * say so when it is the case.
 */
#include "base/map.h"
#include "views/view_private.h"

#include <inttypes.h>
#include <math.h>

enum {
	FEW_UNITS = 15,
	FEW_REGIONS = 12,
	FEW_SAMPLES = 5, /* a unit, on average: below, single units are noise */
};

static const struct fg_view_column columns[] = {
	{"share", "incl %", FG_CELL_SHARE, false, false, false, 0, 0},
	{"cpu_ns", "time %t", FG_CELL_TIME, false, false, false, 0, 0},
	{"wall_ns", "wall %t", FG_CELL_TIME, false, false, false, 1, 0},
	{"units", "units", FG_CELL_COUNT, false, false, false, 2, 0},
	{"mean_ns", "mean %t", FG_CELL_TIME, false, false, false, 0, 0},
	{"sd_ns", "sd %t", FG_CELL_TIME, false, false, false, 0, 5},
	{"median_ns", "median %t", FG_CELL_TIME, false, false, true, 0, 5},
	{"p95_ns", "p95 %t", FG_CELL_TIME, false, false, true, 0, 5},
	{"max_ns", "max %t", FG_CELL_TIME, false, false, false, 0, 5},
	{"kind", "kind", FG_CELL_TEXT, false, true, true, 0, 0},
	{"name", "name", FG_CELL_TEXT, false, true, false, 0, 0},
};

struct unit {
	const char *name;
	double ns;
	double wall_ns;
	uint32_t times; /* entered */
};

/* One per different kind and number, in order of first entry. */
struct units {
	struct unit *items;
	struct fg_map by_name;
};

static void units_init(struct units *units, const struct fg_profile *profile)
{
	*units = (struct units){.items = fg_xcalloc(profile->unit_count, sizeof(struct unit))};
	for (size_t i = 1; i < profile->unit_count; i++) {
		const struct fg_unit_info *info = &profile->units[i];
		char *name = fg_xasprintf("%s %" PRIu64, info->kind, info->number);
		const uint64_t at =
			*fg_map_add_text(&units->by_name, name, units->by_name.count, NULL);
		struct unit *unit = &units->items[at];

		if (info->ended)
			unit->wall_ns += (double)(info->end_ns - info->start_ns);
		unit->times++;
		free(name);
	}
	for (size_t i = 0; i < units->by_name.count; i++)
		units->items[i].name = units->by_name.entries[i].key;
}

static void units_release(struct units *units)
{
	free(units->items);
	fg_map_release(&units->by_name);
}

/* CPU time by unit of what the query keeps. */
static int measure(struct units *units, const struct fg_profile *profile,
		   const struct fg_calltree_query *wanted, struct fg_weight *total,
		   struct fg_error *err)
{
	struct fg_calltree_query query = *wanted;
	struct fg_calltree tree;
	int rc = FG_OK;

	query.split = FG_SPLIT_UNIT;
	query.only_units = true;
	rc = fg_calltree_build(profile, &query, &tree, err);
	if (rc != FG_OK)
		return rc;
	for (size_t i = 0; i < units->by_name.count; i++)
		units->items[i].ns = 0;
	for (uint32_t i = 1; i < tree.node_count; i++) {
		const struct fg_label *label = &tree.labels[tree.nodes[i].label];
		const uint64_t *at = NULL;

		if (tree.nodes[i].depth != 2 || (label->flags & FG_FRAME_MARK) == 0)
			continue;
		at = fg_map_get_text(&units->by_name, label->name);
		if (at)
			units->items[*at].ns = tree.inclusive[0][i].ns;
	}
	*total = tree.inclusive[0][0];
	fg_calltree_release(&tree);
	return FG_OK;
}

static int by_value(const void *left, const void *right)
{
	const double a = *(const double *)left;
	const double b = *(const double *)right;

	return a < b ? -1 : a > b;
}

/* By linear interpolation between order statistics. */
static double quantile(const double *sorted, size_t count, double p)
{
	const double at = p * (double)(count - 1);
	const size_t low = (size_t)at;
	const size_t high = low + 1 < count ? low + 1 : low;

	return sorted[low] + (at - (double)low) * (sorted[high] - sorted[low]);
}

static void add_statistics(struct fg_view_table *table, const struct units *units,
			   double of_total_ns, const char *kind, const char *name)
{
	const size_t count = units->by_name.count;
	double *sorted = fg_xcalloc(count, sizeof(*sorted));
	struct fg_view_row *row = fg_view_add_row(table);
	double sum = 0;
	double square = 0;
	double wall = 0;

	for (size_t i = 0; i < count; i++) {
		sorted[i] = units->items[i].ns;
		sum += sorted[i];
		wall += units->items[i].wall_ns;
	}
	for (size_t i = 0; i < count; i++)
		square += (sorted[i] - sum / (double)count) * (sorted[i] - sum / (double)count);
	qsort(sorted, count, sizeof(*sorted), by_value);
	row->style = FG_VIEW_PRIMARY;
	row->cells[0] = fg_cell_share(of_total_ns > 0 ? sum / of_total_ns : 0);
	row->cells[1] = fg_cell_time(sum);
	if (strcmp(kind, "all") == 0 && wall > 0)
		row->cells[2] = fg_cell_time(wall);
	row->cells[3] = fg_cell_count((double)count);
	row->cells[4] = fg_cell_time(sum / (double)count);
	if (count > 1)
		row->cells[5] = fg_cell_time(sqrt(square / (double)(count - 1)));
	row->cells[6] = fg_cell_time(quantile(sorted, count, 0.5));
	row->cells[7] = fg_cell_time(quantile(sorted, count, 0.95));
	row->cells[8] = fg_cell_time(sorted[count - 1]);
	row->cells[9] = fg_cell_text(table, kind);
	row->cells[10] = fg_cell_text(table, name);
	free(sorted);
}

static int slowest_first(const void *left, const void *right)
{
	const struct unit *const *a = left;
	const struct unit *const *b = right;

	if ((*a)->ns > (*b)->ns)
		return -1;
	if ((*a)->ns < (*b)->ns)
		return 1;
	return *a < *b ? -1 : *a > *b;
}

static void add_slowest(struct fg_view_table *table, const struct units *units, double total_ns,
			size_t limit)
{
	const size_t count = units->by_name.count;
	const struct unit **order = fg_xcalloc(count, sizeof(const struct unit *));
	const size_t first = table->row_count;

	for (size_t i = 0; i < count; i++)
		order[i] = &units->items[i];
	qsort(order, count, sizeof(const struct unit *), slowest_first);
	for (size_t i = 0; i < count && i < limit; i++) {
		struct fg_view_row *row = fg_view_add_row(table);

		row->cells[0] = fg_cell_share(total_ns > 0 ? order[i]->ns / total_ns : 0);
		row->cells[1] = fg_cell_time(order[i]->ns);
		if (order[i]->wall_ns > 0)
			row->cells[2] = fg_cell_time(order[i]->wall_ns);
		row->cells[9] = fg_cell_text(table, "unit");
		row->cells[10] = fg_cell_text(table, order[i]->name);
	}
	if (table->row_count > first)
		table->rows[first].rule_before = true;
	if (count > limit)
		fg_view_note(table, "the %zu slowest of %zu units (--rows N, --all)", limit, count);
	free(order);
}

/*
 * The pattern that matches a region's path and what is inside it, every other character by itself.
 */
static char *pattern_of(const char *path)
{
	struct fg_strbuf pattern = {0};

	fg_strbuf_add_char(&pattern, '^');
	for (; *path; path++) {
		if (strchr(".[{}()\\*+?|^$", *path))
			fg_strbuf_add_char(&pattern, '\\');
		fg_strbuf_add_char(&pattern, *path);
	}
	fg_strbuf_add_text(&pattern, "(/|$)");
	return fg_strbuf_detach(&pattern);
}

static int add_regions(struct fg_view_table *table, struct units *units,
		       const struct fg_profile *profile, const struct fg_view_options *options,
		       double total_ns, struct fg_error *err)
{
	const size_t limit = options->all ? SIZE_MAX : FEW_REGIONS;
	struct fg_calltree_query query = options->query;
	int rc = FG_OK;

	for (size_t i = 1; i < profile->region_count && i <= limit && rc == FG_OK; i++) {
		char *pattern = pattern_of(profile->regions[i].path);
		struct fg_weight weight = {0};

		query.region = pattern;
		rc = measure(units, profile, &query, &weight, err);
		if (rc == FG_OK && weight.ns > 0)
			add_statistics(table, units, total_ns, "region", profile->regions[i].path);
		free(pattern);
	}
	if (rc == FG_OK && profile->region_count > 1 && profile->region_count - 1 > limit)
		fg_view_note(table, "statistics of %zu more regions (--all shows them)",
			     profile->region_count - 1 - limit);
	return rc;
}

static int fill(struct fg_view_table *table, struct units *units, const struct fg_profile *profile,
		const struct fg_view_options *options, struct fg_error *err)
{
	struct fg_weight total = {0};
	struct fg_weight again = {0};
	int rc = measure(units, profile, &options->query, &total, err);

	if (rc != FG_OK)
		return rc;
	fg_view_columns(table, columns, FG_ARRAY_SIZE(columns));
	fg_view_total(table, profile, &options->query, &total);
	add_statistics(table, units, total.ns, "all", "all units of work");
	if (!options->query.region)
		rc = add_regions(table, units, profile, options, total.ns, err);
	if (rc == FG_OK)
		rc = measure(units, profile, &options->query, &again, err);
	if (rc != FG_OK)
		return rc;
	add_slowest(table, units, total.ns, fg_view_limit(options, FEW_UNITS));
	if (total.samples < FEW_SAMPLES * units->by_name.count)
		fg_view_note(table,
			     "%.1f samples a unit: the times of single units are mostly chance, "
			     "their mean is not (record with a higher --rate)",
			     (double)total.samples / (double)units->by_name.count);
	return FG_OK;
}

/* A stored run has the sum over all units of a kind. */
static bool add_kinds(struct fg_view_table *table, const struct fg_profile *profile,
		      const struct fg_calltree_query *query)
{
	const double scale = fg_view_stored_scale(profile, query);
	const size_t first = table->row_count;

	for (size_t i = 1; i < profile->region_count; i++) {
		const struct fg_region_info *kind = &profile->regions[i];
		struct fg_view_cell *cells = NULL;

		if (strncmp(kind->path, FG_PROFILE_UNITS, strlen(FG_PROFILE_UNITS)) != 0 ||
		    kind->count == 0)
			continue;
		cells = fg_view_add_row(table)->cells;
		cells[0] =
			fg_cell_share(profile->total_ns > 0 ? kind->cpu_ns / profile->total_ns : 0);
		cells[1] = fg_cell_time(kind->cpu_ns * scale);
		cells[2] = fg_cell_time(kind->wall_ns * scale);
		cells[3] = fg_cell_count((double)kind->count * scale);
		cells[4] = fg_cell_time(kind->cpu_ns / (double)kind->count);
		cells[9] = fg_cell_text(table, "all");
		cells[10] = fg_cell_text(table, kind->path + strlen(FG_PROFILE_UNITS));
	}
	return table->row_count > first;
}

static int view_stored(const struct fg_profile *profile, const struct fg_view_options *options,
		       struct fg_view_table *table, struct fg_error *err)
{
	struct fg_calltree tree;
	int rc = fg_calltree_build(profile, &options->query, &tree, err);

	if (rc != FG_OK)
		return rc;
	fg_view_columns(table, columns, FG_ARRAY_SIZE(columns));
	fg_view_total(table, profile, &options->query, &tree.inclusive[0][0]);
	fg_calltree_release(&tree);
	if (!add_kinds(table, profile, &options->query))
		return fg_error_set(err, FG_EUNSUPPORTED,
				    "no unit of work was marked in this run: mark them with "
				    "<fastgate/region.h> and view the trace");
	fg_view_note(table, "a stored run has the sum over its units: single ones, and how they "
			    "vary: " FG_VIEW_NEEDS_SAMPLES);
	return FG_OK;
}

int fg_view_units(const struct fg_profile *profile, const struct fg_view_options *options,
		  struct fg_view_table *table, struct fg_error *err)
{
	struct units units;
	int rc = FG_OK;

	if (profile->unit_count <= 1)
		return view_stored(profile, options, table, err);
	units_init(&units, profile);
	rc = fill(table, &units, profile, options, err);
	units_release(&units);
	return rc;
}
