// SPDX-License-Identifier: Apache-2.0
/*
 * A guest leaves no trace on its host: the output and the exit code stay the same, no call fails
 * with EINTR, and no child or signal is lost.
 */
#include "base/base.h"
#include "base/fs.h"
#include "collector/sampler/collector_env.h"
#include "tests/integration/collector/run_target.h"
#include "tests/support/fg_test.h"

#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

FG_TEST_IN(every_child_comes_back, NULL, outcome_release)
{
	unsigned images = 0;

	run_target(&(struct run){.words = {target_path("storm_fork"), "15"}});
	for (const struct trace *trace = outcome.traces; trace; trace = trace->next)
		images += trace_inclusive(trace, "in_child") > 0;
	/*
	 * 15 rounds of four children with 3 ms of work each; a forked child leaves a trace only if
	 * it was sampled
	 */
	assert_true(images >= 50);
	assert_true(trace_inclusive(outcome.traces, "in_child") > 60 * 2e6);
	assert_true(trace_inclusive(outcome.traces, "in_parent") > 15 * 2e6);
}

FG_TEST_IN(no_call_is_cut_short, NULL, outcome_release)
{
	static const char *const settings[][2] = {
		{FG_ENV_PERIOD "=100000", NULL},
		{FG_ENV_PERIOD "=100000", FG_ENV_CLOCK "=tick"},
		{FG_ENV_PERIOD "=500000", FG_ENV_CLOCK "=wall"},
		{FG_ENV_PERIOD "=100000", FG_ENV_CLOCK "=jitter"},
	};

	for (size_t i = 0; i < sizeof(settings) / sizeof(settings[0]); i++) {
		run_target(&(struct run){.words = {"eintr", "120"},
					 .settings = {settings[i][0], settings[i][1]}});
		assert_true(outcome_truth("interrupted") == 0); /* NOLINT: a whole number */
		assert_true(outcome.traces->sample_count > 0);
	}
}

FG_TEST_IN(the_programs_own_use_of_the_signal_continues, NULL, outcome_release)
{
	run_target(&(struct run){.words = {"own_signal"}});
	assert_true(trace_inclusive(outcome.traces, "work_with_own_timer") > 1.8e8);
	/* Sampling continues after the program has closed every descriptor. */
	assert_true(trace_inclusive(outcome.traces, "work_without_descriptors") > 1.2e8);
	assert_true(outcome.traces->header.forwarded >= 5);
}

FG_TEST_IN(waiting_for_the_signal_continues, NULL, outcome_release)
{
	static const char *const settings[][3] = {
		{FG_ENV_PERIOD "=100000", FG_ENV_CLOCK "=cpu", NULL},
		{FG_ENV_PERIOD "=100000", FG_ENV_CLOCK "=tick", NULL},
		{FG_ENV_PERIOD "=200000", FG_ENV_CLOCK "=jitter", NULL},
		{FG_ENV_PERIOD "=500000", FG_ENV_CLOCK "=wall", "wall"},
	};

	for (size_t i = 0; i < FG_ARRAY_SIZE(settings); i++) {
		run_target(&(struct run){.words = {"waits", settings[i][2]},
					 .settings = {settings[i][0], settings[i][1]}});
		/*
		 * Sampling continued after the waits. How much of 100 ms is user time depends on
		 * the current cost of signals: 10 ms of samples suffice.
		 */
		assert_true(trace_inclusive(outcome.traces, "afterwards") > 1e7);
		assert_true(trace_inclusive(outcome.traces, "be_sampled") > 1e7);
		assert_true(outcome.traces->header.forwarded >= 10);
	}
}

FG_TEST_IN(a_wait_ends_when_its_handler_has_run, NULL, outcome_release)
{
	static const char *const clocks[] = {FG_ENV_CLOCK "=cpu", FG_ENV_CLOCK "=tick",
					     FG_ENV_CLOCK "=wall"};

	for (size_t i = 0; i < FG_ARRAY_SIZE(clocks); i++) {
		run_target(&(struct run){.words = {"woken"},
					 .settings = {FG_ENV_PERIOD "=100000", clocks[i]}});
		assert_true(outcome_truth("woken") >= 4);
	}
}

/* Without the collector's help, the kernel would end a call that unblocks a pending sample. */
FG_TEST_IN(a_sample_that_a_call_lets_in_does_not_end_it, NULL, outcome_release)
{
	static const char *const settings[][2] = {
		{FG_ENV_PERIOD "=1000000", FG_ENV_CLOCK "=tick"},
		{FG_ENV_PERIOD "=1000000", FG_ENV_CLOCK "=cpu"},
		{FG_ENV_PERIOD "=100000000", FG_ENV_CLOCK "=cpu"}, /* mostly ticks */
		{FG_ENV_PERIOD "=500000", FG_ENV_CLOCK "=wall"},
	};

	for (size_t i = 0; i < FG_ARRAY_SIZE(settings); i++) {
		run_target(&(struct run){.words = {"entering"},
					 .settings = {settings[i][0], settings[i][1]}});
		/* five rounds of eleven calls */
		assert_int_equal((int)outcome_truth("blocked"), 55);
		assert_int_equal((int)outcome_truth("all"), 110);
	}
}

/*
 * The flags of the program's handler decide, not the collector's, even if a wall-clock sample
 * arrives at the same time. With a thousand wall-clock samples a second, a child on a busy machine
 * is hardly ever found waiting.
 */
FG_TEST_IN(the_programs_own_handler_decides_how_a_call_ends, NULL, outcome_release)
{
	static const char *const settings[][3] = {
		/* A sample is delivered before a pending signal; both interrupt the same call. */
		{FG_ENV_PERIOD "=1000000", FG_ENV_CLOCK "=cpu", NULL},
		{FG_ENV_PERIOD "=1000000", FG_ENV_CLOCK "=tick", NULL},
		/* A tick interrupts no call, and restarts none that the handler has ended. */
		{FG_ENV_PERIOD "=1000000", FG_ENV_CLOCK "=tick", "ticks"},
		{FG_ENV_PERIOD "=1000000", FG_ENV_CLOCK "=cpu", "own"},
		{FG_ENV_PERIOD "=1000000", FG_ENV_CLOCK "=tick", "own"},
		{FG_ENV_PERIOD "=20000000", FG_ENV_CLOCK "=wall", "own"},
		{FG_ENV_PERIOD "=20000000", FG_ENV_CLOCK "=wall", "both"},
		{FG_ENV_PERIOD "=1000000", FG_ENV_CLOCK "=cpu", "behind"},
		{FG_ENV_PERIOD "=20000000", FG_ENV_CLOCK "=wall", "behind"},
	};

	for (size_t i = 0; i < FG_ARRAY_SIZE(settings); i++) {
		run_target(&(struct run){.words = {"yielding", settings[i][2]},
					 .settings = {settings[i][0], settings[i][1]}});
		if ((int)outcome_truth("ended") != 20 || (int)outcome_truth("gone_on") != 10)
			fail_msg("case %zu: %s", i, outcome.output);
	}
}

FG_TEST_IN(a_signal_that_a_call_keeps_out_does_not_end_it, NULL, outcome_release)
{
	run_target(&(struct run){.words = {"yielding", "masked"},
				 .settings = {FG_ENV_PERIOD "=20000000", FG_ENV_CLOCK "=wall"}});
	assert_int_equal((int)outcome_truth("gone_on"), 10);
}

/*
 * The sandbox allows only the few system calls that the program makes, and kills it for any other.
 * The program must end with its own exit code.
 */
FG_TEST_IN(a_sandbox_is_not_disturbed, NULL, outcome_release)
{
	static const char *const clocks[] = {FG_ENV_CLOCK "=cpu", FG_ENV_CLOCK "=wall",
					     FG_ENV_CLOCK "=jitter", FG_ENV_CLOCK "=tick"};

#ifdef FG_COVERAGE
	print_message(
		"skipped: libgcov, which is in the collector here, writes when the program ends\n");
	skip();
#endif
	for (size_t i = 0; i < FG_ARRAY_SIZE(clocks); i++) {
		run_target(&(struct run){
			.words = {"sandbox"},
			.settings = {clocks[i], FG_ENV_PERIOD "=500000"},
			.exit_code = 5,
		});
		/*
		 * Samples continue on both sides of the entry, at least ten each. The shares of the
		 * two functions depend on the current cost of signals, but no CPU time before the
		 * sandbox is lost. The coarsest clock misses the time since the last tick at which
		 * the thread ran, and on a busy machine there may be no tick before the sandbox.
		 */
		const bool knows_all = strcmp(clocks[i], FG_ENV_CLOCK "=tick") != 0;
		const double inside = trace_inclusive(outcome.traces, "inside");
		const double until_then = trace_self(outcome.traces, NULL) - inside;

		if ((knows_all && trace_inclusive(outcome.traces, "before") <= 0.5e7) ||
		    inside <= 0.5e7)
			fail_msg("%s: %.1f ms before, %.1f inside", clocks[i],
				 trace_inclusive(outcome.traces, "before") / 1e6, inside / 1e6);
		if (knows_all && until_then < 0.8 * outcome_truth("until_then"))
			fail_msg("%s: %.1f ms of %.1f", clocks[i], until_then / 1e6,
				 outcome_truth("until_then") / 1e6);
	}
}

/*
 * If malloc provided a handler's thread-local variables, the handler would sometimes call malloc
 * within malloc.
 */
FG_TEST_IN(thread_local_memory_is_the_programs_own, NULL, outcome_release)
{
	run_target(&(struct run){.words = {"tls", TARGETS_FOLDER "/libraries" TARGETS_SUFFIX},
				 .settings = {FG_ENV_PERIOD "=100000"}});
	assert_true(trace_inclusive(outcome.traces, "touch_all") > 2e7);
	/*
	 * a thread that is preempted between its last record and its end may be sampled once more
	 */
	assert_in_range(outcome.traces->header.threads, 181, 185);
}

/* ---- regions and units ---- */

static double weight_in_region(const struct trace *trace, const char *name)
{
	double sum = 0;

	for (size_t i = 0; i < trace->sample_count; i++) {
		const uint32_t region = trace->samples[i].region;

		if (region && strcmp(trace->names[trace->region_names[region]], name) == 0)
			sum += (double)trace->samples[i].weight_ns;
	}
	return sum;
}

FG_TEST_IN(samples_have_their_region, NULL, outcome_release)
{
	run_target(&(struct run){.words = {"regions"}});
	const double outer = weight_in_region(outcome.traces, "outer");
	const double inner = weight_in_region(outcome.traces, "inner");

	assert_true(outer + inner > 2e8);
	assert_true(fabs(inner / (outer + inner) - 0.75) < 0.08);
	assert_int_equal(outcome.traces->kinds[FG_RECORD_UNIT_BEGIN], 20);
	assert_int_equal(outcome.traces->kinds[FG_RECORD_UNIT_END], 20);
	assert_int_equal(outcome.traces->region_entered[1], 20);
	assert_int_equal(outcome.traces->region_entered[2], 20);
	/*
	 * Elapsed times, which a busy machine makes longer: a unit holds "outer", which holds
	 * "inner".
	 */
	assert_true(outcome.traces->region_ns[2] >= 20 * 15 * UINT64_C(1000000));
	assert_true(outcome.traces->region_ns[1] >=
		    outcome.traces->region_ns[2] + 20 * 5 * UINT64_C(1000000));
	assert_true(outcome.traces->units_ns >= outcome.traces->region_ns[1]);
}

FG_TEST_IN(threads_go_by_their_names, NULL, outcome_release)
{
	static const char *const wanted[] = {"by itself", "by prctl", "by its maker"};
	run_target(&(struct run){.words = {"names"}});
	const struct trace *trace = outcome.traces;

	for (size_t i = 0; i < FG_ARRAY_SIZE(wanted); i++) {
		uint32_t id = 1;
		double weight = 0;

		while (id < FG_ARRAY_SIZE(trace->thread_names) &&
		       strcmp(trace->thread_names[id], wanted[i]) != 0)
			id++;
		for (size_t s = 0; s < trace->sample_count; s++)
			weight += trace->samples[s].thread == id
					  ? (double)trace->samples[s].weight_ns
					  : 0;
		if (weight < 1e7 || weight > 4e7)
			fail_msg("%s: thread %u, %.3f s", wanted[i], id, weight / 1e9);
	}
	/* The main thread has the program's name; an unnamed thread has none. */
	assert_int_equal(strncmp(trace->thread_names[1], "names", 5), 0);
	assert_int_equal(trace->kinds[FG_RECORD_THREAD_NAME], FG_ARRAY_SIZE(wanted) + 1);
}

/* 32-bit programs get only the tests that depend on the architecture. */
#ifndef TARGETS_32_BIT

FG_TEST_IN(children_are_left_alone_when_asked, NULL, outcome_release)
{
	char only[64];

	(void)snprintf(only, sizeof(only), FG_ENV_ONLY "=%d", (int)getpid());
	run_target(&(struct run){.words = {target_path("storm_fork"), "20"}, .settings = {only}});
	assert_non_null(outcome.traces);
	assert_null(outcome.traces->next);
	assert_true(trace_inclusive(outcome.traces, "in_parent") > 20 * 2e6);
}

FG_TEST_IN(exceptions_stay_with_their_unwinder, NULL, outcome_release)
{
	run_target(&(struct run){.words = {"throwing", TARGETS_FOLDER "/libthrowing.so"},
				 .settings = {FG_ENV_PERIOD "=200000"}});
	assert_true(outcome.traces->sample_count > 50);
}

FG_TEST_IN(without_perf_the_next_clock_is_used_and_reported, NULL, outcome_release)
{
	run_target(&(struct run){.words = {"short_threads", "150"}, .forbid_perf = true});
	const struct fg_trace_header *header = &outcome.traces->header;

	assert_int_equal(header->clock_user, FG_CLOCK_JITTER);
	assert_int_equal(header->perf_errno, 13);
	assert_true(outcome.traces->kinds[FG_RECORD_NOTE] >= 1);
	const double a = trace_inclusive(outcome.traces, "work_in_thread");
	const double b = trace_inclusive(outcome.traces, "work_in_main");

	assert_true(a + b >
		    0.5 * (outcome_truth("work_in_thread") + outcome_truth("work_in_main")));
}

FG_TEST_IN(programs_marked_for_another_collector_are_served, NULL, outcome_release)
{
	run_target(&(struct run){.words = {"itt"},
				 .settings = {"INTEL_LIBITTNOTIFY64=" COLLECTOR_LIBRARY}});
	assert_true(weight_in_region(outcome.traces, "tracking") > 6e7);
	assert_true(weight_in_region(outcome.traces, "fitting") >
		    2 * weight_in_region(outcome.traces, "tracking"));
}

struct part_case {
	const char *argument;
	const char *setting;
	double low_ns;
	double high_ns;
};

FG_TEST_IN(only_the_requested_part_is_sampled, NULL, outcome_release)
{
	static const struct part_case cases[] = {
		{"whole", FG_ENV_UNITS "=5-9", 0.24e8, 0.72e8}, /* 5 units of 8 ms */
		{"paused", FG_ENV_PAUSED "=1", 1.2e8, 2.2e8},   /* 160 of 180 ms */
		{"whole", FG_ENV_PAUSED "=1", 0, 1},
		{"whole", FG_ENV_DELAY "=100000", 0, 1},
		{"whole", FG_ENV_DURATION "=1", 0, 1e8},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		run_target(&(struct run){.words = {"regions", cases[i].argument, "2000"},
					 .settings = {cases[i].setting}});
		const double seen = trace_inclusive(outcome.traces, "work");

		if (seen < cases[i].low_ns || seen > cases[i].high_ns)
			fail_msg("%s: %.3f s", cases[i].setting, seen / 1e9);
	}
}

FG_TEST_IN(a_control_page_switches_it_off, NULL, outcome_release)
{
	const struct fg_control_page page = {.magic = FG_CONTROL_MAGIC, .off = 1};
	const int fd = memfd_create("control", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	char setting[64];
	struct run run = {.words = {"regions", "whole", "2000"}, .settings = {setting}};

	(void)snprintf(setting, sizeof(setting), FG_ENV_CONTROL "=/proc/%d/fd/%d", (int)getpid(),
		       fd);
	assert_int_equal(ftruncate(fd, FG_CONTROL_PAGE_SIZE), 0);
	assert_int_equal(pwrite(fd, &page, sizeof(page), 0), sizeof(page));
	/* A file that could be truncated is not mapped, and the trace says so. */
	for (unsigned sealed = 0; sealed < 2; sealed++) {
		if (sealed)
			assert_int_equal(fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK), 0);
		run_target(&run);
		assert_int_equal(trace_inclusive(outcome.traces, "work") < 1, sealed);
		assert_int_equal(outcome.traces->kinds[FG_RECORD_NOTE], !sealed);
	}
	(void)close(fd);
}

/* ---- death at any time ---- */

FG_TEST_IN(a_killed_process_leaves_a_whole_trace, NULL, outcome_release)
{
	for (unsigned i = 0; i < 25; i++) {
		struct fg_scratch scratch;
		char output[4200];
		const struct timespec later = {0, (long)(1 + i * 1700003u % 40000000u)};

		fg_scratch_init(&scratch);
		pid_t pid = fork();

		if (pid == 0) {
			(void)snprintf(output, sizeof(output), FG_ENV_OUTPUT "=%s", scratch.path);
			(void)putenv(output);
			(void)putenv(fg_xstrdup("LD_PRELOAD=" COLLECTOR_LIBRARY));
			(void)putenv(fg_xstrdup(FG_ENV_PERIOD "=100000"));
			enter_test_root();
			(void)execl(target_path("short_threads"), "short_threads", (char *)NULL);
			_exit(98);
		}
		(void)nanosleep(&later, NULL);
		(void)kill(pid, SIGKILL);
		(void)waitpid(pid, NULL, 0);
		struct trace *traces = trace_load(scratch.path);

		for (const struct trace *trace = traces; trace; trace = trace->next)
			assert_int_equal(trace->damaged, 0);
		trace_free(traces);
		fg_scratch_release(&scratch);
	}
}

FG_TEST_IN(output_and_exit_code_are_the_programs_own, NULL, outcome_release)
{
	static const struct run runs[] = {
		{.words = {"/bin/bash", "-c",
			   "for i in $(seq 40); do x=$(echo $i; exit $i); y=$?; done; "
			   "echo $x $y; exit 7"},
		 .exit_code = 7},
		{.words = {"/bin/sh", "-c", "ulimit -n; trap; kill -l 27"}},
		{.words = {"/bin/sh", "-c", "head -c 3000000 /bin/bash | gzip -9 | cksum"}},
	};

	for (size_t i = 0; i < FG_ARRAY_SIZE(runs); i++) {
		struct run without = runs[i];
		char *output = NULL;

		run_target(&runs[i]);
		assert_non_null(outcome.traces);
		output = fg_xstrdup(outcome.output);
		without.without_collector = true;
		run_target(&without);
		assert_string_equal(output, outcome.output);
		free(output);
	}
}

#endif
