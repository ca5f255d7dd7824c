// SPDX-License-Identifier: Apache-2.0
#include "profile/time_order.h"

#include <stdlib.h>

/* The path that is open: what comes next continues it as far as it is the same. */
struct maker {
	const struct fg_profile *profile;
	struct fg_time_order *order;
	uint16_t measure;
	uint32_t *function_of; /* of each of the profile's functions, + 1; 0: not yet known */
	uint32_t *path;        /* functions of the next sample, leaf first */
	size_t path_capacity;
	uint32_t *open; /* nodes, outermost first */
	size_t depth, open_capacity;
	uint32_t top; /* that the open path hangs from */
	double at;    /* time that has been used */
};

static uint32_t function_of(struct maker *m, uint32_t index)
{
	const struct fg_profile_function *function = &m->profile->functions[index];

	if (m->function_of[index] == 0)
		m->function_of[index] =
			1 + fg_time_order_function(m->order, &(struct fg_time_function){
								     .name = function->name,
								     .library = function->library,
								     .file = function->file,
								     .line = function->line,
							     });
	return m->function_of[index] - 1;
}

static size_t find_path(struct maker *m, uint32_t stack)
{
	size_t depth = 0;

	for (uint32_t at = stack; at != 0; at = m->profile->stacks[at].parent) {
		m->path = fg_grow(m->path, &m->path_capacity, depth + 1, sizeof(m->path[0]));
		m->path[depth++] = m->profile->frames[m->profile->stacks[at].frame].function;
	}
	return depth;
}

static uint32_t append(struct maker *m, uint32_t parent, uint32_t function)
{
	return fg_time_order_append(
		m->order,
		&(struct fg_time_node){.parent = parent, .function = function, .start_ns = m->at});
}

static void add(struct maker *m, uint32_t stack, double value)
{
	const size_t depth = find_path(m, stack);
	size_t common = 0;

	while (common < depth && common < m->depth &&
	       m->order->nodes[m->open[common]].function ==
		       function_of(m, m->path[depth - 1 - common]))
		common++;
	m->open = fg_grow(m->open, &m->open_capacity, depth + 1, sizeof(m->open[0]));
	for (m->depth = common; m->depth < depth; m->depth++)
		m->open[m->depth] = append(m, m->depth > 0 ? m->open[m->depth - 1] : m->top,
					   function_of(m, m->path[depth - 1 - m->depth]));
	m->order->nodes[m->depth > 0 ? m->open[m->depth - 1] : m->top].self_ns += value;
	m->at += value;
}

/* With one thread the program itself stands for it. */
static void begin_thread(struct maker *m, uint32_t index, bool is_only)
{
	const struct fg_thread_info *thread =
		index < m->profile->thread_count ? &m->profile->threads[index] : NULL;
	char *name = NULL;

	m->depth = 0;
	m->top = 0;
	if (is_only)
		return;
	name = thread ? fg_xasprintf("%s (%u)", thread->name ? thread->name : "thread", thread->tid)
		      : fg_xstrdup("thread");
	m->top = append(m, 0,
			fg_time_order_function(m->order, &(struct fg_time_function){.name = name}));
	free(name);
}

static bool has_one_thread(const struct maker *m)
{
	const struct fg_sample *first = NULL;

	for (size_t i = 0; i < m->profile->sample_count; i++) {
		const struct fg_sample *sample = &m->profile->samples[i];

		if (sample->measure != m->measure)
			continue;
		if (first && first->thread != sample->thread)
			return false;
		first = first ? first : sample;
	}
	return true;
}

static bool is_next_thread(const struct fg_sample *last, const struct fg_sample *sample)
{
	return !last || last->thread != sample->thread;
}

/* The middle one of each `step` samples of a thread, with the value of all of them. */
static void add_samples(struct maker *m, uint32_t step)
{
	const bool is_only = has_one_thread(m);
	const struct fg_sample *last = NULL;
	double value = 0;
	uint32_t stack = 0;
	uint32_t waiting = 0;

	for (size_t i = 0; i < m->profile->sample_count; i++) {
		const struct fg_sample *sample = &m->profile->samples[i];

		if (sample->measure != m->measure)
			continue;
		if (is_next_thread(last, sample)) {
			if (waiting > 0)
				add(m, stack, value);
			waiting = 0;
			begin_thread(m, sample->thread, is_only);
		}
		last = sample;
		value = waiting > 0 ? value + sample->value : sample->value;
		if (waiting <= step / 2)
			stack = sample->stack;
		if (++waiting < step)
			continue;
		add(m, stack, value);
		waiting = 0;
	}
	if (waiting > 0)
		add(m, stack, value);
}

void fg_time_order_make(const struct fg_profile *profile, struct fg_time_order *order)
{
	struct maker m = {
		.profile = profile, .order = order, .measure = fg_profile_time_measure(profile)};

	if (!profile->has_times)
		return;
	for (uint32_t step = 1;; step *= 2) {
		m.function_of = fg_xcalloc(profile->function_count, sizeof(uint32_t));
		order->step = step;
		m.at = 0;
		(void)append(&m, 0, function_of(&m, 0));
		add_samples(&m, step);
		free(m.function_of);
		if (order->node_count <= FG_TIME_NODES_MAX || step > profile->sample_count)
			break;
		fg_time_order_release(order);
	}
	free(m.path);
	free(m.open);
}
