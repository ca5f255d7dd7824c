// SPDX-License-Identifier: Apache-2.0
/*
 * Marked regions by branch identifier: "Hlt/Hlt1/MuonRec" is the region MuonRec inside Hlt1 inside
 * Hlt, separate from MuonRec entered elsewhere. Below each region are the functions that spent its
 * own time (without the regions inside it), as in VTune's "task / function" grouping.
 */
#include "base/sort.h"
#include "profile/views/view_private.h"

enum {
	FEW_FUNCTIONS = 3
};

static const struct fg_view_column columns[] = {
	{"inclusive_share", "incl %", .kind = FG_CELL_SHARE, .has_error = true},
	{"inclusive_ns", "incl %t", .kind = FG_CELL_VALUE, .has_error = true},
	{"self_ns", "own %t", .kind = FG_CELL_VALUE, .has_error = true, .unit_like = 2},
	{"entered", "entered", .kind = FG_CELL_COUNT},
	{"per_entry_ns", "%t each", .kind = FG_CELL_VALUE},
	{"wall_ns", "wall %t", .kind = FG_CELL_TIME, .optional = 1},
	{"kind", "kind", .kind = FG_CELL_TEXT, .left = true, .only_data = true},
	{"name", "region / function", .kind = FG_CELL_TEXT, .left = true},
};

/*
 * Finds the child of a node by a region's name. Repeated from the root for each name in a region's
 * path, this finds the region's node.
 */
static uint32_t child_named(const struct fg_calltree *tree, uint32_t parent, const char *name)
{
	for (uint32_t at = tree->nodes[parent].first_child; at != 0;
	     at = tree->nodes[at].next_sibling) {
		const struct fg_label *label = &tree->labels[tree->nodes[at].label];

		if ((label->flags & FG_FRAME_MARK) != 0 && strcmp(label->name, name) == 0)
			return at;
	}
	return 0;
}

static uint32_t *find_nodes(const struct fg_profile *profile, const struct fg_calltree *tree,
			    bool *is_region)
{
	uint32_t *nodes = fg_xcalloc(profile->region_count, sizeof(*nodes));

	for (size_t i = 1; i < profile->region_count; i++) {
		const struct fg_region_info *region = &profile->regions[i];

		if (region->parent != 0 && nodes[region->parent] == 0)
			continue;
		nodes[i] = child_named(tree, nodes[region->parent], region->name);
		is_region[nodes[i]] = true;
	}
	return nodes;
}

/* Returns the node's value without its nested regions. */
static struct fg_weight own_of(const struct fg_calltree *tree, uint32_t node, const bool *is_region)
{
	struct fg_weight own = tree->inclusive[0][node];

	for (uint32_t at = tree->nodes[node].first_child; at != 0;
	     at = tree->nodes[at].next_sibling) {
		if (!is_region[at])
			continue;
		own.value -= tree->inclusive[0][at].value;
		own.square -= tree->inclusive[0][at].square;
		own.samples -= tree->inclusive[0][at].samples;
	}
	return own;
}

struct regions {
	bool *is_region; /* by node of the tree */
	/*
	 * Set if the query keeps all threads, units and times: entries and elapsed times are known
	 * only for the whole recording.
	 */
	bool is_whole;
};

static bool is_whole(const struct fg_calltree_query *query)
{
	return query->from_ns == 0 && query->to_ns == 0 && !query->thread && !query->unit_kind &&
	       query->unit_first == 0 && query->unit_last == 0 && !query->only_units;
}

static void add_region(struct fg_view_table *table, const struct fg_region_info *region,
		       const struct fg_calltree *tree, uint32_t node, const struct regions *regions)
{
	const struct fg_weight *total = &tree->inclusive[0][0];
	const struct fg_weight own = own_of(tree, node, regions->is_region);
	struct fg_view_row *row = fg_view_add_row(table);
	struct fg_view_cell *cell = row->cells;

	row->style = FG_VIEW_PRIMARY;
	*cell++ = fg_cell_weight_share(&tree->inclusive[0][node], total);
	*cell++ = fg_cell_weight(&tree->inclusive[0][node], total);
	*cell++ = fg_cell_weight(&own, total);
	if (region->count > 0 && regions->is_whole) {
		cell[0] = fg_cell_count((double)region->count);
		cell[1] = fg_cell_value(tree->inclusive[0][node].value / (double)region->count);
	}
	if (region->wall_ns > 0 && regions->is_whole)
		cell[2] = fg_cell_time(region->wall_ns);
	cell += 3;
	*cell++ = fg_cell_text(table, "region");
	*cell = fg_cell_text(table, region->path);
}

struct ranked {
	uint32_t label;
	struct fg_weight self;
};

struct ranking {
	struct ranked *items;
	size_t count, capacity;
	uint32_t *place_of; /* by label, from 1; 0: not in the list */
};

FG_ORDER_BY(by_self, struct ranked, FG_DOWN(self.value), FG_UP(label))

static void rank(struct ranking *ranking, const struct fg_calltree *tree, uint32_t node)
{
	const uint32_t label = tree->nodes[node].label;

	if (!(tree->self[0][node].value > 0))
		return;
	if (ranking->place_of[label] == 0) {
		FG_APPEND(ranking->items, ranking->count, ranking->capacity) =
			(struct ranked){.label = label};
		ranking->place_of[label] = (uint32_t)ranking->count;
	}
	fg_weight_add(&tree->measure, &ranking->items[ranking->place_of[label] - 1].self,
		      &tree->self[0][node], 1.0);
}

/* Ranks everything below `top` that is not in a nested region. */
static void rank_below(struct ranking *ranking, const struct fg_calltree *tree, uint32_t top,
		       const bool *is_region)
{
	uint32_t at = top;

	for (size_t i = 0; i < ranking->count; i++)
		ranking->place_of[ranking->items[i].label] = 0;
	ranking->count = 0;
	for (;;) {
		const bool enters = at == top || !is_region[at];

		if (enters && at != top)
			rank(ranking, tree, at);
		if (enters && tree->nodes[at].first_child != 0) {
			at = tree->nodes[at].first_child;
			continue;
		}
		while (at != top && tree->nodes[at].next_sibling == 0)
			at = tree->nodes[at].parent;
		if (at == top)
			break;
		at = tree->nodes[at].next_sibling;
	}
	if (ranking->count > 1)
		qsort(ranking->items, ranking->count, sizeof(*ranking->items), by_self);
	for (size_t i = 0; i < ranking->count; i++)
		ranking->place_of[ranking->items[i].label] = (uint32_t)i + 1;
}

static void add_functions(struct fg_view_table *table, const struct fg_calltree *tree,
			  const struct ranking *ranking, size_t limit)
{
	const struct fg_weight *total = &tree->inclusive[0][0];

	for (size_t i = 0; i < ranking->count && i < limit; i++) {
		struct fg_view_row *row = fg_view_add_row(table);

		row->depth = 1;
		row->guide = "    ";
		row->style = FG_VIEW_FAINT;
		row->cells[2] = fg_cell_weight(&ranking->items[i].self, total);
		row->cells[6] = fg_cell_text(table, "function");
		row->cells[7] = fg_cell_text(table, tree->labels[ranking->items[i].label].name);
	}
}

static void fill(struct fg_view_table *table, const struct fg_profile *profile,
		 const struct fg_calltree *tree, const struct fg_view_options *options)
{
	const double floor = options->all ? 0 : options->floor * tree->inclusive[0][0].value;
	const size_t limit = options->all        ? SIZE_MAX
			     : options->rows > 0 ? options->rows
						 : FEW_FUNCTIONS;
	const struct regions regions = {
		.is_region = fg_xcalloc(tree->node_count, sizeof(bool)),
		.is_whole = is_whole(&options->query),
	};
	uint32_t *nodes = find_nodes(profile, tree, regions.is_region);
	struct ranking ranking = {.place_of = fg_xcalloc(tree->label_count, sizeof(uint32_t))};
	double outside = tree->inclusive[0][0].value;

	for (size_t i = 1; i < profile->region_count; i++) {
		if (nodes[i] == 0 || tree->inclusive[0][nodes[i]].value < floor)
			continue;
		if (profile->regions[i].parent == 0)
			outside -= tree->inclusive[0][nodes[i]].value;
		add_region(table, &profile->regions[i], tree, nodes[i], &regions);
		rank_below(&ranking, tree, nodes[i], regions.is_region);
		add_functions(table, tree, &ranking, limit);
	}
	if (tree->inclusive[0][0].value > 0)
		fg_view_note(table, "%.1f %% of %s was spent outside any region",
			     100 * outside / tree->inclusive[0][0].value, fg_view_whole(table));
	free(ranking.items);
	free(ranking.place_of);
	if (!regions.is_whole)
		fg_view_note(table,
			     "entries and elapsed time of regions are known only for the whole "
			     "recording, and are not shown with --unit, --thread, --from, --to");
	free(nodes);
	free(regions.is_region);
}

/*
 * Returns true for the units of work of a stored run. A stored run has one region per kind of unit;
 * the view of units shows these regions.
 */
static bool is_unit(const struct fg_region_info *region)
{
	return strncmp(region->path, FG_PROFILE_UNITS, strlen(FG_PROFILE_UNITS)) == 0;
}

static double inside(const struct fg_profile *profile, size_t region)
{
	double ns = 0;

	for (size_t i = region + 1; i < profile->region_count; i++)
		ns += profile->regions[i].parent == region ? profile->regions[i].cpu_ns : 0;
	return ns;
}

static void fill_times(struct fg_view_table *table, const struct fg_profile *profile,
		       const struct fg_calltree_query *query)
{
	const double scale = fg_view_stored_scale(profile, query);
	const double total_ns = fg_view_whole_total(table, profile);

	for (size_t i = 1; i < profile->region_count; i++) {
		const struct fg_region_info *region = &profile->regions[i];
		struct fg_view_row *row = NULL;

		if (is_unit(region))
			continue;
		row = fg_view_add_row(table);
		row->style = FG_VIEW_PRIMARY;
		if (total_ns > 0)
			row->cells[0] = fg_cell_share(region->cpu_ns / total_ns);
		row->cells[1] = fg_cell_value(region->cpu_ns * scale);
		row->cells[2] = fg_cell_value((region->cpu_ns - inside(profile, i)) * scale);
		row->cells[3] = fg_cell_count((double)region->count * scale);
		if (region->count > 0)
			row->cells[4] = fg_cell_value(region->cpu_ns / (double)region->count);
		row->cells[5] = fg_cell_time(region->wall_ns * scale);
		row->cells[6] = fg_cell_text(table, "region");
		row->cells[7] = fg_cell_text(table, region->path);
	}
	fg_view_note(
		table,
		"a stored run does not record which function ran in which region: view the trace "
		"for that (fastgate record)");
	if (query->repetition > 0)
		fg_view_note(table, "the figures are means of all repetitions");
}

int fg_view_regions(const struct fg_profile *profile, const struct fg_view_options *options,
		    struct fg_view_table *table, struct fg_error *err)
{
	struct fg_calltree_query query = options->query;
	struct fg_calltree tree;

	if (profile->region_count <= 1)
		return fg_error_set(err, FG_EUNSUPPORTED,
				    "no regions were marked in this run: mark them with "
				    "<fastgate/region.h>, or with the ITT API");
	if (!fg_profile_knows_regions(profile))
		FG_TRY(fg_view_check_time(table, err));
	query.split = FG_SPLIT_REGION;
	FG_TRY(fg_calltree_build(profile, &query, &tree, err));
	fg_view_columns(table, columns, FG_ARRAY_SIZE(columns));
	fg_view_total(table, profile, &options->query, &tree.inclusive[0][0]);
	if (fg_profile_knows_regions(profile))
		fill(table, profile, &tree, options);
	else
		fill_times(table, profile, &options->query);
	fg_calltree_release(&tree);
	return FG_OK;
}
