// SPDX-License-Identifier: Apache-2.0
#include "profile/attach/sampler.h"

#include "base/clock.h"
#include "base/fs.h"
#include "base/random.h"
#include "base/sort.h"
#include "profile/attach/sampling_run.h"

#include <math.h>
#include <poll.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
	SLICE_NS = 700000,
	PERIOD_MAX_MS = 1000,
	BUDGET_WINDOW_MS = 250,
};

static const double step_max = 2; /* maximum factor by which the period changes in one step */

/* ---- threads ---- */

static void add_thread(struct fg_sampling_run *run, pid_t tid)
{
	struct fg_sampled_thread thread;

	if (!fg_sampled_thread_open(&thread, run->sampling, tid))
		return;
	FG_APPEND(run->threads, run->thread_count, run->thread_capacity) = thread;
}

static void follow_threads(struct fg_sampling_run *run)
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

/* ---- time ---- */

/* Measures the cost of sampling four times a second, and adapts the rate in proportion. */
static void keep_to_budget(struct fg_sampling_run *run)
{
	struct fg_outside_result *result = run->result;
	const struct fg_sampling_cost now = {
		.at_ns = fg_clock_monotonic_ns(),
		.own_ns = fg_clock_process_cpu_ns(),
		.stopped_ns = result->stopped_ns,
		.budgeted_ns = run->sampling->elapsed ? (uint64_t)fg_clock_monotonic_ns()
						      : result->weighed_ns};
	const struct fg_sampling_cost *before = &run->before;
	const double min_ns =
		(double)(run->sampling->min_ns ? run->sampling->min_ns : run->sampling->period_ns);
	double factor = 1;

	if (now.at_ns - before->at_ns < BUDGET_WINDOW_MS * FG_NS_PER_MS ||
	    now.budgeted_ns == before->budgeted_ns)
		return;
	factor = ((double)(now.own_ns - before->own_ns) +
		  (double)(now.stopped_ns - before->stopped_ns)) /
		 ((double)(now.budgeted_ns - before->budgeted_ns) * run->sampling->budget);
	factor = fmin(fmax(factor, 1 / step_max), step_max);
	result->period_ns = (int64_t)fmin(fmax((double)result->period_ns * factor, min_ns),
					  (double)PERIOD_MAX_MS * (double)FG_NS_PER_MS);
	run->before = now;
}

/*
 * Draws the next moment, uniform between 0.5 and 1.5 periods from now, so that no program runs in
 * step with the moments.
 */
static int64_t draw_moment(struct fg_sampling_run *run)
{
	return fg_clock_monotonic_ns() +
	       (int64_t)((double)run->result->period_ns * (0.5 + fg_random_uniform(&run->random)));
}

/* Waits for the next moment. Threads that stop late are copied and released at once. */
static void wait_until(struct fg_sampling_run *run, int64_t moment_ns)
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
		fg_sampling_collect(run);
		fg_sampling_walk_copies(run);
	}
}

static bool is_over(const struct fg_sampling_run *run)
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

/* ---- run ---- */

FG_ORDER_BY(ascending, uint64_t, FG_ORDER(*a, *b))

static void settle_pauses(struct fg_sampling_run *run)
{
	const size_t count =
		run->pause_count < FG_PAUSES_MAX ? (size_t)run->pause_count : FG_PAUSES_MAX;

	run->result->stops = run->pause_count;
	if (!count)
		return;
	qsort(run->pauses, count, sizeof(run->pauses[0]), ascending);
	run->result->pause_p99_ns = run->pauses[count - 1 - count / 100];
}

static int write_trace(struct fg_sampling_run *run, struct fg_error *err)
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
 * Sets the smallest timer slack, so that a moment is not delayed to coincide with another timer. If
 * permitted, fastgate runs before all ordinary threads, so that a stopped thread need not wait for
 * the end of another thread's slice. If not permitted, fastgate asks for a short slice, which gives
 * it a CPU at each moment (since Linux 6.12). The slice is long enough to copy everything at a
 * moment: at a clock tick, every 1 to 4 ms, a thread that has used up its slice loses the CPU, even
 * if stopped threads wait for it. With slices of 0.1 ms, this delays 1 % of the stops by 3 to 4 ms;
 * with 0.7 ms, 0.05 % of them.
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

static struct fg_sampling_run *run_new(const struct fg_outside_sampling *sampling,
				       struct fg_outside_result *result, const sigset_t *stops)
{
	struct fg_sampling_run *run = fg_xcalloc(1, sizeof(*run));

	*result = (struct fg_outside_result){.period_ns = sampling->period_ns};
	run->sampling = sampling;
	run->result = result;
	run->started_ns = fg_clock_monotonic_ns();
	run->copies = fg_xcalloc(FG_STACK_COPIES_MAX, sizeof(run->copies[0]));
	run->is_our_child = is_our_child(sampling->pid);
	run->process_fd = (int)syscall(SYS_pidfd_open, sampling->pid, 0);
	fg_own_cpu_init(&run->own_cpu);
	run->stops_fd = signalfd(-1, stops, SFD_CLOEXEC | SFD_NONBLOCK);
	fg_random_seed(&run->random, (uint64_t)run->started_ns);
	fg_memory_init(&run->memory, sampling->pid);
	(void)fg_sampled_trace_begin(&run->writer, sampling, run->started_ns);
	fg_paths_init(&run->paths, &run->writer);
	run->before = (struct fg_sampling_cost){
		.at_ns = run->started_ns,
		.own_ns = fg_clock_process_cpu_ns(),
		.budgeted_ns = sampling->elapsed ? (uint64_t)run->started_ns : 0};
	return run;
}

static void run_release(struct fg_sampling_run *run)
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
	struct fg_sampling_run *run = NULL;
	sigset_t stops;
	sigset_t before;
	int64_t moment_ns = 0;
	int status = FG_OK;

	FG_TRY(fg_thread_check_rights(sampling->pid, err));
	(void)sigemptyset(&stops);
	(void)sigaddset(&stops, SIGCHLD);
	(void)pthread_sigmask(SIG_BLOCK, &stops, &before);
	run = run_new(sampling, result, &stops);
	if (!fg_sampling_read_mappings(run, err)) {
		status = (int)err->code;
		goto out;
	}
	become_punctual();
	for (;;) {
		follow_threads(run);
		if (is_over(run))
			break;
		if (moment_ns)
			fg_sampling_take(run, moment_ns);
		keep_to_budget(run);
		moment_ns = draw_moment(run);
		wait_until(run, moment_ns);
		moment_ns = fg_clock_monotonic_ns();
	}
	fg_sampling_release_all(run);
	settle_pauses(run);
	status = write_trace(run, err);
out:
	(void)pthread_sigmask(SIG_SETMASK, &before, NULL);
	run_release(run);
	return status;
}
