// SPDX-License-Identifier: Apache-2.0
#include "profile/attach/mixed.h"

bool fg_mixed_is_interpreter(const struct fg_interpreter *interpreter,
			     const struct fg_mappings *mappings, const struct fg_stack_frame *frame)
{
	const struct fg_mapping *mapping =
		fg_mappings_find(mappings, frame->exact ? frame->address : frame->address - 1);

	return interpreter->state == FG_INTERPRETER_READ && mapping &&
	       mapping->start == interpreter->module;
}

/* From the innermost frames outwards, both of them. */
static bool are_evaluated(const struct fg_mixed *mixed)
{
	const struct fg_walked_stack *native = mixed->native;
	size_t at = 0;

	for (uint32_t i = 0; i < mixed->python->total; i++) {
		const uint64_t place = fg_python_at(mixed->python, i)->stack;

		if (fg_python_is_cut(mixed->python, i))
			continue;
		if (place < native->frames[at].stack)
			return false;
		while (at + 1 < native->count && native->frames[at + 1].stack <= place)
			at++;
		if (at + 1 == native->count && native->truncated)
			continue;
		if (!fg_mixed_is_interpreter(mixed->interpreter, mixed->mappings,
					     &native->frames[at]))
			return false;
	}
	return true;
}

bool fg_mixed_judge(const struct fg_mixed *mixed, struct fg_memory *memory,
		    struct fg_python_functions *functions)
{
	const struct fg_python_reader reader = fg_interpreter_reader(mixed->interpreter, memory);
	struct fg_python_stack *python = mixed->python;

	python->left = 0;
	if (python->total == 0)
		return true;
	if (!are_evaluated(mixed) || !fg_python_functions_number(functions, &reader, python))
		return false;
	python->left = python->total;
	return true;
}

static size_t add_python(struct fg_mixed_frame *frames, struct fg_python_stack *python, uint64_t sp)
{
	struct fg_python_frame *frame = NULL;
	uint32_t left_out = 0;
	size_t count = 0;

	while (python && fg_python_next(python, sp, &frame, &left_out))
		frames[count++] = frame ? (struct fg_mixed_frame){.python = frame}
					: (struct fg_mixed_frame){.left_out = left_out};
	return count;
}

struct fg_mixed_frame *fg_mixed_frames(const struct fg_walked_stack *native,
				       struct fg_python_stack *python, size_t *count)
{
	const size_t most = python ? fg_min_size(python->left, FG_PYTHON_FRAMES) + 1 : 0;
	struct fg_mixed_frame *frames = fg_xcalloc(native->count + most, sizeof(frames[0]));
	size_t n = 0;

	/* Beyond the end of a native stack that ended too early, Python frames are known. */
	if (native->count > 0)
		n = add_python(frames, python, native->frames[native->count - 1].stack);
	for (size_t i = native->count; i-- > 0;) {
		frames[n++] = (struct fg_mixed_frame){.native = &native->frames[i]};
		n += add_python(frames + n, python, native->frames[i].stack);
	}
	*count = n;
	return frames;
}
