// SPDX-License-Identifier: Apache-2.0
#include "profile/views/view.h"
#include "profile/views/view_private.h"

#include <math.h>

enum {
	FEW_ROWS = 30
};

static const struct fg_view_column columns[] = {
	{"before_share", "before %", .kind = FG_CELL_SHARE},
	{"after_share", "after %", .kind = FG_CELL_SHARE},
	{"before_self_ns", "before %t", .kind = FG_CELL_VALUE},
	{"after_self_ns", "after %t", .kind = FG_CELL_VALUE, .unit_like = 3},
	{"self_difference_ns", "difference", .kind = FG_CELL_VALUE},
	{"before_inclusive_ns", "incl before %t", .kind = FG_CELL_VALUE, .only_data = true},
	{"after_inclusive_ns", "incl after %t", .kind = FG_CELL_VALUE, .only_data = true},
	{"library", "library", .kind = FG_CELL_TEXT, .left = true, .optional = 1},
	{"place", "place", .kind = FG_CELL_TEXT, .left = true, .only_data = true},
	{"name", "name", .kind = FG_CELL_TEXT, .left = true},
};

static double difference_of(const struct fg_weight pair[2])
{
	return pair[1].value - pair[0].value;
}

static const char *signed_value(struct fg_view_table *table, double value)
{
	char text[FG_NUMBER_TEXT_SIZE];

	(void)fg_measure_text(&table->measure, fabs(value), text);
	return fg_arena_printf(&table->arena, "%s%s",
			       value > 0 || value < 0 ? fg_format_sign(value) : "", text);
}

static struct fg_view_cell signed_cell(struct fg_view_table *table, double value)
{
	struct fg_view_cell cell = fg_cell_value(value);

	cell.text = signed_value(table, value);
	return cell;
}

static struct fg_view_cell share(double part, double whole)
{
	return fg_cell_share(whole > 0 ? part / whole : 0);
}

static void add_row(struct fg_view_table *table, const struct fg_calltree *tree,
		    const struct fg_label_figures *figures)
{
	const struct fg_label *label = &tree->labels[figures->label];
	struct fg_view_cell *cell = fg_view_add_row(table)->cells;

	*cell++ = share(figures->self[0].value, tree->inclusive[0][0].value);
	*cell++ = share(figures->self[1].value, tree->inclusive[1][0].value);
	*cell++ = fg_cell_value(figures->self[0].value);
	*cell++ = fg_cell_value(figures->self[1].value);
	*cell++ = signed_cell(table, difference_of(figures->self));
	*cell++ = fg_cell_value(figures->inclusive[0].value);
	*cell++ = fg_cell_value(figures->inclusive[1].value);
	*cell++ = fg_cell_library(table, label);
	*cell++ = fg_cell_place(table, label->file, label->line);
	*cell = fg_cell_text(table, label->name);
}

static void add_heads(struct fg_view_table *table, const struct fg_calltree *tree,
		      const char *const titles[2])
{
	static const char *const sides[] = {"before", "after"};
	const struct fg_weight whole[] = {tree->inclusive[0][0], tree->inclusive[1][0]};
	char text[FG_NUMBER_TEXT_SIZE];

	for (size_t i = 0; i < FG_ARRAY_SIZE(sides); i++) {
		(void)fg_measure_text(&table->measure, whole[i].value, text);
		fg_view_head(table, "%-6s  %s of %s  %s", sides[i], text, table->measure.label,
			     titles[i]);
	}
	if (whole[0].value > 0) {
		char change[FG_NUMBER_TEXT_SIZE];

		fg_view_head(table, "change  %s (%s); two profiles, compared without a verdict",
			     signed_value(table, difference_of(whole)),
			     fg_format_change(whole[1].value / whole[0].value - 1, change));
	}
}

/* Sorts by difference, largest first; without `all`, only functions with self time. */
static size_t rank(const struct fg_label_figures *figures, size_t count, bool all,
		   struct fg_view_ranked *ranked)
{
	size_t kept = 0;

	for (size_t i = 0; i < count; i++) {
		if (all || figures[i].self[0].value > 0 || figures[i].self[1].value > 0)
			ranked[kept++] = (struct fg_view_ranked){
				.index = (uint32_t)i,
				.value = fabs(difference_of(figures[i].self)),
			};
	}
	fg_view_rank(ranked, kept);
	return kept;
}

void fg_view_difference(const struct fg_calltree *tree, const char *const titles[2],
			const struct fg_view_options *options, struct fg_view_table *table)
{
	struct fg_label_figures *figures = NULL;
	const size_t count = fg_calltree_flat(tree, &figures);
	const size_t limit = fg_view_limit(options, FEW_ROWS);
	struct fg_view_ranked *ranked = fg_xcalloc(count + 1, sizeof(ranked[0]));
	const size_t kept = rank(figures, count, options->all, ranked);

	*table = (struct fg_view_table){.name = "difference", .measure = tree->measure};
	fg_view_columns(table, columns, FG_ARRAY_SIZE(columns));
	add_heads(table, tree, titles);
	for (size_t i = 0; i < kept && i < limit; i++)
		add_row(table, tree, &figures[ranked[i].index]);
	if (kept > limit)
		fg_view_note(table,
			     "%zu more function%s with smaller differences (--verbose shows all)",
			     kept - limit, kept - limit == 1 ? "" : "s");
	free(ranked);
	free(figures);
}
