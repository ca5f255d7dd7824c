// SPDX-License-Identifier: Apache-2.0
#include "profile/attach/mixed.h"

enum {
	FUNCTIONS_MAX = 1 << 16,
	BYTES_MAX = 64 << 20,
	LINES_STEP = 4096,
};

/* A table of lines that is missing leaves the function without lines. */
static void copy_lines(const struct fg_python_reader *reader, uint64_t linetable,
		       struct fg_python_function *function)
{
	size_t size = fg_python_bytes_size(reader, linetable);
	size_t at = 0;

	size = fg_min_size(size, FG_PYTHON_LINES_MAX);
	if (size == 0)
		return;
	function->lines = fg_xmalloc(size);
	while (at < size) {
		const size_t step = fg_min_size(size - at, LINES_STEP);

		if (!reader->read(reader->memory, linetable + FG_PYTHON_BYTES + at,
				  function->lines + at, step))
			break;
		at += step;
	}
	function->lines_size = at;
}

/* 0: it has no name or file, or there is no room for it. */
static uint32_t add_function(struct fg_python_functions *functions,
			     const struct fg_python_reader *reader,
			     const struct fg_python_code *code, uint64_t key)
{
	struct fg_python_function function = {.first_line = code->first_line};
	char name[FG_PYTHON_NAME_MAX];
	char file[FG_PYTHON_FILE_MAX];
	size_t name_size = 0;
	size_t file_size = 0;

	if (functions->count >= FUNCTIONS_MAX || functions->bytes >= BYTES_MAX)
		return 0;
	name_size = fg_python_text_read(reader, code->qualname, name, sizeof(name));
	file_size = fg_python_text_read(reader, code->filename, file, sizeof(file));
	if (name_size == 0 || file_size == 0)
		return 0;
	function.name = fg_xstrndup(name, name_size);
	function.file = fg_xstrndup(file, file_size);
	copy_lines(reader, code->linetable, &function);
	functions->bytes += name_size + file_size + function.lines_size;
	functions->items = fg_grow(functions->items, &functions->capacity, functions->count + 1,
				   sizeof(functions->items[0]));
	functions->items[functions->count++] = function;
	(void)fg_map_add(&functions->numbers, &key, sizeof(key), functions->count, NULL);
	return (uint32_t)functions->count;
}

static uint32_t number_of(struct fg_python_functions *functions,
			  const struct fg_python_reader *reader, const struct fg_python_code *code)
{
	const uint64_t key = fg_python_code_key(reader, code);
	const uint64_t *known = key ? fg_map_get(&functions->numbers, &key, sizeof(key)) : NULL;

	if (known)
		return (uint32_t)*known;
	return key ? add_function(functions, reader, code, key) : 0;
}

bool fg_python_functions_number(struct fg_python_functions *functions,
				const struct fg_python_reader *reader,
				struct fg_python_stack *stack)
{
	struct fg_python_code code = {0};
	uint32_t number = 0;

	for (uint32_t i = 0; i < stack->total; i++) {
		struct fg_python_frame *frame = fg_python_at(stack, i);
		uint32_t instruction = 0;

		if (fg_python_is_cut(stack, i))
			continue;
		/* A function that calls itself need not be looked at again. */
		if (frame->code != code.address || !number) {
			if (!fg_python_code_read(reader, frame->code, &code))
				return false;
			number = number_of(functions, reader, &code);
		}
		if (!number ||
		    !fg_python_instruction(reader->layout, &code, frame->instruction, &instruction))
			return false;
		frame->id = number;
		frame->instruction = instruction;
	}
	return true;
}

void fg_python_functions_release(struct fg_python_functions *functions)
{
	for (size_t i = 0; i < functions->count; i++) {
		free(functions->items[i].name);
		free(functions->items[i].file);
		free(functions->items[i].lines);
	}
	free(functions->items);
	fg_map_release(&functions->numbers);
	*functions = (struct fg_python_functions){0};
}
