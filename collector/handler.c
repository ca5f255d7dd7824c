// SPDX-License-Identifier: Apache-2.0
/*
 * A signal of ours has arrived: how much time does it stand for, is that time to be recorded, and
 * where was the thread.
 *
 * System time.  The perf clock that an unprivileged user may have does not see it.  The timer on
 * the thread's CPU clock does, at kernel ticks, and the signal reaches us when the thread comes
 * back from the kernel: then the pc stands right behind a system call instruction, and the system
 * time since the last such sample belongs there.  Page faults are kernel time, too, but come back
 * to the instruction that faulted: a tick for which the kernel itself counted mostly system time is
 * taken for one.  All other ticks belong to user time, which the perf clock measures better, and
 * are dropped.  How much system time there was, so that all weights add up to the CPU time, is
 * worked out in collector/account.h.
 */
#include "collector/handler.h"

#include "collector/discover.h"
#include "collector/introduce.h"
#include "collector/paths.h"
#include "collector/restart.h"
#include "collector/sampling.h"
#include "collector/signals.h"
#include "collector/threads.h"
#include "collector/walk.h"
#include "collector/writer.h"

#include <errno.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum {
	ALTERNATE_ROOM = 4096, /* what a walk may need of a small signal stack */
	TICK_PATIENCE = 32,
	KERNEL_MOST_NS = 1000000,
};

static const uint64_t late_after_ns = UINT64_C(1000000000);

static bool stack_is_small(const ucontext_t *context)
{
	const uintptr_t here = (uintptr_t)__builtin_frame_address(0);
	const uintptr_t low = (uintptr_t)context->uc_stack.ss_sp;

	return !(context->uc_stack.ss_flags & SS_DISABLE) && here >= low &&
	       here < low + context->uc_stack.ss_size && here - low < ALTERNATE_ROOM;
}

static void write_region(struct fg_thread *thread)
{
	if (thread->regions.current == thread->regions.written)
		return;
	fg_record_begin(thread, FG_RECORD_REGION_SET);
	fg_record_number(thread, thread->regions.current);
	if (fg_record_write(thread))
		thread->regions.written = thread->regions.current;
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

/* Returns whether the weight has found its way into the trace. */
static bool take_sample(struct fg_thread *thread, const ucontext_t *context,
			enum fg_trace_clock clock, uint8_t flags, uint64_t weight_ns)
{
	struct fg_walk_result where = {0, true};

	if (!fg_ensure_file(thread))
		return false;
	fg_thread_announce(thread);
	write_region(thread);
	if (stack_is_small(context))
		fg_lose(FG_LOSS_SMALL_STACK, 1);
	else
		where = fg_stack_walk(thread, context);
	if (where.path)
		thread->last_path = where.path;
	if (where.path == 0)
		fg_lose(FG_LOSS_NO_STACK, 1);
	else if (where.truncated)
		fg_lose(FG_LOSS_TRUNCATED, 1);
	if (where.truncated)
		flags |= FG_SAMPLE_TRUNCATED;
	if (!fg_sample_write(thread, (uint8_t)(flags | clock), where.path, weight_ns)) {
		fg_lose(FG_LOSS_NO_ROOM, 1);
		return true;
	}
	count_sample(thread, clock, weight_ns);
	return true;
}

static void sample_or_carry(struct fg_thread *thread, const ucontext_t *context, uint64_t weight_ns)
{
	weight_ns += thread->clocks.carried_ns;
	thread->clocks.carried_ns = 0;
	if (!fg_thread_enter(thread)) {
		fg_lose(FG_LOSS_REENTERED, 1);
		thread->clocks.carried_ns = weight_ns;
		return;
	}
	if (!take_sample(thread, context, (enum fg_trace_clock)thread->clock, 0, weight_ns))
		thread->clocks.carried_ns = weight_ns;
	fg_thread_leave(thread);
}

/* ---- system time ---- */

/* Look closely while there is system time, and seldom while there is none. */
static void adapt_tick(struct fg_thread *thread, bool worthwhile)
{
	if (worthwhile)
		thread->clocks.tick_idle = 0;
	else if (thread->clocks.tick_idle < TICK_PATIENCE)
		thread->clocks.tick_idle++;
	const bool fast = thread->clocks.tick_idle < TICK_PATIENCE &&
			  (thread->clocks.tick_fast || worthwhile);

	if (fast != thread->clocks.tick_fast && !fg_g.sandboxed)
		fg_thread_set_tick(thread, fast ? FG_TICK_FAST_NS : FG_TICK_SLOW_NS);
	thread->clocks.tick_fast = fast;
}

static void on_tick(struct fg_thread *thread, const ucontext_t *context, const siginfo_t *info,
		    bool on)
{
	const bool behind =
		fg_arch_behind_syscall((const uint8_t *)fg_arch_register(context, FG_DWARF_RA));
	struct fg_account *account = &thread->account;
	struct fg_times now = account->last;
	struct fg_times split;

	if (fg_g.sandboxed) {
		/*
		 * Every tick that met a system call stands for its period; the rest was user time.
		 */
		const uint64_t span_ns =
			(1 + (uint64_t)info->si_overrun) *
			(thread->clocks.tick_fast ? FG_TICK_FAST_NS : FG_TICK_SLOW_NS);

		now.system_ns += behind ? span_ns : 0;
		now.cpu_ns += account->sampled_ns + (behind ? span_ns : 0);
	} else {
		fg_thread_times(&now);
	}
	fg_account_look(account, &now, on, atomic_load(&fg_g.switches), &split);
	if (!on)
		return;
	adapt_tick(thread, split.system_ns >= KERNEL_MOST_NS / 4);
	const bool fault =
		!behind && split.system_ns >= KERNEL_MOST_NS && split.system_ns > split.user_ns;
	const uint64_t due_ns = fg_account_due(account, fg_g.period_ns);

	if ((!behind && !fault) || due_ns == 0 || !fg_thread_enter(thread))
		return;
	if (take_sample(thread, context, FG_CLOCK_SYSTEM, behind ? FG_SAMPLE_SYSCALL : 0, due_ns))
		fg_account_give(account, due_ns);
	fg_thread_leave(thread);
}

/* ---- the other clocks ---- */

static void on_jitter(struct fg_thread *thread, const ucontext_t *context, bool tick, bool on)
{
	const uint64_t cpu_ns = fg_clock_ns(CLOCK_THREAD_CPUTIME_ID);
	const uint64_t weight_ns = cpu_ns - thread->clocks.last_ns;

	if (tick) {
		fg_thread_rearm(thread, fg_g.period_ns);
		return;
	}
	if (weight_ns < fg_g.period_ns / 16) {
		fg_thread_rearm(thread, 0);
		return;
	}
	thread->clocks.last_ns = cpu_ns;
	if (on)
		sample_or_carry(thread, context, weight_ns);
	fg_thread_rearm(thread, fg_g.period_ns);
}

static void on_wall(struct fg_thread *thread, const ucontext_t *context, uint64_t now_ns, bool on)
{
	const uint64_t weight_ns = now_ns - thread->clocks.last_ns;

	thread->clocks.last_ns = now_ns;
	if (on)
		sample_or_carry(thread, context, weight_ns);
}

/* What was used while sampling was off must not be taken for what it missed. */
static void note_switch(struct fg_thread *thread, bool on)
{
	const uint32_t switches = atomic_load(&fg_g.switches);
	struct fg_times now = thread->account.last;
	struct fg_times split;

	if (fg_g.sandboxed || !fg_account_is_behind(&thread->account, on, switches))
		return;
	fg_thread_times(&now);
	fg_account_look(&thread->account, &now, on, switches, &split);
}

static void on_perf(struct fg_thread *thread, const ucontext_t *context, bool on)
{
	const uint64_t weight_ns = fg_g.period_ns;

	if (thread->clocks.first && !fg_g.sandboxed)
		fg_thread_first_done(thread);
	note_switch(thread, on);
	if (!on)
		return;
	fg_account_user(&thread->account, weight_ns);
	sample_or_carry(thread, context, weight_ns);
}

static void dispatch(struct fg_thread *thread, const ucontext_t *context, const siginfo_t *info,
		     bool tick, uint64_t now_ns)
{
	const bool on = fg_sampling_on(now_ns);

	switch ((enum fg_trace_clock)thread->clock) {
	case FG_CLOCK_PERF_USER:
		if (tick)
			on_tick(thread, context, info, on);
		else
			on_perf(thread, context, on);
		break;
	case FG_CLOCK_JITTER:
		on_jitter(thread, context, tick, on);
		break;
	case FG_CLOCK_TICK:
		if (on)
			sample_or_carry(thread, context,
					(1 + (uint64_t)info->si_overrun) * fg_g.period_ns);
		break;
	case FG_CLOCK_WALL:
		on_wall(thread, context, now_ns, on);
		break;
	default:
		break;
	}
}

static void count_handler(uint64_t begin_ns)
{
	struct fg_trace_header *header = atomic_load(&fg_g.header);

	if (!header)
		return;
	const uint64_t end_ns = fg_clock_ns(CLOCK_MONOTONIC);
	const uint64_t took_ns = end_ns - begin_ns;

	fg_count(&header->handler_ns, took_ns);
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
	bool noticed = false; /* by the program */

	if (thread)
		fg_signal_arrived(tick);
	if (!thread) {
		noticed = fg_signal_forward(signal, info, context);
		thread = fg_alive() ? fg_self : NULL;
	} else if (thread->clocks.attached) {
		dispatch(thread, context, info, tick, begin_ns);
		fg_paths_prepare();
		fg_threads_discover(thread);
		count_handler(begin_ns);
		noticed = thread == fg_self && fg_signal_forward_kept(signal, context);
	}
	if (thread && !noticed && fg_restart(thread, context, begin_ns) &&
	    atomic_load(&fg_g.header))
		fg_count(&atomic_load(&fg_g.header)->restarts, 1);
	errno = saved_errno;
}
