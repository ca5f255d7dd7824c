// SPDX-License-Identifier: Apache-2.0
#include "profile/attach/paths.h"

#include "base/clock.h"

void fg_paths_init(struct fg_paths *paths, struct fg_trace_writer *writer)
{
	*paths = (struct fg_paths){.writer = writer};
}

void fg_paths_release(struct fg_paths *paths)
{
	fg_map_release(&paths->modules);
	fg_map_release(&paths->frames);
	fg_map_release(&paths->nodes);
	fg_map_release(&paths->functions);
}

/* A library mapped again at the same address keeps its number. */
static uint64_t module_of(struct fg_paths *paths, const struct fg_mapping *mapping)
{
	struct fg_strbuf key = {0};
	bool is_new = false;
	uint64_t id = 0;

	if (!mapping)
		return 0;
	fg_strbuf_add(&key, &mapping->start, sizeof(mapping->start));
	fg_strbuf_add(&key, mapping->build_id, mapping->build_id_size);
	fg_strbuf_add_text(&key, mapping->path);
	id = *fg_map_add(&paths->modules, key.data, key.length, paths->modules.count + 1, &is_new);
	fg_strbuf_release(&key);
	if (is_new) {
		const uint64_t numbers[FG_TRACE_MODULE_NUMBERS] = {
			id,
			(uint64_t)fg_clock_monotonic_ns(),
			mapping->start,
			mapping->end,
			mapping->bias,
			(mapping->is_main ? FG_MODULE_MAIN : 0u) |
				(mapping->is_vdso ? FG_MODULE_VDSO : 0u),
		};

		fg_trace_writer_mapping(paths->writer, numbers, mapping->build_id,
					mapping->build_id_size, mapping->path);
	}
	return id;
}

static uint64_t add_frame(struct fg_paths *paths, uint64_t module, uint64_t offset, bool exact)
{
	const uint64_t key[] = {module, offset, exact};
	bool is_new = false;
	const uint64_t id =
		*fg_map_add(&paths->frames, key, sizeof(key), paths->frames.count + 1, &is_new);

	if (is_new)
		FG_TW(paths->writer, FG_RECORD_FRAME, id, module, offset,
		      exact ? FG_FRAME_EXACT : 0u);
	return id;
}

static uint64_t frame_of(struct fg_paths *paths, const struct fg_mappings *mappings,
			 const struct fg_stack_frame *frame)
{
	const struct fg_mapping *mapping =
		fg_mappings_find(mappings, frame->exact ? frame->address : frame->address - 1);

	return add_frame(paths, module_of(paths, mapping),
			 frame->address - (mapping ? mapping->bias : 0), frame->exact);
}

static uint64_t add_node(struct fg_paths *paths, uint64_t parent, uint64_t frame)
{
	const uint64_t key[] = {parent, frame};
	bool is_new = false;
	const uint64_t node =
		*fg_map_add(&paths->nodes, key, sizeof(key), paths->nodes.count + 1, &is_new);

	if (is_new)
		FG_TW(paths->writer, FG_RECORD_NODE, node, parent, frame);
	return node;
}

uint64_t fg_paths_add(struct fg_paths *paths, const struct fg_mappings *mappings,
		      const struct fg_walked_stack *stack)
{
	uint64_t node = 0;

	for (size_t i = stack->count; i-- > 0;)
		node = add_node(paths, node, frame_of(paths, mappings, &stack->frames[i]));
	return node;
}

/* Views show a frame without a description as unknown. */
uint64_t fg_paths_add_unknown(struct fg_paths *paths)
{
	static const char key[] = "unknown";
	const uint64_t frame =
		*fg_map_add(&paths->frames, key, sizeof(key), paths->frames.count + 1, NULL);

	return add_node(paths, 0, frame);
}

static uint64_t kernel_module(struct fg_paths *paths, const char *library)
{
	bool is_new = false;
	const uint64_t id =
		*fg_map_add_text(&paths->modules, library, paths->modules.count + 1, &is_new);
	const uint64_t numbers[FG_TRACE_MODULE_NUMBERS] = {
		id, (uint64_t)fg_clock_monotonic_ns(), 0, 0, 0, FG_MODULE_KERNEL};

	if (is_new)
		fg_trace_writer_mapping(paths->writer, numbers, NULL, 0, library);
	return id;
}

uint64_t fg_paths_add_kernel(struct fg_paths *paths, uint64_t node,
			     const struct fg_kernel_function *function, uint64_t address,
			     bool exact)
{
	const uint64_t module =
		kernel_module(paths, function ? function->library : FG_KERNEL_LIBRARY);
	bool is_new = false;

	if (function)
		(void)fg_map_add(&paths->functions, &function->start, sizeof(function->start), 0,
				 &is_new);
	if (is_new)
		fg_trace_writer_symbol(paths->writer, module, function->start,
				       function->end - function->start, function->name);
	return add_node(paths, node, add_frame(paths, module, address, exact));
}
