// SPDX-License-Identifier: Apache-2.0
#include "collector/python.h"

#include "collector/modules.h"
#include "collector/paths.h"
#include "collector/writer.h"

#include <pthread.h>
#include <string.h>

struct fg_python fg_python;

/* ---- finding the interpreter ---- */

enum {
	DYNAMIC_MAX = 256,
	CHAIN_MAX = 1 << 16,
	NAME_SIZE = 5, /* of "code" */
	TYPE_BYTES = 40,
	VERSION_TEXT = 96,
};

/* What an object exports, as the loader has it. */
struct exports {
	uintptr_t bias;
	const ElfW(Sym) * symbols;
	const char *names;
	const uint32_t *hash;
};

static const void *at(const struct exports *exports, uintptr_t value)
{
	return (const void *)(value >= exports->bias ? value : exports->bias + value);
}

static bool find_exports(const ElfW(Dyn) * dynamic, struct exports *exports)
{
	for (unsigned i = 0; i < DYNAMIC_MAX && dynamic[i].d_tag != DT_NULL; i++) {
		const uintptr_t value = dynamic[i].d_un.d_ptr;

		if (dynamic[i].d_tag == DT_SYMTAB)
			exports->symbols = at(exports, value);
		else if (dynamic[i].d_tag == DT_STRTAB)
			exports->names = at(exports, value);
		else if (dynamic[i].d_tag == DT_GNU_HASH)
			exports->hash = at(exports, value);
	}
	return exports->symbols && exports->names && exports->hash;
}

static uint32_t hash_name(const char *name)
{
	uint32_t hash = 5381;

	for (; *name; name++)
		hash = hash * 33 + (uint8_t)*name;
	return hash;
}

/* The table of DT_GNU_HASH: head, bloom filter, buckets, chains. */
static uintptr_t find_export(const struct exports *exports, const char *name)
{
	const uint32_t *head = exports->hash;
	const uint32_t bucket_count = head[0];
	const uint32_t first = head[1];
	const uint32_t *buckets = &head[4 + (size_t)head[2] * (sizeof(uintptr_t) / 4)];
	const uint32_t *chains = &buckets[bucket_count];
	const uint32_t wanted = hash_name(name);
	uint32_t i = bucket_count ? buckets[wanted % bucket_count] : 0;

	for (unsigned n = 0; i >= first && i != 0 && n < CHAIN_MAX; n++, i++) {
		const ElfW(Sym) *symbol = &exports->symbols[i];

		if ((chains[i - first] | 1u) == (wanted | 1u) && symbol->st_shndx != SHN_UNDEF &&
		    strcmp(exports->names + symbol->st_name, name) == 0)
			return exports->bias + symbol->st_value;
		if (chains[i - first] & 1u)
			break;
	}
	return 0;
}

static size_t add_text(char *to, size_t used, const char *text)
{
	const size_t size = strlen(text);

	memcpy(to + used, text, size + 1);
	return used + size;
}

/* One line for people. */
static void note_refusal(struct fg_thread *thread)
{
	char text[VERSION_TEXT + 2 * FG_NUMBER_SIZE];
	size_t used = add_text(text, 0, "Python ");

	if (fg_python.version) {
		used += fg_number_text(fg_python.version >> 24, text + used);
		text[used++] = '.';
		used += fg_number_text(fg_python.version >> 16 & 0xff, text + used);
	} else {
		used = add_text(text, used, "before 3.11");
	}
	if (fg_python.layout)
		(void)add_text(text, used, ", built in another way than usual: no Python frames");
	else
		(void)add_text(text, used,
			       ": no Python frames (read of 3.11, 3.12, 3.13 in 64-bit programs)");
	(void)fg_note(thread, text);
}

void fg_python_rewrite(struct fg_thread *thread)
{
	const uint32_t state = atomic_load(&fg_python.state);

	if (state == FG_PYTHON_REFUSED)
		note_refusal(thread);
	if (state != FG_PYTHON_MET && state != FG_PYTHON_ON)
		return;
	fg_record_begin(thread, FG_RECORD_PYTHON);
	fg_record_number(thread, fg_python.module);
	fg_record_number(thread, fg_python.version);
	(void)fg_record_write(thread);
}

void fg_python_meet(struct fg_thread *thread, uint32_t module, const ElfW(Dyn) * dynamic)
{
	static _Atomic uint32_t meeting;
	struct exports exports = {.bias = fg_module(module)->bias};
	uint32_t nobody = 0;

	if (fg_g.options.no_python || atomic_load(&meeting) || !find_exports(dynamic, &exports))
		return;
	const uintptr_t runtime = find_export(&exports, "_PyRuntime");

	if (!runtime || !atomic_compare_exchange_strong(&meeting, &nobody, 1))
		return;
	const uintptr_t version = find_export(&exports, "Py_Version");

	fg_python.module = module;
	fg_python.runtime = runtime;
	fg_python.types = (struct fg_python_types){
		.code = find_export(&exports, "PyCode_Type"),
		.str = find_export(&exports, "PyUnicode_Type"),
		.bytes = find_export(&exports, "PyBytes_Type"),
	};
	fg_python.version = version ? *(const unsigned long *)version : 0;
	fg_python.layout = FG_WORD == sizeof(uint64_t) ? fg_python_layout(fg_python.version) : NULL;
	atomic_store(&fg_python.state, fg_python.layout && fg_python_codes_init() == 0
					       ? FG_PYTHON_MET
					       : FG_PYTHON_REFUSED);
	fg_python_rewrite(thread);
}

/* ---- a look at the thread ---- */

/* Is the interpreter what its version says?  Looked at when it runs: all of it is there then. */
static bool is_as_expected(struct fg_pages *pages)
{
	const struct fg_python_layout *layout = fg_python.layout;
	uint64_t words[FG_PYTHON_OFFSET_WORDS];
	uint64_t type[TYPE_BYTES / sizeof(uint64_t)];
	char name[NAME_SIZE];

	return fg_pages_read(pages, fg_python.runtime, words, sizeof(words)) &&
	       (!layout->has_offsets || fg_python_layout_agrees(layout, words)) &&
	       fg_python.types.str && fg_python.types.bytes &&
	       fg_pages_read(pages, fg_python.types.code, type, sizeof(type)) &&
	       type[FG_PYTHON_TYPE_BASIC_SIZE / sizeof(uint64_t)] == layout->code_instructions &&
	       fg_pages_read(pages, (uintptr_t)type[FG_PYTHON_TYPE_NAME / sizeof(uint64_t)], name,
			     sizeof(name)) &&
	       memcmp(name, "code", sizeof(name)) == 0;
}

static bool is_usable(struct fg_thread *thread, struct fg_pages *pages)
{
	uint32_t state = atomic_load_explicit(&fg_python.state, memory_order_acquire);

	if (FG_LIKELY(state == FG_PYTHON_ON))
		return true;
	if (state != FG_PYTHON_MET)
		return false;
	if (is_as_expected(pages)) {
		(void)atomic_compare_exchange_strong(&fg_python.state, &state, FG_PYTHON_ON);
		return true;
	}
	if (!fg_g.sandboxed &&
	    atomic_compare_exchange_strong(&fg_python.state, &state, FG_PYTHON_REFUSED))
		note_refusal(thread);
	return false;
}

/* The PyThreadState of this thread; 0: it runs no Python. */
static uintptr_t find_thread_state(struct fg_pages *pages)
{
	struct {
		int32_t is_made;
		uint32_t key;
	} tss;
	uintptr_t thread_id = 0;
	uintptr_t state = 0;

	if (!fg_pages_read(pages, fg_python.runtime + fg_python.layout->tss_key, &tss,
			   sizeof(tss)) ||
	    tss.is_made != 1 || tss.key >= PTHREAD_KEYS_MAX)
		return 0;
	state = (uintptr_t)pthread_getspecific(tss.key);
	if (!fg_pages_read(pages, state + fg_python.layout->thread_id, &thread_id,
			   sizeof(thread_id)))
		return 0;
	return thread_id == (uintptr_t)pthread_self() ? state : 0;
}

void fg_python_look(struct fg_thread *thread)
{
	struct fg_python_stack *stack = &thread->stack->python;
	struct fg_trace_header *header = atomic_load_explicit(&fg_g.header, memory_order_relaxed);
	uintptr_t state = 0;

	stack->total = 0;
	stack->left = 0;
	if (fg_g.sandboxed || !fg_module_live(fg_python.module))
		return;
	fg_pages_forget(&stack->pages);
	state = find_thread_state(&stack->pages);
	if (!state || !is_usable(thread, &stack->pages))
		return;
	const bool is_read = fg_python_chain_read(fg_python.layout, state, stack) &&
			     fg_python_codes_number(thread);

	if (is_read)
		stack->left = stack->total;
	if (header && !is_read)
		fg_count(&header->python_missed, 1);
	else if (header && stack->left)
		fg_count(&header->python_stacks, 1);
}

uint32_t fg_python_extend(struct fg_thread *thread, uint32_t path, uintptr_t sp)
{
	struct fg_python_stack *stack = &thread->stack->python;

	while (stack->left > 0) {
		const uint32_t index = stack->left - 1;
		const struct fg_python_frame *frame = fg_python_at(stack, index);

		if (fg_python_is_cut(stack, index)) {
			path = fg_path_cut(thread, path, stack->total - FG_PYTHON_FRAMES);
			stack->left = FG_PYTHON_INNER;
		} else if (frame->stack >= sp) {
			path = fg_path_extend(thread, path, frame->id);
			stack->left--;
		} else {
			return path;
		}
		if (!path)
			return 0;
	}
	return path;
}
