// SPDX-License-Identifier: Apache-2.0
#include "profile/views/calls.h"

#include "base/strbuf.h"

#include <stdlib.h>

static const char measure_name[] = "calls";

static void add_label(struct fg_strbuf *key, const struct fg_label *label)
{
	fg_strbuf_add_text(key, label->name);
	fg_strbuf_add_char(key, '\0');
	fg_strbuf_add_text(key, label->library ? label->library : "");
	fg_strbuf_add_char(key, '\0');
}

static void add(struct fg_view_calls *calls, struct fg_map *map, const struct fg_strbuf *key,
		double number)
{
	bool is_new = false;
	const uint64_t at = *fg_map_add(map, key->data, key->length, calls->count, &is_new);

	if (is_new) {
		FG_APPEND(calls->numbers, calls->count, calls->capacity) = 0;
	}
	calls->numbers[at] += number;
}

static void add_node(struct fg_view_calls *calls, const struct fg_calltree *tree, size_t index)
{
	const struct fg_calltree_node *node = &tree->nodes[index];
	const double number = tree->self[0][index].value;
	struct fg_strbuf key = {0};

	if (!(number > 0))
		return;
	add_label(&key, &tree->labels[node->label]);
	add(calls, &calls->functions, &key, number);
	fg_strbuf_clear(&key);
	add_label(&key, &tree->labels[tree->nodes[node->parent].label]);
	add_label(&key, &tree->labels[node->label]);
	add(calls, &calls->edges, &key, number);
	fg_strbuf_release(&key);
}

int fg_view_calls_init(struct fg_view_calls *calls, const struct fg_profile *profile,
		       const struct fg_calltree_query *query, struct fg_error *err)
{
	struct fg_calltree_query wanted = *query;
	struct fg_calltree tree;
	uint16_t shown = 0;
	uint16_t counted = 0;

	*calls = (struct fg_view_calls){0};
	if (fg_profile_find_measure(profile, measure_name, &counted, NULL) != FG_OK ||
	    fg_profile_find_measure(profile, query->measure, &shown, NULL) != FG_OK ||
	    shown == counted || query->group != FG_GROUP_FUNCTION)
		return FG_OK;
	wanted.measure = measure_name;
	FG_TRY(fg_calltree_build(profile, &wanted, &tree, err));
	for (size_t i = 1; i < tree.node_count; i++)
		add_node(calls, &tree, i);
	calls->known = calls->count > 0;
	fg_calltree_release(&tree);
	return FG_OK;
}

void fg_view_calls_release(struct fg_view_calls *calls)
{
	fg_map_release(&calls->functions);
	fg_map_release(&calls->edges);
	free(calls->numbers);
	*calls = (struct fg_view_calls){0};
}

static double find(const struct fg_view_calls *calls, const struct fg_map *map,
		   struct fg_strbuf *key)
{
	const uint64_t *at = fg_map_get(map, key->data, key->length);
	const double number = at ? calls->numbers[*at] : 0;

	fg_strbuf_release(key);
	return number;
}

double fg_view_calls_of(const struct fg_view_calls *calls, const struct fg_label *function)
{
	struct fg_strbuf key = {0};

	if (!calls->known)
		return 0;
	add_label(&key, function);
	return find(calls, &calls->functions, &key);
}

double fg_view_calls_between(const struct fg_view_calls *calls, const struct fg_label *caller,
			     const struct fg_label *callee)
{
	struct fg_strbuf key = {0};

	if (!calls->known)
		return 0;
	add_label(&key, caller);
	add_label(&key, callee);
	return find(calls, &calls->edges, &key);
}
