// SPDX-License-Identifier: Apache-2.0
/*
 * The run in equal time steps: busy CPUs, and the most expensive function of each step. --from and
 * --to cut the range, as in other views; the steps divide the remaining time.
 */
#include "profile/views/view_private.h"

enum {
	FEW_STEPS = 40,
	MAX_STEPS = 2000,
	BAR_WIDTH = 12,
};

static const struct fg_view_column columns[] = {
	{"from_ns", "from %t", .kind = FG_CELL_TIME},
	{"to_ns", "to", .kind = FG_CELL_TIME, .only_data = true},
	{"inclusive_ns", "time %t", .kind = FG_CELL_VALUE, .has_error = true, .optional = 1},
	{"busy_share", "busy %", .kind = FG_CELL_SHARE},
	{"bar", "", .kind = FG_CELL_TEXT, .left = true},
	{"top_share", "top %", .kind = FG_CELL_SHARE},
	{"top_function", "top function", .kind = FG_CELL_TEXT, .left = true},
};

/* Returns a bar in eighths of a block: twelve columns show about a hundred levels. */
static const char *bar(struct fg_view_table *table, double share)
{
	static const char *const parts[] = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
	const unsigned eighths = (unsigned)(share * BAR_WIDTH * 8 + 0.5);
	struct fg_strbuf text = {0};

	for (unsigned i = 0; i < eighths / 8; i++)
		fg_strbuf_add_text(&text, "█");
	fg_strbuf_add_text(&text, parts[eighths % 8]);
	return fg_strbuf_keep(&text, &table->arena);
}

static void fill_step(struct fg_view_table *table, struct fg_view_row *row,
		      const struct fg_calltree *tree, int64_t from_ns, int64_t to_ns)
{
	const struct fg_weight *total = &tree->inclusive[0][0];
	struct fg_label_figures *figures = NULL;
	const size_t count = fg_calltree_flat(tree, &figures);

	row->cells[0] = fg_cell_time((double)from_ns);
	row->cells[1] = fg_cell_time((double)to_ns);
	row->cells[2] = fg_cell_weight(total, total);
	row->cells[3] = fg_cell_share(total->value / (double)(to_ns - from_ns));
	if (count > 0 && figures[0].self[0].value > 0) {
		row->cells[5] = fg_cell_weight_share(&figures[0].self[0], total);
		row->cells[6] = fg_cell_text(table, tree->labels[figures[0].label].name);
	}
	free(figures);
}

static int add_steps(struct fg_view_table *table, const struct fg_profile *profile,
		     const struct fg_view_options *options, size_t steps, struct fg_error *err)
{
	const int64_t from_ns = options->query.from_ns;
	const int64_t end_ns =
		options->query.to_ns > 0 ? options->query.to_ns : profile->duration_ns;
	const double width = (double)(end_ns - from_ns) / (double)steps;
	struct fg_calltree_query query = options->query;

	query.split = FG_SPLIT_NONE;
	for (size_t i = 0; i < steps; i++) {
		struct fg_calltree tree;

		query.from_ns = from_ns + (int64_t)(width * (double)i);
		query.to_ns =
			i + 1 == steps ? end_ns + 1 : from_ns + (int64_t)(width * (double)(i + 1));
		if (query.to_ns <= query.from_ns)
			continue;
		FG_TRY(fg_calltree_build(profile, &query, &tree, err));
		fill_step(table, fg_view_add_row(table), &tree, query.from_ns, query.to_ns);
		fg_calltree_release(&tree);
	}
	return FG_OK;
}

static void draw_bars(struct fg_view_table *table)
{
	double most = 0;

	for (size_t i = 0; i < table->row_count; i++) {
		if (table->rows[i].cells[3].number > most)
			most = table->rows[i].cells[3].number;
	}
	for (size_t i = 0; i < table->row_count && most > 0; i++) {
		table->rows[i].cells[4] = (struct fg_view_cell){
			.kind = FG_CELL_TEXT,
			.text = bar(table, table->rows[i].cells[3].number / most)};
	}
}

int fg_view_timeline(const struct fg_profile *profile, const struct fg_view_options *options,
		     struct fg_view_table *table, struct fg_error *err)
{
	const size_t steps = options->rows > 0 ? options->rows : FEW_STEPS;
	double total = 0;

	if (!profile->has_times || profile->duration_ns <= 0)
		return fg_error_set(err, FG_EUNSUPPORTED,
				    "this profile does not record when its samples were taken: %s",
				    FG_VIEW_NEEDS_SAMPLES);
	if (steps > MAX_STEPS)
		return fg_error_set(err, FG_EINVAL,
				    "%zu steps are too many: at most %d are possible", steps,
				    MAX_STEPS);
	FG_TRY(fg_view_check_time(table, err));
	FG_TRY(fg_view_total_of(table, profile, &options->query, &total, err));
	fg_view_columns(table, columns, FG_ARRAY_SIZE(columns));
	FG_TRY(add_steps(table, profile, options, steps, err));
	draw_bars(table);
	return FG_OK;
}
