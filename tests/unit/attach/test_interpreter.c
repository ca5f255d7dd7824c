// SPDX-License-Identifier: Apache-2.0
/*
 * An interpreter that is made up in our own memory, which is read as another process's would be:
 * its lists of threads, their frames, and the native stack that these belong to.
 */
#include "profile/attach/exports.h"
#include "profile/attach/mixed.h"
#include "tests/support/fg_test.h"

#include <gnu/libc-version.h>
#include <sys/mman.h>
#include <unistd.h>

enum {
	SIZE = 64 << 10,
	RUNTIME = 0, /* addresses */
	INTERPRETERS = 1024,
	STATES = 2048,
	CODE = 4096,
	OTHER_CODE = 4608,
	TEXTS = 8192,
	FRAMES = 16384,
	STACK = 32768, /* the native one, with the entry frames */
	STEP = 512,
	PTHREAD = 0x7000,
	TID = 4711,
	CODE_UNITS = 100,
	INTERPRETER_CODE = 0x10000, /* two mappings of a process that has no memory there */
	LIBRARY_CODE = 0x20000,
	CODE_SIZE = 0x1000,
};

static uint8_t *made;
static struct fg_memory memory;
static struct fg_interpreter interpreter;
static struct fg_python_stack python;
static struct fg_mapping items[] = {
	{.start = INTERPRETER_CODE, .end = INTERPRETER_CODE + CODE_SIZE},
	{.start = LIBRARY_CODE, .end = LIBRARY_CODE + CODE_SIZE},
};
static const struct fg_mappings mappings = {.items = items, .count = FG_ARRAY_SIZE(items)};

static uint64_t at(unsigned offset)
{
	return (uintptr_t)made + offset;
}

static void put(unsigned offset, uint64_t word)
{
	memcpy(made + offset, &word, sizeof(word));
}

static void put_text(unsigned offset, const char *text)
{
	put(offset + FG_PYTHON_TYPE, interpreter.types.str);
	put(offset + FG_PYTHON_SIZE, strlen(text));
	put(offset + FG_PYTHON_STR_HASH, UINT64_MAX);
	put(offset + FG_PYTHON_STR_STATE,
	    1u << FG_PYTHON_STR_KIND_SHIFT | FG_PYTHON_STR_COMPACT | FG_PYTHON_STR_ASCII);
	memcpy(made + offset + interpreter.layout->ascii_size, text, strlen(text));
}

static void put_code(unsigned offset, unsigned texts, const char *name)
{
	const struct fg_python_layout *layout = interpreter.layout;

	put(offset + FG_PYTHON_TYPE, interpreter.types.code);
	put(offset + FG_PYTHON_SIZE, CODE_UNITS);
	put(offset + layout->code_filename, at(texts));
	put(offset + layout->code_qualname, at(texts + STEP));
	put(offset + layout->code_linetable, at(texts + 2 * STEP));
	made[offset + layout->code_first_line] = 7;
	put_text(texts, "/srv/train.py");
	put_text(texts + STEP, name);
	put(texts + 2 * STEP + FG_PYTHON_TYPE, interpreter.types.bytes);
	put(texts + 2 * STEP + FG_PYTHON_SIZE, 2);
	memcpy(made + texts + 2 * STEP + FG_PYTHON_BYTES, "\xf8\x00", 2);
}

static void put_frame(unsigned offset, unsigned code, uint64_t previous, unsigned owner)
{
	const struct fg_python_layout *layout = interpreter.layout;

	put(offset + layout->frame_code, at(code));
	put(offset + layout->frame_instruction, at(code) + layout->code_instructions);
	put(offset + layout->frame_previous, previous);
	made[offset + layout->frame_owner] = (uint8_t)owner;
}

/*
 * Two interpreters of 3.13 with two threads each.  The last thread of the last one, which the list
 * begins with, is ours.  It runs two evaluations: frame 0 is called by 1 in the inner one, 2 is in
 * the outer.
 */
static void make(void)
{
	memset(made, 0, SIZE);
	fg_memory_forget(&memory);
	interpreter = (struct fg_interpreter){
		.state = FG_INTERPRETER_READ,
		.module = INTERPRETER_CODE,
		.version = 0x030d00f0,
		.runtime = at(RUNTIME),
		.layout = fg_python_layout(0x030d00f0),
		.types = {.code = 0x1110, .str = 0x2220, .bytes = 0x3330},
		.lists = {.interpreters = 632,
			  .next_interpreter = 8,
			  .threads = 16,
			  .next_thread = 8},
	};
	put(RUNTIME + 632, at(INTERPRETERS));
	put(INTERPRETERS + 8, at(INTERPRETERS + 64));
	put(INTERPRETERS + 16, at(STATES));
	put(INTERPRETERS + 64 + 16, at(STATES + 2 * STEP));
	for (unsigned i = 0; i < 4; i++) {
		put(STATES + STEP * i + 8, i % 2 == 0 ? at(STATES + STEP * (i + 1)) : 0);
		put(STATES + STEP * i + interpreter.layout->thread_id, PTHREAD + i);
		put(STATES + STEP * i + interpreter.layout->native_thread_id, TID + i);
	}
	put(STATES + 3 * STEP + interpreter.layout->current_frame, at(FRAMES));
	put_code(CODE, TEXTS, "Model.step");
	put_code(OTHER_CODE, TEXTS + 3 * STEP, "main");
	put_frame(FRAMES, CODE, at(FRAMES + STEP), 0);
	put_frame(FRAMES + STEP, OTHER_CODE, at(STACK + 100 * 8), 0);
	put_frame(STACK + 100 * 8, CODE, at(FRAMES + 2 * STEP), FG_PYTHON_OWNED_BY_C_STACK);
	put_frame(FRAMES + 2 * STEP, OTHER_CODE, at(STACK + 300 * 8), 0);
	put_frame(STACK + 300 * 8, CODE, 0, FG_PYTHON_OWNED_BY_C_STACK);
}

/* A leaf of a library, the inner evaluation, a library that called back, the outer, the start. */
static struct fg_walked_stack native_stack(void)
{
	return (struct fg_walked_stack){
		.frames = {{.address = LIBRARY_CODE + 16, .stack = at(STACK), .exact = true},
			   {.address = INTERPRETER_CODE + 16, .stack = at(STACK + 80 * 8)},
			   {.address = LIBRARY_CODE + 32, .stack = at(STACK + 200 * 8)},
			   {.address = INTERPRETER_CODE + 16, .stack = at(STACK + 250 * 8)},
			   {.address = LIBRARY_CODE + 48, .stack = at(STACK + 400 * 8)}},
		.count = 5,
	};
}

static int begin(void **state)
{
	(void)state;
	made = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	fg_memory_init(&memory, getpid());
	return made == MAP_FAILED;
}

static int end(void **state)
{
	(void)state;
	fg_memory_release(&memory);
	return munmap(made, SIZE);
}

static bool judge(const struct fg_walked_stack *native, struct fg_python_functions *functions)
{
	const struct fg_mixed mixed = {.interpreter = &interpreter,
				       .mappings = &mappings,
				       .native = native,
				       .python = &python};

	return fg_mixed_judge(&mixed, &memory, functions);
}

static void a_thread_is_found_by_its_pointer_or_its_number(void **state)
{
	struct fg_python_thread by_pointer = {.pthread = PTHREAD + 3, .tid = TID};
	struct fg_python_thread by_number = {.tid = TID + 3};
	struct fg_python_thread other = {.pthread = PTHREAD + 1};
	struct fg_python_thread none = {.pthread = PTHREAD + 9};
	struct fg_python_thread unknown = {0};

	(void)state;
	make();
	assert_true(fg_interpreter_look(&interpreter, &memory, &by_pointer, &python));
	assert_int_equal(by_pointer.state, at(STATES + 3 * STEP));
	assert_int_equal(python.total, 3);
	assert_int_equal(fg_python_at(&python, 0)->stack, at(STACK + 100 * 8));
	assert_int_equal(fg_python_at(&python, 2)->stack, at(STACK + 300 * 8));
	assert_true(fg_interpreter_look(&interpreter, &memory, &by_number, &python));
	assert_int_equal(python.total, 3);
	/* These run no Python, which is not a failure. */
	assert_true(fg_interpreter_look(&interpreter, &memory, &other, &python));
	assert_int_equal(other.state, at(STATES + STEP));
	assert_int_equal(python.total, 0);
	assert_true(fg_interpreter_look(&interpreter, &memory, &none, &python));
	assert_int_equal(python.total, 0);
	assert_true(fg_interpreter_look(&interpreter, &memory, &unknown, &python));
	assert_int_equal(python.total, 0);
}

static void a_state_that_is_another_threads_now_is_looked_up_again(void **state)
{
	struct fg_python_thread thread = {.pthread = PTHREAD + 3};

	(void)state;
	make();
	assert_true(fg_interpreter_look(&interpreter, &memory, &thread, &python));
	put(STATES + 3 * STEP + interpreter.layout->thread_id, 1);
	put(STATES + interpreter.layout->thread_id, PTHREAD + 3);
	fg_memory_forget(&memory);
	assert_true(fg_interpreter_look(&interpreter, &memory, &thread, &python));
	assert_int_equal(thread.state, at(STATES));
	assert_int_equal(python.total, 0);
}

static void lists_without_end_are_given_up(void **state)
{
	struct fg_python_thread thread = {.pthread = PTHREAD + 9};

	(void)state;
	make();
	put(STATES + STEP + 8, at(STATES));
	assert_true(fg_interpreter_look(&interpreter, &memory, &thread, &python));
	assert_int_equal(python.total, 0);
	make();
	put(INTERPRETERS + 64 + 8, at(INTERPRETERS));
	thread.searched_ns = 0;
	assert_true(fg_interpreter_look(&interpreter, &memory, &thread, &python));
	assert_int_equal(python.total, 0);
}

static void frames_that_make_no_sense_are_told_from_none(void **state)
{
	struct fg_python_thread thread = {.pthread = PTHREAD + 3};

	(void)state;
	make();
	put(FRAMES + interpreter.layout->frame_previous, 12345);
	assert_false(fg_interpreter_look(&interpreter, &memory, &thread, &python));
	assert_int_equal(python.total, 0);
}

static void python_frames_stand_below_the_native_ones_that_evaluate_them(void **state)
{
	static const char kinds[] = "nnpnnppn"; /* n: native, outermost first */
	const struct fg_walked_stack native = native_stack();
	struct fg_python_functions functions = {0};
	struct fg_python_thread thread = {.pthread = PTHREAD + 3};
	struct fg_mixed_frame *frames = NULL;
	size_t count = 0;

	(void)state;
	make();
	assert_true(fg_interpreter_look(&interpreter, &memory, &thread, &python));
	assert_true(judge(&native, &functions));
	assert_int_equal(functions.count, 2);
	frames = fg_mixed_frames(&native, &python, &count);
	assert_int_equal(count, strlen(kinds));
	for (size_t i = 0; i < count; i++)
		assert_int_equal(frames[i].native == NULL, kinds[i] == 'p');
	assert_ptr_equal(frames[0].native, &native.frames[4]);
	assert_ptr_equal(frames[7].native, &native.frames[0]);
	assert_string_equal(functions.items[frames[2].python->id - 1].name, "main");
	assert_string_equal(functions.items[frames[5].python->id - 1].name, "main");
	assert_string_equal(functions.items[frames[6].python->id - 1].name, "Model.step");
	assert_string_equal(functions.items[frames[6].python->id - 1].file, "/srv/train.py");
	assert_int_equal(functions.items[frames[6].python->id - 1].first_line, 7);
	assert_int_equal(functions.items[frames[6].python->id - 1].lines_size, 2);
	assert_int_equal(frames[6].python->instruction, 1);
	free(frames);
	fg_python_functions_release(&functions);
}

static void an_evaluation_outside_of_the_interpreter_is_not_believed(void **state)
{
	struct fg_walked_stack native = native_stack();
	struct fg_python_functions functions = {0};
	struct fg_python_thread thread = {.pthread = PTHREAD + 3};

	(void)state;
	make();
	assert_true(fg_interpreter_look(&interpreter, &memory, &thread, &python));
	native.frames[1].address = LIBRARY_CODE + 16;
	assert_false(judge(&native, &functions));
	assert_int_equal(python.left, 0);
	/* Nor is one below the leaf. */
	native = native_stack();
	native.frames[0].stack = at(STACK + 101 * 8);
	assert_false(judge(&native, &functions));
	/*
	 * Beyond the last native frame nothing can be said, if that is not where the thread starts.
	 */
	native = native_stack();
	native.count = 3;
	assert_false(judge(&native, &functions));
	native.truncated = true;
	assert_true(judge(&native, &functions));
	fg_python_functions_release(&functions);
}

static void other_code_at_the_same_address_is_another_function(void **state)
{
	const struct fg_walked_stack native = native_stack();
	struct fg_python_functions functions = {0};
	struct fg_python_thread thread = {.pthread = PTHREAD + 3};

	(void)state;
	make();
	assert_true(fg_interpreter_look(&interpreter, &memory, &thread, &python));
	assert_true(judge(&native, &functions));
	put_code(CODE, TEXTS, "Model.stop");
	fg_memory_forget(&memory);
	assert_true(fg_interpreter_look(&interpreter, &memory, &thread, &python));
	assert_true(judge(&native, &functions));
	assert_int_equal(functions.count, 3);
	assert_string_equal(functions.items[fg_python_at(&python, 0)->id - 1].name, "Model.stop");
	/* An object that is no longer code is not decoded. */
	put(CODE + FG_PYTHON_TYPE, 0);
	fg_memory_forget(&memory);
	assert_true(fg_interpreter_look(&interpreter, &memory, &thread, &python));
	assert_false(judge(&native, &functions));
	fg_python_functions_release(&functions);
}

static void stacks_are_told_apart_by_what_is_executed(void **state)
{
	struct fg_python_thread thread = {.pthread = PTHREAD + 3};
	uint64_t hash = 0;

	(void)state;
	make();
	assert_true(fg_interpreter_look(&interpreter, &memory, &thread, &python));
	hash = fg_python_stack_hash(&python);
	assert_int_equal(fg_python_stack_hash(&python), hash);
	put(FRAMES + STEP + interpreter.layout->frame_instruction, at(CODE) + 300);
	fg_memory_forget(&memory);
	assert_true(fg_interpreter_look(&interpreter, &memory, &thread, &python));
	assert_int_not_equal(fg_python_stack_hash(&python), hash);
}

/* Any C library will do, the one of this test included; no sanitizer intercepts this function. */
static void exports_are_found_in_memory(void **state)
{
	static const char *const names[] = {"malloc", "gnu_get_libc_version"};
	static const char *const missing[] = {"malloc", "no_such_function_anywhere"};
	struct fg_mappings own = {0};
	uint64_t addresses[2] = {0};
	bool is_found = false;

	(void)state;
	fg_memory_forget(&memory);
	assert_int_equal(fg_mappings_read(&memory, &own, NULL), FG_OK);
	for (size_t i = 0; i < own.count; i++) {
		if (!strstr(own.items[i].path, "/libc.so"))
			continue;
		is_found = fg_exports_find(&memory, &own.items[i], names, 2, addresses);
		assert_false(fg_exports_find(&memory, &own.items[i], missing, 2, addresses));
	}
	assert_true(is_found);
	assert_int_equal(addresses[1], (uintptr_t)gnu_get_libc_version);
	fg_mappings_release(&own);
}

static void symbols_are_found_in_a_file(void **state)
{
	static const char *const names[] = {"main", "mappings"};
	static const char *const missing[] = {"main", "no_such_function_anywhere"};
	uint64_t addresses[2] = {0};
	uint64_t biased[2] = {0};

	(void)state;
	assert_true(fg_exports_find_in_file("/proc/self/exe", 0, names, 2, addresses));
	assert_true(fg_exports_find_in_file("/proc/self/exe", 4096, names, 2, biased));
	assert_int_equal(biased[1], addresses[1] + 4096);
	assert_int_equal(addresses[1] % 4096, (uintptr_t)&mappings % 4096);
	assert_false(fg_exports_find_in_file("/proc/self/exe", 0, missing, 2, addresses));
	assert_false(fg_exports_find_in_file("/dev/null", 0, names, 2, addresses));
}

static void a_version_that_is_not_known_is_refused_with_a_reason(void **state)
{
	char *text = NULL;

	(void)state;
	text = fg_interpreter_refusal(&(struct fg_interpreter){.version = 0x030e00f0});
	assert_string_equal(text, "Python 3.14: no Python frames (supported: 3.11, 3.12, 3.13 in "
				  "64-bit programs)");
	free(text);
	text = fg_interpreter_refusal(&(struct fg_interpreter){0});
	assert_non_null(strstr(text, "Python before 3.11"));
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_thread_is_found_by_its_pointer_or_its_number),
		cmocka_unit_test(a_state_that_is_another_threads_now_is_looked_up_again),
		cmocka_unit_test(lists_without_end_are_given_up),
		cmocka_unit_test(frames_that_make_no_sense_are_told_from_none),
		cmocka_unit_test(python_frames_stand_below_the_native_ones_that_evaluate_them),
		cmocka_unit_test(an_evaluation_outside_of_the_interpreter_is_not_believed),
		cmocka_unit_test(other_code_at_the_same_address_is_another_function),
		cmocka_unit_test(stacks_are_told_apart_by_what_is_executed),
		cmocka_unit_test(exports_are_found_in_memory),
		cmocka_unit_test(symbols_are_found_in_a_file),
		cmocka_unit_test(a_version_that_is_not_known_is_refused_with_a_reason),
	};

	return cmocka_run_group_tests(tests, begin, end);
}
