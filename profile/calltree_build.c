// SPDX-License-Identifier: Apache-2.0
/*
 * Builds a tree from a profile and a query, in time proportional to stacks + samples;
 * profile/selection.h explains how.
 */
#include "profile/calltree.h"
#include "profile/selection.h"

enum {
	UNSET = 0
};

struct builder {
	const struct fg_profile *profile;
	struct fg_selection selection;
	struct fg_calltree *tree;
	uint32_t *label_of_frame;         /* label + 1; 0: not made yet */
	struct fg_pair_index label_below; /* label, ancestor's label → label */
};

/* -------------------------------------------------------------------- labels */

static uint32_t label_of_frame(struct builder *b, uint32_t frame)
{
	struct fg_strbuf name = {0};
	struct fg_label label;

	if (b->label_of_frame[frame] == UNSET) {
		fg_selection_name(&b->selection, &b->profile->frames[frame], &label, &name);
		label.name = fg_strbuf_text(&name);
		b->label_of_frame[frame] = fg_calltree_label(b->tree, &label) + 1;
		fg_strbuf_release(&name);
	}
	return b->label_of_frame[frame] - 1;
}

/* "log" below a match of an ancestor pattern gets a separate label for each matched frame. */
static uint32_t label_below(struct builder *b, uint32_t label, uint32_t ancestor_stack)
{
	uint32_t ancestor = label_of_frame(b, b->profile->stacks[ancestor_stack].frame);
	const uint32_t *known = fg_pair_index_get(&b->label_below, label, ancestor);
	struct fg_label below = b->tree->labels[label];
	char *name = NULL;
	uint32_t index;

	if (known)
		return *known;
	name = fg_selection_name_below(below.name, b->tree->labels[ancestor].name);
	below.name = name;
	index = fg_calltree_label(b->tree, &below);
	(void)fg_pair_index_add(&b->label_below, label, ancestor, index, NULL);
	free(name);
	return index;
}

/* --------------------------------------------------------------------- nodes */

static uint32_t node_of_frame(void *context, uint32_t parent, uint32_t stack)
{
	struct builder *b = context;
	const uint32_t ancestor = fg_selection_ancestor(&b->selection, stack);
	uint32_t label = label_of_frame(b, b->profile->stacks[stack].frame);

	if (ancestor != 0)
		label = label_below(b, label, ancestor);
	if (fg_selection_merges_neighbours(&b->selection) && parent != 0 &&
	    b->tree->nodes[parent].label == label)
		return parent;
	return fg_calltree_child(b->tree, parent, label);
}

static uint32_t node_of_split(void *context, uint32_t parent, const char *name)
{
	const struct fg_label label = {.name = name, .flags = FG_FRAME_MARK};
	const struct builder *b = context;

	return fg_calltree_child(b->tree, parent, fg_calltree_label(b->tree, &label));
}

enum {
	/* maximum number of parts of a sample; further parts count as another sample */
	PARTS_MAX = 64
};

/* The parts of the last added sample. */
struct parts {
	const struct fg_sample *first;
	unsigned count;
	uint32_t nodes[PARTS_MAX];
	double values[PARTS_MAX];
};

static void add_part(struct fg_calltree *tree, struct parts *parts, const struct fg_sample *sample,
		     uint32_t node, double value)
{
	if (!parts->first || parts->count == PARTS_MAX ||
	    !fg_sample_is_part(parts->first, sample)) {
		parts->first = sample;
		parts->count = 0;
	}
	for (unsigned i = 0; i < parts->count; i++) {
		const uint32_t nodes[] = {parts->nodes[i], node};
		const double values[] = {parts->values[i], value};

		fg_calltree_join_parts(tree, nodes, 0, values);
	}
	parts->nodes[parts->count] = node;
	parts->values[parts->count++] = value;
}

static void add_samples(struct builder *b)
{
	const struct fg_profile *profile = b->profile;
	const struct fg_measure *measure = &b->tree->measure;
	const bool is_estimate = !measure->exact && measure->fold == FG_FOLD_SUM;
	struct fg_placing placing = {
		.selection = &b->selection,
		.context = b,
		.split = node_of_split,
		.frame = node_of_frame,
	};
	struct parts parts = {.first = NULL};

	fg_placing_init(&placing);
	for (size_t i = 0; i < profile->sample_count; i++) {
		const struct fg_sample *sample = &profile->samples[i];
		struct fg_weight weight;
		uint32_t node = 0;
		double scale = 0;

		if (!fg_selection_passes(&b->selection, sample))
			continue;
		/* a stored run's sample represents `count` samples of equal weight */
		weight = (struct fg_weight){
			.value = sample->value,
			.square = is_estimate ? sample->value * sample->value /
							(sample->count ? sample->count : 1)
					      : 0,
			.samples = sample->count,
		};
		node = fg_placing_node(&placing, sample);
		scale = fg_selection_scale(&b->selection, sample->measure);
		fg_calltree_add(b->tree, node, 0, &weight, scale);
		if (is_estimate && profile->has_times)
			add_part(b->tree, &parts, sample, node, sample->value * scale);
	}
	fg_placing_release(&placing);
}

int fg_calltree_build(const struct fg_profile *profile, const struct fg_calltree_query *query,
		      struct fg_calltree *tree, struct fg_error *err)
{
	struct builder *b = fg_xcalloc(1, sizeof(*b));
	struct fg_calltree built;
	const struct fg_measure *measure = NULL;
	int status = FG_OK;

	FG_TRY_OUT(fg_selection_init(&b->selection, profile, query, err));
	if (b->selection.measure == FG_EVERY_MEASURE)
		b->selection.measure = 0;
	measure = &profile->measures[b->selection.measure].is;
	fg_calltree_init(&built, 1, profile->functions[0].name);
	fg_calltree_set_measure(&built, measure);
	b->profile = profile;
	b->tree = &built;
	b->label_of_frame = fg_xcalloc(profile->frame_count, sizeof(b->label_of_frame[0]));
	if (query->split == FG_SPLIT_NONE)
		fg_pair_index_reserve(&built.node_index, profile->stack_count);
	add_samples(b);
	fg_calltree_finish(&built);
	*tree = built;
out:
	fg_selection_release(&b->selection);
	free(b->label_of_frame);
	fg_pair_index_release(&b->label_below);
	free(b);
	return status;
}
