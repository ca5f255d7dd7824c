// SPDX-License-Identifier: Apache-2.0
#include "outside/sampler.h"

#include "base/clock.h"
#include "base/fs.h"
#include "base/random.h"
#include "outside/mappings.h"
#include "outside/memory.h"
#include "outside/paths.h"
#include "outside/stacks.h"
#include "outside/threads.h"
#include "outside/waiting.h"
#include "symbols/trace_writer.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <sys/pidfd.h>
#include <time.h>
#include <unistd.h>

enum {
	STOP_WITHIN_MS = 200, /* a thread that has to wait for a CPU first */
	STACK_PAGES = 8,      /* copied while the thread stands still */
	RED_ZONE = 128,       /* below the stack pointer, and in use */
	PAUSES_MAX = 8192,    /* kept for the quantile */
	PERIOD_MAX_MS = 1000,
	BUDGET_WINDOW_MS = 250,
	REREAD_MS = 100, /* no two looks at the mappings within */
	COMMAND_MAX_BYTES = FG_TRACE_TEXT_MAX,
	ACCOUNT_BYTES = 96,
};

static const double step_max = 2; /* by which the period follows the budget */

struct sample {
	int64_t time_ns;
	uint64_t node;
	uint64_t weight_ns;
	uint8_t bits;
};

struct thread {
	pid_t tid;
	int account; /* /proc/PID/task/TID/schedstat */
	char name[32];
	bool seen; /* in this round */
	bool over;
	bool held; /* it was asked to stop and has not done so yet */
	int64_t since_ns;
	uint64_t used_ns;    /* CPU time at the last sample */
	uint64_t started_ns; /* and when it was first seen */
	struct sample *samples;
	size_t sample_count, sample_capacity;
};

/* What had been spent at one moment. */
struct spending {
	int64_t at_ns;
	int64_t own_ns; /* our own CPU time */
	uint64_t stopped_ns;
	uint64_t cpu_ns;
};

struct run {
	const struct fg_outside_sampling *sampling;
	struct fg_outside_result *result;
	struct fg_memory memory;
	struct fg_mappings mappings;
	struct fg_stack_walker *walker;
	struct fg_trace_writer writer;
	struct fg_paths paths;
	struct thread *threads;
	size_t thread_count, thread_capacity;
	size_t live_threads;
	struct fg_random random;
	int64_t started_ns;
	struct spending before;
	int process_fd;    /* readable when the process has ended */
	int64_t mapped_ns; /* when the mappings were read */
	uint64_t pauses[PAUSES_MAX];
	uint64_t pause_count;
	uint64_t truncated;
};

/* ---- threads ---- */

/* The CPU time that the kernel has counted; false: the thread has ended. */
static bool read_used(const struct thread *thread, uint64_t *used_ns)
{
	char text[ACCOUNT_BYTES] = "";
	const ssize_t got = pread(thread->account, text, sizeof(text) - 1, 0);

	if (got <= 0)
		return false;
	*used_ns = strtoull(text, NULL, 10);
	return true;
}

static void add_thread(struct run *run, pid_t tid)
{
	struct thread thread = {.tid = tid, .seen = true, .since_ns = fg_clock_monotonic_ns()};
	struct fg_thread_state state;
	char path[64];
	int account = -1;

	(void)snprintf(path, sizeof(path), "/proc/%d/task/%d/schedstat", (int)run->sampling->pid,
		       (int)tid);
	account = open(path, O_RDONLY | O_CLOEXEC);
	if (account < 0)
		return;
	thread.account = account; /* until the thread is forgotten */
	if (!read_used(&thread, &thread.used_ns)) {
		(void)close(thread.account);
		return;
	}
	thread.started_ns = thread.used_ns;
	fg_thread_read_state(run->sampling->pid, tid, &state);
	memcpy(thread.name, state.name, sizeof(thread.name));
	run->threads = fg_grow(run->threads, &run->thread_capacity, run->thread_count + 1,
			       sizeof(run->threads[0]));
	run->threads[run->thread_count++] = thread;
}

static void follow_threads(struct run *run)
{
	struct fg_pids now = {0};

	fg_threads_of(run->sampling->pid, &now);
	for (size_t i = 0; i < run->thread_count; i++)
		run->threads[i].seen = false;
	for (size_t i = 0; i < now.count; i++) {
		size_t at = 0;

		while (at < run->thread_count &&
		       (run->threads[at].over || run->threads[at].tid != now.items[i]))
			at++;
		if (at < run->thread_count)
			run->threads[at].seen = true;
		else
			add_thread(run, now.items[i]);
	}
	for (size_t i = 0; i < run->thread_count; i++) {
		struct thread *thread = &run->threads[i];

		if (!thread->seen && !thread->over) {
			thread->over = true;
			(void)close(thread->account);
		}
	}
	run->live_threads = now.count;
	fg_pids_release(&now);
}

/* ---- one sample ---- */

static bool read_mappings(struct run *run, struct fg_error *err)
{
	struct fg_mappings fresh = {0};

	run->mapped_ns = fg_clock_monotonic_ns();
	if (fg_mappings_read(&run->memory, &fresh, err) != FG_OK)
		return false;
	fg_mappings_release(&run->mappings);
	run->mappings = fresh;
	fg_stack_walker_free(run->walker);
	run->walker = fg_stack_walker_new(&run->memory, &run->mappings);
	return true;
}

/* Something was mapped since: dlopen(), or code made at run time. */
static void refresh_mappings(struct run *run, uint64_t address)
{
	if (!fg_mappings_is_code(&run->mappings, address) &&
	    fg_clock_monotonic_ns() - run->mapped_ns > REREAD_MS * FG_NS_PER_MS)
		(void)read_mappings(run, NULL);
}

static void note_pause(struct run *run, int64_t pause_ns)
{
	run->pauses[run->pause_count++ % PAUSES_MAX] = (uint64_t)pause_ns;
	run->result->stopped_ns += (uint64_t)pause_ns;
}

/*
 * Stops the thread, copies what a walk needs, lets it go.  False: it has ended, or waits by now, or
 * does not leave the kernel in time: then its time stays for the next sample.
 */
static bool take(struct run *run, struct thread *thread, struct user_regs_struct *registers)
{
	struct fg_thread_stop stop;
	bool taken = false;

	if (!fg_thread_seize(thread->tid))
		return false;
	fg_thread_interrupt(thread->tid);
	if (!fg_thread_await(thread->tid, fg_clock_monotonic_ns() + STOP_WITHIN_MS * FG_NS_PER_MS,
			     &stop)) {
		thread->held = true;
		return false;
	}
	if (fg_thread_registers(thread->tid, registers) && !fg_waiting_is(registers)) {
		fg_memory_forget(&run->memory);
		fg_memory_fetch(&run->memory, registers->rsp - RED_ZONE, STACK_PAGES);
		taken = true;
	}
	fg_thread_release(thread->tid, stop.signal);
	note_pause(run, fg_clock_monotonic_ns() - stop.seen_ns);
	return taken;
}

/* A thread that stops late is let go at once; false: it has not stopped yet. */
static bool let_go(struct thread *thread, int64_t until_ns)
{
	struct fg_thread_stop stop;

	if (thread->held && fg_thread_await(thread->tid, until_ns, &stop)) {
		fg_thread_release(thread->tid, stop.signal);
		thread->held = false;
	}
	return !thread->held;
}

static void sample_thread(struct run *run, struct thread *thread)
{
	struct user_regs_struct registers = {0};
	struct fg_thread_state state;
	struct fg_stack stack;
	uint64_t used_ns = 0;

	if (!let_go(thread, 0) || !read_used(thread, &used_ns) || used_ns <= thread->used_ns)
		return;
	fg_thread_read_state(run->sampling->pid, thread->tid, &state);
	if (state.state != 'R' || !take(run, thread, &registers))
		return;
	refresh_mappings(run, registers.rip);
	fg_stack_walk(run->walker, &registers, &stack);
	thread->samples = fg_grow(thread->samples, &thread->sample_capacity,
				  thread->sample_count + 1, sizeof(thread->samples[0]));
	thread->samples[thread->sample_count++] = (struct sample){
		.time_ns = fg_clock_monotonic_ns(),
		.node = fg_paths_add(&run->paths, &run->mappings, &stack),
		.weight_ns = used_ns - thread->used_ns,
		.bits = (uint8_t)((unsigned)FG_CLOCK_JITTER |
				  (stack.truncated ? FG_SAMPLE_TRUNCATED : 0u)),
	};
	run->truncated += stack.truncated;
	run->result->cpu_ns += used_ns - thread->used_ns;
	run->result->samples++;
	thread->used_ns = used_ns;
}

/* ---- when ---- */

/* Looks four times a second what sampling costs, and takes fewer or more samples in proportion. */
static void keep_to_budget(struct run *run)
{
	struct fg_outside_result *result = run->result;
	const struct spending now = {.at_ns = fg_clock_monotonic_ns(),
				     .own_ns = fg_clock_process_cpu_ns(),
				     .stopped_ns = result->stopped_ns,
				     .cpu_ns = result->cpu_ns};
	const struct spending *before = &run->before;
	double factor = 1;

	if (now.at_ns - before->at_ns < BUDGET_WINDOW_MS * FG_NS_PER_MS ||
	    now.cpu_ns == before->cpu_ns)
		return;
	factor = ((double)(now.own_ns - before->own_ns) +
		  (double)(now.stopped_ns - before->stopped_ns)) /
		 ((double)(now.cpu_ns - before->cpu_ns) * run->sampling->budget);
	factor = fmin(fmax(factor, 1 / step_max), step_max);
	result->period_ns = (int64_t)fmin(
		fmax((double)result->period_ns * factor, (double)run->sampling->period_ns),
		(double)PERIOD_MAX_MS * (double)FG_NS_PER_MS);
	run->before = now;
}

/* Evenly spread between half and one and a half periods: no program keeps in step with that. */
static void wait_a_period(struct run *run)
{
	const double ns = (double)run->result->period_ns * (0.5 + fg_random_uniform(&run->random));
	const struct timespec time = {.tv_sec = (time_t)(ns / (double)FG_NS_PER_S),
				      .tv_nsec = (long)ns % FG_NS_PER_S};
	struct pollfd ended = {.fd = run->process_fd, .events = POLLIN};

	(void)ppoll(&ended, 1, &time, NULL);
}

static bool is_over(const struct run *run)
{
	const struct fg_outside_sampling *sampling = run->sampling;
	struct fg_thread_state state;

	if ((sampling->interrupted && *sampling->interrupted) ||
	    (sampling->duration_ns > 0 &&
	     fg_clock_monotonic_ns() - run->started_ns >= sampling->duration_ns))
		return true;
	fg_thread_read_state(sampling->pid, sampling->pid, &state);
	return state.state == 0 || (state.state == 'Z' && run->live_threads <= 1);
}

/* ---- the trace ---- */

static void write_head(struct run *run)
{
	struct fg_trace_header *header = &run->writer.header;

	fg_trace_writer_init(&run->writer);
	header->pid = (uint32_t)run->sampling->pid;
	header->start_realtime_ns = (uint64_t)fg_clock_wall_ns();
	header->start_monotonic_ns = (uint64_t)run->started_ns;
	header->clock_user = FG_CLOCK_JITTER;
	header->period_ns = (uint64_t)run->sampling->period_ns;
	fg_trace_writer_chunk(&run->writer, 0, 0, (uint64_t)run->started_ns);
}

static void write_identity(struct run *run)
{
	char path[64];
	char program[4096];
	char *command = NULL;
	size_t size = 0;
	ssize_t length = 0;

	(void)snprintf(path, sizeof(path), "/proc/%d/exe", (int)run->sampling->pid);
	length = readlink(path, program, sizeof(program));
	if (length > 0)
		fg_trace_writer_text(&run->writer, FG_RECORD_EXE, 0, program, (size_t)length);
	(void)snprintf(path, sizeof(path), "/proc/%d/cmdline", (int)run->sampling->pid);
	if (fg_fs_read(path, COMMAND_MAX_BYTES, &command, &size, NULL) == FG_OK)
		fg_trace_writer_text(&run->writer, FG_RECORD_COMMAND, 0, command, size);
	free(command);
}

static void write_thread(struct run *run, const struct thread *thread, uint64_t id)
{
	struct fg_trace_writer *writer = &run->writer;
	uint64_t weighed_ns = 0;
	int64_t before_ns = thread->since_ns;

	fg_trace_writer_chunk(writer, (uint32_t)id, 0, (uint64_t)thread->since_ns);
	FG_TW(writer, FG_RECORD_THREAD_BEGIN, id, (uint64_t)thread->tid, (uint64_t)thread->since_ns,
	      thread->tid == run->sampling->pid ? FG_THREAD_MAIN : FG_THREAD_PTHREAD,
	      FG_CLOCK_JITTER);
	fg_trace_writer_text(writer, FG_RECORD_THREAD_NAME, id, thread->name, strlen(thread->name));
	for (size_t i = 0; i < thread->sample_count; i++) {
		const struct sample *sample = &thread->samples[i];

		fg_trace_writer_sample(writer, sample->bits,
				       (uint64_t)(sample->time_ns - before_ns), sample->node,
				       sample->weight_ns);
		before_ns = sample->time_ns;
		weighed_ns += sample->weight_ns;
	}
	FG_TW(writer, FG_RECORD_THREAD_END, id, (uint64_t)fg_clock_monotonic_ns(),
	      thread->used_ns - thread->started_ns, 0, weighed_ns, 0);
}

static int write_trace(struct run *run, struct fg_error *err)
{
	struct fg_trace_header *header = &run->writer.header;
	char name[64];
	char *path = NULL;
	const char *bytes = NULL;
	size_t size = 0;
	int status = FG_OK;

	for (size_t i = 0; i < run->thread_count; i++)
		write_thread(run, &run->threads[i], i + 1);
	header->samples = run->result->samples;
	header->user_ns = run->result->cpu_ns;
	header->threads = run->thread_count;
	header->losses[FG_LOSS_TRUNCATED] = run->truncated;
	header->handler_ns = run->result->stopped_ns;
	header->end_monotonic_ns = (uint64_t)fg_clock_monotonic_ns();
	bytes = fg_trace_writer_finish(&run->writer, &size);
	(void)snprintf(name, sizeof(name), "%d.0" FG_TRACE_SUFFIX, (int)run->sampling->pid);
	path = fg_fs_join(run->sampling->folder, name);
	status = fg_fs_write_atomic(path, bytes, size, 0600, err);
	free(path);
	return status;
}

static int ascending(const void *a, const void *b)
{
	const uint64_t left = *(const uint64_t *)a;
	const uint64_t right = *(const uint64_t *)b;

	return (left > right) - (left < right);
}

static void settle_pauses(struct run *run)
{
	const size_t count = run->pause_count < PAUSES_MAX ? (size_t)run->pause_count : PAUSES_MAX;

	if (!count)
		return;
	qsort(run->pauses, count, sizeof(run->pauses[0]), ascending);
	run->result->pause_p99_ns = run->pauses[count - 1 - count / 100];
}

static void run_release(struct run *run)
{
	for (size_t i = 0; i < run->thread_count; i++) {
		if (!run->threads[i].over)
			(void)close(run->threads[i].account);
		free(run->threads[i].samples);
	}
	if (run->process_fd >= 0)
		(void)close(run->process_fd);
	free(run->threads);
	fg_stack_walker_free(run->walker);
	fg_mappings_release(&run->mappings);
	fg_memory_release(&run->memory);
	fg_paths_release(&run->paths);
	fg_trace_writer_release(&run->writer);
	free(run);
}

int fg_outside_sample(const struct fg_outside_sampling *sampling, struct fg_outside_result *result,
		      struct fg_error *err)
{
	struct run *run = NULL;
	sigset_t child;
	sigset_t before;
	int status = fg_thread_check_rights(sampling->pid, err);

	if (status != FG_OK)
		return status;
	(void)sigemptyset(&child);
	(void)sigaddset(&child, SIGCHLD);
	(void)sigprocmask(SIG_BLOCK, &child, &before);
	run = fg_xcalloc(1, sizeof(*run));
	*result = (struct fg_outside_result){.period_ns = sampling->period_ns};
	run->sampling = sampling;
	run->result = result;
	run->started_ns = fg_clock_monotonic_ns();
	run->process_fd = pidfd_open(sampling->pid, 0);
	fg_random_seed(&run->random, (uint64_t)run->started_ns);
	fg_memory_init(&run->memory, sampling->pid);
	write_head(run);
	fg_paths_init(&run->paths, &run->writer);
	write_identity(run);
	if (!read_mappings(run, err)) {
		status = (int)err->code;
		goto out;
	}
	run->before = (struct spending){.at_ns = fg_clock_monotonic_ns(),
					.own_ns = fg_clock_process_cpu_ns()};
	for (;;) {
		follow_threads(run);
		if (is_over(run))
			break;
		for (size_t i = 0; i < run->thread_count; i++) {
			if (!run->threads[i].over)
				sample_thread(run, &run->threads[i]);
		}
		keep_to_budget(run);
		wait_a_period(run);
	}
	for (size_t i = 0; i < run->thread_count; i++)
		(void)let_go(&run->threads[i],
			     fg_clock_monotonic_ns() + STOP_WITHIN_MS * FG_NS_PER_MS);
	settle_pauses(run);
	status = write_trace(run, err);
out:
	(void)sigprocmask(SIG_SETMASK, &before, NULL);
	run_release(run);
	return status;
}
