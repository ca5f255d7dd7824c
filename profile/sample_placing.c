// SPDX-License-Identifier: Apache-2.0
/* Finds the nodes of samples in a tree: see profile/selection.h. */
#include "base/fs.h"
#include "profile/selection.h"

enum {
	UNSET = 0
};

void fg_placing_init(struct fg_placing *p)
{
	const size_t stacks = p->selection->profile->stack_count;

	p->trail = fg_xcalloc(stacks, sizeof(p->trail[0]));
	if (p->selection->query->split == FG_SPLIT_NONE)
		p->node_of_stack = fg_xcalloc(stacks, sizeof(p->node_of_stack[0]));
	p->has_base = p->selection->query->split == FG_SPLIT_NONE;
}

void fg_placing_release(struct fg_placing *p)
{
	free(p->trail);
	free(p->node_of_stack);
	fg_pair_index_release(&p->node_of_pair);
}

static bool folds_into_caller(const struct fg_selection *s, uint32_t stack)
{
	const struct fg_frame *frame = &s->profile->frames[s->profile->stacks[stack].frame];

	return s->functions[frame->function].hide ||
	       (s->root.count > 0 && s->stacks[stack].top == 0) ||
	       (s->query->fold_inlined && (frame->flags & FG_FRAME_INLINED));
}

/* Returns the slot that holds the node of a stack; 0: not placed yet. */
static uint32_t *place_of(struct fg_placing *p, uint32_t base, uint32_t stack)
{
	if (p->selection->query->split == FG_SPLIT_NONE)
		return &p->node_of_stack[stack];
	return fg_pair_index_add(&p->node_of_pair, base, stack, UNSET, NULL);
}

/*
 * Walks up to the first stack whose node is known, then down again: each path is walked once, even
 * if it has many samples.
 */
static uint32_t node_of(struct fg_placing *p, uint32_t base, uint32_t stack)
{
	uint32_t node = base;
	size_t depth = 0;

	while (stack != 0) {
		uint32_t known = *place_of(p, base, stack);

		if (known != UNSET) {
			node = known - 1;
			break;
		}
		p->trail[depth++] = stack;
		stack = p->selection->profile->stacks[stack].parent;
	}
	while (depth-- > 0) {
		if (!folds_into_caller(p->selection, p->trail[depth]))
			node = p->frame(p->context, node, p->trail[depth]);
		*place_of(p, base, p->trail[depth]) = node + 1;
	}
	return node;
}

/* -------------------------------------------------------------------- splits */

static uint32_t child_named(struct fg_placing *p, uint32_t parent, const char *name)
{
	return p->split(p->context, parent, name);
}

static uint32_t FG_PRINTF(3, 4)
	child_printf(struct fg_placing *p, uint32_t parent, const char *format, ...)
{
	struct fg_strbuf name = {0};
	uint32_t node;
	va_list ap;

	va_start(ap, format);
	fg_strbuf_vprintf(&name, format, ap);
	va_end(ap);
	node = child_named(p, parent, fg_strbuf_text(&name));
	fg_strbuf_release(&name);
	return node;
}

static uint32_t region_base(struct fg_placing *p, uint32_t region)
{
	const struct fg_region_info *info = &p->selection->profile->regions[region];

	if (region == 0)
		return child_named(p, 0, "(outside any region)");
	return child_named(p, info->parent ? region_base(p, info->parent) : 0, info->name);
}

static uint32_t unit_base(struct fg_placing *p, uint32_t unit)
{
	const struct fg_unit_info *info = &p->selection->profile->units[unit];

	if (unit == 0)
		return child_named(p, 0, "(outside any unit of work)");
	return child_printf(p, child_named(p, 0, info->kind), "%s %llu", info->kind,
			    (unsigned long long)info->number);
}

static uint32_t thread_base(struct fg_placing *p, uint32_t thread)
{
	const struct fg_thread_info *info = &p->selection->profile->threads[thread];

	return child_printf(p, 0, "%s (%u)", info->name ? info->name : "thread", info->tid);
}

static uint32_t process_base(struct fg_placing *p, uint32_t thread)
{
	const struct fg_process_info *info =
		&p->selection->profile->processes[p->selection->profile->threads[thread].process];

	return child_printf(p, 0, "%s (%u)",
			    info->executable ? fg_fs_base_name(info->executable) : "process",
			    info->pid);
}

static uint32_t base_of(struct fg_placing *p, const struct fg_sample *sample)
{
	bool has_thread = sample->thread < p->selection->profile->thread_count;

	switch (p->selection->query->split) {
	case FG_SPLIT_THREAD:
		return has_thread ? thread_base(p, sample->thread) : 0;
	case FG_SPLIT_PROCESS:
		return has_thread ? process_base(p, sample->thread) : 0;
	case FG_SPLIT_REGION:
		return region_base(p, sample->region);
	case FG_SPLIT_UNIT:
		return unit_base(p, sample->unit);
	case FG_SPLIT_REPETITION:
		return child_printf(p, 0, "repetition %u", sample->repetition + 1);
	case FG_SPLIT_NONE:
	case FG_SPLIT_COUNT:
	default:
		return 0;
	}
}

/* Returns the sample's place in the split as one number, to detect a change. */
static uint32_t split_key(const struct fg_placing *p, const struct fg_sample *sample)
{
	switch (p->selection->query->split) {
	case FG_SPLIT_THREAD:
	case FG_SPLIT_PROCESS:
		return sample->thread;
	case FG_SPLIT_REGION:
		return sample->region;
	case FG_SPLIT_UNIT:
		return sample->unit;
	case FG_SPLIT_REPETITION:
		return sample->repetition;
	case FG_SPLIT_NONE:
	case FG_SPLIT_COUNT:
	default:
		return 0;
	}
}

uint32_t fg_placing_node(struct fg_placing *p, const struct fg_sample *sample)
{
	const uint32_t key = split_key(p, sample);
	uint32_t stack = sample->stack;

	if (!p->has_base || key != p->last_key)
		p->base = base_of(p, sample);
	p->has_base = true;
	p->last_key = key;
	if (p->selection->leaf.count > 0)
		stack = p->selection->stacks[stack].cut;
	return node_of(p, p->base, stack);
}
