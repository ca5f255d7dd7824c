// SPDX-License-Identifier: Apache-2.0
/* Names for what was seen, and the two texts about it. */
#include "base/fs.h"
#include "base/text.h"
#include "profile/attach/look.h"

enum {
	SHOWN_THREADS = 64,
	SHOWN_FRAMES = 64,
	PATH_FRAMES = 5, /* of a summary */
	SUMMARY_GROUPS = 2,
	STACKS_MAX_BYTES = 64 << 10,
};

static size_t find_symbols(const struct fg_look *look, const struct fg_look_process *process,
			   const struct fg_stack_frame *frame, const struct fg_symbol **chain,
			   const struct fg_mapping **mapping)
{
	struct fg_symbolizer *symbolizer = look->symbolizer;
	const uint64_t address = frame->exact ? frame->address : frame->address - 1;

	*mapping = fg_mappings_find(&process->mappings, address);
	if (!*mapping)
		return fg_symbolizer_find(symbolizer,
					  fg_symbolizer_jit(symbolizer, (uint32_t)process->pid),
					  address, chain);
	return fg_symbolizer_find(
		symbolizer,
		fg_symbolizer_module(symbolizer, (*mapping)->path, (*mapping)->build_id,
				     (*mapping)->build_id_size, (*mapping)->is_vdso),
		address - (*mapping)->bias, chain);
}

/* The C library's own frames say nothing that the name of the call does not say. */
static bool is_c_library(const struct fg_mapping *mapping)
{
	static const char *const names[] = {"libc.so", "libc-", "libpthread", "ld-linux",
					    "ld-musl"};
	const char *name = mapping ? fg_fs_base_name(mapping->path) : "";

	for (size_t i = 0; i < FG_ARRAY_SIZE(names); i++) {
		if (fg_text_starts_with(name, names[i]))
			return true;
	}
	return mapping && mapping->is_vdso;
}

/* Functions that start a program or a thread. */
static bool is_beginning(const char *name)
{
	static const char *const names[] = {"_start",
					    "__libc_start_main",
					    "__libc_start_main_impl",
					    "__libc_start_call_main",
					    "start_thread",
					    "clone3",
					    "clone"};

	for (size_t i = 0; i < FG_ARRAY_SIZE(names); i++) {
		if (strcmp(name, names[i]) == 0)
			return true;
	}
	return false;
}

struct naming {
	const struct fg_look *look;
	const struct fg_look_process *process;
	struct fg_look_thread *thread;
	struct fg_strbuf *lines;
	const char *path[SHOWN_FRAMES]; /* the leaf first */
	size_t path_count;
	size_t shown;
	bool is_complete; /* main() was named */
};

static void name_symbol(struct naming *naming, const struct fg_symbol *symbol,
			const struct fg_mapping *mapping)
{
	const char *name = symbol->function->name;

	if (is_beginning(name) || naming->shown == SHOWN_FRAMES)
		return;
	naming->shown++;
	fg_strbuf_printf(naming->lines, "    %s", name);
	if (symbol->at_file)
		fg_strbuf_printf(naming->lines, "  %s:%u", fg_fs_base_name(symbol->at_file),
				 symbol->at_line);
	else if (mapping && !mapping->is_main)
		fg_strbuf_printf(naming->lines, "  %s", fg_fs_base_name(mapping->path));
	fg_strbuf_add_char(naming->lines, '\n');
	if (!is_c_library(mapping))
		naming->path[naming->path_count++] = name;
	naming->is_complete = strcmp(name, "main") == 0;
}

static void name_native(struct naming *naming, const struct fg_stack_frame *frame)
{
	const struct fg_symbol *chain = NULL;
	const struct fg_mapping *mapping = NULL;
	size_t count = find_symbols(naming->look, naming->process, frame, &chain, &mapping);

	/* innermost first, as in any stack of a debugger */
	while (count-- > 0)
		name_symbol(naming, &chain[count], mapping);
}

static void name_frames(struct naming *naming)
{
	const struct fg_walked_stack *stack = &naming->thread->stack;

	for (size_t i = 0; i < stack->count && !naming->is_complete; i++)
		name_native(naming, &stack->frames[i]);
}

/* main → … → read_all → read */
static void settle_path(const struct naming *naming)
{
	const char *call = naming->thread->call;
	struct fg_strbuf text = {0};
	const size_t count = naming->path_count;

	for (size_t i = count; i-- > 0;) {
		if (count > PATH_FRAMES && i < count - 1 && i >= PATH_FRAMES - 1)
			continue;
		if (count > PATH_FRAMES && i == PATH_FRAMES - 2)
			fg_strbuf_add_text(&text, " → …");
		fg_strbuf_printf(&text, "%s%s", text.length ? " → " : "", naming->path[i]);
	}
	if (call && (count == 0 || strcmp(naming->path[0], call) != 0))
		fg_strbuf_printf(&text, "%s%s", text.length ? " → " : "", call);
	naming->thread->path = fg_strbuf_detach(&text);
}

static const char *state_words(const struct fg_look_thread *thread)
{
	if (thread->call)
		return thread->call;
	if (thread->state.state == 'Z')
		return "has ended; its parent has not waited for it";
	if (!thread->seized)
		return "could not be stopped";
	if (!thread->stopped)
		return "does not leave the kernel";
	return "runs";
}

static void name_thread(const struct fg_look *look, const struct fg_look_process *process,
			struct fg_look_thread *thread, struct fg_strbuf *lines)
{
	struct naming naming = {.look = look, .process = process, .thread = thread, .lines = lines};

	fg_strbuf_printf(lines, "  thread %d (%s): %s\n", (int)thread->tid, thread->state.name,
			 state_words(thread));
	if (thread->stopped)
		name_frames(&naming);
	settle_path(&naming);
}

/* ---- the summary ---- */

static void add_groups(struct fg_strbuf *text, const struct fg_look_process *process)
{
	bool shown[FG_LOOK_THREADS_MAX] = {false};
	size_t groups = 0;
	size_t left = process->thread_count + process->unseen_threads;

	for (size_t i = 0; i < process->thread_count && groups < SUMMARY_GROUPS; i++) {
		size_t alike = 0;

		if (shown[i] || !*process->threads[i].path)
			continue;
		for (size_t k = i; k < process->thread_count; k++) {
			if (strcmp(process->threads[k].path, process->threads[i].path) != 0)
				continue;
			shown[k] = true;
			alike++;
		}
		fg_strbuf_printf(text, "%s%zu thread%s in %s", groups ? "; " : "", alike,
				 alike == 1 ? "" : "s", process->threads[i].path);
		groups++;
		left -= alike;
	}
	if (groups && left)
		fg_strbuf_printf(text, "; %zu elsewhere", left);
}

/* The newest process is the one that the others wait for, more often than not. */
static char *summarise(const struct fg_look *look)
{
	struct fg_strbuf text = {0};

	for (size_t i = look->process_count; i-- > 0 && !text.length;)
		add_groups(&text, &look->processes[i]);
	if (look->process_count > 1 && text.length)
		fg_strbuf_printf(&text, "; %zu processes in all",
				 look->process_count + look->unseen_processes);
	return fg_strbuf_detach(&text);
}

void fg_look_describe(struct fg_look *look, struct fg_whereabouts *where)
{
	struct fg_strbuf lines = {0};

	fg_strbuf_set_limit(&lines, STACKS_MAX_BYTES);
	for (size_t i = 0; i < look->process_count; i++) {
		struct fg_look_process *process = &look->processes[i];

		fg_strbuf_printf(&lines, "process %d: %s\n", (int)process->pid, process->command);
		for (size_t k = 0; k < process->thread_count; k++) {
			struct fg_strbuf unseen = {0};

			name_thread(look, process, &process->threads[k],
				    k < SHOWN_THREADS ? &lines : &unseen);
			fg_strbuf_release(&unseen);
		}
		if (process->thread_count > SHOWN_THREADS)
			fg_strbuf_printf(&lines, "  %zu more threads\n",
					 process->thread_count - SHOWN_THREADS +
						 process->unseen_threads);
	}
	if (look->unseen_processes)
		fg_strbuf_printf(&lines, "%zu more processes\n", look->unseen_processes);
	where->summary = summarise(look);
	where->stacks = fg_strbuf_detach(&lines);
}
