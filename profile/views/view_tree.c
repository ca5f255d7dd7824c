// SPDX-License-Identifier: Apache-2.0
/*
 * Top-down and bottom-up trees. Stacks of real programs are hundreds of frames deep, so depth alone
 * does not indent: an only child continues the column of its parent, and a new column of guides
 * begins only where the tree branches. A function that calls itself and nothing else of weight is
 * one row, "walk  (100 deep)".
 */
#include "profile/views/view_private.h"

enum {
	MAX_ROWS = 60,
	BOTTOM_UP_DEPTH = 12,
	MAX_GUIDE = 160, /* width of the guides at which all deeper branches begin */
};

static const double default_floor = 0.005;

static const struct fg_view_column columns[] = {
	{"inclusive_share", "incl %", .kind = FG_CELL_SHARE, .has_error = true},
	{"inclusive_ns", "incl %t", .kind = FG_CELL_VALUE, .has_error = true},
	{"self_ns", "self %t", .kind = FG_CELL_VALUE, .has_error = true, .unit_like = 2},
	{"samples", "samples", .kind = FG_CELL_COUNT},
	{"library", "library", .kind = FG_CELL_TEXT, .left = true, .only_data = true},
	{"place", "place", .kind = FG_CELL_TEXT, .left = true, .only_data = true},
	{"name", "name", .kind = FG_CELL_TEXT, .left = true},
};

struct painter {
	struct fg_view_table *table;
	const struct fg_calltree *tree;
	double floor;
	unsigned depth_limit;
	size_t row_limit;
	size_t hidden; /* nodes cut by the floor, the depth or the number of rows */
	bool fold_recursion;
};

static bool is_shown(const struct painter *p, uint32_t node)
{
	return p->tree->nodes[node].depth <= p->depth_limit &&
	       p->tree->inclusive[0][node].value >= p->floor &&
	       p->tree->inclusive[0][node].value > 0;
}

/* Returns the next visible child after `child`, or the first if `child` is 0; 0: none. */
static uint32_t next_shown(const struct painter *p, uint32_t parent, uint32_t child)
{
	uint32_t at =
		child ? p->tree->nodes[child].next_sibling : p->tree->nodes[parent].first_child;

	while (at != 0 && !is_shown(p, at))
		at = p->tree->nodes[at].next_sibling;
	return at;
}

/* Returns the only visible child if it is the same function; 0: none. */
static uint32_t recursion_of(const struct painter *p, uint32_t node)
{
	const uint32_t child = p->fold_recursion ? next_shown(p, node, 0) : 0;

	if (child == 0 || p->tree->nodes[child].label != p->tree->nodes[node].label ||
	    next_shown(p, node, child) != 0)
		return 0;
	return child;
}

/*
 * Adds a row for a node and the direct recursion below it. Returns the innermost node in the row.
 */
static uint32_t add_row(struct painter *p, uint32_t node, const char *guide)
{
	const struct fg_weight *total = &p->tree->inclusive[0][0];
	const struct fg_label *label = &p->tree->labels[p->tree->nodes[node].label];
	struct fg_weight self = p->tree->self[0][node];
	struct fg_view_row *row = fg_view_add_row(p->table);
	struct fg_view_cell *cell = row->cells;
	const uint32_t outermost = node;
	unsigned levels = 1;

	for (uint32_t next = recursion_of(p, node); next != 0; next = recursion_of(p, node)) {
		node = next;
		levels++;
		fg_weight_add(&p->tree->measure, &self, &p->tree->self[0][node], 1.0);
	}
	row->depth = p->tree->nodes[outermost].depth;
	row->guide = guide ? fg_arena_strdup(&p->table->arena, guide) : NULL;
	*cell++ = fg_cell_weight_share(&p->tree->inclusive[0][outermost], total);
	*cell++ = fg_cell_weight(&p->tree->inclusive[0][outermost], total);
	*cell++ = fg_cell_weight(&self, total);
	*cell++ = fg_cell_count((double)p->tree->inclusive[0][outermost].samples);
	*cell++ = fg_cell_library(p->table, label);
	*cell++ = fg_cell_place(p->table, label->file, label->line);
	*cell = fg_cell_text(p->table, label->name);
	if (levels > 1)
		cell->text =
			fg_arena_printf(&p->table->arena, "%s  (%u deep)", label->name, levels);
	return node;
}

static size_t count_hidden(const struct painter *p)
{
	size_t count = 0;

	for (uint32_t i = 1; i < p->tree->node_count; i++)
		count += !is_shown(p, i);
	return count;
}

/* One open branch: the guides in front of its children's rows. */
struct level {
	uint32_t node;
	uint32_t child;      /* the child being painted */
	size_t guide_length; /* length of the children's guides, without their own corner */
	bool branches;       /* has more than one shown child */
};

struct levels {
	struct level *items;
	size_t count;
	size_t capacity;
};

static void open_level(struct painter *p, struct levels *levels, uint32_t node, size_t guide_length)
{
	const uint32_t first = next_shown(p, node, 0);

	FG_APPEND(levels->items, levels->count, levels->capacity) = (struct level){
		.node = node,
		.guide_length = guide_length,
		.branches = first != 0 && next_shown(p, node, first) != 0,
	};
}

static void paint(struct painter *p)
{
	struct levels levels = {0};
	struct fg_strbuf guide = {0};

	open_level(p, &levels, 0, 0);
	while (levels.count > 0 && p->table->row_count < p->row_limit) {
		struct level *level = &levels.items[levels.count - 1];
		const uint32_t child = next_shown(p, level->node, level->child);
		uint32_t innermost = 0;
		bool last = false;

		if (child == 0) {
			levels.count--;
			continue;
		}
		level->child = child;
		last = next_shown(p, level->node, child) == 0;
		guide.length = level->guide_length;
		if (guide.data)
			guide.data[guide.length] = '\0';
		if (level->branches && guide.length < MAX_GUIDE)
			fg_strbuf_add_text(&guide, last ? "└─ " : "├─ ");
		innermost = add_row(p, child, fg_strbuf_text(&guide));
		guide.length = level->guide_length;
		if (guide.data)
			guide.data[guide.length] = '\0';
		if (level->branches && guide.length < MAX_GUIDE)
			fg_strbuf_add_text(&guide, last ? "   " : "│  ");
		open_level(p, &levels, innermost, guide.length);
	}
	p->hidden = count_hidden(p);
	if (levels.count > 0)
		fg_view_note(p->table,
			     "stopped after %zu rows (--rows N shows more, --all shows everything)",
			     p->table->row_count);
	free(levels.items);
	fg_strbuf_release(&guide);
}

static double floor_share(const struct fg_view_options *options)
{
	if (options->all)
		return 0;
	return options->floor > 0 ? options->floor : default_floor;
}

static void fill(struct fg_view_table *table, const struct fg_calltree *tree,
		 const struct fg_view_options *options)
{
	struct painter p = {
		.table = table,
		.tree = tree,
		.floor = floor_share(options) * tree->inclusive[0][0].value,
		.depth_limit = options->depth > 0 ? options->depth : UINT32_MAX,
		.row_limit = fg_view_limit(options, MAX_ROWS),
		.fold_recursion = !options->all,
	};

	fg_view_columns(table, columns, FG_ARRAY_SIZE(columns));
	paint(&p);
	if (p.hidden > 0)
		fg_view_note(table, "not shown: %zu call path%s below %.2g %% of %s%s", p.hidden,
			     p.hidden == 1 ? "" : "s", 100 * floor_share(options),
			     fg_view_whole(table),
			     options->depth > 0 ? " or deeper than --depth" : "");
}

int fg_view_top_down(const struct fg_profile *profile, const struct fg_view_options *options,
		     struct fg_view_table *table, struct fg_error *err)
{
	struct fg_calltree tree;

	FG_TRY(fg_calltree_build(profile, &options->query, &tree, err));
	fg_view_total(table, profile, &options->query, &tree.inclusive[0][0]);
	fill(table, &tree, options);
	fg_calltree_release(&tree);
	return FG_OK;
}

int fg_view_bottom_up(const struct fg_profile *profile, const struct fg_view_options *options,
		      struct fg_view_table *table, struct fg_error *err)
{
	struct fg_calltree_query query = options->query;
	struct fg_calltree tree;
	struct fg_calltree inverted;
	unsigned depth = options->depth > 0 ? options->depth : BOTTOM_UP_DEPTH;

	query.split = FG_SPLIT_NONE;
	FG_TRY(fg_calltree_build(profile, &query, &tree, err));
	if (options->all && options->depth == 0)
		depth = UINT16_MAX;
	fg_view_total(table, profile, &options->query, &tree.inclusive[0][0]);
	fg_calltree_invert(&tree, depth, floor_share(options) * tree.inclusive[0][0].value,
			   &inverted);
	fill(table, &inverted, options);
	fg_calltree_release(&inverted);
	fg_calltree_release(&tree);
	return FG_OK;
}
