// SPDX-License-Identifier: Apache-2.0
#include "collector/python/python.h"

#include "collector/process/real.h"
#include "collector/sampler/writer.h"
#include "collector/unwind/modules.h"
#include "collector/unwind/paths.h"

#include <limits.h>
#include <pthread.h>

/* Lets the reader read this program's own memory. */
static bool read_pages(void *pages, uint64_t address, void *to, size_t size)
{
	return address <= UINTPTR_MAX && fg_pages_read(pages, (uintptr_t)address, to, size);
}

/*
 * One thread verifies the interpreter and makes the tables; until then, other threads have no
 * Python frames.
 */
static bool is_usable(struct fg_thread *thread, const struct fg_python_reader *reader)
{
	uint64_t words[FG_PYTHON_OFFSET_WORDS];
	uint32_t state = atomic_load_explicit(&fg_python.state, memory_order_acquire);

	if (FG_LIKELY(state == FG_PYTHON_ON))
		return true;
	if (state != FG_PYTHON_FOUND ||
	    !atomic_compare_exchange_strong(&fg_python.state, &state, FG_PYTHON_BEGUN))
		return false;
	if (fg_python_is_as_expected(reader, fg_python.runtime, words) &&
	    fg_python_codes_init() == 0) {
		atomic_store(&fg_python.state, FG_PYTHON_ON);
		return true;
	}
	atomic_store(&fg_python.state, FG_PYTHON_REFUSED);
	fg_python_rewrite(thread);
	return false;
}

/* Returns the PyThreadState of this thread; 0: it does not run Python. */
static uintptr_t find_thread_state(struct fg_pages *pages)
{
	struct {
		int32_t is_made;
		uint32_t key;
	} tss;
	FG_REAL(pthread_getspecific);
	uintptr_t thread_id = 0;
	uintptr_t state = 0;

	if (!fg_pages_read(pages, fg_python.runtime + fg_python.layout->tss_key, &tss,
			   sizeof(tss)) ||
	    tss.is_made != 1 || tss.key >= PTHREAD_KEYS_MAX)
		return 0;
	state = (uintptr_t)real_pthread_getspecific(tss.key);
	if (!fg_pages_read(pages, state + fg_python.layout->thread_id, &thread_id,
			   sizeof(thread_id)))
		return 0;
	return thread_id == (uintptr_t)pthread_self() ? state : 0;
}

void fg_python_look(struct fg_thread *thread)
{
	struct fg_python_look *look = &thread->stack->python;
	struct fg_python_stack *stack = &look->stack;
	struct fg_trace_header *header = atomic_load_explicit(&fg_g.header, memory_order_relaxed);
	uintptr_t state = 0;

	stack->total = 0;
	stack->left = 0;
	if (fg_g.sandboxed || !fg_module_live(fg_python.module))
		return;
	fg_pages_forget(&look->pages);
	look->reader = (struct fg_python_reader){.read = read_pages,
						 .memory = &look->pages,
						 .layout = fg_python.layout,
						 .types = fg_python.types};
	state = find_thread_state(&look->pages);
	if (!state || !is_usable(thread, &look->reader))
		return;
	const bool is_read =
		fg_python_chain_read(&look->reader, state, stack) && fg_python_codes_number(thread);

	if (is_read)
		stack->left = stack->total;
	if (header && !is_read)
		fg_count(&header->python_missed, 1);
	else if (header && stack->left)
		fg_count(&header->python_stacks, 1);
}

uint32_t fg_python_extend(struct fg_thread *thread, uint32_t path, uintptr_t sp)
{
	struct fg_python_stack *stack = &thread->stack->python.stack;
	struct fg_python_frame *frame = NULL;
	uint32_t left_out = 0;

	while (fg_python_next(stack, sp, &frame, &left_out)) {
		path = frame ? fg_path_extend(thread, path, frame->id)
			     : fg_path_cut(thread, path, left_out);
		if (!path)
			return 0;
	}
	return path;
}
