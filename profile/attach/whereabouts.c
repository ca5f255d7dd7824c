// SPDX-License-Identifier: Apache-2.0
/*
 * Two steps.  A thread of its own, the tracer, stops the threads of one process after the other and
 * reads their stacks as addresses; names are looked up when all of them run again.
 */
#include "profile/attach/whereabouts.h"

#include "base/clock.h"
#include "base/fs.h"
#include "base/text.h"
#include "profile/attach/look.h"
#include "profile/attach/waiting.h"

#include <errno.h>
#include <pthread.h>

enum {
	STOP_WITHIN_MS = 500,
	COMMAND_BYTES = 160,
};

/* ---- the tracer ---- */

/* The command line; to be freed. */
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
static void seize_threads(struct fg_look *look, struct fg_look_process *process,
			  struct fg_pids *tids)
{
	size_t before = 0;

	process->threads = fg_xcalloc(FG_LOOK_THREADS_MAX, sizeof(process->threads[0]));
	do {
		struct fg_pids now = {0};

		before = tids->count;
		fg_threads_of(process->pid, &now);
		for (size_t i = 0; i < now.count; i++) {
			struct fg_look_thread *thread = &process->threads[process->thread_count];

			if (fg_pids_contain(tids, now.items[i]))
				continue;
			fg_pids_add(tids, now.items[i]);
			if (process->thread_count == FG_LOOK_THREADS_MAX) {
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

static void read_thread(struct fg_look_thread *thread, struct fg_stack_walker *walker)
{
	struct user_regs_struct registers = {0};

	if (!fg_thread_registers(thread->tid, &registers)) {
		thread->stopped = false;
		return;
	}
	fg_stack_walk(walker, &registers, &thread->stack);
	thread->call = fg_waiting_call(&registers);
}

/* Stacks of the stopped threads, and the system calls they wait in. */
static void read_threads(struct fg_look_process *process, struct fg_memory *memory)
{
	struct fg_stack_walker *walker = NULL;

	if (fg_mappings_read(memory, &process->mappings, NULL) != FG_OK)
		return;
	walker = fg_stack_walker_new(memory, &process->mappings);
	for (size_t i = 0; i < process->thread_count; i++) {
		if (process->threads[i].stopped)
			read_thread(&process->threads[i], walker);
	}
	fg_stack_walker_free(walker);
}

static void look_at_process(struct fg_look *look, struct fg_look_process *process)
{
	struct fg_pids tids = {0};
	struct fg_memory memory;
	int64_t until_ns = 0;

	fg_memory_init(&memory, process->pid);
	process->command = read_command(process->pid);
	seize_threads(look, process, &tids);
	until_ns = fg_clock_monotonic_ns() + STOP_WITHIN_MS * FG_NS_PER_MS;
	for (size_t i = 0; i < process->thread_count; i++) {
		struct fg_look_thread *thread = &process->threads[i];

		thread->stopped =
			thread->seized && fg_thread_await(thread->tid, until_ns, &thread->stop);
	}
	read_threads(process, &memory);
	for (size_t i = 0; i < process->thread_count; i++) {
		if (process->threads[i].seized)
			fg_thread_release(process->threads[i].tid, process->threads[i].stop.signal);
	}
	fg_memory_release(&memory);
	fg_pids_release(&tids);
}

struct tracing {
	const struct fg_whereabouts_request *request;
	struct fg_look *look;
};

static void *trace(void *context)
{
	const struct tracing *tracing = context;
	const struct fg_whereabouts_request *request = tracing->request;
	struct fg_look *look = tracing->look;
	struct fg_pids pids = {0};

	fg_processes_of(request->root, &pids);
	for (size_t i = request->below_root ? 1 : 0; i < pids.count; i++) {
		struct fg_look_process *process = &look->processes[look->process_count];

		if (look->process_count == FG_LOOK_PROCESSES_MAX) {
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

static void release(struct fg_look *look)
{
	for (size_t i = 0; i < look->process_count; i++) {
		struct fg_look_process *process = &look->processes[i];

		for (size_t k = 0; k < process->thread_count; k++)
			free(process->threads[k].path);
		free(process->threads);
		free(process->command);
		fg_mappings_release(&process->mappings);
	}
	free(look);
}

static bool any_thread(const struct fg_look *look)
{
	for (size_t i = 0; i < look->process_count; i++) {
		if (look->processes[i].thread_count > 0)
			return true;
	}
	return false;
}

static bool any_stopped(const struct fg_look *look)
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
	struct fg_look *look = fg_xcalloc(1, sizeof(*look));
	struct tracing tracing = {.request = request, .look = look};
	pthread_t tracer;
	int status = FG_OK;

	look->symbolizer = request->symbolizer;
	if (pthread_create(&tracer, NULL, trace, &tracing) != 0) {
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
	fg_look_describe(look, where);
out:
	release(look);
	return status;
}
