// SPDX-License-Identifier: Apache-2.0
/*
 * Two steps.  A thread of its own, the tracer, stops the threads of one process after the other and
 * reads their stacks as addresses; names are looked up when all of them run again.
 */
#include "outside/whereabouts.h"

#include "base/clock.h"
#include "base/fs.h"
#include "base/text.h"
#include "outside/mappings.h"
#include "outside/stacks.h"
#include "outside/threads.h"
#include "outside/waiting.h"

#include <errno.h>
#include <pthread.h>

enum {
	PROCESSES_MAX = 32,
	THREADS_MAX = 256, /* of a process */
	SHOWN_THREADS = 64,
	SHOWN_FRAMES = 64,
	STOP_WITHIN_MS = 500,
	PATH_FRAMES = 5, /* of a summary */
	SUMMARY_GROUPS = 2,
	COMMAND_BYTES = 160,
	STACKS_MAX_BYTES = 64 << 10,
};

struct thread {
	pid_t tid;
	struct fg_thread_state state;
	bool seized;
	bool stopped;
	int signal; /* to be handed on */
	struct fg_stack stack;
	struct fg_waiting waiting;
	char *path; /* "main → read_all"; filled when names are known */
};

struct process {
	pid_t pid;
	char *command;
	struct fg_mappings mappings;
	struct thread *threads;
	size_t thread_count;
	size_t unseen_threads; /* beyond THREADS_MAX */
};

struct look {
	const struct fg_whereabouts_request *request;
	struct process processes[PROCESSES_MAX];
	size_t process_count;
	size_t unseen_processes;
	int status;
	struct fg_error why; /* the first refusal */
};

/* ---- the tracer ---- */

static char *read_command(pid_t pid)
{
	char path[64];
	char *text = NULL;
	size_t size = 0;
	struct fg_strbuf command = {0};

	(void)snprintf(path, sizeof(path), "/proc/%d/cmdline", (int)pid);
	if (fg_fs_read(path, 1 << 20, &text, &size, NULL) == FG_OK) {
		for (size_t i = 0; i + 1 < size; i++)
			if (text[i] == '\0')
				text[i] = ' ';
		fg_text_add_clean(&command, text, strlen(text), COMMAND_BYTES);
	}
	free(text);
	return fg_strbuf_detach(&command);
}

/* Threads that appear while others are being stopped are found by the next round. */
static void seize_threads(struct look *look, struct process *process, struct fg_pids *tids)
{
	size_t before = 0;

	process->threads = fg_xcalloc(THREADS_MAX, sizeof(process->threads[0]));
	do {
		struct fg_pids now = {0};

		before = tids->count;
		fg_threads_of(process->pid, &now);
		for (size_t i = 0; i < now.count; i++) {
			struct thread *thread = &process->threads[process->thread_count];

			if (fg_pids_contain(tids, now.items[i]))
				continue;
			fg_pids_add(tids, now.items[i]);
			if (process->thread_count == THREADS_MAX) {
				process->unseen_threads++;
				continue;
			}
			process->thread_count++;
			thread->tid = now.items[i];
			fg_thread_read_state(process->pid, thread->tid, &thread->state);
			thread->seized = thread->state.state != 'Z' && fg_thread_seize(thread->tid);
			if (thread->seized)
				fg_thread_interrupt(thread->tid);
			else if (look->why.code == FG_OK && thread->state.state != 'Z')
				fg_thread_explain_refusal(process->pid, errno, &look->why);
		}
		fg_pids_release(&now);
	} while (tids->count > before);
}

static void read_thread(const struct process *process, struct thread *thread,
			const struct fg_pids *tids, struct fg_memory *memory,
			struct fg_stack_walker *walker)
{
	struct user_regs_struct registers = {0};

	if (!fg_thread_registers(thread->tid, &registers)) {
		thread->stopped = false;
		return;
	}
	fg_stack_walk(walker, &registers, &thread->stack);
	fg_waiting_find(&(struct fg_waiter){.pid = process->pid,
					    .threads = tids,
					    .registers = &registers,
					    .memory = memory},
			&thread->waiting);
}

static void look_at_process(struct look *look, struct process *process)
{
	struct fg_pids tids = {0};
	struct fg_memory memory;
	struct fg_stack_walker *walker = NULL;
	int64_t until_ns = 0;

	fg_memory_init(&memory, process->pid);
	process->command = read_command(process->pid);
	seize_threads(look, process, &tids);
	until_ns = fg_clock_monotonic_ns() + STOP_WITHIN_MS * FG_NS_PER_MS;
	for (size_t i = 0; i < process->thread_count; i++) {
		struct thread *thread = &process->threads[i];

		thread->stopped =
			thread->seized && fg_thread_await(thread->tid, until_ns, &thread->signal);
	}
	if (fg_mappings_read(&memory, &process->mappings, NULL) == FG_OK) {
		walker = fg_stack_walker_new(&memory, &process->mappings);
		for (size_t i = 0; i < process->thread_count; i++) {
			if (process->threads[i].stopped)
				read_thread(process, &process->threads[i], &tids, &memory, walker);
		}
		fg_stack_walker_free(walker);
	}
	for (size_t i = 0; i < process->thread_count; i++) {
		if (process->threads[i].seized)
			fg_thread_release(process->threads[i].tid, process->threads[i].signal);
	}
	fg_memory_release(&memory);
	fg_pids_release(&tids);
}

static void *trace(void *context)
{
	struct look *look = context;
	const struct fg_whereabouts_request *request = look->request;
	struct fg_pids pids = {0};

	fg_processes_of(request->root, &pids);
	for (size_t i = request->below_root ? 1 : 0; i < pids.count; i++) {
		struct process *process = &look->processes[look->process_count];

		if (look->process_count == PROCESSES_MAX) {
			look->unseen_processes++;
			continue;
		}
		process->pid = pids.items[i];
		look_at_process(look, process);
		look->process_count++;
	}
	fg_pids_release(&pids);
	return NULL;
}

/* ---- names ---- */

static size_t find_symbols(const struct look *look, const struct process *process,
			   const struct fg_stack_frame *frame, const struct fg_symbol **chain,
			   const struct fg_mapping **mapping)
{
	struct fg_symbolizer *symbolizer = look->request->symbolizer;
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

/* What starts a program or a thread. */
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
	const struct look *look;
	const struct process *process;
	struct thread *thread;
	struct fg_strbuf *lines;
	const char *path[SHOWN_FRAMES]; /* the leaf first */
	size_t path_count;
	size_t shown;
};

static void name_frame(struct naming *naming, const struct fg_symbol *symbol,
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
}

/* main → … → read_all → read */
static void settle_path(const struct naming *naming)
{
	const struct fg_waiting *waiting = &naming->thread->waiting;
	struct fg_strbuf text = {0};
	const size_t count = naming->path_count;

	for (size_t i = count; i-- > 0;) {
		if (count > PATH_FRAMES && i < count - 1 && i >= PATH_FRAMES - 1)
			continue;
		if (count > PATH_FRAMES && i == PATH_FRAMES - 2)
			fg_strbuf_add_text(&text, " → …");
		fg_strbuf_printf(&text, "%s%s", text.length ? " → " : "", naming->path[i]);
	}
	if (waiting->call && (count == 0 || strcmp(naming->path[0], waiting->call) != 0))
		fg_strbuf_printf(&text, "%s%s", text.length ? " → " : "", waiting->call);
	if (waiting->what.length)
		fg_strbuf_printf(&text, " (%s)", fg_strbuf_text(&waiting->what));
	naming->thread->path = fg_strbuf_detach(&text);
}

static const char *state_words(const struct thread *thread)
{
	if (thread->waiting.call)
		return thread->waiting.call;
	if (thread->state.state == 'Z')
		return "has ended; its parent has not waited for it";
	if (!thread->seized)
		return "could not be stopped";
	if (!thread->stopped)
		return "does not leave the kernel";
	return "runs";
}

static void name_thread(const struct look *look, const struct process *process,
			struct thread *thread, struct fg_strbuf *lines)
{
	struct naming naming = {.look = look, .process = process, .thread = thread, .lines = lines};

	fg_strbuf_printf(lines, "  thread %d (%s): %s", (int)thread->tid, thread->state.name,
			 state_words(thread));
	if (thread->waiting.what.length)
		fg_strbuf_printf(lines, ", %s", fg_strbuf_text(&thread->waiting.what));
	fg_strbuf_add_char(lines, '\n');
	for (size_t i = 0; thread->stopped && i < thread->stack.count; i++) {
		const struct fg_symbol *chain = NULL;
		const struct fg_mapping *mapping = NULL;
		size_t count =
			find_symbols(look, process, &thread->stack.frames[i], &chain, &mapping);

		/* innermost first, as in any stack of a debugger */
		while (count-- > 0)
			name_frame(&naming, &chain[count], mapping);
		if (naming.path_count > 0 &&
		    strcmp(naming.path[naming.path_count - 1], "main") == 0)
			break;
	}
	settle_path(&naming);
}

/* ---- the summary ---- */

static const struct thread *find_thread(const struct process *process, pid_t tid)
{
	for (size_t i = 0; i < process->thread_count; i++) {
		if (process->threads[i].tid == tid)
			return &process->threads[i];
	}
	return NULL;
}

/* Follows who waits for whom; true: it comes back to where it began. */
static bool waits_for_itself(const struct process *process, const struct thread *first)
{
	const struct thread *thread = first;

	for (size_t i = 0; thread && i <= process->thread_count; i++) {
		thread = thread->waiting.holder ? find_thread(process, thread->waiting.holder)
						: NULL;
		if (thread == first)
			return true;
	}
	return false;
}

static void add_deadlock(struct fg_strbuf *text, const struct process *process)
{
	const char *separator = "deadlock of threads ";

	for (size_t i = 0; i < process->thread_count; i++) {
		if (!waits_for_itself(process, &process->threads[i]))
			continue;
		fg_strbuf_printf(text, "%s%d", separator, (int)process->threads[i].tid);
		separator = ", ";
	}
	if (text->length)
		fg_strbuf_add_text(text, "; ");
}

static void add_groups(struct fg_strbuf *text, const struct process *process)
{
	bool told[THREADS_MAX] = {false};
	size_t groups = 0;
	size_t left = process->thread_count + process->unseen_threads;

	for (size_t i = 0; i < process->thread_count && groups < SUMMARY_GROUPS; i++) {
		size_t alike = 0;

		if (told[i] || !*process->threads[i].path)
			continue;
		for (size_t k = i; k < process->thread_count; k++) {
			if (strcmp(process->threads[k].path, process->threads[i].path) != 0)
				continue;
			told[k] = true;
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
static char *summarise(const struct look *look)
{
	struct fg_strbuf text = {0};

	for (size_t i = look->process_count; i-- > 0 && !text.length;) {
		add_deadlock(&text, &look->processes[i]);
		add_groups(&text, &look->processes[i]);
	}
	if (look->process_count > 1 && text.length)
		fg_strbuf_printf(&text, "; %zu processes in all",
				 look->process_count + look->unseen_processes);
	return fg_strbuf_detach(&text);
}

static void describe(struct look *look, struct fg_whereabouts *where)
{
	struct fg_strbuf lines = {0};

	fg_strbuf_set_limit(&lines, STACKS_MAX_BYTES);
	for (size_t i = 0; i < look->process_count; i++) {
		struct process *process = &look->processes[i];

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

static void look_release(struct look *look)
{
	for (size_t i = 0; i < look->process_count; i++) {
		struct process *process = &look->processes[i];

		for (size_t k = 0; k < process->thread_count; k++) {
			fg_strbuf_release(&process->threads[k].waiting.what);
			free(process->threads[k].path);
		}
		free(process->threads);
		free(process->command);
		fg_mappings_release(&process->mappings);
	}
	free(look);
}

static bool any_thread(const struct look *look)
{
	for (size_t i = 0; i < look->process_count; i++) {
		if (look->processes[i].thread_count > 0)
			return true;
	}
	return false;
}

static bool any_stopped(const struct look *look)
{
	for (size_t i = 0; i < look->process_count; i++) {
		for (size_t k = 0; k < look->processes[i].thread_count; k++) {
			if (look->processes[i].threads[k].stopped)
				return true;
		}
	}
	return false;
}

int fg_whereabouts_find(const struct fg_whereabouts_request *request, struct fg_whereabouts *where,
			struct fg_error *err)
{
	struct look *look = fg_xcalloc(1, sizeof(*look));
	pthread_t tracer;
	int status = FG_OK;

	look->request = request;
	if (pthread_create(&tracer, NULL, trace, look) != 0) {
		status = fg_error_set(err, FG_EIO, "cannot start a thread");
		goto out;
	}
	(void)pthread_join(tracer, NULL);
	if (!any_thread(look))
		fg_thread_explain_refusal(request->root, ESRCH, &look->why);
	if (!any_stopped(look) && look->why.code != FG_OK) {
		status = fg_error_set(err, look->why.code, "%s", look->why.message);
		goto out;
	}
	describe(look, where);
out:
	look_release(look);
	return status;
}
