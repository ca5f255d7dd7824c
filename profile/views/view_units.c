// SPDX-License-Identifier: Apache-2.0
/*
 * Units of work (events, images, requests): their durations and how much they vary, in total and in
 * each region, then the slowest units. A unit's CPU time comes from its samples, so for units
 * shorter than the sampling period only sums and means over many units are meaningful, and a note
 * is added.
 */
#include "base/map.h"
#include "base/sort.h"
#include "profile/selection.h"
#include "profile/views/view_private.h"

#include <inttypes.h>
#include <math.h>

enum {
	FEW_UNITS = 15,
	FEW_REGIONS = 12,
	FEW_SAMPLES = 5, /* with fewer samples per unit on average, individual units are noise */
};

static const struct fg_view_column columns[] = {
	{"share", "incl %", .kind = FG_CELL_SHARE},
	{"cpu_ns", "time %t", .kind = FG_CELL_VALUE},
	{"wall_ns", "wall %t", .kind = FG_CELL_TIME, .optional = 1},
	{"units", "units", .kind = FG_CELL_COUNT, .optional = 2},
	{"mean_ns", "mean %t", .kind = FG_CELL_VALUE},
	{"sd_ns", "sd %t", .kind = FG_CELL_VALUE, .unit_like = 5},
	{"median_ns", "median %t", .kind = FG_CELL_VALUE, .only_data = true, .unit_like = 5},
	{"p95_ns", "p95 %t", .kind = FG_CELL_VALUE, .only_data = true, .unit_like = 5},
	{"max_ns", "max %t", .kind = FG_CELL_VALUE, .unit_like = 5},
	{"kind", "kind", .kind = FG_CELL_TEXT, .left = true, .only_data = true},
	{"name", "name", .kind = FG_CELL_TEXT, .left = true},
};

struct unit {
	const char *name;
	double value;
	double wall_ns;
};

/* Units by kind and number, in order of first entry. */
struct units {
	struct unit *items;
	struct fg_map by_name;
};

/* Returns the duration of a unit between --from and --to. */
static double wall_of(const struct fg_unit_info *unit, const struct fg_calltree_query *query)
{
	const int64_t from_ns = unit->start_ns > query->from_ns ? unit->start_ns : query->from_ns;
	const int64_t to_ns =
		query->to_ns && query->to_ns < unit->end_ns ? query->to_ns : unit->end_ns;

	return unit->ended && to_ns > from_ns ? (double)(to_ns - from_ns) : 0;
}

static void add_unit(struct units *units, const struct fg_unit_info *info, double wall_ns)
{
	char *name = fg_xasprintf("%s %" PRIu64, info->kind, info->number);
	const uint64_t at = *fg_map_add_text(&units->by_name, name, units->by_name.count, NULL);

	units->items[at].wall_ns += wall_ns;
	free(name);
}

/* Collects the units that the query keeps. */
static int units_init(struct units *units, const struct fg_profile *profile,
		      const struct fg_calltree_query *query, struct fg_error *err)
{
	struct fg_selection selection;
	int status = fg_selection_init(&selection, profile, query, err);

	*units = (struct units){0};
	if (status != FG_OK)
		goto out;
	units->items = fg_xcalloc(profile->unit_count, sizeof(struct unit));
	for (size_t i = 1; i < profile->unit_count; i++)
		if (fg_selection_keeps_unit(&selection, i))
			add_unit(units, &profile->units[i], wall_of(&profile->units[i], query));
	for (size_t i = 0; i < units->by_name.count; i++)
		units->items[i].name = units->by_name.entries[i].key;
out:
	fg_selection_release(&selection);
	return status;
}

static void units_release(struct units *units)
{
	free(units->items);
	fg_map_release(&units->by_name);
}

/* Measures each unit by the samples that the query keeps. */
static int measure(struct units *units, const struct fg_profile *profile,
		   const struct fg_calltree_query *wanted, struct fg_weight *total,
		   struct fg_error *err)
{
	struct fg_calltree_query query = *wanted;
	struct fg_calltree tree;

	query.split = FG_SPLIT_UNIT;
	query.only_units = true;
	FG_TRY(fg_calltree_build(profile, &query, &tree, err));
	for (size_t i = 0; i < units->by_name.count; i++)
		units->items[i].value = 0;
	for (uint32_t i = 1; i < tree.node_count; i++) {
		const struct fg_label *label = &tree.labels[tree.nodes[i].label];
		const uint64_t *at = NULL;

		if (tree.nodes[i].depth != 2 || (label->flags & FG_FRAME_MARK) == 0)
			continue;
		at = fg_map_get_text(&units->by_name, label->name);
		if (at)
			units->items[*at].value = tree.inclusive[0][i].value;
	}
	*total = tree.inclusive[0][0];
	fg_calltree_release(&tree);
	return FG_OK;
}

/* Computes a quantile by linear interpolation between order statistics. */
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
		sorted[i] = units->items[i].value;
		sum += sorted[i];
		wall += units->items[i].wall_ns;
	}
	for (size_t i = 0; i < count; i++)
		square += (sorted[i] - sum / (double)count) * (sorted[i] - sum / (double)count);
	fg_sort(sorted, count);
	row->style = FG_VIEW_PRIMARY;
	row->cells[0] = fg_cell_share(of_total_ns > 0 ? sum / of_total_ns : 0);
	row->cells[1] = fg_cell_value(sum);
	if (strcmp(kind, "all") == 0 && wall > 0)
		row->cells[2] = fg_cell_time(wall);
	row->cells[3] = fg_cell_count((double)count);
	row->cells[4] = fg_cell_value(sum / (double)count);
	if (count > 1)
		row->cells[5] = fg_cell_value(sqrt(square / (double)(count - 1)));
	row->cells[6] = fg_cell_value(quantile(sorted, count, 0.5));
	row->cells[7] = fg_cell_value(quantile(sorted, count, 0.95));
	row->cells[8] = fg_cell_value(sorted[count - 1]);
	row->cells[9] = fg_cell_text(table, kind);
	row->cells[10] = fg_cell_text(table, name);
	free(sorted);
}

static void add_slowest(struct fg_view_table *table, const struct units *units, double total_ns,
			size_t limit)
{
	const size_t count = units->by_name.count;
	struct fg_view_ranked *order = fg_xcalloc(count, sizeof(*order));
	const size_t first = table->row_count;

	for (size_t i = 0; i < count; i++)
		order[i] = (struct fg_view_ranked){(uint32_t)i, units->items[i].value};
	fg_view_rank(order, count);
	for (size_t i = 0; i < count && i < limit; i++) {
		const struct unit *unit = &units->items[order[i].index];
		struct fg_view_row *row = fg_view_add_row(table);

		row->cells[0] = fg_cell_share(total_ns > 0 ? unit->value / total_ns : 0);
		row->cells[1] = fg_cell_value(unit->value);
		if (unit->wall_ns > 0)
			row->cells[2] = fg_cell_time(unit->wall_ns);
		row->cells[9] = fg_cell_text(table, "unit");
		row->cells[10] = fg_cell_text(table, unit->name);
	}
	if (table->row_count > first)
		table->rows[first].rule_before = true;
	if (count > limit)
		fg_view_note(table, "the %zu slowest of %zu units (--rows N, --all)", limit, count);
	free(order);
}

/* Returns a pattern for a region and everything inside it, with special characters escaped. */
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
	int status = FG_OK;

	for (size_t i = 1; i < profile->region_count && i <= limit && status == FG_OK; i++) {
		char *pattern = pattern_of(profile->regions[i].path);
		struct fg_weight weight = {0};

		query.region = pattern;
		status = measure(units, profile, &query, &weight, err);
		if (status == FG_OK && weight.value > 0)
			add_statistics(table, units, total_ns, "region", profile->regions[i].path);
		free(pattern);
	}
	if (status != FG_OK)
		return status;
	if (profile->region_count > 1 && profile->region_count - 1 > limit)
		fg_view_note(table, "statistics of %zu more region%s (--all shows all)",
			     profile->region_count - 1 - limit,
			     profile->region_count - 1 - limit == 1 ? "" : "s");
	return FG_OK;
}

static int fill(struct fg_view_table *table, struct units *units, const struct fg_profile *profile,
		const struct fg_view_options *options, struct fg_error *err)
{
	struct fg_weight total = {0};
	struct fg_weight again = {0};

	FG_TRY(measure(units, profile, &options->query, &total, err));
	fg_view_columns(table, columns, FG_ARRAY_SIZE(columns));
	fg_view_total(table, profile, &options->query, &total);
	add_statistics(table, units, total.value, "all", "all units of work");
	if (!options->query.region)
		FG_TRY(add_regions(table, units, profile, options, total.value, err));
	FG_TRY(measure(units, profile, &options->query, &again, err));
	add_slowest(table, units, total.value, fg_view_limit(options, FEW_UNITS));
	if (total.samples < FEW_SAMPLES * units->by_name.count)
		fg_view_note(table,
			     "only %.1f samples per unit: the times of individual units are mostly "
			     "chance, but their mean is not (record with a higher --rate)",
			     (double)total.samples / (double)units->by_name.count);
	return FG_OK;
}

/* Adds the sums of a stored run, which has one sum per kind of unit. */
static bool add_kinds(struct fg_view_table *table, const struct fg_profile *profile,
		      const struct fg_calltree_query *query)
{
	const double scale = fg_view_stored_scale(profile, query);
	const double total_ns = fg_view_whole_total(table, profile);
	const size_t first = table->row_count;

	for (size_t i = 1; i < profile->region_count; i++) {
		const struct fg_region_info *kind = &profile->regions[i];
		struct fg_view_cell *cells = NULL;

		if (strncmp(kind->path, FG_PROFILE_UNITS, strlen(FG_PROFILE_UNITS)) != 0 ||
		    kind->count == 0)
			continue;
		cells = fg_view_add_row(table)->cells;
		cells[0] = fg_cell_share(total_ns > 0 ? kind->cpu_ns / total_ns : 0);
		cells[1] = fg_cell_value(kind->cpu_ns * scale);
		cells[2] = fg_cell_time(kind->wall_ns * scale);
		cells[3] = fg_cell_count((double)kind->count * scale);
		cells[4] = fg_cell_value(kind->cpu_ns / (double)kind->count);
		cells[9] = fg_cell_text(table, "all");
		cells[10] = fg_cell_text(table, kind->path + strlen(FG_PROFILE_UNITS));
	}
	return table->row_count > first;
}

static int view_stored(const struct fg_profile *profile, const struct fg_view_options *options,
		       struct fg_view_table *table, struct fg_error *err)
{
	double total = 0;

	FG_TRY(fg_view_check_time(table, err));
	FG_TRY(fg_view_total_of(table, profile, &options->query, &total, err));
	fg_view_columns(table, columns, FG_ARRAY_SIZE(columns));
	if (!add_kinds(table, profile, &options->query))
		return fg_error_set(err, FG_EUNSUPPORTED,
				    "no units of work were marked in this run: mark them with "
				    "<fastgate/region.h> and view the trace");
	fg_view_note(table,
		     "the table adds up all units; to see their variation, " FG_VIEW_NEEDS_SAMPLES);
	return FG_OK;
}

int fg_view_units(const struct fg_profile *profile, const struct fg_view_options *options,
		  struct fg_view_table *table, struct fg_error *err)
{
	struct units units;
	int status = FG_OK;

	if (profile->unit_count <= 1)
		return view_stored(profile, options, table, err);
	FG_TRY_OUT(units_init(&units, profile, &options->query, err));
	if (units.by_name.count == 0) {
		status = fg_error_set(err, FG_ENOENT, "no unit of work passes the filters");
		goto out;
	}
	status = fill(table, &units, profile, options, err);
out:
	units_release(&units);
	return status;
}
