// SPDX-License-Identifier: Apache-2.0
#include "collector/process/threads.h"

#include "collector/counting/count_hooks.h"
#include "collector/counting/own_memory.h"
#include "collector/sampler/clocks.h"
#include "collector/sampler/sampling.h"
#include "collector/sampler/writer.h"

#include <linux/membarrier.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum {
	VISIT_TRIES = 1 << 16
};

/* ---- slots ---- */

struct fg_thread *fg_thread_new(void)
{
	for (uint32_t i = 0; i < FG_THREADS_MAX; i++) {
		struct fg_thread *thread = atomic_load(&fg_g.threads[i]);
		uint32_t is_free = 0;

		if (thread && !atomic_compare_exchange_strong(&thread->taken, &is_free, 1))
			continue;
		if (!thread) {
			const size_t size =
				sizeof(struct fg_thread) + sizeof(struct fg_walk_memory);
			struct fg_thread *none = NULL;

			thread = fg_own_map(size, MAP_NORESERVE);
			if (!thread)
				return NULL;
			atomic_store(&thread->taken, 1);
			thread->index = i;
			thread->stack = (struct fg_walk_memory *)(void *)(thread + 1);
			if (!atomic_compare_exchange_strong(&fg_g.threads[i], &none, thread)) {
				(void)munmap(thread, size);
				continue;
			}
		}
		thread->clocks.attached = false;
		thread->written = false;
		atomic_store(&thread->takes_signal, false);
		atomic_store(&thread->is_sent_signal, false);
		thread->clocks.perf_fd = -1;
		thread->clocks.timer = FG_NO_TIMER;
		thread->clocks.tick_timer = FG_NO_TIMER;
		thread->clocks.kernel_ring = NULL;
		uint32_t high = atomic_load(&fg_g.thread_high);

		while (high <= i && !atomic_compare_exchange_weak(&fg_g.thread_high, &high, i + 1))
			;
		return thread;
	}
	return NULL;
}

void fg_thread_free(struct fg_thread *thread)
{
	atomic_store(&fg_g.tids[thread->index], 0);
	atomic_store(&thread->taken, 0);
}

/* ---- the kernel's totals ---- */

static uint64_t ns_of(const struct timeval *time)
{
	return (uint64_t)time->tv_sec * UINT64_C(1000000000) + (uint64_t)time->tv_usec * 1000;
}

void fg_process_used(struct fg_process_use *use)
{
	struct rusage usage;

	if (getrusage(RUSAGE_SELF, &usage) != 0)
		return;
	use->user_ns = ns_of(&usage.ru_utime);
	use->system_ns = ns_of(&usage.ru_stime);
	use->switches = (uint64_t)usage.ru_nvcsw + (uint64_t)usage.ru_nivcsw;
}

void fg_thread_times(struct fg_times *times)
{
	struct rusage usage;

	times->cpu_ns = fg_clock_ns(CLOCK_THREAD_CPUTIME_ID);
	if (getrusage(RUSAGE_THREAD, &usage) != 0)
		return;
	times->user_ns = ns_of(&usage.ru_utime);
	times->system_ns = ns_of(&usage.ru_stime);
	times->faults = (uint64_t)usage.ru_minflt + (uint64_t)usage.ru_majflt;
	times->departures = (uint64_t)usage.ru_nvcsw + (uint64_t)usage.ru_nivcsw;
}

/* ---- life of a thread ---- */

void fg_thread_announce(struct fg_thread *thread)
{
	if (thread->written || !atomic_load(&fg_g.header))
		return;
	fg_record_begin(thread, FG_RECORD_THREAD_BEGIN);
	fg_record_number(thread, thread->id);
	fg_record_number(thread, (uint64_t)fg_tid(thread));
	fg_record_number(thread, thread->begin_ns);
	fg_record_number(thread, thread->kind);
	fg_record_number(thread, thread->clock);
	thread->written = fg_record_write(thread);
	thread->regions.written = 0;
	if (thread->written)
		fg_count(&atomic_load(&fg_g.header)->threads, 1);
}

void fg_thread_name_get(char name[FG_NAME_SIZE])
{
	memset(name, 0, FG_NAME_SIZE);
	if (!fg_g.sandboxed)
		(void)syscall(SYS_prctl, PR_GET_NAME, name, 0, 0, 0);
}

void fg_thread_name_write(struct fg_thread *thread, struct fg_thread *named, const char *name)
{
	if (!*name || !named->written || strncmp(named->name, name, FG_NAME_SIZE - 1) == 0)
		return;
	fg_record_begin(thread, FG_RECORD_THREAD_NAME);
	fg_record_number(thread, named->id);
	fg_record_text(thread, name, strnlen(name, FG_NAME_SIZE - 1));
	if (fg_record_write(thread))
		strncpy(named->name, name, FG_NAME_SIZE - 1);
}

static void write_own_name(struct fg_thread *thread)
{
	char name[FG_NAME_SIZE];

	fg_thread_name_get(name);
	fg_thread_name_write(thread, thread, name);
}

static void reset(struct fg_thread *thread)
{
	memcpy(thread->name, fg_g.name, sizeof(thread->name));
	if (thread->kind == FG_THREAD_MAIN)
		thread->name[0] = '\0'; /* so that the name is written to the trace */
	thread->clocks.carried_ns = 0;
	thread->user_ns = 0;
	thread->system_ns = 0;
	thread->regions.current = 0;
	thread->regions.depth = 0;
	thread->regions.steps = 0;
	thread->stack->hits.count = 0;
	thread->kept.count = 0;
	thread->last_path = 0;
	thread->clocks.tick_fast = false;
	thread->clocks.tick_idle = 0;
	thread->clocks.kernel_refused = false;
	thread->clocks.samples_since_look = 0;
}

void fg_thread_stop(struct fg_thread *thread)
{
	if (thread->clocks.attached)
		fg_clocks_stop(thread);
	thread->clocks.attached = false;
}

static void start_thread(struct fg_thread *thread)
{
	thread->clocks.attached = true;
	thread->clocks.attached = fg_clocks_start(thread);
}

void fg_thread_attach(struct fg_thread *thread, enum fg_thread_kind kind)
{
	thread->kind = kind;
	reset(thread);
	atomic_store(&fg_g.tids[thread->index], (pid_t)syscall(SYS_gettid));
	thread->id = atomic_fetch_add(&fg_g.next_thread, 1) + 1;
	thread->begin_ns = fg_clock_ns(CLOCK_MONOTONIC);
	thread->clocks.random =
		thread->begin_ns ^ ((uint64_t)fg_tid(thread) << 32) ^ (uintptr_t)thread;
	thread->begin = (struct fg_times){0};
	fg_thread_times(&thread->begin);
	fg_account_open(&thread->account, &thread->begin);
	thread->account.switches = atomic_load(&fg_g.switches);
	thread->account.on = fg_sampling_on(thread->begin_ns);
	/* Publish the thread first: a signal may arrive as soon as the clocks run. */
	thread->clock = fg_g.clock_user;
	atomic_store(&thread->busy, 1);
	fg_thread_announce(thread);
	write_own_name(thread);
	fg_thread_leave(thread);
	start_thread(thread);
}

/*
 * Returns the CPU time to write when the thread ends. With the jittered clock, this is the time
 * since the last sample, and goes to the call path of that sample. With the perf clock, the
 * thread's debt is left to the next thread that is found in the kernel for the first time; the last
 * thread writes the whole debt without a stack.
 */
static uint64_t rest_of(struct fg_thread *thread, const struct fg_times *now, bool on, bool is_last)
{
	struct fg_account *account = &thread->account;
	struct fg_times split;

	if (thread->clock == FG_CLOCK_JITTER)
		return on ? now->cpu_ns - thread->clocks.last_ns : 0;
	if (thread->clock != FG_CLOCK_PERF_USER)
		return 0;
	fg_account_look(account, now, on, atomic_load(&fg_g.switches), &split);
	const int64_t owed_ns =
		atomic_fetch_add(&fg_g.owed_ns, account->owed_ns) + account->owed_ns;

	account->owed_ns = 0;
	if (!is_last || owed_ns <= 0 || !on)
		return 0;
	atomic_store(&fg_g.owed_ns, 0);
	return (uint64_t)owed_ns;
}

static void write_rest(struct fg_thread *thread, const struct fg_times *now, bool is_last)
{
	struct fg_trace_header *header = atomic_load(&fg_g.header);
	const uint64_t now_ns = fg_clock_ns(CLOCK_MONOTONIC);
	const bool on = fg_sampling_on(now_ns);
	const bool jitter = thread->clock == FG_CLOCK_JITTER;
	const uint64_t left_ns = rest_of(thread, now, on, is_last);
	const uint32_t path = jitter ? thread->last_path : 0;
	const uint8_t clock = jitter ? FG_CLOCK_JITTER : FG_CLOCK_SYSTEM;

	if (left_ns == 0 || !header || !thread->written ||
	    !fg_sample_write(thread, now_ns, path ? clock : clock | FG_SAMPLE_TRUNCATED, path,
			     left_ns))
		return;
	if (jitter)
		thread->user_ns += left_ns;
	else
		thread->system_ns += left_ns;
	fg_count(&header->samples, 1);
	fg_count(jitter ? &header->user_ns : &header->system_ns, left_ns);
}

void fg_thread_detach(struct fg_thread *thread, bool is_last)
{
	struct fg_times now = {0};

	if (fg_g.sandboxed) {
		thread->clocks.attached = false;
		thread->written = false;
		return;
	}
	fg_thread_stop(thread);
	if (fg_count_hooks)
		fg_count_hooks->thread_end(thread, is_last);
	fg_thread_times(&now);
	write_rest(thread, &now, is_last);
	if (!thread->written)
		return;
	write_own_name(thread);
	fg_record_begin(thread, FG_RECORD_THREAD_END);
	fg_record_number(thread, thread->id);
	fg_record_number(thread, fg_clock_ns(CLOCK_MONOTONIC));
	fg_record_number(thread, now.user_ns - thread->begin.user_ns);
	fg_record_number(thread, now.system_ns - thread->begin.system_ns);
	fg_record_number(thread, thread->user_ns);
	fg_record_number(thread, thread->system_ns);
	(void)fg_record_write(thread);
	thread->written = false;
}

/* In a sandbox the CPU clock cannot be read: write this thread's unsampled time now. */
static void write_debt(void)
{
	struct fg_thread *thread = fg_self;
	struct fg_times now = {0};

	if (fg_g.sandboxed || !thread || !fg_thread_enter(thread))
		return;
	fg_thread_times(&now);
	write_rest(thread, &now, true);
	thread->clocks.last_ns = now.cpu_ns;
	fg_thread_leave(thread);
}

void fg_threads_enter_sandbox(void)
{
	write_debt();
	fg_clocks_enter_sandbox();
}

void fg_threads_forget(void)
{
	atomic_store(&fg_g.visiting, false); /* the visiting thread does not exist in a child */
	atomic_store(&fg_g.unloading, 0);
	for (uint32_t i = 0; i < atomic_load(&fg_g.thread_high); i++) {
		struct fg_thread *thread = atomic_load(&fg_g.threads[i]);

		atomic_store(&fg_g.tids[i], 0);
		if (!thread || !atomic_load(&thread->taken))
			continue;
		if (thread->clocks.attached && thread->clocks.perf_fd >= 0) {
			atomic_store(&fg_g.thread_of_fd[thread->clocks.perf_fd], 0);
			(void)syscall(SYS_close, thread->clocks.perf_fd);
		}
		thread->clocks.attached = false;
		thread->writer = (struct fg_chunk_writer){0};
		thread->written = false;
		thread->clocks.perf_fd = -1;
		thread->clocks.timer = FG_NO_TIMER;
		thread->clocks.tick_timer = FG_NO_TIMER;
		thread->clocks.kernel_ring = NULL; /* a child does not inherit the ring */
		fg_thread_leave(thread);
		atomic_store(&thread->counting, 0);
		atomic_store(&thread->taken, 0);
	}
}

/* ---- visits ---- */

bool fg_threads_can_count(void)
{
	return syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0) == 0;
}

/*
 * Makes every other thread pass a full fence. Afterwards, a thread that is counting is seen by the
 * visitor, and a thread that begins to count sees the visitor.
 */
static void fence_others(void)
{
	if (fg_g.sandboxed)
		return;
	if (syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0) != 0 &&
	    fg_threads_can_count())
		(void)syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0);
}

void fg_threads_visit_others(struct fg_thread *writer,
			     void (*visit)(struct fg_thread *writer, uint32_t slot,
					   uint32_t thread))
{
	atomic_store(&fg_g.visiting, true);
	fence_others();
	for (uint32_t i = 0; i < atomic_load(&fg_g.thread_high); i++) {
		struct fg_thread *other = atomic_load(&fg_g.threads[i]);
		bool entered = false;

		if (!other || other == writer || !atomic_load(&other->taken))
			continue;
		for (unsigned tries = 0; tries < VISIT_TRIES && !entered; tries++)
			entered = fg_thread_enter(other);
		visit(writer, i, other->id);
		if (entered)
			fg_thread_leave(other);
	}
	atomic_store(&fg_g.visiting, false);
}

void fg_threads_wait_for_handlers(const struct fg_thread *thread)
{
	for (uint32_t i = 0; i < atomic_load(&fg_g.thread_high); i++) {
		const struct fg_thread *other = atomic_load(&fg_g.threads[i]);

		if (!other || other == thread)
			continue;
		for (unsigned tries = 0; tries < VISIT_TRIES && atomic_load(&other->busy); tries++)
			;
	}
}
