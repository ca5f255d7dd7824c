// SPDX-License-Identifier: Apache-2.0
/*
 * Does the collector find the known profile of these programs?
 *
 * The error of a share is a matter of chance, so it is measured, not tested: `./dev soak truth`
 * sets FASTGATE_MEASURE_TRUTH, and shares are judged by their own statistics. A share p seen in n
 * samples has the standard deviation sqrt(p (1 - p) / n); four standard deviations are allowed, so
 * a correct collector fails once in 16,000 runs. Without the variable, a share must only be within
 * limits that hold on any machine; a collector with a bias that these programs provoke exceeds the
 * limits.
 */
#include "base/base.h"
#include "base/fs.h"
#include "collector/sampler/collector_env.h"
#include "tests/integration/collector/run_target.h"
#include "tests/support/fg_test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const double period_ns = 1e6;

enum {
	RUNS_MAX = 5
};

static const double share_on_any_machine = 0.25;

static bool is_measuring(void)
{
	return getenv("FASTGATE_MEASURE_TRUTH") != NULL;
}

/* Returns a program's argument: enough work for statistics, or just enough to show a bias. */
static const char *in_full_or(const char *all, const char *enough)
{
	return is_measuring() ? all : enough;
}

/*
 * Two functions that share a program's time. A sample of `a` weighs look_ns, and a sample of `b`
 * weighs a period.
 */
struct share {
	const char *a;
	const char *b;
	double look_ns;
};

struct sums {
	double seen_a;
	double seen_b;
	double true_a;
	double true_b;
};

/* Sets `wrong` to "" if the share is within the tolerance, otherwise to a message. */
static void judge_share(const struct sums *sums, double look_ns, char *wrong, size_t size)
{
	const double all = sums->seen_a + sums->seen_b;
	const double truth = sums->true_a / (sums->true_a + sums->true_b);
	const double seen = sums->seen_a / all;
	const double sigma =
		sqrt(truth * (1 - truth) * ((1 - truth) * look_ns + truth * period_ns) / all);

	/* The truth is itself measured by a clock around calls: allow it half a per cent. */
	const double allowed = is_measuring() ? 4 * sigma + 0.005 : share_on_any_machine;

	wrong[0] = '\0';
	if (all < 100 * period_ns || fabs(seen - truth) > allowed)
		(void)snprintf(wrong, size, "share %.4f, in truth %.4f, sigma %.4f (%.0f ms)", seen,
			       truth, sigma, all / 1e6);
}

/*
 * A single run may be off by more than chance if a busy machine stops it in the wrong places. Then
 * all runs are judged together, after adding more. A bias that is present in every run stays
 * visible.
 */
static void assert_share(const struct run *run, const struct share *share)
{
	struct sums sums = {0};
	char wrong[160];

	for (int i = 0; i < RUNS_MAX; i++) {
		run_target(run);
		sums.seen_a += trace_inclusive(outcome.traces, share->a);
		sums.seen_b += trace_inclusive(outcome.traces, share->b);
		sums.true_a += outcome_truth(share->a);
		sums.true_b += outcome_truth(share->b);
		judge_share(&sums, share->look_ns, wrong, sizeof(wrong));
		if (!wrong[0])
			return;
		print_message("[   note   ] %s: %s\n", share->a, wrong);
	}
	fail_msg("%d runs: %s", RUNS_MAX, wrong);
}

/*
 * Emulators have no perf events. The clock is then a timer, which does not weigh system time
 * separately, misses the end of a thread, resumes after a wait only at one of the kernel's ticks,
 * and interrupts reads.
 */
static void skip_without_perf(void)
{
	if (is_emulated())
		skip();
}

/* The kernel measures system time by sampling at its ticks. */
static double kernel_tick_ns(void)
{
	struct timespec tick;

	assert_int_equal(clock_getres(CLOCK_MONOTONIC_COARSE, &tick), 0);
	return (double)tick.tv_nsec;
}

static bool is_near(double seen, double truth, double part, double slack_ns)
{
	if (fabs(seen - truth) <= part * truth + slack_ns)
		return true;
	print_message("[   note   ] %.4f s, in truth %.4f s\n", seen / 1e9, truth / 1e9);
	return false;
}

FG_TEST_IN(short_threads_get_their_share, NULL, outcome_release)
{
	const char *const count = in_full_or("500", "150");
	const uint64_t threads = strtoull(count, NULL, 10);
	struct run run = {.words = {"short_threads", count}};

	assert_share(&run, &(struct share){"work_in_thread", "work_in_main", period_ns});
	/*
	 * a thread that is preempted between its last record and its end may be sampled once more
	 */
	assert_in_range(outcome.traces->header.threads, threads + 1, 2 * threads + 1);
}

/*
 * Samples continue in all destructor rounds but the last, after which the thread is gone. A
 * collector that stopped at the first round would miss a quarter of the work.
 */
FG_TEST_IN(threads_are_sampled_while_they_end, NULL, outcome_release)
{
	run_target(&(struct run){.words = {"thread_ends"}, .settings = {FG_ENV_PERIOD "=250000"}});
	assert_true(trace_inclusive(outcome.traces, "in_destructor") > 0.85 * 440e6);
	assert_true(trace_inclusive(outcome.traces, "in_object") > 0.85 * 200e6);
	/*
	 * a thread that is preempted between its last record and its end may be sampled once more
	 */
	assert_in_range(outcome.traces->header.threads, 404, 808);
}

FG_TEST_IN(the_last_thread_ends_the_process, NULL, outcome_release)
{
	run_target(&(struct run){.words = {"thread_ends", "main"}});
	assert_true(trace_inclusive(outcome.traces, "in_last_thread") > 0.5e8);
	assert_int_equal(outcome.traces->header.end, FG_END_EXIT);
	/* their sum: the kernel's split of a tenth of a second depends on a few ticks */
	assert_true(outcome.traces->header.end_user_ns + outcome.traces->header.end_system_ns >
		    0.5e8);
}

/*
 * The CPU time is exact, and the weights add up to it, except for less than a period and the time
 * since the clocks were last read. The kernel samples the split into user and system time at its
 * ticks, so the collector's split may differ by the uncertainty of the kernel's.
 */
static bool adds_up(const struct trace *trace)
{
	const struct fg_trace_header *header = &trace->header;
	const double cpu_ns = (double)(header->end_user_ns + header->end_system_ns);
	const double ticks = cpu_ns / 1e7; /* at 100 per second, the kernel's lowest rate */
	const double user = ((double)header->end_user_ns / cpu_ns * ticks + 2) /
			    (ticks + 4); /* excludes 0 and 1 */
	const double split_ns = cpu_ns * sqrt(user * (1 - user) / ticks);

	return is_near((double)(header->user_ns + header->system_ns), cpu_ns, 0.003,
		       3 * period_ns) &&
	       (!is_measuring() ||
		(is_near((double)header->system_ns, (double)header->end_system_ns, 0.01,
			 4 * split_ns + 3 * period_ns) &&
		 is_near((double)header->user_ns, (double)header->end_user_ns, 0.01,
			 4 * split_ns + 3 * period_ns)));
}

/*
 * If the host stops this machine for a while, time passes that the program did not spend, so one
 * good run of several is enough.
 */
static void assert_adds_up(const struct run *run)
{
	for (int i = 0; i < RUNS_MAX; i++) {
		run_target(run);
		if (adds_up(outcome.traces))
			return;
	}
	fail_msg("the weights of %d runs do not add up", RUNS_MAX);
}

FG_TEST_IN(user_and_system_time_are_distinguished, NULL, outcome_release)
{
	struct run run = {.words = {"kernel", "mixed", in_full_or("1000", "400")}};

	skip_without_perf();
	assert_share(&run, &(struct share){"read_in_turn", "work_in_turn", kernel_tick_ns()});
	assert_adds_up(&run);
}

/* Asserts that nearly all system time is spent in `function`, in one run of several. */
static void assert_spends_system_time(const struct run *run, const char *function)
{
	double seen = 0;
	double truth = 0;

	for (int i = 0; i < RUNS_MAX; i++) {
		assert_adds_up(run);
		seen = trace_inclusive(outcome.traces, function);
		truth = outcome_truth("system");
		if (seen > 0.9 * truth)
			return;
	}
	fail_msg("%d runs: %.0f ns of %.0f in %s", RUNS_MAX, seen, truth, function);
}

FG_TEST_IN(weights_add_up_to_cpu_time, NULL, outcome_release)
{
	static const char *const rates[] = {FG_ENV_PERIOD "=1000000", FG_ENV_PERIOD "=100000"};

	skip_without_perf();
	for (size_t i = 0; i < sizeof(rates) / sizeof(rates[0]); i++) {
		struct run run = {.words = {"deep", "10"}, .settings = {rates[i]}};

		assert_adds_up(&run);
		const struct fg_trace_header *header = &outcome.traces->header;
		const double all = (double)(header->user_ns + header->system_ns);

		assert_int_equal(header->samples, outcome.traces->sample_count);
		assert_true(all == trace_self(outcome.traces, NULL)); /* NOLINT: whole numbers */
		assert_int_equal(header->end, FG_END_EXIT);
	}
}

/* ---- stacks ---- */

struct depth_case {
	const char *depth;
	uint64_t frames; /* frames of `descend` only */
	bool cut;
};

static void check_depth(const struct depth_case *wanted, const char *program)
{
	struct run run = {.words = {program, wanted->depth}};
	size_t seen = 0;

	run_target(&run);
	for (size_t i = 0; i < outcome.traces->sample_count; i++) {
		const struct trace_sample *sample = &outcome.traces->samples[i];

		if (!trace_on_path(outcome.traces, sample->path, "at_the_bottom"))
			continue;
		seen++;
		assert_false(sample->flags & FG_SAMPLE_TRUNCATED);
		/*
		 * plus at_the_bottom, main and three functions of libc; above them the clock and
		 * its system call
		 */
		const uint64_t depth = trace_depth(outcome.traces, sample->path);

		assert_in_range(depth, wanted->frames + 4, wanted->frames + 12);
		assert_true(trace_on_path(outcome.traces, sample->path, "main"));
	}
	assert_true(seen > 50);
	assert_int_equal(trace_lost(outcome.traces, FG_LOSS_DEEP) > 0, wanted->cut);
}

FG_TEST_IN(deep_stacks_are_whole_or_cut_in_the_middle, NULL, outcome_release)
{
	static const struct depth_case cases[] = {
		{"0", 1, false},
		{"300", 301, false},
		{"4000", 4001, false},
		{"10000", 10001, true},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		check_depth(&cases[i], "deep");
}

/*
 * Copies a few libraries to get the number of a reconstruction job, because the loader opens a file
 * only once.
 */
static void copy_libraries(const struct fg_scratch *scratch, unsigned count)
{
	struct fg_error err;
	char *bytes = NULL;
	size_t size = 0;
	char name[32];

	for (unsigned i = 0; i < count; i++) {
		(void)snprintf(name, sizeof(name), "libchain%u.so", i % 4);
		char *path = fg_fs_join(TARGETS_FOLDER "/libraries" TARGETS_SUFFIX, name);

		assert_int_equal(fg_fs_read(path, 1 << 20, &bytes, &size, &err), FG_OK);
		(void)snprintf(name, sizeof(name), "libchain%u.so", i);
		fg_scratch_write(scratch, name, bytes, size);
		free(bytes);
		free(path);
	}
}

/* The index of loaded objects: the collector's own, and the loader's if it has one. */
static const char *const indexes[] = {FG_ENV_INDEX "=own", FG_ENV_INDEX "=auto"};

static void check_chain(const char *libraries, const char *index)
{
	struct run run = {.words = {"chain", "300", "600", libraries, "300"}, .settings = {index}};
	double whole = 0;
	unsigned in_parts = 0;
	double all;

	run_target(&run);
	for (size_t i = 0; i < outcome.traces->sample_count; i++) {
		const struct trace_sample *sample = &outcome.traces->samples[i];

		/* 300 links, each with chain_next before it, and the outer frames */
		if (!trace_on_path(outcome.traces, sample->path, "at_the_end"))
			continue;
		if (trace_depth(outcome.traces, sample->path) >= 603)
			whole += (double)sample->weight_ns;
		else
			in_parts++;
	}
	all = trace_inclusive(outcome.traces, "at_the_end");
	assert_true(all > 2e8);
	/* Only the first samples walk the 300 unknown functions in parts. */
	assert_true(in_parts <= 5);
	assert_true(whole >= 0.9 * all);
	assert_true(outcome.traces->header.frames_reused > outcome.traces->header.frames / 2);
}

FG_TEST_IN(a_chain_through_600_libraries_is_whole, NULL, outcome_release)
{
	struct fg_scratch libraries;

	fg_scratch_init(&libraries);
	copy_libraries(&libraries, 600);
	for (size_t i = 0; i < FG_ARRAY_SIZE(indexes); i++)
		check_chain(libraries.path, indexes[i]);
	fg_scratch_release(&libraries);
}

static void check_storm(const char *index)
{
	struct run run = {
		.words = {"storm_dlopen", TARGETS_FOLDER "/libraries" TARGETS_SUFFIX, "200"},
		.settings = {index}};
	double all;

	run_target(&run);
	const bool is_elsewhere = outcome_truth("same_address") < 10;

	if (is_elsewhere)
		print_message(
			"[   note   ] the libraries were not mapped at the same address here\n");
	all = trace_inclusive(outcome.traces, "innermost");
	assert_true(all > 1e8);
	assert_true(trace_inclusive(outcome.traces, "main") >= all);
	for (size_t i = 0; i < outcome.traces->sample_count; i++)
		if (trace_on_path(outcome.traces, outcome.traces->samples[i].path, "innermost"))
			assert_true(trace_on_path(outcome.traces, outcome.traces->samples[i].path,
						  "chain_0"));
	/* Both libraries were loaded and unloaded repeatedly, as two modules. */
	assert_true(outcome.traces->kinds[FG_RECORD_MODULE_GONE] >= 100);
	assert_true(is_elsewhere || outcome.traces->kinds[FG_RECORD_MODULE_BACK] >= 90);
}

FG_TEST_IN(unloaded_libraries_do_not_mix_with_later_ones, NULL, outcome_release)
{
	for (size_t i = 0; i < FG_ARRAY_SIZE(indexes); i++)
		check_storm(indexes[i]);
}

FG_TEST_IN(odd_stacks_are_walked_or_marked, NULL, outcome_release)
{
	run_target(&(struct run){.words = {"stacks"}});
	assert_true(trace_inclusive(outcome.traces, "on_coroutine") > 2e8);
	assert_true(trace_inclusive(outcome.traces, "coroutine") > 1e8);
	assert_true(trace_inclusive(outcome.traces, "small_thread") > 1e8);
	/* from the handler through the signal's frame into the interrupted function */
	assert_true(trace_inclusive(outcome.traces, "in_handler") > 1e8);
	assert_true(trace_inclusive(outcome.traces, "raiser") >=
		    0.99 * trace_inclusive(outcome.traces, "in_handler"));
	assert_true(trace_inclusive(outcome.traces, "in_alarm") > 1e8);
	assert_true(trace_inclusive(outcome.traces, "interrupting") >=
		    0.99 * trace_inclusive(outcome.traces, "in_alarm"));
	static const char *const odd[][2] = {
		{"called_by_register", "through_register"},
		{"called_by_memory", "through_memory"},
	};

	for (size_t i = 0; i < 2; i++)
		for (size_t s = 0; s < outcome.traces->sample_count; s++) {
			const uint32_t path = outcome.traces->samples[s].path;

			if (!trace_on_path(outcome.traces, path, odd[i][0]))
				continue;
			assert_true(trace_on_path(outcome.traces, path, odd[i][1]));
			assert_true(trace_on_path(outcome.traces, path, "odd_frames"));
			assert_true(trace_on_path(outcome.traces, path, "main"));
		}
	assert_true(trace_inclusive(outcome.traces, "called_by_register") > 1e8);
	assert_true(trace_inclusive(outcome.traces, "called_by_memory") > 1e8);
	assert_true(trace_inclusive(outcome.traces, "called_back") > 1e8);
	assert_true(trace_inclusive(outcome.traces, "generated_code") >=
		    0.99 * trace_inclusive(outcome.traces, "called_back"));
}

/* 32-bit programs get only the tests that depend on the architecture. */
#ifndef TARGETS_32_BIT

FG_TEST_IN(tick_lockstep_does_not_bias, NULL, outcome_release)
{
	struct run run = {.words = {"lockstep", in_full_or("400", "120")}};

	assert_share(&run, &(struct share){"two_thirds", "one_third", period_ns});
}

/* System time of threads shorter than a tick is attributed to these threads. */
FG_TEST_IN(short_threads_in_the_kernel_get_their_share, NULL, outcome_release)
{
	struct run run = {.words = {"short_threads", in_full_or("500", "150"), "system"}};

	skip_without_perf();
	assert_share(&run, &(struct share){"work_in_thread", "work_in_main", 2 * kernel_tick_ns()});
}

/*
 * Only the kernel's own events find system time that is in step with the ticks; ticks alone hit it
 * only by luck.
 */
FG_TEST_IN(system_time_in_step_with_the_ticks_is_sampled_by_the_kernels_own_events, NULL,
	   outcome_release)
{
	static const char *const steps[] = {"1", "4", "10"};

	skip_without_perf();
	for (size_t i = 0; i < FG_ARRAY_SIZE(steps); i++) {
		struct run run = {.words = {"tick_aliasing", steps[i], "700"}};
		const struct fg_trace_header *header;

		assert_share(&run, &(struct share){"asks_twice", "asks_once", 2 * period_ns});
		header = &outcome.traces->header;
		assert_int_equal(header->clock_system, FG_CLOCK_SYSTEM);
		if (header->kernel_errno)
			assert_int_equal(header->kernel_ns, 0);
		else if (i > 0) /* at 1 ms other programs may take the CPU */
			assert_true((double)header->kernel_ns > 0.5 * (double)header->system_ns);
		assert_true(header->kernel_ns <= header->system_ns);
	}
}

FG_TEST_IN(bursts_weigh_as_one_thread, NULL, outcome_release)
{
	struct run run = {.words = {"burst", in_full_or("400", "150")}};

	assert_share(&run, &(struct share){"work_alone", "work_together", period_ns});
}

FG_TEST_IN(two_equal_threads_weigh_the_same, NULL, outcome_release)
{
	struct run run = {.words = {"two_threads", in_full_or("400", "150")}};

	assert_share(&run, &(struct share){"work_left", "work_right", period_ns});
}

FG_TEST_IN(system_time_is_seen_in_full, NULL, outcome_release)
{
	const struct run run = {.words = {"kernel", "zeros", in_full_or("1000", "400")}};

	skip_without_perf();
	assert_spends_system_time(&run, "read_zeros");
}

/* `--kernel off` leaves system time to the ticks. */
FG_TEST_IN(without_the_kernels_events_ticks_meet_system_time, NULL, outcome_release)
{
	struct run run = {.words = {"kernel", "zeros", in_full_or("1000", "400")},
			  .settings = {FG_ENV_KERNEL "=off"}};

	skip_without_perf();
	assert_adds_up(&run);
	assert_int_equal(outcome.traces->header.kernel_ns, 0);
	assert_true(trace_by_clock(outcome.traces, FG_CLOCK_SYSTEM) > 0.2e9);
}

/*
 * A tick counts however little CPU time has passed since the previous one. Here three ticks come in
 * a millisecond of CPU time, so a collector that waited for a millisecond would see a third. Ticks
 * in user time are not samples; the first of them starts the fast timer.
 */
FG_TEST_IN(every_tick_that_meets_system_time_counts, NULL, outcome_release)
{
	struct run run = {.words = {"ticking", in_full_or("400", "150")},
			  .settings = {FG_ENV_KERNEL "=off"}};
	double seen = 0;
	double met = 0;

	skip_without_perf();
	for (int i = 0; i < RUNS_MAX && met < 60; i++) {
		run_target(&run);
		for (size_t s = 0; s < outcome.traces->sample_count; s++) {
			const struct trace_sample *sample = &outcome.traces->samples[s];

			seen += sample->clock == FG_CLOCK_SYSTEM && sample->path != 0;
		}
		met += outcome_truth("met");
	}
	if (met < 60)
		skip(); /* this CPU's ticks do not coincide with the clock's */
	if (seen < 0.5 * met)
		fail_msg("%.0f samples of %.0f ticks", seen, met);
}

FG_TEST_IN(page_faults_are_system_time_of_the_touching_function, NULL, outcome_release)
{
	const struct run run = {.words = {"kernel", "faults", in_full_or("1000", "400")}};

	skip_without_perf();
	assert_spends_system_time(&run, "touch_pages");
	run_target(&run);
	assert_true(trace_by_clock(outcome.traces, FG_CLOCK_SYSTEM) >
		    0.5 * outcome_truth("system"));
}

FG_TEST_IN(a_sample_takes_at_most_twelve_bytes, NULL, outcome_release)
{
	run_target(&(struct run){.words = {"deep", "10"}});
	assert_true(outcome.traces->sample_bytes <= 12 * outcome.traces->sample_count);
}

#endif
