// SPDX-License-Identifier: Apache-2.0
/* Turns the frames of a walk into a call path, and keeps them for the thread's next walk. */
#include "collector/python/python.h"
#include "collector/sampler/writer.h"
#include "collector/unwind/paths.h"
#include "collector/unwind/walk_state.h"

#include <string.h>

struct part {
	const struct fg_trail *trail;
	uint32_t begin;
	uint32_t end;
	uint32_t checks_end;
};

/* Copies frames and their checks from one trail to the other. */
static void move(const struct part *part, struct fg_trail *to, uint32_t at, uint32_t check_at)
{
	const uint32_t first_check = part->trail->frames[part->begin].first_check;

	memcpy(&to->checks[check_at], &part->trail->checks[first_check],
	       (part->checks_end - first_check) * sizeof(to->checks[0]));
	for (uint32_t i = part->begin; i < part->end; i++, at++) {
		to->frames[at] = part->trail->frames[i];
		to->frames[at].first_check += check_at - first_check;
	}
}

/* Keeps the frames of this walk, then the `standing` frames, which are still valid. */
static void keep(struct fg_walk *walk, uint32_t standing)
{
	struct fg_thread *thread = walk->thread;
	struct fg_trail *kept = &thread->stack->trails[thread->kept.trail];
	const struct part fresh = {walk->trail, FG_WALK_FIRST, walk->end, walk->checks_end};
	const struct part still = {kept, walk->candidate, thread->kept.end,
				   thread->kept.checks_end};
	const uint32_t count = walk->end - FG_WALK_FIRST;
	const uint32_t checks = walk->checks_end - FG_WALK_FIRST_CHECK;
	const uint32_t still_check = kept->frames[still.begin].first_check;

	thread->kept.count = standing + count <= FG_TRACE_FRAMES_MAX ? standing + count : 0;
	if (!thread->kept.count)
		return;
	if (standing && still.begin >= count && still_check >= checks) {
		const uint32_t at = still.begin - count;

		if (count)
			move(&fresh, kept, at, still_check - checks);
		thread->kept.checked_from = walk->checked_from - FG_WALK_FIRST + at;
		return;
	}
	if (standing) {
		move(&still, walk->trail, walk->end, walk->checks_end);
		walk->checks_end += still.checks_end - still_check;
	}
	thread->kept.trail ^= 1u;
	thread->kept.end = walk->end + standing;
	thread->kept.checks_end = walk->checks_end;
	thread->kept.checked_from = walk->checked_from;
	thread->kept.complete = walk->complete;
}

/*
 * Names the Python frames beyond the end of a native stack that ended too early. Returns the path.
 */
static uint32_t name_beyond(struct fg_walk *walk, uint32_t standing)
{
	struct fg_thread *thread = walk->thread;
	const struct fg_walk_frame *end = &walk->trail->frames[walk->end];

	if (standing)
		end = &walk->kept->frames[thread->kept.end];
	else if (walk->end == FG_WALK_FIRST)
		return 0;
	return fg_python_extend(thread, 0, end[-1].regs.sp);
}

/* Extends the path by this frame and the Python frames that it evaluates. */
static uint32_t name_with_python(struct fg_thread *thread, uint32_t path,
				 const struct fg_walk_frame *frame)
{
	path = fg_path_extend(thread, path, frame->id);
	return path ? fg_python_extend(thread, path, frame->regs.sp) : 0;
}

/*
 * Returns the path of the frames that are still valid. If the path may contain Python frames, it is
 * computed again: Python frames change while the native frames around them stay.
 */
static uint32_t name_standing(struct fg_walk *walk, uint32_t standing, uint32_t path,
			      bool with_python)
{
	struct fg_thread *thread = walk->thread;
	struct fg_walk_frame *frames = thread->stack->trails[thread->kept.trail].frames;

	if (!standing)
		return path;
	if (!with_python && !thread->kept.mixed)
		return frames[walk->candidate].node;
	for (uint32_t i = thread->kept.end; i-- > walk->candidate;) {
		path = with_python ? name_with_python(thread, path, &frames[i])
				   : fg_path_extend(thread, path, frames[i].id);
		if (!path)
			return 0;
		frames[i].node = path;
	}
	return path;
}

uint32_t fg_walk_name(struct fg_walk *walk, uint32_t standing)
{
	struct fg_thread *thread = walk->thread;
	struct fg_walk_frame *const first = &walk->trail->frames[FG_WALK_FIRST];
	const bool with_python = fg_python_is_on();
	uint32_t path = 0;

	if (with_python) {
		fg_python_look(thread);
		path = name_beyond(walk, standing);
	}
	path = name_standing(walk, standing, path, with_python);
	for (struct fg_walk_frame *frame = &walk->trail->frames[walk->end];
	     frame-- > first && (path || !standing);) {
		path = with_python ? name_with_python(thread, path, frame)
				   : fg_path_extend(thread, path, frame->id);
		if (!path)
			break;
		frame->node = path;
	}
	if (!path) {
		thread->kept.count = 0;
		return 0;
	}
	keep(walk, standing);
	thread->kept.mixed = with_python;
	return path;
}

uint32_t fg_walk_name_deep(struct fg_walk *walk, uint32_t standing)
{
	const uint32_t edge = FG_TRACE_FRAMES_EDGE;
	const uint32_t total = fg_walked(walk);
	const struct fg_walk_frame *const first = &walk->trail->frames[FG_WALK_FIRST];
	uint32_t path = name_standing(walk, standing, 0, false);

	walk->thread->kept.count = 0;
	fg_count_loss(FG_LOSS_DEEP, 1);
	for (uint32_t i = total; i-- > total - edge;) {
		const uint32_t id =
			i < FG_TRACE_FRAMES_MAX
				? first[i].id
				: walk->thread->stack->edge[(i - FG_TRACE_FRAMES_MAX) % edge];

		path = fg_path_extend(walk->thread, path, id);
		if (!path)
			return 0;
	}
	path = fg_path_cut(walk->thread, path, total - 2 * edge);
	for (uint32_t i = edge; i-- > 0 && path;)
		path = fg_path_extend(walk->thread, path, first[i].id);
	return path;
}
