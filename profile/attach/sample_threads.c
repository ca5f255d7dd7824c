// SPDX-License-Identifier: Apache-2.0
/*
 * Takes one sample: threads are stopped, copied and released; their stacks are walked afterwards.
 */
#include "base/clock.h"
#include "profile/attach/sampling_run.h"
#include "profile/attach/waiting_place.h"

#include <poll.h>
#include <sys/signalfd.h>

enum {
	STOP_WITHIN_MS = 200,  /* limit for the last stops: a thread may have to wait for a CPU */
	AWAKE_NS = 20000,      /* delay between getting a CPU and reading the clock */
	NAP_NS = 32000,        /* shortest nap; a rescheduling interrupt takes much less time */
	PATIENCE_NS = 1000000, /* time for threads that queued behind fastgate to stop */
	RED_ZONE = 128,        /* bytes below the stack pointer that the ABI lets a function use */
};

bool fg_sampling_read_mappings(struct fg_sampling_run *run, struct fg_error *err)
{
	struct fg_mappings fresh = {0};

	fg_mapping_looks_note(&run->looks);
	if (fg_mappings_read(&run->memory, &fresh, err) != FG_OK)
		return false;
	fg_mappings_release(&run->mappings);
	run->mappings = fresh;
	fg_stack_walker_free(run->walker);
	run->walker = fg_stack_walker_new(&run->memory, &run->mappings);
	return true;
}

/* Reads the mappings again for an unknown address, after dlopen() or for generated code. */
static void refresh_mappings(struct fg_sampling_run *run, uint64_t address)
{
	if (!fg_mappings_is_code(&run->mappings, address) && fg_mapping_looks_allow(&run->looks))
		(void)fg_sampling_read_mappings(run, NULL);
}

static void note_pause(struct fg_sampling_run *run, int64_t pause_ns)
{
	run->pauses[run->pause_count++ % FG_PAUSES_MAX] = (uint64_t)pause_ns;
	run->result->stopped_ns += (uint64_t)pause_ns;
}

struct place {
	uint64_t node;
	bool truncated;
};

static struct place find_place(struct fg_sampling_run *run,
			       const struct user_regs_struct *registers)
{
	struct fg_walked_stack stack;

	refresh_mappings(run, registers->rip);
	fg_stack_walk(run->walker, registers, &stack);
	return (struct place){
		.node = fg_paths_add(&run->paths, &run->mappings, &stack),
		.truncated = stack.truncated,
	};
}

static void keep_sample(struct fg_sampling_run *run, struct fg_sampled_thread *thread,
			struct place place, uint64_t weight_ns)
{
	const unsigned clock = run->sampling->elapsed ? FG_CLOCK_WALL : FG_CLOCK_JITTER;

	FG_APPEND(thread->samples, thread->sample_count, thread->sample_capacity) =
		(struct fg_sampled){
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

/* Returns the weight of a stopped thread's sample; 0: the sample does not count. */
static uint64_t weigh(const struct fg_sampling_run *run, struct fg_sampled_thread *thread,
		      int64_t stopped_ns)
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

static uint64_t hash_of_place(struct fg_sampling_run *run, uint64_t stack)
{
	return fg_waiting_place_hash(&run->memory, stack, FG_STACK_COPY_PAGES - 1);
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

/* Makes further reads of the stack use the copy. */
static void use_copy(struct fg_sampling_run *run, const struct fg_stopped_copy *copy)
{
	const uint64_t top = copy->registers.rsp - RED_ZONE;

	fg_memory_forget(&run->memory);
	fg_memory_put(&run->memory, top - top % FG_MEMORY_PAGE, copy->stack, copy->size);
}

/*
 * Copies a stopped thread's registers and the top of its stack, and releases the thread;
 * fg_sampling_walk_copies() walks the stack later. Unless elapsed time is sampled, the time of a
 * thread that has begun to wait, or was not on a CPU at the sampled moment, is carried over to the
 * next sample.
 */
static void collect(struct fg_sampling_run *run, size_t index)
{
	struct fg_sampled_thread *thread = &run->threads[index];
	struct fg_stopped_copy *copy = &run->copies[run->copy_count];
	const bool keep_exit = run->is_our_child && thread->tid == run->sampling->pid;
	struct fg_thread_stop stop;
	bool is_known = false;

	if (!thread->held || run->copy_count == FG_STACK_COPIES_MAX)
		return;
	if (!fg_thread_poll(thread->tid, keep_exit, &stop)) {
		thread->held = !stop.gone;
		return;
	}
	copy->thread = index;
	is_known = fg_thread_registers(thread->tid, &copy->registers);
	copy->weight_ns = is_known ? weigh(run, thread, stop.seen_ns) : 0;
	if (run->sampling->elapsed && stop.seen_ns > thread->moment.at_ns)
		thread->moment.queued_ns = (uint64_t)(stop.seen_ns - thread->moment.at_ns);
	copy->waits = copy->weight_ns && fg_call_was_interrupted(&copy->registers);
	if (copy->waits && !run->sampling->elapsed)
		copy->weight_ns = 0;
	if (copy->weight_ns)
		copy->size = fg_memory_copy(&run->memory, copy->registers.rsp - RED_ZONE,
					    FG_STACK_COPY_PAGES, copy->stack);
	if (is_known && !stop.signal)
		fg_thread_make_call_again(thread->tid, &copy->registers);
	thread->held = !fg_thread_release(thread->tid, stop.signal) && !keep_exit;
	note_pause(run, thread->put_off_ns + fg_clock_monotonic_ns() - stop.seen_ns);
	run->copy_count += copy->weight_ns > 0;
}

void fg_sampling_collect(struct fg_sampling_run *run)
{
	for (size_t i = 0; i < run->thread_count; i++)
		collect(run, i);
}

static void walk(struct fg_sampling_run *run, struct fg_stopped_copy *copy)
{
	struct fg_sampled_thread *thread = &run->threads[copy->thread];
	struct place place;
	uint64_t hash = 0;

	use_copy(run, copy);
	if (copy->waits)
		hash = hash_of_place(run, copy->registers.rsp);
	place = find_place(run, &copy->registers);
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
 * Walking a stack is many times slower than copying it, so stacks are walked after the stopped
 * threads have been released. A thread that stops meanwhile waits for one walk at most.
 */
void fg_sampling_walk_copies(struct fg_sampling_run *run)
{
	while (run->copy_count > 0) {
		walk(run, &run->copies[--run->copy_count]);
		fg_sampling_collect(run);
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

/* Samples a waiting thread without stopping it. Returns false if it must be stopped. */
static bool sample_waiting(struct fg_sampling_run *run, struct fg_sampled_thread *thread)
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
	fg_memory_fetch(&run->memory, blocked.stack, FG_STACK_COPY_PAGES);
	hash = hash_of_place(run, blocked.stack);
	if (!fg_sampled_thread_waits(thread, &again) || again.code != blocked.code ||
	    again.stack != blocked.stack || !weight_ns)
		return true; /* the thread has continued: this time goes to the next sample */
	if (!fg_waiting_place_is(known, &blocked, hash)) {
		if (fg_blocked_survives_stop(run->sampling->pid, &blocked))
			return false;
		registers = fg_blocked_registers(&blocked);
		remember(thread, &blocked, find_place(run, &registers), hash);
	}
	keep_sample(run, thread, (struct place){known->node, known->truncated}, weight_ns);
	return true;
}

/* Samples the thread without stopping it if possible; otherwise asks it to stop. */
static void sample_thread(struct fg_sampling_run *run, struct fg_sampled_thread *thread,
			  int64_t moment_ns)
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

static bool is_held_at(const struct fg_sampling_run *run, size_t index, int cpu)
{
	return run->threads[index].held && run->threads[index].cpu == cpu;
}

static bool some_are_held_at(const struct fg_sampling_run *run, int cpu)
{
	for (size_t i = 0; i < run->thread_count; i++) {
		if (is_held_at(run, i, cpu))
			return true;
	}
	return false;
}

/* Waits for threads to stop: threads that queued for fastgate's CPU can stop now. */
static void await_stops(struct fg_sampling_run *run, int cpu, int64_t here_since_ns)
{
	const int64_t started_ns = fg_clock_monotonic_ns();
	int64_t left_ns = PATIENCE_NS;

	for (size_t i = 0; i < run->thread_count; i++) {
		if (is_held_at(run, i, cpu))
			run->threads[i].put_off_ns = started_ns - here_since_ns;
	}
	while (left_ns > 0 && some_are_held_at(run, cpu)) {
		struct pollfd stops = {.fd = run->stops_fd, .events = POLLIN};
		const struct timespec left = {.tv_nsec = (long)left_ns};
		struct signalfd_siginfo infos[4];

		if (ppoll(&stops, 1, &left, NULL) > 0)
			(void)!read(run->stops_fd, infos, sizeof(infos));
		fg_sampling_collect(run);
		left_ns = started_ns + PATIENCE_NS - fg_clock_monotonic_ns();
	}
}

/*
 * When fastgate moves to a CPU, it preempts the thread that runs there, either where the
 * rescheduling interrupt arrived or at an earlier system call. The thread continues during the nap,
 * and the timer on that CPU interrupts it at a random place.
 */
static void nap(struct fg_sampling_run *run)
{
	const struct timespec time = {.tv_nsec =
					      NAP_NS + (long)fg_random_below(&run->random, NAP_NS)};

	(void)ppoll(NULL, 0, &time, NULL);
}

/* Samples the due threads that were last seen on this CPU, wherever they are now. */
static void visit(struct fg_sampling_run *run, int cpu, int64_t moment_ns)
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
	if (run->copy_count == FG_STACK_COPIES_MAX)
		fg_sampling_walk_copies(run);
}

/*
 * Returns true if the thread runs or has run since the last sample. A due thread is visited even if
 * it begins to wait before fastgate arrives, and even if another thread begins to run.
 */
static bool is_due(struct fg_sampling_run *run, struct fg_sampled_thread *thread)
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

void fg_sampling_take(struct fg_sampling_run *run, int64_t moment_ns)
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
	fg_sampling_collect(run);
	fg_sampling_walk_copies(run);
}

void fg_sampling_release_all(struct fg_sampling_run *run)
{
	const int64_t until_ns = fg_clock_monotonic_ns() + STOP_WITHIN_MS * FG_NS_PER_MS;
	bool some = true;

	while (some && fg_clock_monotonic_ns() < until_ns) {
		struct pollfd stops = {.fd = run->stops_fd, .events = POLLIN};

		fg_sampling_collect(run);
		fg_sampling_walk_copies(run);
		some = false;
		for (size_t i = 0; i < run->thread_count; i++)
			some |= run->threads[i].held;
		if (some)
			(void)poll(&stops, 1, 1);
	}
}
