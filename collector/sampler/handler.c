// SPDX-License-Identifier: Apache-2.0
/*
 * Handles a signal of ours: finds how much time it stands for, whether that time is recorded, and
 * where the thread was.
 *
 * The perf clock of an ordinary user does not count system time. If a tick finds the thread in the
 * kernel, its signal is delivered on the way back, when the pc is right after a system call
 * instruction, and the system time that is owed belongs there. Page faults are also kernel time,
 * but return to the instruction that faulted: collector/sampler/account.h recognises them. A tick
 * in user time records nothing, because the perf clock measures user time better.
 */
#include "collector/sampler/handler.h"

#include "collector/process/threads.h"
#include "collector/sampler/clocks.h"
#include "collector/sampler/introduce.h"
#include "collector/sampler/kernel.h"
#include "collector/sampler/regions.h"
#include "collector/sampler/sampling.h"
#include "collector/sampler/signals.h"
#include "collector/sampler/writer.h"
#include "collector/unwind/paths.h"
#include "collector/unwind/walk.h"
#include "trace/sample_cost.h"

#include <errno.h>
#include <string.h>
#include <time.h>

enum {
	ALTERNATE_ROOM = 4096, /* bytes that a walk may need on a small signal stack */
	WORTH_NS = 250000,     /* system time since the last update that is worth another sample */
	WORTH_PERIODS = 2,     /* system time owed, in periods, that is worth another sample */
	TICK_PATIENCE = 32,
	SAMPLES_PER_LOOK = 2, /* user samples per check for system time if nothing samples it yet */
	AHEAD_PERIODS = 3,    /* unsampled CPU time, in periods, that proves system time */
	STOPPED_PERIODS = 3,  /* periods without a sample after which the thread was not running */
	LATE_PERIODS = 8,     /* periods by which the debt may run ahead of the kernel's records */
	/* a longer handler counts as this long: its work is bounded, so it had lost its CPU */
	LONGEST_NS = 300000,
	SPIN_STEP_NS = 20000,
};

static const uint64_t late_after_ns = UINT64_C(1000000000);

static bool stack_is_small(const ucontext_t *context)
{
	const uintptr_t here = (uintptr_t)__builtin_frame_address(0);
	const uintptr_t low = (uintptr_t)context->uc_stack.ss_sp;

	return !(context->uc_stack.ss_flags & SS_DISABLE) && here >= low &&
	       here < low + context->uc_stack.ss_size && here - low < ALTERNATE_ROOM;
}

static void write_region(struct fg_thread *thread, uint32_t region)
{
	if (region == thread->regions.written)
		return;
	fg_record_begin(thread, FG_RECORD_REGION_SET);
	fg_record_number(thread, region);
	if (fg_record_write(thread))
		thread->regions.written = region;
}

static void count_sample(struct fg_thread *thread, enum fg_trace_clock clock, uint64_t weight_ns)
{
	struct fg_trace_header *header = atomic_load(&fg_g.header);

	fg_count(&header->samples, 1);
	if (clock == FG_CLOCK_WALL) {
		fg_count(&header->wall_ns, weight_ns);
	} else if (clock == FG_CLOCK_SYSTEM) {
		thread->system_ns += weight_ns;
		fg_count(&header->system_ns, weight_ns);
	} else {
		thread->user_ns += weight_ns;
		fg_count(&header->user_ns, weight_ns);
	}
}

static void count_frames(const struct fg_walk_result *where)
{
	struct fg_trace_header *header = atomic_load_explicit(&fg_g.header, memory_order_relaxed);

	fg_count(&header->frames, where->frames);
	fg_count(&header->frames_reused, where->frames_reused);
}

static void write_sample(struct fg_thread *thread, uint64_t now_ns, enum fg_trace_clock clock,
			 uint8_t flags, uint32_t path, uint64_t weight_ns)
{
	if (fg_sample_write(thread, now_ns, (uint8_t)(flags | clock), path, weight_ns))
		count_sample(thread, clock, weight_ns);
	else
		fg_count_loss(FG_LOSS_NO_ROOM, 1);
}

/*
 * Writes system time with the kernel's functions below `path`; false: they are unknown. Not
 * inlined: its array would take stack space from the walk in the caller.
 */
__attribute__((noinline)) static bool write_pieces(struct fg_thread *thread,
						   const ucontext_t *context, uint8_t flags,
						   uint32_t path, uint64_t weight_ns)
{
	struct fg_kernel_piece pieces[FG_KERNEL_PIECES_MAX];
	const unsigned count = fg_kernel_pieces(thread, context, path, weight_ns, pieces);
	const uint64_t now_ns = fg_clock_ns(CLOCK_MONOTONIC);

	for (unsigned i = 0; i < count; i++)
		write_sample(thread, now_ns, FG_CLOCK_SYSTEM, flags & (uint8_t)~FG_SAMPLE_SYSCALL,
			     pieces[i].path, pieces[i].weight_ns);
	if (count > 1)
		fg_count(&atomic_load(&fg_g.header)->parts, count - 1);
	return count > 0;
}

static void write_system(struct fg_thread *thread, const ucontext_t *context, uint8_t flags,
			 uint32_t path, uint64_t weight_ns)
{
	if (path == 0 || !thread->clocks.kernel_ring ||
	    !write_pieces(thread, context, flags, path, weight_ns))
		write_sample(thread, fg_clock_ns(CLOCK_MONOTONIC), FG_CLOCK_SYSTEM, flags, path,
			     weight_ns);
	fg_kernel_watch(thread);
}

/* Returns false if there is no trace file; the caller adds the weight to a later sample. */
static bool take_sample(struct fg_thread *thread, const ucontext_t *context,
			enum fg_trace_clock clock, uint8_t flags, uint64_t weight_ns)
{
	struct fg_walk_result where = {.truncated = true};

	if (!fg_ensure_file(thread))
		return false;
	fg_thread_announce(thread);
	write_region(thread, thread->regions.current);
	if (stack_is_small(context))
		fg_count_loss(FG_LOSS_SMALL_STACK, 1);
	else
		where = fg_stack_walk(thread, context);
	count_frames(&where);
	if (where.path)
		thread->last_path = where.path;
	if (where.path == 0)
		fg_count_loss(FG_LOSS_NO_STACK, 1);
	else if (where.truncated)
		fg_count_loss(FG_LOSS_TRUNCATED, 1);
	if (where.truncated)
		flags |= FG_SAMPLE_TRUNCATED;
	if (clock == FG_CLOCK_SYSTEM)
		write_system(thread, context, flags, where.path, weight_ns);
	else
		write_sample(thread, fg_clock_ns(CLOCK_MONOTONIC), clock, flags, where.path,
			     weight_ns);
	return true;
}

static void sample_or_carry(struct fg_thread *thread, const ucontext_t *context, uint64_t weight_ns)
{
	weight_ns += thread->clocks.carried_ns;
	thread->clocks.carried_ns = 0;
	if (!fg_thread_enter(thread)) {
		fg_count_loss(FG_LOSS_REENTERED, 1);
		thread->clocks.carried_ns = weight_ns;
		return;
	}
	if (!take_sample(thread, context, (enum fg_trace_clock)thread->clock, 0, weight_ns))
		thread->clocks.carried_ns = weight_ns;
	fg_thread_leave(thread);
}

/* ---- system time ---- */

static bool is_behind_syscall(const ucontext_t *context)
{
	return fg_arch_behind_syscall((const uint8_t *)fg_arch_register(context, FG_DWARF_RA));
}

/* Has the signal ended a wait? If so, the call returns EINTR or is about to be restarted. */
static bool was_asleep(const ucontext_t *context)
{
	const uint8_t *pc = (const uint8_t *)fg_arch_register(context, FG_DWARF_RA);

	return fg_arch_at_syscall(pc) ||
	       (fg_arch_behind_syscall(pc) && fg_arch_result(context) == -EINTR);
}

/*
 * Notes that the thread was found in the kernel. If this is the first time, the thread also stands
 * for threads too short to be found.
 */
static void note_system_time(struct fg_thread *thread, uint64_t now_ns)
{
	atomic_store_explicit(&fg_g.system_seen_ns, now_ns, memory_order_relaxed);
	if (thread->system_ns == 0)
		thread->account.owed_ns += atomic_exchange(&fg_g.owed_ns, 0);
}

/* Writes a hit as a sample at the time of the hit. */
static void write_hit(struct fg_thread *thread, const struct fg_kernel_hit *met, uint64_t weight_ns)
{
	/* samples with the same time would count as parts of one sample */
	const uint64_t min_ns = thread->writer.last_time_ns + 1;

	write_region(thread, met->region);
	write_sample(thread, met->time_ns > min_ns ? met->time_ns : min_ns, FG_CLOCK_SYSTEM, 0,
		     met->path, weight_ns);
	fg_account_give(&thread->account, weight_ns);
	fg_count(&atomic_load(&fg_g.header)->kernel_ns, weight_ns);
}

static void drop_hits(struct fg_kernel_hits *hits, uint32_t count)
{
	hits->count -= count;
	memmove(hits->hit, hits->hit + count, hits->count * sizeof(hits->hit[0]));
}

/*
 * Weighs the hits: the kernel's own event found the thread in the kernel, independently of ticks.
 * Each hit is written only when something is owed to system time, so that samples never exceed the
 * CPU time.
 */
__attribute__((noinline)) static void weigh_hits(struct fg_thread *thread, uint64_t now_ns,
						 bool is_last)
{
	struct fg_kernel_hits *hits = &thread->stack->hits;
	struct fg_account *account = &thread->account;
	uint32_t given = 0;

	if (hits->count == FG_KERNEL_HITS_MAX)
		drop_hits(hits, FG_KERNEL_HITS_MAX / 2);
	const uint32_t before = hits->count;

	if (fg_kernel_is_clock(thread))
		fg_kernel_collect_hits(thread, hits);
	for (uint32_t i = before; i < hits->count; i++)
		hits->hit[i].region = fg_region_at(thread, hits->hit[i].time_ns);
	if (hits->count == 0)
		return;
	note_system_time(thread, now_ns);
	thread->clocks.tick_idle = 0;
	for (; given < hits->count && fg_account_due(account) > 0; given++)
		write_hit(thread, &hits->hit[given],
			  fg_account_portion(account, hits->count - given,
					     thread->clocks.kernel_period_ns, is_last));
	drop_hits(hits, given);
}

static void look_for_hits(struct fg_thread *thread, uint64_t now_ns)
{
	const bool waits = thread->stack->hits.count > 0 || fg_kernel_has_new_hits(thread);

	if (!waits || !fg_thread_enter(thread))
		return;
	if (fg_ensure_file(thread)) {
		fg_thread_announce(thread);
		weigh_hits(thread, now_ns, false);
	}
	fg_thread_leave(thread);
	/* stops the event if the thread now leaves its CPU too often */
	fg_kernel_watch(thread);
}

/*
 * Returns the part of the debt that is not left to hits of the kernel's event: the time of hits
 * whose call path is unknown, and debt beyond LATE_PERIODS. If the event is not a clock, returns
 * the whole debt.
 */
static uint64_t due_at_tick(struct fg_thread *thread)
{
	const uint64_t due_ns = fg_account_due(&thread->account);
	const uint64_t late_ns = LATE_PERIODS * thread->clocks.kernel_period_ns;
	uint64_t *const unknown_ns = &thread->clocks.kernel_unknown_ns;

	if (!fg_kernel_is_clock(thread) || fg_g.sandboxed)
		return due_ns;
	if (*unknown_ns > late_ns)
		*unknown_ns = late_ns;
	const uint64_t here_ns = due_ns < *unknown_ns ? due_ns : *unknown_ns;

	*unknown_ns -= here_ns;
	return here_ns + (due_ns - here_ns > late_ns ? due_ns - here_ns - late_ns : 0);
}

/* Takes a sample of the system time that is owed: the thread was found in the kernel. */
static void sample_system(struct fg_thread *thread, const ucontext_t *context, bool behind,
			  uint64_t now_ns)
{
	struct fg_account *account = &thread->account;

	note_system_time(thread, now_ns);
	const uint64_t due_ns = due_at_tick(thread);

	if (due_ns == 0 || !fg_thread_enter(thread))
		return;
	if (take_sample(thread, context, FG_CLOCK_SYSTEM, behind ? FG_SAMPLE_SYSCALL : 0, due_ns))
		fg_account_give(account, due_ns);
	fg_thread_leave(thread);
}

/*
 * Handles a tick in a sandbox: a tick during a system call stands for its period; all other time is
 * user time.
 */
static void on_tick_in_sandbox(struct fg_thread *thread, const ucontext_t *context,
			       const siginfo_t *info, uint64_t now_ns, bool on)
{
	const bool behind = is_behind_syscall(context);
	const uint64_t span_ns = (1 + (uint64_t)info->si_overrun) *
				 fg_tick_period_ns(thread, thread->clocks.tick_fast);
	struct fg_times now = thread->account.last;
	struct fg_times split;

	now.cpu_ns += thread->account.sampled_ns + (behind ? span_ns : 0);
	fg_account_look(&thread->account, &now, on, atomic_load(&fg_g.switches), &split);
	if (on && behind)
		sample_system(thread, context, behind, now_ns);
}

/*
 * Sets a fast tick while system time passes, and a slow tick after TICK_PATIENCE ticks without
 * system time.
 */
static void adapt_tick(struct fg_thread *thread, bool worthwhile)
{
	struct fg_thread_clocks *clocks = &thread->clocks;

	if (worthwhile)
		clocks->tick_idle = 0;
	else if (clocks->tick_idle < TICK_PATIENCE)
		clocks->tick_idle++;
	const bool fast = clocks->tick_idle < TICK_PATIENCE && (clocks->tick_fast || worthwhile);

	if (fast)
		fg_kernel_watch(thread);
	else
		fg_kernel_unwatch(thread);
	if (fast != clocks->tick_fast)
		fg_thread_set_tick(thread, fast);
}

/* Handles a tick: takes a sample if system time is owed here. */
static void on_tick(struct fg_thread *thread, const ucontext_t *context, uint64_t now_ns, bool on)
{
	struct fg_account *account = &thread->account;
	const bool behind = is_behind_syscall(context);
	struct fg_times now = account->last;
	struct fg_times split;

	if (!on || fg_account_is_behind(account, on, atomic_load(&fg_g.switches)))
		fg_kernel_skip(thread);
	fg_thread_times(&now);
	fg_account_look(account, &now, on, atomic_load(&fg_g.switches), &split);
	if (!on)
		return;
	const bool worthwhile = split.system_ns >= WORTH_NS ||
				fg_account_due(account) >= WORTH_PERIODS * thread->clocks.period_ns;

	look_for_hits(thread, now_ns);
	adapt_tick(thread, worthwhile);
	/* A sample of system time needs a debt of at least a quarter of a period. */
	if (fg_account_due(account) >= thread->clocks.period_ns / FG_TICK_PART &&
	    (behind || fg_account_is_fault(&split, fg_account_due(account))))
		sample_system(thread, context, behind, now_ns);
}

/* ---- the other clocks ---- */

static void on_jitter(struct fg_thread *thread, const ucontext_t *context, bool tick, bool on)
{
	const uint64_t cpu_ns = fg_clock_ns(CLOCK_THREAD_CPUTIME_ID);
	const uint64_t weight_ns = cpu_ns - thread->clocks.last_ns;

	if (tick) {
		fg_thread_rearm(thread, thread->clocks.period_ns);
		return;
	}
	if (weight_ns < thread->clocks.period_ns / 16) {
		fg_thread_rearm(thread, 0);
		return;
	}
	thread->clocks.last_ns = cpu_ns;
	if (on)
		sample_or_carry(thread, context, weight_ns);
	fg_thread_rearm(thread, thread->clocks.period_ns);
}

/* Was the thread in a wait that signals do not end, such as a wait for a disk? */
static bool was_in_long_call(const ucontext_t *context)
{
	return is_behind_syscall(context) && !was_asleep(context);
}

/*
 * Writes time without a stack. A signal this late means that the thread was stopped (SIGSTOP),
 * swapped out, or had no CPU: the time does not belong to the code where it resumes.
 */
static bool write_stopped(struct fg_thread *thread, uint64_t now_ns, uint64_t weight_ns)
{
	bool written = false;

	if (!fg_thread_enter(thread))
		return false;
	if (fg_ensure_file(thread)) {
		fg_thread_announce(thread);
		write_region(thread, thread->regions.current);
		write_sample(thread, now_ns, FG_CLOCK_WALL, FG_SAMPLE_STOPPED, 0, weight_ns);
		written = true;
	}
	fg_thread_leave(thread);
	return written;
}

static void on_wall(struct fg_thread *thread, const ucontext_t *context, uint64_t now_ns, bool on)
{
	uint64_t weight_ns = now_ns - thread->clocks.last_ns;

	thread->clocks.last_ns = now_ns;
	if (!on)
		return;
	if (weight_ns > STOPPED_PERIODS * thread->clocks.period_ns && !was_in_long_call(context) &&
	    write_stopped(thread, now_ns, weight_ns - thread->clocks.period_ns))
		weight_ns = thread->clocks.period_ns;
	sample_or_carry(thread, context, weight_ns);
}

/*
 * Brings the account up to date if sampling was turned on or off: CPU time used while sampling was
 * off is not missed time.
 */
static void note_switch(struct fg_thread *thread, bool on)
{
	const uint32_t switches = atomic_load(&fg_g.switches);
	struct fg_times now = thread->account.last;
	struct fg_times split;

	if (fg_g.sandboxed || !fg_account_is_behind(&thread->account, on, switches))
		return;
	fg_kernel_skip(thread);
	fg_thread_times(&now);
	fg_account_look(&thread->account, &now, on, switches, &split);
}

/*
 * Looks for system time at a sample of user time, by the hits of the kernel's event: ticks may
 * never find a program that runs in step with them.
 */
static void look_for_system(struct fg_thread *thread, uint64_t now_ns)
{
	struct fg_account *account = &thread->account;
	struct fg_thread_clocks *clocks = &thread->clocks;
	struct fg_times now = account->last;
	struct fg_times split;

	if (fg_g.clock_system != FG_CLOCK_SYSTEM || fg_g.sandboxed || clocks->kernel_refused)
		return;
	if (fg_kernel_has_new_hits(thread)) {
		fg_thread_times(&now);
		fg_account_look(account, &now, true, atomic_load(&fg_g.switches), &split);
		look_for_hits(thread, now_ns);
	} else if (!clocks->kernel_ring && ++clocks->samples_since_look >= SAMPLES_PER_LOOK) {
		clocks->samples_since_look = 0;
		if (fg_account_ahead(account, fg_clock_ns(CLOCK_THREAD_CPUTIME_ID)) >=
		    (int64_t)(AHEAD_PERIODS * clocks->period_ns))
			fg_kernel_watch(thread);
	}
}

void fg_take_last_hits(struct fg_thread *thread)
{
	const uint64_t now_ns = fg_clock_ns(CLOCK_MONOTONIC);
	struct fg_account *account = &thread->account;
	struct fg_times now = account->last;
	struct fg_times split;

	if (!thread->written || !thread->clocks.attached || fg_g.sandboxed ||
	    !fg_kernel_is_clock(thread) || !fg_sampling_on(now_ns) ||
	    fg_account_is_behind(account, true, atomic_load(&fg_g.switches)))
		return;
	/* Keeps handlers away from the account. */
	thread->clocks.attached = false;
	atomic_signal_fence(memory_order_seq_cst);
	fg_thread_times(&now);
	fg_account_look(account, &now, true, atomic_load(&fg_g.switches), &split);
	weigh_hits(thread, now_ns, true);
	atomic_signal_fence(memory_order_seq_cst);
	thread->clocks.attached = true;
}

static void on_perf(struct fg_thread *thread, const ucontext_t *context, uint64_t now_ns, bool on)
{
	const uint64_t weight_ns = thread->clocks.period_ns;

	if (!fg_g.sandboxed)
		fg_rate_look(thread);
	note_switch(thread, on);
	if (!on)
		return;
	fg_account_user(&thread->account, weight_ns);
	look_for_system(thread, now_ns);
	sample_or_carry(thread, context, weight_ns);
}

static void dispatch(struct fg_thread *thread, const ucontext_t *context, const siginfo_t *info,
		     bool tick, uint64_t now_ns)
{
	const bool on = fg_sampling_on(now_ns);

	switch ((enum fg_trace_clock)thread->clock) {
	case FG_CLOCK_PERF_USER:
		if (tick && fg_g.sandboxed)
			on_tick_in_sandbox(thread, context, info, now_ns, on);
		else if (tick)
			on_tick(thread, context, now_ns, on);
		else
			on_perf(thread, context, now_ns, on);
		break;
	case FG_CLOCK_JITTER:
		on_jitter(thread, context, tick, on);
		break;
	case FG_CLOCK_TICK:
		if (on)
			sample_or_carry(thread, context,
					(1 + (uint64_t)info->si_overrun) *
						thread->clocks.period_ns);
		break;
	case FG_CLOCK_WALL:
		on_wall(thread, context, now_ns, on);
		break;
	default:
		break;
	}
}

/*
 * Spins until the slowdown has been added.  Reads the monotonic clock, which needs no system call;
 * a long step means that the thread lost its CPU in between, so it does not count.
 */
static void slow_down(struct fg_thread *thread)
{
	const uint64_t cpu_ns = fg_clock_ns(CLOCK_THREAD_CPUTIME_ID);
	const uint64_t slowed_ns = thread->clocks.slowed_ns;
	/* A forked child's CPU clock starts at 0. */
	const uint64_t since_ns = cpu_ns > slowed_ns ? cpu_ns - slowed_ns : 0;
	uint64_t left_ns = since_ns * fg_g.options.slowdown / FG_BUDGET_WHOLE;
	uint64_t last_ns = fg_clock_ns(CLOCK_MONOTONIC);

	while (left_ns > 0) {
		const uint64_t now_ns = fg_clock_ns(CLOCK_MONOTONIC);
		const uint64_t step_ns = now_ns - last_ns < SPIN_STEP_NS ? now_ns - last_ns : 0;

		left_ns -= step_ns < left_ns ? step_ns : left_ns;
		last_ns = now_ns;
	}
	thread->clocks.slowed_ns = fg_clock_ns(CLOCK_THREAD_CPUTIME_ID);
}

static void count_handler(uint64_t begin_ns)
{
	struct fg_trace_header *header = atomic_load(&fg_g.header);

	if (!header)
		return;
	const uint64_t end_ns = fg_clock_ns(CLOCK_MONOTONIC);
	const uint64_t took_ns = end_ns - begin_ns;

	fg_count(&header->handler_ns, took_ns < LONGEST_NS ? took_ns : LONGEST_NS);
	fg_maximum(&header->handler_max_ns, took_ns);
	if (end_ns - header->start_monotonic_ns > late_after_ns) {
		fg_maximum(&header->handler_late_max_ns, took_ns);
		fg_count(&header->handler_late[fg_handler_bucket(took_ns)], 1);
	}
}

void fg_on_signal(int signal, siginfo_t *info, void *context)
{
	const int saved_errno = errno;
	const uint64_t begin_ns = fg_clock_ns(CLOCK_MONOTONIC);
	bool tick = false;
	struct fg_thread *thread = fg_alive() ? fg_thread_of_signal(info, &tick) : NULL;
	/* raised on the way back to the program */
	const bool late =
		thread && !fg_g.ticks_interrupt && (tick || thread->clock == FG_CLOCK_TICK);
	bool noticed = false; /* the program noticed the signal */
	int flags = 0;        /* flags of the program's handler */

	if (thread)
		fg_signal_arrived(tick);
	if (!thread) {
		noticed = fg_signal_forward(signal, info, context, &flags);
		thread = fg_alive() ? fg_self : NULL;
	} else if (thread->clocks.attached) {
		dispatch(thread, context, info, tick, begin_ns);
		fg_paths_prepare();
		fg_rate_learn(thread);
		count_handler(begin_ns);
		if (fg_g.options.slowdown)
			slow_down(thread);
		noticed = thread == fg_self && fg_signal_forward_kept(signal, context, &flags);
	}
	if (thread && noticed)
		fg_restart_prevent(thread, context, flags);
	else if (thread && fg_restart(thread, context, late, begin_ns) && atomic_load(&fg_g.header))
		fg_count(&atomic_load(&fg_g.header)->restarts, 1);
	errno = saved_errno;
}
