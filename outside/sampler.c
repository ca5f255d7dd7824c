// SPDX-License-Identifier: Apache-2.0
#include "outside/sampler.h"

#include "base/clock.h"
#include "base/fs.h"
#include "base/random.h"
#include "outside/mappings.h"
#include "outside/memory.h"
#include "outside/own_cpu.h"
#include "outside/paths.h"
#include "outside/sampled.h"
#include "outside/stacks.h"
#include "outside/waiting.h"
#include "outside/waiting_place.h"

#include <math.h>
#include <poll.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
	STOP_WITHIN_MS = 200,  /* a thread that has to wait for a CPU first */
	STACK_PAGES = 8,       /* copied while the thread stands still */
	AWAKE_NS = 20000,      /* from getting a CPU to knowing it */
	NAP_NS = 32000,        /* many times what a wish to come takes to get there */
	PATIENCE_NS = 1000000, /* for those that stood behind us, and maybe others, to stop */
	SLICE_NS = 700000,
	COPIES_MAX = 32,
	RED_ZONE = 128,    /* below the stack pointer, and in use */
	PAUSES_MAX = 8192, /* kept for the quantile */
	PERIOD_MAX_MS = 1000,
	BUDGET_WINDOW_MS = 250,
};

static const double step_max = 2; /* by which the period follows the budget */

/* What had been spent at one moment. */
struct spending {
	int64_t at_ns;
	int64_t own_ns; /* our own CPU time */
	uint64_t stopped_ns;
	uint64_t budgeted_ns; /* what the budget is a share of */
};

/* The Python frames of a thread, as addresses. */
struct look {
	bool is_missed; /* they made no sense */
	uint64_t hash;
	struct fg_python_stack stack;
};

/* What was copied of a thread that stood still and counts. */
struct copy {
	size_t thread; /* its place among the threads */
	uint64_t weight_ns;
	bool waits;
	struct user_regs_struct registers;
	size_t size;
	uint8_t stack[STACK_PAGES * FG_MEMORY_PAGE]; /* from the page of the red zone on */
	struct look python;
};

struct run {
	const struct fg_outside_sampling *sampling;
	struct fg_outside_result *result;
	struct fg_memory memory;
	struct fg_mappings mappings;
	struct fg_stack_walker *walker;
	struct fg_interpreter interpreter;
	struct look waiting; /* of a thread that waits and is not stopped */
	struct fg_trace_writer writer;
	struct fg_paths paths;
	struct fg_sampled_thread *threads;
	size_t thread_count, thread_capacity;
	size_t live_threads;
	struct copy *copies; /* of those whose stacks are to be walked */
	size_t copy_count;
	struct fg_random random;
	int64_t started_ns;
	struct spending before;
	bool is_our_child; /* then somebody waits for its exit */
	int process_fd;    /* readable when the process has ended */
	int stops_fd;      /* readable when a thread has stopped */
	struct fg_own_cpu own_cpu;
	struct fg_mapping_looks looks; /* at the mappings */
	uint64_t pauses[PAUSES_MAX];
	uint64_t pause_count;
	uint64_t truncated;
};

/* ---- threads ---- */

static void add_thread(struct run *run, pid_t tid)
{
	struct fg_sampled_thread thread;

	if (!fg_sampled_thread_open(&thread, run->sampling, tid))
		return;
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
		if (!run->threads[i].seen && !run->threads[i].over)
			fg_sampled_thread_close(&run->threads[i]);
	}
	run->live_threads = now.count;
	fg_pids_release(&now);
}

/* ---- one sample ---- */

static bool read_mappings(struct run *run, struct fg_error *err)
{
	struct fg_mappings fresh = {0};

	fg_mapping_looks_note(&run->looks);
	if (fg_mappings_read(&run->memory, &fresh, err) != FG_OK)
		return false;
	fg_mappings_release(&run->mappings);
	run->mappings = fresh;
	fg_stack_walker_free(run->walker);
	run->walker = fg_stack_walker_new(&run->memory, &run->mappings);
	if (!run->sampling->no_python && run->interpreter.state == FG_INTERPRETER_NONE) {
		fg_interpreter_find(&run->interpreter, &run->memory, &run->mappings);
		fg_paths_introduce(&run->paths, &run->mappings, &run->interpreter);
	}
	fg_paths_add_jit_dump(&run->paths, &run->mappings);
	return true;
}

/* Something was mapped since: dlopen(), or code made at run time. */
static void refresh_mappings(struct run *run, uint64_t address)
{
	if (!fg_mappings_is_code(&run->mappings, address) && fg_mapping_looks_allow(&run->looks))
		(void)read_mappings(run, NULL);
}

static void note_pause(struct run *run, int64_t pause_ns)
{
	run->pauses[run->pause_count++ % PAUSES_MAX] = (uint64_t)pause_ns;
	run->result->stopped_ns += (uint64_t)pause_ns;
}

struct place {
	uint64_t node;
	bool truncated;
};

/* While the thread stands still, or waits: what the addresses lead to is read later. */
static void look_at_python(struct run *run, struct fg_sampled_thread *thread, struct look *look)
{
	look->stack.total = look->stack.left = 0;
	look->hash = 0;
	look->is_missed = false;
	if (run->interpreter.state != FG_INTERPRETER_READ)
		return;
	if (!thread->python.pthread && !thread->python.tid)
		thread->python.tid = fg_python_thread_number(run->sampling->pid, thread->tid);
	look->is_missed = !fg_interpreter_look(&run->interpreter, &run->memory, &thread->python,
					       &look->stack);
	look->hash = fg_python_stack_hash(&look->stack);
}

/* Are these frames what they seem to be?  Those that cannot be trusted are left out. */
static void judge_python(struct run *run, const struct fg_walked_stack *native, struct look *look)
{
	const struct fg_mixed mixed = {.interpreter = &run->interpreter,
				       .mappings = &run->mappings,
				       .native = native,
				       .python = &look->stack};

	look->is_missed |= !fg_mixed_judge(&mixed, &run->memory, &run->paths.python);
	if (look->is_missed)
		run->writer.header.python_missed++;
	else if (look->stack.left > 0)
		run->writer.header.python_stacks++;
}

static struct place find_place(struct run *run, const struct user_regs_struct *registers,
			       struct look *python)
{
	struct fg_walked_stack stack;

	refresh_mappings(run, registers->rip);
	fg_stack_walk(run->walker, registers, &stack);
	judge_python(run, &stack, python);
	return (struct place){
		.node = fg_paths_add(&run->paths, &run->mappings, &stack, &python->stack),
		.truncated = stack.truncated,
	};
}

static void keep_sample(struct run *run, struct fg_sampled_thread *thread, struct place place,
			uint64_t weight_ns)
{
	const unsigned clock = run->sampling->elapsed ? FG_CLOCK_WALL : FG_CLOCK_JITTER;

	thread->samples = fg_grow(thread->samples, &thread->sample_capacity,
				  thread->sample_count + 1, sizeof(thread->samples[0]));
	thread->samples[thread->sample_count++] = (struct fg_sampled){
		.time_ns = fg_clock_monotonic_ns(),
		.node = place.node,
		.weight_ns = weight_ns,
		.queued_ns = thread->moment.queued_ns,
		.period_ns = thread->moment.period_ns,
		.bits = (uint8_t)(clock | (place.truncated ? FG_SAMPLE_TRUNCATED : 0u)),
	};
	thread->weighed_ns += weight_ns;
	thread->until_ns = thread->moment.at_ns + (int64_t)thread->moment.queued_ns;
	run->truncated += place.truncated;
	run->result->weighed_ns += weight_ns + thread->moment.queued_ns;
	run->result->samples++;
}

/* What a thread that stands still weighs; 0: it does not count. */
static uint64_t weigh(const struct run *run, struct fg_sampled_thread *thread, int64_t stopped_ns)
{
	struct fg_cpu_account account;

	if (run->sampling->elapsed)
		return thread->moment.at_ns > thread->until_ns
			       ? (uint64_t)(thread->moment.at_ns - thread->until_ns)
			       : 0;
	return fg_sampled_thread_account(thread, &account)
		       ? fg_sample_weight(&thread->moment, &account, stopped_ns, thread->weighed_ns)
		       : 0;
}

/* Python may have gone on to another line while the native stack is as it was. */
static uint64_t hash_of_place(struct run *run, uint64_t stack, const struct look *python)
{
	return fg_waiting_place_hash(&run->memory, stack, STACK_PAGES - 1) ^ python->hash;
}

static void remember(struct fg_sampled_thread *thread, const struct fg_blocked *blocked,
		     struct place place, uint64_t hash)
{
	thread->waiting_place = (struct fg_waiting_place){
		.blocked = *blocked,
		.node = place.node,
		.truncated = place.truncated,
		.hash = hash,
	};
}

/* What was copied of a stack is read from now on. */
static void use_copy(struct run *run, const struct copy *copy)
{
	const uint64_t top = copy->registers.rsp - RED_ZONE;

	fg_memory_forget(&run->memory);
	fg_memory_put(&run->memory, top - top % FG_MEMORY_PAGE, copy->stack, copy->size);
}

static void copy_stack(struct run *run, struct fg_sampled_thread *thread, struct copy *copy)
{
	copy->size = fg_memory_copy(&run->memory, copy->registers.rsp - RED_ZONE, STACK_PAGES,
				    copy->stack);
	thread->python.pthread = copy->registers.fs_base;
	if (run->interpreter.state == FG_INTERPRETER_READ)
		use_copy(run, copy);
	look_at_python(run, thread, &copy->python);
}

/*
 * A thread that stands still by now is let go when its registers, the top of its stack and its
 * Python frames are copied; walk_copies() does the rest.  When it waits by now, or was not on a CPU
 * at the moment, its time stays for the next sample.
 */
static void collect(struct run *run, size_t index)
{
	struct fg_sampled_thread *thread = &run->threads[index];
	struct copy *copy = &run->copies[run->copy_count];
	struct fg_thread_stop stop;
	bool is_known = false;

	if (!thread->held || run->copy_count == COPIES_MAX)
		return;
	if (!fg_thread_poll(thread->tid, run->is_our_child && thread->tid == run->sampling->pid,
			    &stop)) {
		thread->held = !stop.gone;
		return;
	}
	thread->held = false;
	copy->thread = index;
	is_known = fg_thread_registers(thread->tid, &copy->registers);
	copy->weight_ns = is_known ? weigh(run, thread, stop.seen_ns) : 0;
	if (run->sampling->elapsed && stop.seen_ns > thread->moment.at_ns)
		thread->moment.queued_ns = (uint64_t)(stop.seen_ns - thread->moment.at_ns);
	copy->waits = copy->weight_ns && fg_waiting_is(&copy->registers);
	if (copy->waits && !run->sampling->elapsed)
		copy->weight_ns = 0;
	if (copy->weight_ns)
		copy_stack(run, thread, copy);
	if (is_known && !stop.signal)
		fg_thread_make_call_again(thread->tid, &copy->registers);
	fg_thread_release(thread->tid, stop.signal);
	note_pause(run, thread->put_off_ns + fg_clock_monotonic_ns() - stop.seen_ns);
	run->copy_count += copy->weight_ns > 0;
}

static void collect_all(struct run *run)
{
	for (size_t i = 0; i < run->thread_count; i++)
		collect(run, i);
}

static void walk(struct run *run, struct copy *copy)
{
	struct fg_sampled_thread *thread = &run->threads[copy->thread];
	struct place place;
	uint64_t hash = 0;

	use_copy(run, copy);
	if (copy->waits)
		hash = hash_of_place(run, copy->registers.rsp, &copy->python);
	place = find_place(run, &copy->registers, &copy->python);
	keep_sample(run, thread, place, copy->weight_ns);
	if (copy->waits)
		remember(thread,
			 &(struct fg_blocked){.waits = true,
					      .number = (long)copy->registers.orig_rax,
					      .stack = copy->registers.rsp,
					      .code = copy->registers.rip},
			 place, hash);
}

/*
 * To walk a stack takes many times as long as to copy it: that is done when those that have stopped
 * go on again, and no other waits for us longer than one walk.
 */
static void walk_copies(struct run *run)
{
	while (run->copy_count > 0) {
		walk(run, &run->copies[--run->copy_count]);
		collect_all(run);
	}
}

static void ask_to_stop(struct fg_sampled_thread *thread)
{
	thread->put_off_ns = 0;
	if (!fg_thread_seize(thread->tid))
		return;
	fg_thread_interrupt(thread->tid);
	thread->held = true;
}

/* A thread that waits, where that is known without a stop.  False: it is to be stopped. */
static bool sample_waiting(struct run *run, struct fg_sampled_thread *thread)
{
	const struct fg_waiting_place *known = &thread->waiting_place;
	const uint64_t weight_ns = weigh(run, thread, 0);
	struct fg_blocked blocked;
	struct fg_blocked again;
	struct user_regs_struct registers;
	uint64_t hash = 0;

	if (!fg_sampled_thread_waits(thread, &blocked))
		return false;
	fg_memory_forget(&run->memory);
	fg_memory_fetch(&run->memory, blocked.stack, STACK_PAGES);
	look_at_python(run, thread, &run->waiting);
	hash = hash_of_place(run, blocked.stack, &run->waiting);
	if (!fg_sampled_thread_waits(thread, &again) || again.code != blocked.code ||
	    again.stack != blocked.stack || !weight_ns)
		return true; /* it went on meanwhile: this time is that of the next sample */
	if (!fg_waiting_place_is(known, &blocked, hash)) {
		if (fg_blocked_survives_stop(run->sampling->pid, &blocked))
			return false;
		registers = fg_blocked_registers(&blocked);
		remember(thread, &blocked, find_place(run, &registers, &run->waiting), hash);
	}
	keep_sample(run, thread, (struct place){known->node, known->truncated}, weight_ns);
	return true;
}

/* What is known of this thread by now becomes a sample, or it is asked to stop. */
static void sample_thread(struct run *run, struct fg_sampled_thread *thread, int64_t moment_ns)
{
	thread->moment.at_ns = moment_ns;
	thread->moment.queued_ns = 0;
	thread->moment.period_ns = run->result->period_ns;
	if (run->sampling->elapsed) {
		if (!sample_waiting(run, thread))
			ask_to_stop(thread);
	} else if (fg_sampled_thread_look(thread) && thread->runs &&
		   fg_sampled_thread_account(thread, &thread->moment.account)) {
		thread->moment.at_ns -= AWAKE_NS;
		ask_to_stop(thread);
	}
}

static bool is_held_at(const struct run *run, size_t index, int cpu)
{
	return run->threads[index].held && run->threads[index].cpu == cpu;
}

static bool some_are_held_at(const struct run *run, int cpu)
{
	for (size_t i = 0; i < run->thread_count; i++) {
		if (is_held_at(run, i, cpu))
			return true;
	}
	return false;
}

/* Those that stood behind us can stop once we wait. */
static void await_stops(struct run *run, int cpu, int64_t here_since_ns)
{
	const int64_t begun_ns = fg_clock_monotonic_ns();
	int64_t left_ns = PATIENCE_NS;

	for (size_t i = 0; i < run->thread_count; i++) {
		if (is_held_at(run, i, cpu))
			run->threads[i].put_off_ns = begun_ns - here_since_ns;
	}
	while (left_ns > 0 && some_are_held_at(run, cpu)) {
		struct pollfd stops = {.fd = run->stops_fd, .events = POLLIN};
		const struct timespec left = {.tv_nsec = (long)left_ns};
		struct signalfd_siginfo infos[4];

		if (ppoll(&stops, 1, &left, NULL) > 0)
			(void)!read(run->stops_fd, infos, sizeof(infos));
		collect_all(run);
		left_ns = begun_ns + PATIENCE_NS - fg_clock_monotonic_ns();
	}
}

/*
 * Whoever ran there is put off where the wish to come reached it, or at a system call before that.
 * It goes on, and now a timer of that CPU interrupts it wherever it has come to.
 */
static void nap(struct run *run)
{
	const struct timespec time = {.tv_nsec =
					      NAP_NS + (long)fg_random_below(&run->random, NAP_NS)};

	(void)ppoll(NULL, 0, &time, NULL);
}

/* Samples the threads that were on this CPU when we looked last, wherever they are now. */
static void visit(struct run *run, int cpu, int64_t moment_ns)
{
	const bool is_there = fg_own_cpu_take(&run->own_cpu, cpu);
	int64_t here_since_ns = 0;

	if (is_there)
		nap(run);
	here_since_ns = fg_clock_monotonic_ns();
	for (size_t i = 0; i < run->thread_count; i++) {
		struct fg_sampled_thread *thread = &run->threads[i];

		if (!thread->is_due || thread->cpu != cpu)
			continue;
		thread->is_due = false;
		sample_thread(run, thread, is_there ? here_since_ns : moment_ns);
	}
	if (is_there)
		await_stops(run, cpu, here_since_ns);
	if (run->copy_count == COPIES_MAX)
		walk_copies(run);
}

/*
 * Does it run, or has it run since the last moment?  Then we go and see, whatever it does now: by
 * the time that we are there it may have begun to wait, and another may have begun to run.
 */
static bool is_due(struct run *run, struct fg_sampled_thread *thread)
{
	const uint64_t used_ns = thread->used_ns;
	struct fg_cpu_account account;
	struct fg_blocked blocked;
	bool runs = false;

	if (!fg_sampled_thread_account(thread, &account))
		return false;
	if (run->sampling->elapsed)
		runs = !fg_sampled_thread_waits(thread, &blocked);
	if (run->sampling->elapsed && !runs && used_ns == account.used_ns)
		return false;
	return fg_sampled_thread_look(thread) &&
	       (runs || thread->runs || used_ns != account.used_ns);
}

static void sample(struct run *run, int64_t moment_ns)
{
	for (size_t i = 0; i < run->thread_count; i++) {
		struct fg_sampled_thread *thread = &run->threads[i];

		thread->is_due = !thread->over && !thread->held && is_due(run, thread);
		if (run->sampling->elapsed && !thread->is_due && !thread->over && !thread->held)
			sample_thread(run, thread, moment_ns);
	}
	for (size_t i = 0; i < run->thread_count; i++) {
		if (run->threads[i].is_due)
			visit(run, run->threads[i].cpu, moment_ns);
	}
	fg_own_cpu_leave(&run->own_cpu);
	collect_all(run);
	walk_copies(run);
}

/* At the end no thread stays with us. */
static void let_all_go(struct run *run)
{
	const int64_t until_ns = fg_clock_monotonic_ns() + STOP_WITHIN_MS * FG_NS_PER_MS;
	bool some = true;

	while (some && fg_clock_monotonic_ns() < until_ns) {
		struct pollfd stops = {.fd = run->stops_fd, .events = POLLIN};

		collect_all(run);
		walk_copies(run);
		some = false;
		for (size_t i = 0; i < run->thread_count; i++)
			some |= run->threads[i].held;
		if (some)
			(void)poll(&stops, 1, 1);
	}
}

/* ---- when ---- */

/* Looks four times a second what sampling costs, and takes fewer or more samples in proportion. */
static void keep_to_budget(struct run *run)
{
	struct fg_outside_result *result = run->result;
	const struct spending now = {.at_ns = fg_clock_monotonic_ns(),
				     .own_ns = fg_clock_process_cpu_ns(),
				     .stopped_ns = result->stopped_ns,
				     .budgeted_ns = run->sampling->elapsed
							    ? (uint64_t)fg_clock_monotonic_ns()
							    : result->weighed_ns};
	const struct spending *before = &run->before;
	double factor = 1;

	if (now.at_ns - before->at_ns < BUDGET_WINDOW_MS * FG_NS_PER_MS ||
	    now.budgeted_ns == before->budgeted_ns)
		return;
	factor = ((double)(now.own_ns - before->own_ns) +
		  (double)(now.stopped_ns - before->stopped_ns)) /
		 ((double)(now.budgeted_ns - before->budgeted_ns) * run->sampling->budget);
	factor = fmin(fmax(factor, 1 / step_max), step_max);
	result->period_ns = (int64_t)fmin(
		fmax((double)result->period_ns * factor, (double)run->sampling->period_ns),
		(double)PERIOD_MAX_MS * (double)FG_NS_PER_MS);
	run->before = now;
}

/* Evenly spread between half and one and a half periods: no program keeps in step with that. */
static int64_t draw_moment(struct run *run)
{
	return fg_clock_monotonic_ns() +
	       (int64_t)((double)run->result->period_ns * (0.5 + fg_random_uniform(&run->random)));
}

/* Threads that stop late are let go at once. */
static void wait_until(struct run *run, int64_t moment_ns)
{
	struct pollfd events[] = {{.fd = run->process_fd, .events = POLLIN},
				  {.fd = run->stops_fd, .events = POLLIN}};

	for (;;) {
		const int64_t ns = moment_ns - fg_clock_monotonic_ns();
		const struct timespec time = {.tv_sec = ns / FG_NS_PER_S,
					      .tv_nsec = ns % FG_NS_PER_S};
		struct signalfd_siginfo infos[4];

		if (ns <= 0 || ppoll(events, FG_ARRAY_SIZE(events), &time, NULL) < 0 ||
		    events[0].revents)
			return;
		if (!events[1].revents)
			continue;
		(void)!read(run->stops_fd, infos, sizeof(infos));
		collect_all(run);
		walk_copies(run);
	}
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

/* ---- the whole ---- */

static int ascending(const void *a, const void *b)
{
	const uint64_t left = *(const uint64_t *)a;
	const uint64_t right = *(const uint64_t *)b;

	return (left > right) - (left < right);
}

static void settle_pauses(struct run *run)
{
	const size_t count = run->pause_count < PAUSES_MAX ? (size_t)run->pause_count : PAUSES_MAX;

	run->result->stops = run->pause_count;
	if (!count)
		return;
	qsort(run->pauses, count, sizeof(run->pauses[0]), ascending);
	run->result->pause_p99_ns = run->pauses[count - 1 - count / 100];
}

static int write_trace(struct run *run, struct fg_error *err)
{
	struct fg_trace_header *header = &run->writer.header;

	for (size_t i = 0; i < run->thread_count; i++)
		fg_sampled_trace_thread(&run->writer, run->sampling, &run->threads[i], i + 1);
	header->samples = run->result->samples;
	if (run->sampling->elapsed)
		header->wall_ns = run->result->weighed_ns;
	else
		header->user_ns = run->result->weighed_ns;
	header->threads = run->thread_count;
	header->losses[FG_LOSS_TRUNCATED] = run->truncated;
	header->handler_ns = run->result->stopped_ns;
	return fg_sampled_trace_write(&run->writer, run->sampling->folder, err);
}

/*
 * A timer of its own for every moment, not one shared with the program's.  Where we may, we come
 * before all ordinary threads: one that stands still must not wait until another's slice is over.
 * Otherwise a short slice gives us a CPU when a moment comes (from Linux 6.12 on).  It is long
 * enough for all that is copied at a moment: at a tick of the clock, every 1 to 4 ms, whoever has
 * used up a slice is put off the CPU, whatever stands still for it.  With slices of 0.1 ms that
 * took 3 to 4 ms in one stop of a hundred, with 0.7 ms 0.05.
 */
static void become_punctual(void)
{
	struct {
		uint32_t size, policy;
		uint64_t flags;
		int32_t nice;
		uint32_t priority;
		uint64_t runtime, deadline, period;
	} own = {.size = sizeof(own)};
	const struct sched_param first = {.sched_priority = 1};

	(void)prctl(PR_SET_TIMERSLACK, 1, 0, 0, 0);
	if (syscall(SYS_sched_getattr, 0, &own, sizeof(own), 0) != 0 || own.policy != SCHED_OTHER)
		return;
	if (sched_setscheduler(0, SCHED_FIFO | SCHED_RESET_ON_FORK, &first) == 0)
		return;
	own.runtime = SLICE_NS;
	(void)syscall(SYS_sched_setattr, 0, &own, 0);
}

static bool is_our_child(pid_t pid)
{
	siginfo_t info = {0};

	return waitid(P_PID, (id_t)pid, &info, WEXITED | WSTOPPED | WNOHANG | WNOWAIT) == 0;
}

static struct run *run_new(const struct fg_outside_sampling *sampling,
			   struct fg_outside_result *result, const sigset_t *stops)
{
	struct run *run = fg_xcalloc(1, sizeof(*run));

	*result = (struct fg_outside_result){.period_ns = sampling->period_ns};
	run->sampling = sampling;
	run->result = result;
	run->started_ns = fg_clock_monotonic_ns();
	run->copies = fg_xcalloc(COPIES_MAX, sizeof(run->copies[0]));
	run->is_our_child = is_our_child(sampling->pid);
	run->process_fd = (int)syscall(SYS_pidfd_open, sampling->pid, 0);
	fg_own_cpu_init(&run->own_cpu);
	run->stops_fd = signalfd(-1, stops, SFD_CLOEXEC | SFD_NONBLOCK);
	fg_random_seed(&run->random, (uint64_t)run->started_ns);
	fg_memory_init(&run->memory, sampling->pid);
	(void)fg_sampled_trace_begin(&run->writer, sampling, run->started_ns);
	fg_paths_init(&run->paths, &run->writer);
	run->before =
		(struct spending){.at_ns = run->started_ns,
				  .own_ns = fg_clock_process_cpu_ns(),
				  .budgeted_ns = sampling->elapsed ? (uint64_t)run->started_ns : 0};
	return run;
}

static void run_release(struct run *run)
{
	for (size_t i = 0; i < run->thread_count; i++) {
		fg_sampled_thread_close(&run->threads[i]);
		free(run->threads[i].samples);
	}
	if (run->process_fd >= 0)
		(void)close(run->process_fd);
	if (run->stops_fd >= 0)
		(void)close(run->stops_fd);
	free(run->threads);
	free(run->copies);
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
	sigset_t stops;
	sigset_t before;
	int64_t moment_ns = 0;
	int status = fg_thread_check_rights(sampling->pid, err);

	if (status != FG_OK)
		return status;
	(void)sigemptyset(&stops);
	(void)sigaddset(&stops, SIGCHLD);
	(void)pthread_sigmask(SIG_BLOCK, &stops, &before);
	run = run_new(sampling, result, &stops);
	if (!read_mappings(run, err)) {
		status = (int)err->code;
		goto out;
	}
	become_punctual();
	for (;;) {
		follow_threads(run);
		if (is_over(run))
			break;
		if (moment_ns)
			sample(run, moment_ns);
		keep_to_budget(run);
		moment_ns = draw_moment(run);
		wait_until(run, moment_ns);
		moment_ns = fg_clock_monotonic_ns();
	}
	let_all_go(run);
	settle_pauses(run);
	status = write_trace(run, err);
out:
	(void)pthread_sigmask(SIG_SETMASK, &before, NULL);
	run_release(run);
	return status;
}
