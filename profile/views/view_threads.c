// SPDX-License-Identifier: Apache-2.0
/*
 * Threads: sampled time next to the kernel's own count, and the most expensive function.
 */
#include "profile/views/view_private.h"

enum {
	FEW_ROWS = 40
};

static const struct fg_view_column columns[] = {
	{"inclusive_share", "incl %", .kind = FG_CELL_SHARE, .has_error = true},
	{"inclusive_ns", "sampled %t", .kind = FG_CELL_VALUE, .has_error = true},
	{"user_ns", "user %t", .kind = FG_CELL_TIME, .unit_like = 2},
	{"system_ns", "system %t", .kind = FG_CELL_TIME, .unit_like = 2},
	{"samples", "samples", .kind = FG_CELL_COUNT, .optional = 1},
	{"thread", "thread", .kind = FG_CELL_TEXT, .left = true},
	{"top_function", "top function", .kind = FG_CELL_TEXT, .left = true},
};

struct kernel_times {
	double user_ns;
	double system_ns;
};

/* Returns the kernel's times for all threads of this name. */
static struct kernel_times kernel_times(const struct fg_profile *profile, const char *name)
{
	struct kernel_times times = {0};

	for (size_t i = 0; i < profile->thread_count; i++) {
		const struct fg_thread_info *thread = &profile->threads[i];
		char *label = fg_xasprintf("%s (%u)", thread->name ? thread->name : "thread",
					   thread->tid);

		if (strcmp(label, name) == 0) {
			times.user_ns += thread->user_ns;
			times.system_ns += thread->system_ns;
		}
		free(label);
	}
	return times;
}

/* Returns the label with the most self time below a node. */
static const char *top_label(const struct fg_calltree *tree, uint32_t node, double *by_label)
{
	const char *top = NULL;
	double most = 0;

	for (uint32_t i = node, next = 0;; i = next) {
		if (i != node && tree->self[0][i].value > 0) {
			double *sum = &by_label[tree->nodes[i].label];

			*sum += tree->self[0][i].value;
			if (*sum > most) {
				most = *sum;
				top = tree->labels[tree->nodes[i].label].name;
			}
		}
		next = tree->nodes[i].first_child;
		for (uint32_t up = i; next == 0 && up != node; up = tree->nodes[up].parent)
			next = tree->nodes[up].next_sibling;
		if (next == 0)
			return top;
	}
}

static void add_thread(struct fg_view_table *table, const struct fg_profile *profile,
		       const struct fg_calltree *tree, uint32_t node)
{
	const struct fg_weight *total = &tree->inclusive[0][0];
	const char *name = tree->labels[tree->nodes[node].label].name;
	const struct kernel_times times = kernel_times(profile, name);
	double *by_label = fg_xcalloc(tree->label_count, sizeof(*by_label));
	struct fg_view_cell *cell = fg_view_add_row(table)->cells;

	*cell++ = fg_cell_weight_share(&tree->inclusive[0][node], total);
	*cell++ = fg_cell_weight(&tree->inclusive[0][node], total);
	if (times.user_ns + times.system_ns > 0) {
		cell[0] = fg_cell_time(times.user_ns);
		cell[1] = fg_cell_time(times.system_ns);
	}
	cell += 2;
	*cell++ = fg_cell_count((double)tree->inclusive[0][node].samples);
	*cell++ = fg_cell_text(table, name);
	*cell = fg_cell_text(table, top_label(tree, node, by_label));
	free(by_label);
}

int fg_view_threads(const struct fg_profile *profile, const struct fg_view_options *options,
		    struct fg_view_table *table, struct fg_error *err)
{
	struct fg_calltree_query query = options->query;
	const size_t limit = fg_view_limit(options, FEW_ROWS);
	struct fg_calltree tree;
	size_t left_out = 0;

	if (profile->thread_count == 0)
		return fg_error_set(
			err, FG_EUNSUPPORTED,
			"this profile does not distinguish threads: " FG_VIEW_NEEDS_SAMPLES);
	query.split = FG_SPLIT_THREAD;
	FG_TRY(fg_calltree_build(profile, &query, &tree, err));
	fg_view_columns(table, columns, FG_ARRAY_SIZE(columns));
	fg_view_total(table, profile, &options->query, &tree.inclusive[0][0]);
	for (uint32_t at = tree.nodes[0].first_child; at != 0; at = tree.nodes[at].next_sibling) {
		if (table->row_count < limit)
			add_thread(table, profile, &tree, at);
		else
			left_out++;
	}
	if (left_out > 0)
		fg_view_note(table, "%zu more thread%s (--all shows all)", left_out,
			     left_out == 1 ? "" : "s");
	fg_calltree_release(&tree);
	return FG_OK;
}
