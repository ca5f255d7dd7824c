// SPDX-License-Identifier: Apache-2.0
#include "profile/attach/interpreter.h"

#include "base/clock.h"
#include "base/fs.h"
#include "base/hash.h"
#include "base/text.h"
#include "profile/attach/exports.h"

enum {
	INTERPRETERS_MAX = 64,
	THREADS_MAX = 4096, /* of all interpreters */
	SEARCH_AGAIN_MS = 100,
	STATUS_MAX_BYTES = 1 << 16,
};

/* ---- the interpreter ---- */

enum {
	PY_RUNTIME,
	PY_CODE,
	PY_STR,
	PY_BYTES,
	PY_VERSION,
	PY_SYMBOLS
};

/* Py_Version is there from 3.11 on. */
static const char *const symbols[PY_SYMBOLS] = {
	[PY_RUNTIME] = "_PyRuntime", [PY_CODE] = "PyCode_Type",   [PY_STR] = "PyUnicode_Type",
	[PY_BYTES] = "PyBytes_Type", [PY_VERSION] = "Py_Version",
};

static bool read_memory(void *memory, uint64_t address, void *to, size_t size)
{
	return fg_memory_read(memory, address, to, size);
}

struct fg_python_reader fg_interpreter_reader(const struct fg_interpreter *interpreter,
					      struct fg_memory *memory)
{
	return (struct fg_python_reader){.read = read_memory,
					 .memory = memory,
					 .layout = interpreter->layout,
					 .types = interpreter->types};
}

/* It may be met before it is initialised: what it says of itself is there from the beginning. */
static void judge(struct fg_interpreter *interpreter, struct fg_memory *memory)
{
	const struct fg_python_reader reader = fg_interpreter_reader(interpreter, memory);
	uint64_t words[FG_PYTHON_OFFSET_WORDS] = {0};

	interpreter->state = FG_INTERPRETER_REFUSED;
	if (interpreter->layout && fg_python_is_as_expected(&reader, interpreter->runtime, words) &&
	    fg_python_find_lists(interpreter->layout, words, &interpreter->lists))
		interpreter->state = FG_INTERPRETER_READ;
}

static void meet(struct fg_interpreter *interpreter, struct fg_memory *memory, uint64_t module,
		 const uint64_t addresses[PY_SYMBOLS])
{
	interpreter->module = module;
	interpreter->runtime = addresses[PY_RUNTIME];
	interpreter->types = (struct fg_python_types){
		.code = addresses[PY_CODE], .str = addresses[PY_STR], .bytes = addresses[PY_BYTES]};
	if (!fg_memory_read(memory, addresses[PY_VERSION], &interpreter->version,
			    sizeof(interpreter->version)))
		interpreter->version = 0;
	interpreter->layout = fg_python_layout(interpreter->version);
	judge(interpreter, memory);
}

/* Older ones have no Py_Version. */
static void find_exported(struct fg_interpreter *interpreter, struct fg_memory *memory,
			  const struct fg_mapping *mapping)
{
	uint64_t addresses[PY_SYMBOLS] = {0};

	if (fg_exports_find(memory, mapping, symbols, PY_SYMBOLS, addresses))
		meet(interpreter, memory, mapping->start, addresses);
	else if (fg_exports_find(memory, mapping, symbols, 1, addresses))
		interpreter->state = FG_INTERPRETER_REFUSED;
}

/* One that is linked statically into a program, which exports nothing. */
static void find_linked(struct fg_interpreter *interpreter, struct fg_memory *memory,
			const struct fg_mappings *mappings)
{
	uint64_t addresses[PY_SYMBOLS] = {0};
	char path[64];

	interpreter->is_file_searched = true;
	(void)snprintf(path, sizeof(path), "/proc/%d/exe", (int)memory->pid);
	for (size_t i = 0; i < mappings->count; i++) {
		const struct fg_mapping *mapping = &mappings->items[i];

		if (mapping->is_main &&
		    fg_exports_find_in_file(path, mapping->bias, symbols, PY_SYMBOLS, addresses))
			meet(interpreter, memory, mapping->start, addresses);
	}
}

void fg_interpreter_find(struct fg_interpreter *interpreter, struct fg_memory *memory,
			 const struct fg_mappings *mappings)
{
	for (size_t i = 0; i < mappings->count && interpreter->state == FG_INTERPRETER_NONE; i++)
		find_exported(interpreter, memory, &mappings->items[i]);
	if (interpreter->state == FG_INTERPRETER_NONE && !interpreter->is_file_searched)
		find_linked(interpreter, memory, mappings);
}

char *fg_interpreter_refusal(const struct fg_interpreter *interpreter)
{
	const unsigned major = (unsigned)(interpreter->version >> 24 & 0xff);
	const unsigned minor = (unsigned)(interpreter->version >> 16 & 0xff);

	if (interpreter->layout)
		return fg_xasprintf("Python %u.%u, built in another way than usual: "
				    "no Python frames",
				    major, minor);
	if (interpreter->version)
		return fg_xasprintf("Python %u.%u: no Python frames (supported: 3.11, 3.12, 3.13 "
				    "in 64-bit programs)",
				    major, minor);
	return fg_xstrdup("Python before 3.11: no Python frames (supported: 3.11, 3.12, 3.13 in "
			  "64-bit programs)");
}

/* ---- the state of a thread ---- */

uint64_t fg_python_thread_number(pid_t pid, pid_t tid)
{
	static const char field[] = "\nNSpid:";
	char path[64];
	char *status = NULL;
	const char *line = NULL;
	uint64_t number = 0;

	(void)snprintf(path, sizeof(path), "/proc/%d/task/%d/status", (int)pid, (int)tid);
	if (fg_fs_read(path, STATUS_MAX_BYTES, &status, NULL, NULL) == FG_OK)
		line = strstr(status, field);
	/* The innermost namespace is the last. */
	for (line = line ? line + sizeof(field) - 1 : ""; *line && *line != '\n';) {
		char *end = NULL;

		number = strtoull(line, &end, 10);
		if (end == line)
			break;
		line = end;
	}
	free(status);
	return number;
}

static bool read_word(struct fg_memory *memory, uint64_t address, uint64_t *value)
{
	return address % sizeof(*value) == 0 &&
	       fg_memory_read(memory, address, value, sizeof(*value));
}

static bool is_of_thread(const struct fg_interpreter *interpreter, struct fg_memory *memory,
			 const struct fg_python_thread *thread, uint64_t state)
{
	const struct fg_python_layout *layout = interpreter->layout;
	const uint64_t wanted = thread->pthread ? thread->pthread : thread->tid;
	uint64_t number = 0;

	return state && wanted &&
	       read_word(memory,
			 state + (thread->pthread ? layout->thread_id : layout->native_thread_id),
			 &number) &&
	       number == wanted;
}

/* Other threads go on and may change the lists: what is found is judged, and the search ends. */
static uint64_t find_state(const struct fg_interpreter *interpreter, struct fg_memory *memory,
			   const struct fg_python_thread *thread)
{
	const struct fg_python_lists *lists = &interpreter->lists;
	uint64_t at = 0;
	unsigned threads = 0;

	if (!read_word(memory, interpreter->runtime + lists->interpreters, &at))
		return 0;
	for (unsigned n = 0; at && n < INTERPRETERS_MAX; n++) {
		uint64_t state = 0;

		if (!read_word(memory, at + lists->threads, &state))
			return 0;
		for (; state && threads < THREADS_MAX; threads++) {
			if (is_of_thread(interpreter, memory, thread, state))
				return state;
			if (!read_word(memory, state + lists->next_thread, &state))
				return 0;
		}
		if (!read_word(memory, at + lists->next_interpreter, &at))
			return 0;
	}
	return 0;
}

static bool know_state(const struct fg_interpreter *interpreter, struct fg_memory *memory,
		       struct fg_python_thread *thread)
{
	const int64_t now_ns = fg_clock_monotonic_ns();

	if (is_of_thread(interpreter, memory, thread, thread->state))
		return true;
	thread->state = 0;
	if (thread->searched_ns && now_ns - thread->searched_ns < SEARCH_AGAIN_MS * FG_NS_PER_MS)
		return false;
	thread->state = find_state(interpreter, memory, thread);
	thread->searched_ns = thread->state ? 0 : now_ns;
	return thread->state != 0;
}

/* ---- its frames ---- */

bool fg_interpreter_look(const struct fg_interpreter *interpreter, struct fg_memory *memory,
			 struct fg_python_thread *thread, struct fg_python_stack *stack)
{
	const struct fg_python_reader reader = fg_interpreter_reader(interpreter, memory);

	stack->total = 0;
	stack->left = 0;
	return interpreter->state != FG_INTERPRETER_READ ||
	       !know_state(interpreter, memory, thread) ||
	       fg_python_chain_read(&reader, thread->state, stack);
}

uint64_t fg_python_stack_hash(struct fg_python_stack *stack)
{
	uint64_t hash = stack->total;

	for (uint32_t i = 0; i < stack->total; i++) {
		const struct fg_python_frame *frame = fg_python_at(stack, i);
		const uint64_t words[] = {frame->code, frame->instruction, frame->stack};

		if (!fg_python_is_cut(stack, i))
			hash = fg_hash64(words, sizeof(words), hash);
	}
	return hash;
}
