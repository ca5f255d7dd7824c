// SPDX-License-Identifier: Apache-2.0
/*
 * The memory of another process that claims to run Python: its exported symbols, its lists of
 * threads, their frames, code and texts.  The first byte chooses the version, the rest is the
 * memory, with everything that the reader looks for somewhere in it.
 */
#include "binary/python_lines.h"
#include "profile/attach/exports.h"
#include "profile/attach/mixed.h"
#include "tests/fuzz/fuzz.h"

enum {
	BASE = 0x100000,
	PAGES_MOST = 32,
	PTHREAD = 0x7000,
	TYPE = 0x111000, /* of code, str and bytes, one after the other */
	STACK = BASE + 0x4000,
	NATIVE_STEP = 0x400,
	NATIVE_FRAMES = 8,
	CODE = 0x400000,
	CODE_SIZE = 0x1000,
	ASKED_LINES = 8,
};

static const uint64_t versions[] = {0x030b02f0, 0x030c01f0, 0x030d00f0};

/* No process has this number, so other memory cannot be read. */
static void put_memory(struct fg_memory *memory, const uint8_t *data, size_t size)
{
	const size_t pages = fg_min_size((size + FG_MEMORY_PAGE - 1) / FG_MEMORY_PAGE, PAGES_MOST);
	uint8_t *image = fg_xcalloc(pages + 1, FG_MEMORY_PAGE);

	fg_memory_init(memory, -1);
	memcpy(image, data, fg_min_size(size, pages * FG_MEMORY_PAGE));
	fg_memory_put(memory, BASE, image, pages * FG_MEMORY_PAGE);
	free(image);
}

static void find_exports(struct fg_memory *memory)
{
	static const char *const names[] = {"_PyRuntime", "Py_Version"};
	const struct fg_mapping mapping = {
		.start = BASE, .end = BASE + CODE_SIZE, .bias = BASE, .dynamic = BASE};
	uint64_t addresses[FG_ARRAY_SIZE(names)];

	(void)fg_exports_find(memory, &mapping, names, FG_ARRAY_SIZE(names), addresses);
}

static void use_functions(const struct fg_python_functions *functions)
{
	for (size_t i = 0; i < functions->count; i++) {
		const struct fg_python_function *function = &functions->items[i];

		FG_ASSERT(strlen(function->name) <= FG_PYTHON_NAME_MAX);
		FG_ASSERT(strlen(function->file) <= FG_PYTHON_FILE_MAX);
		FG_ASSERT(function->lines_size <= FG_PYTHON_LINES_MAX);
		(void)fg_python_file_name(function->file);
		for (uint32_t n = 0; n < ASKED_LINES; n++)
			(void)fg_python_line(function->lines, function->lines_size,
					     function->first_line, n * n);
	}
}

static void look(struct fg_interpreter *interpreter, struct fg_memory *memory,
		 struct fg_python_stack *stack)
{
	struct fg_mapping code = {.start = CODE, .end = CODE + CODE_SIZE};
	const struct fg_mappings mappings = {.items = &code, .count = 1};
	struct fg_walked_stack native = {.count = NATIVE_FRAMES, .truncated = true};
	const struct fg_mixed mixed = {.interpreter = interpreter,
				       .mappings = &mappings,
				       .native = &native,
				       .python = stack};
	struct fg_python_thread thread = {.pthread = PTHREAD};
	struct fg_python_functions functions = {0};
	struct fg_mixed_frame *frames = NULL;
	size_t count = 0;

	for (size_t i = 0; i < NATIVE_FRAMES; i++)
		native.frames[i] = (struct fg_stack_frame){.address = CODE + 1,
							   .stack = STACK + i * NATIVE_STEP};
	if (fg_interpreter_look(interpreter, memory, &thread, stack) &&
	    fg_mixed_judge(&mixed, memory, &functions))
		use_functions(&functions);
	(void)fg_python_stack_hash(stack);
	frames = fg_mixed_frames(&native, stack, &count);
	FG_ASSERT(count >= NATIVE_FRAMES && count <= NATIVE_FRAMES + FG_PYTHON_FRAMES + 1);
	free(frames);
	fg_python_functions_release(&functions);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fg_memory memory;
	struct fg_python_stack *stack = NULL;
	struct fg_interpreter interpreter = {
		.state = FG_INTERPRETER_READ,
		.module = CODE,
		.runtime = BASE,
		.types = {.code = TYPE, .str = TYPE + 8, .bytes = TYPE + 16}};
	uint64_t words[FG_PYTHON_OFFSET_WORDS] = {0};

	if (size < 1)
		return 0;
	interpreter.layout = fg_python_layout(versions[data[0] % FG_ARRAY_SIZE(versions)]);
	put_memory(&memory, data + 1, size - 1);
	find_exports(&memory);
	stack = fg_xcalloc(1, sizeof(*stack));
	(void)fg_memory_read(&memory, BASE, words, sizeof(words));
	if (fg_python_find_lists(interpreter.layout, words, &interpreter.lists))
		look(&interpreter, &memory, stack);
	free(stack);
	fg_memory_release(&memory);
	return 0;
}
