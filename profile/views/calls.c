// SPDX-License-Identifier: Apache-2.0
#include "profile/views/calls.h"

static const char measure_name[] = "calls";

static void count_calls(struct fg_view_calls *calls, struct fg_calltree *shown,
			const struct fg_calltree *tree)
{
	uint32_t *label_of = fg_calltree_map_labels(shown, tree);

	calls->of_label = fg_xcalloc(shown->label_count, sizeof(calls->of_label[0]));
	for (size_t i = 1; i < tree->node_count; i++) {
		const struct fg_calltree_node *node = &tree->nodes[i];
		const uint32_t caller = label_of[tree->nodes[node->parent].label];
		const uint32_t callee = label_of[node->label];
		const double number = tree->self[0][i].value;
		bool is_new = false;
		uint32_t at = 0;

		if (!(number > 0))
			continue;
		at = *fg_pair_index_add(&calls->edges, caller, callee, (uint32_t)calls->count,
					&is_new);
		if (is_new)
			FG_APPEND(calls->between, calls->count, calls->capacity) = 0;
		calls->between[at] += number;
		calls->of_label[callee] += number;
	}
	calls->known = calls->count > 0;
	free(label_of);
}

int fg_view_calls_init(struct fg_view_calls *calls, struct fg_calltree *shown,
		       const struct fg_profile *profile, const struct fg_calltree_query *query,
		       struct fg_error *err)
{
	struct fg_calltree_query wanted = *query;
	struct fg_calltree tree;
	uint16_t shown_measure = 0;
	uint16_t counted = 0;

	*calls = (struct fg_view_calls){0};
	if (fg_profile_find_measure(profile, measure_name, &counted, NULL) != FG_OK ||
	    fg_profile_find_measure(profile, query->measure, &shown_measure, NULL) != FG_OK ||
	    shown_measure == counted || query->group != FG_GROUP_FUNCTION)
		return FG_OK;
	wanted.measure = measure_name;
	FG_TRY(fg_calltree_build(profile, &wanted, &tree, err));
	count_calls(calls, shown, &tree);
	fg_calltree_release(&tree);
	return FG_OK;
}

void fg_view_calls_release(struct fg_view_calls *calls)
{
	fg_pair_index_release(&calls->edges);
	free(calls->of_label);
	free(calls->between);
	*calls = (struct fg_view_calls){0};
}

double fg_view_calls_of(const struct fg_view_calls *calls, uint32_t label)
{
	return calls->known ? calls->of_label[label] : 0;
}

double fg_view_calls_between(const struct fg_view_calls *calls, uint32_t caller, uint32_t callee)
{
	const uint32_t *at = fg_pair_index_get(&calls->edges, caller, callee);

	return at ? calls->between[*at] : 0;
}
