// SPDX-License-Identifier: Apache-2.0
/* Whole sessions over shell one-liners: their records, and benchmarks that misbehave. */
#include "base/clock.h"
#include "base/fs.h"
#include "runner/job.h"
#include "runner/runner.h"
#include "tests/support/fg_test.h"
#include "tests/support/scratch.h"

#include <dirent.h>
#include <dlfcn.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct session {
	struct fg_scratch scratch;
	struct fg_run run;
	struct fg_benchmark benchmark;
	struct fg_runner *runner;
	struct fg_runner_job *job;
	struct fg_runner_options options;
	/* gets each repetition; a status other than FG_OK ends the session */
	int (*take)(struct session *session, const struct fg_runner_event *event,
		    struct fg_error *err);
	volatile sig_atomic_t interrupted;
	unsigned handed_over;
	unsigned interrupt_after;
	unsigned notes;
	char *argv[FG_ARM_COUNT][4];
};

static int count(struct session *session, const struct fg_runner_event *event, struct fg_error *err)
{
	(void)err;
	assert_true(event->repetition < session->run.series[event->series].repetition_count);
	session->handed_over++;
	if (session->interrupt_after && session->handed_over >= session->interrupt_after)
		session->interrupted = 1;
	return FG_OK;
}

static struct fg_command shell(struct session *session, enum fg_arm arm, const char *text)
{
	session->argv[arm][0] = "/bin/sh";
	session->argv[arm][1] = "-c";
	session->argv[arm][2] = (char *)(uintptr_t)text;
	return (struct fg_command){.text = text, .argv = session->argv[arm], .argc = 3};
}

static void set_up(struct session *session, const char *candidate, const char *baseline)
{
	*session = (struct session){.benchmark = {.name = "bench", .timeout_ns = 20 * FG_NS_PER_S}};
	fg_scratch_init(&session->scratch);
	fg_run_init(&session->run);
	session->run.seed = 1;
	fg_measuring_defaults(&session->benchmark.measure);
	session->benchmark.measure.schedule = FG_SCHEDULE_ABBA;
	session->benchmark.measure.sampler.enabled = false;
	session->benchmark.command = shell(session, FG_ARM_CANDIDATE, candidate);
	if (baseline)
		session->benchmark.baseline_command = shell(session, FG_ARM_BASELINE, baseline);
	session->options = (struct fg_runner_options){
		.run = &session->run,
		.roots = {baseline ? session->scratch.path : NULL, session->scratch.path},
		.state_folder = fg_xstrdup(fg_scratch_path(&session->scratch, ".fastgate")),
		.interrupted = &session->interrupted,
	};
	session->take = count;
}

static void tear_down(struct session *session)
{
	fg_run_release(&session->run);
	free((void *)(uintptr_t)session->options.state_folder);
	fg_scratch_release(&session->scratch);
}

static int measure(struct session *session, unsigned pairs, enum fg_runner_state *state,
		   struct fg_error *err)
{
	struct fg_runner_event event;
	int status = FG_OK;

	do {
		status = fg_runner_next(session->job, pairs, state, &event, err);
		if (status == FG_OK && *state == FG_RUNNER_REPEATED)
			status = session->take(session, &event, err);
		if (*state == FG_RUNNER_NOTES) {
			assert_true(*event.note);
			session->notes++;
		}
	} while (status == FG_OK && !fg_runner_is_over(*state));
	return status;
}

static enum fg_runner_state go(struct session *session, unsigned pairs)
{
	enum fg_runner_state state = FG_RUNNER_FAILED;
	struct fg_error err = {0};

	if (fg_runner_create(&session->options, &session->runner, &err) != FG_OK ||
	    fg_runner_start(session->runner, &session->benchmark, &session->job, &err) != FG_OK ||
	    measure(session, pairs, &state, &err) != FG_OK)
		fail_msg("%s", err.message);
	fg_runner_finish(session->job);
	fg_runner_free(session->runner);
	return state;
}

static const char spin[] = "i=0; while [ $i -lt 3000 ]; do i=$((i+1)); done";

FG_TEST(abba_fills_blocks_of_four_with_values)
{
	struct session s;
	const struct fg_series *series = NULL;
	unsigned counting = 0;

	set_up(&s, spin, spin);
	assert_int_equal(go(&s, 3), FG_RUNNER_REACHED);
	series = &s.run.series[0];
	assert_int_equal(series->state, FG_MEASURED);
	assert_int_equal(series->schedule, FG_SCHEDULE_ABBA);
	assert_int_equal(series->repetition_count, 2 + 3 * 4); /* one warm-up of each arm */
	assert_int_equal(s.handed_over, 14);
	for (size_t i = 0; i < series->repetition_count; i++) {
		const struct fg_repetition *r = &series->repetitions[i];

		counting += r->aside == 0;
		assert_true(r->values[FG_METRIC_CPU_TIME] > 0);
		assert_true(r->values[FG_METRIC_WALL_TIME] > 0);
		assert_true(r->values[FG_METRIC_MAX_RSS] > 100e3);
		assert_true(isnan(r->values[FG_METRIC_BINARY_SIZE])); /* not measured for a shell */
		assert_true(r->started_ns > 0);
	}
	assert_int_equal(counting, 12);
	assert_int_equal(series->repetitions[0].aside, FG_ASIDE_WARMUP);
	tear_down(&s);
}

FG_TEST(duet_runs_both_at_once_on_one_cpu)
{
	struct session s;
	const struct fg_series *series = NULL;
	unsigned pairs = 0;
	unsigned solos = 0;

	set_up(&s, spin, spin);
	s.benchmark.measure.schedule = FG_SCHEDULE_DUET;
	(void)go(&s, 4);
	series = &s.run.series[0];
	for (size_t i = 0; i < series->repetition_count; i++) {
		const struct fg_repetition *r = &series->repetitions[i];

		solos += (r->aside & FG_ASIDE_SOLO) != 0;
		if (r->aside & (FG_ASIDE_SOLO | FG_ASIDE_WARMUP))
			continue;
		pairs++;
		assert_true(r->cpu >= 0);
		if (r->position == 1) {
			assert_int_equal(r->pair, r[-1].pair);
			assert_int_equal(r->cpu, r[-1].cpu);
			assert_int_not_equal(r->arm, r[-1].arm);
		}
	}
	assert_true(pairs >= 8);
	/* each arm once before pairs 0, 8, 16, ... */
	assert_int_equal(solos, 2 * ((pairs / 2 - 1) / 8 + 1));
	tear_down(&s);
}

FG_TEST(candidate_alone_is_measured_against_the_store)
{
	struct session s;

	set_up(&s, spin, NULL);
	assert_int_equal(go(&s, 5), FG_RUNNER_REACHED);
	assert_int_equal(s.run.series[0].schedule, FG_SCHEDULE_STORED);
	assert_int_equal(s.run.series[0].repetition_count, 6);
	tear_down(&s);
}

FG_TEST(auto_gives_its_reason)
{
	struct session s;

	set_up(&s, spin, spin);
	s.benchmark.measure.schedule = FG_SCHEDULE_AUTO;
	(void)go(&s, 2);
	assert_true(s.run.series[0].schedule == FG_SCHEDULE_DUET ||
		    s.run.series[0].schedule == FG_SCHEDULE_ABBA);
	assert_non_null(s.run.series[0].schedule_reason);
	tear_down(&s);
}

FG_TEST(auto_does_not_run_a_sleeper_as_a_duet)
{
	struct session s;

	set_up(&s, "sleep 0.05", "sleep 0.05");
	s.benchmark.measure.schedule = FG_SCHEDULE_AUTO;
	(void)go(&s, 1);
	assert_int_equal(s.run.series[0].schedule, FG_SCHEDULE_ABBA);
	assert_non_null(strstr(s.run.series[0].schedule_reason, "one CPU busy"));
	tear_down(&s);
}

FG_TEST(a_resumed_duet_remembers_which_pairs_ran_apart)
{
	static const uint16_t asides[] = {FG_ASIDE_GIVEN_UP, FG_ASIDE_OVERLAP, 0, FG_ASIDE_OVERLAP};
	struct session s;
	struct fg_series *series = NULL;
	struct fg_error err = {0};

	set_up(&s, spin, spin);
	s.benchmark.measure.schedule = FG_SCHEDULE_AUTO;
	series = fg_run_add_series(&s.run, "bench");
	series->schedule = FG_SCHEDULE_DUET;
	for (uint32_t i = 0; i < 2 * FG_ARRAY_SIZE(asides); i++) {
		struct fg_repetition *repetition = fg_series_add_repetition(series);

		repetition->pair = i / 2;
		repetition->arm = i % 2;
		repetition->aside = asides[i / 2];
	}
	if (fg_runner_create(&s.options, &s.runner, &err) != FG_OK ||
	    fg_runner_start(s.runner, &s.benchmark, &s.job, &err) != FG_OK)
		fail_msg("%s", err.message);
	assert_int_equal(s.job->rules.schedule, FG_SCHEDULE_DUET);
	assert_int_equal(s.job->pairs, 4);
	assert_int_equal(s.job->given_up, 1);
	assert_int_equal(s.job->counting, 1);
	assert_int_equal(s.job->apart, 5);
	fg_runner_finish(s.job);
	fg_runner_free(s.runner);
	tear_down(&s);
}

FG_TEST(misbehaving_benchmarks_are_distinguished)
{
	static const struct {
		const char *command;
		const char *words;
		const char *tail;
	} cases[] = {
		{"echo working; echo oh no >&2; exit 3", "exited with code 3, expected 0", "oh no"},
		{"echo about to fall; kill -SEGV $$", "signal 11", "about to fall"},
		{"echo waiting; sleep 30", "exceeded its time limit", "waiting"},
		{"exec /no/such/program", "exited with code 127", "/no/such/program"},
		{"ulimit -v 50000; head -c 1000000000 /dev/zero | tail", "exited with code 1",
		 "memory"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct session s;
		const struct fg_series *series = NULL;

		set_up(&s, cases[i].command, "true");
		if (strstr(cases[i].command, "sleep"))
			s.benchmark.timeout_ns = 3 * FG_NS_PER_S;
		assert_int_equal(go(&s, 2), FG_RUNNER_FAILED);
		series = &s.run.series[0];
		assert_int_equal(series->state, FG_NOT_MEASURED);
		if (!strstr(series->failure, cases[i].words) ||
		    !strstr(series->failure, "candidate: "))
			fail_msg("'%s' does not say '%s'", series->failure, cases[i].words);
		if (!series->failure_tail || !strstr(series->failure_tail, cases[i].tail))
			fail_msg("'%s' does not show '%s'",
				 series->failure_tail ? series->failure_tail : "(nothing)",
				 cases[i].tail);
		tear_down(&s);
	}
}

FG_TEST(a_missing_program_is_named)
{
	static char *argv[] = {"./not-there", NULL};
	struct session s;

	set_up(&s, spin, NULL);
	s.benchmark.command = (struct fg_command){.text = "./not-there", .argv = argv, .argc = 1};
	assert_int_equal(go(&s, 2), FG_RUNNER_FAILED);
	assert_non_null(strstr(s.run.series[0].failure, "./not-there"));
	assert_non_null(strstr(s.run.series[0].failure, "No such file"));
	tear_down(&s);
}

FG_TEST(a_benchmark_that_only_the_candidate_has_is_measured_alone)
{
	static char *argv[] = {"./not-there", NULL};
	struct session s;

	set_up(&s, spin, spin);
	s.benchmark.baseline_command =
		(struct fg_command){.text = "./not-there", .argv = argv, .argc = 1};
	assert_int_equal(go(&s, 2), FG_RUNNER_REACHED);
	assert_true(s.run.series[0].only_in[FG_ARM_CANDIDATE]);
	assert_int_equal(s.run.series[0].schedule, FG_SCHEDULE_STORED);
	tear_down(&s);
}

FG_TEST(a_metric_that_is_not_printed_fails_the_benchmark)
{
	static struct fg_user_metric metric = {
		.name = "rate", .regex = "rate: ([0-9.]+)", .unit = "1/s"};
	struct session s;

	set_up(&s, "echo rate: 12; echo rate: 42", "echo none");
	s.benchmark.metrics = &metric;
	s.benchmark.metric_count = 1;
	assert_int_equal(go(&s, 1), FG_RUNNER_FAILED);
	assert_non_null(strstr(s.run.series[0].failure, "baseline: metric 'rate'"));
	tear_down(&s);

	set_up(&s, "echo rate: 12; echo rate: 42", "echo rate: 40");
	s.benchmark.metrics = &metric;
	s.benchmark.metric_count = 1;
	assert_int_equal(go(&s, 1), FG_RUNNER_REACHED);
	for (size_t i = 0; i < s.run.series[0].repetition_count; i++) {
		const struct fg_repetition *r = &s.run.series[0].repetitions[i];

		assert_true(r->values[FG_METRIC_BUILTIN_COUNT] ==
			    (r->arm == FG_ARM_CANDIDATE ? 42 : 40));
	}
	tear_down(&s);
}

FG_TEST(endless_output_is_capped_and_does_not_hang)
{
	struct session s;

	set_up(&s, "head -c 20000000 /dev/zero | tr '\\0' x; echo end >&2; exit 1", NULL);
	assert_int_equal(go(&s, 1), FG_RUNNER_FAILED);
	assert_string_equal(s.run.series[0].failure_tail, "end");
	tear_down(&s);
}

/* Is there a process with this word in its command line? */
static bool is_running(const char *word)
{
	DIR *processes = opendir("/proc");
	const struct dirent *entry = NULL;
	bool found = false;

	assert_non_null(processes);
	while ((entry = readdir(processes)) != NULL) {
		char path[300];
		char *text = NULL;
		size_t size = 0;

		if (entry->d_name[0] < '0' || entry->d_name[0] > '9')
			continue;
		(void)snprintf(path, sizeof(path), "/proc/%s/cmdline", entry->d_name);
		if (fg_fs_read(path, 1 << 20, &text, &size, NULL) == FG_OK)
			found |= memmem(text, size, word, strlen(word)) != NULL;
		free(text);
	}
	(void)closedir(processes);
	return found;
}

FG_TEST(daemons_are_ended_and_noted_once)
{
	struct session s;
	char command[128];
	char word[32];

	(void)snprintf(word, sizeof(word), "%d.25", 1000000 + (int)getpid());
	(void)snprintf(command, sizeof(command), "setsid -f sleep %s", word);
	set_up(&s, command, NULL);
	assert_int_equal(go(&s, 3), FG_RUNNER_REACHED);
	assert_int_equal(s.notes, 1);
	assert_false(is_running(word));
	tear_down(&s);
}

FG_TEST(interruption_keeps_measurements_and_leaves_no_process)
{
	struct session s;

	set_up(&s, spin, spin);
	s.interrupt_after = 8;
	assert_int_equal(go(&s, 100), FG_RUNNER_INTERRUPTED);
	assert_int_equal(s.run.series[0].state, FG_INTERRUPTED);
	/* One warm-up each, a block of four, and half a block that does not count. */
	assert_int_equal(s.run.series[0].repetition_count, 8);
	for (size_t i = 2; i < 8; i++)
		assert_int_equal(s.run.series[0].repetitions[i].aside,
				 i < 6 ? 0 : FG_ASIDE_UNPAIRED);
	tear_down(&s);
}

/*
 * Before the next program starts, the previous repetition has been handed over: programs and
 * hand-overs write to the same log.
 */
static int write_log(struct session *session, const struct fg_runner_event *event,
		     struct fg_error *err)
{
	const struct fg_series *done = &session->run.series[event->series];
	const size_t repetition = event->repetition;
	const struct fg_repetition *r = &done->repetitions[repetition];
	const bool is_last = r->position == 3;
	FILE *log = fopen(fg_scratch_path(&session->scratch, "log"), "a");

	(void)err;
	assert_non_null(log);
	(void)fputs("given ", log);
	(void)fclose(log);
	assert_int_equal(repetition + 1, done->repetition_count);
	for (size_t i = repetition - r->position; i <= repetition; i++)
		assert_int_equal(done->repetitions[i].aside, is_last ? 0 : FG_ASIDE_UNPAIRED);
	return FG_OK;
}

FG_TEST(every_repetition_is_handed_over_before_the_next_program_starts)
{
	static char *cleanup[] = {"/bin/sh", "-c", "printf 'cleaned '>> log", NULL};
	static const char program[] = "printf 'ran ' >> log";
	struct session s;
	char *log = NULL;

	set_up(&s, program, program);
	s.benchmark.measure.warmup = 0;
	s.benchmark.cleanup = (struct fg_command){.text = "cleanup", .argv = cleanup, .argc = 3};
	s.take = write_log;
	assert_int_equal(go(&s, 1), FG_RUNNER_REACHED);
	log = fg_scratch_read(&s.scratch, "log", NULL);
	assert_string_equal(
		log, "ran given cleaned ran given cleaned ran given cleaned ran given cleaned ");
	free(log);
	tear_down(&s);
}

FG_TEST(half_a_block_is_kept_and_measured_anew)
{
	struct session s;
	const struct fg_series *series = NULL;

	set_up(&s, spin, spin);
	s.benchmark.measure.warmup = 0;
	s.interrupt_after = 3;
	assert_int_equal(go(&s, 1), FG_RUNNER_INTERRUPTED);
	s.interrupt_after = 0;
	s.interrupted = 0;
	assert_int_equal(go(&s, 1), FG_RUNNER_REACHED);
	series = &s.run.series[0];
	assert_int_equal(series->repetition_count, 3 + 4);
	for (size_t i = 0; i < series->repetition_count; i++) {
		const struct fg_repetition *r = &series->repetitions[i];

		assert_int_equal(r->aside, i < 3 ? FG_ASIDE_UNPAIRED : 0);
		assert_int_equal(r->pair, i < 3 ? 0 : 1);
		/* the same point of the random order */
		if (i < 3)
			assert_int_equal(r->arm, series->repetitions[i + 3].arm);
	}
	tear_down(&s);
}

FG_TEST(an_interrupted_series_is_resumed_in_the_same_order)
{
	struct session whole;
	struct session parts;

	set_up(&whole, spin, spin);
	whole.benchmark.measure.warmup = 0;
	assert_int_equal(go(&whole, 6), FG_RUNNER_REACHED);
	set_up(&parts, spin, spin);
	parts.benchmark.measure.warmup = 0;
	parts.interrupt_after = 8;
	assert_int_equal(go(&parts, 6), FG_RUNNER_INTERRUPTED);
	assert_int_equal(parts.run.series[0].repetition_count, 8);
	parts.interrupt_after = 0;
	parts.interrupted = 0;
	assert_int_equal(go(&parts, 6), FG_RUNNER_REACHED);
	assert_int_equal(parts.run.series_count, 1);
	assert_int_equal(parts.run.series[0].repetition_count,
			 whole.run.series[0].repetition_count);
	for (size_t i = 0; i < whole.run.series[0].repetition_count; i++) {
		const struct fg_repetition *a = &whole.run.series[0].repetitions[i];
		const struct fg_repetition *b = &parts.run.series[0].repetitions[i];

		assert_int_equal(a->pair, b->pair);
		assert_int_equal(a->arm, b->arm);
		assert_int_equal(a->padding, b->padding);
	}
	tear_down(&whole);
	tear_down(&parts);
}

FG_TEST(setup_prepare_and_cleanup_run_as_often_as_they_should)
{
	static char *setup[] = {"/bin/sh", "-c", "echo s >> log", NULL};
	static char *prepare[] = {"/bin/sh", "-c", "echo p >> log", NULL};
	static char *cleanup[] = {"/bin/sh", "-c", "echo c >> log", NULL};
	struct session s;
	char *log = NULL;

	set_up(&s, "echo b >> log", NULL);
	s.benchmark.measure.warmup = 0;
	s.benchmark.setup = (struct fg_command){.text = "setup", .argv = setup, .argc = 3};
	s.benchmark.prepare = (struct fg_command){.text = "prepare", .argv = prepare, .argc = 3};
	s.benchmark.cleanup = (struct fg_command){.text = "cleanup", .argv = cleanup, .argc = 3};
	assert_int_equal(go(&s, 2), FG_RUNNER_REACHED);
	log = fg_scratch_read(&s.scratch, "log", NULL);
	assert_string_equal(log, "s\np\nb\nc\np\nb\nc\n");
	free(log);
	tear_down(&s);
}

FG_TEST(a_failing_setup_is_the_benchmarks_failure)
{
	static char *setup[] = {"/bin/sh", "-c", "echo no data >&2; exit 4", NULL};
	struct session s;

	set_up(&s, spin, NULL);
	s.benchmark.setup = (struct fg_command){.text = "make-data", .argv = setup, .argc = 3};
	assert_int_equal(go(&s, 2), FG_RUNNER_FAILED);
	assert_non_null(strstr(s.run.series[0].failure, "setup 'make-data' exited with code 4"));
	assert_string_equal(s.run.series[0].failure_tail, "no data");
	tear_down(&s);
}

FG_TEST(environment_stdin_and_folder_reach_the_program)
{
	static struct fg_variable variables[] = {{"COLOUR", "green"}};
	static struct fg_user_metric metric = {.name = "m", .regex = "value ([0-9]+)"};
	struct session s;
	int status = 0;

	set_up(&s, "test \"$COLOUR\" = green && test $(basename $PWD) = sub && cat", NULL);
	status = fg_fs_make_folders(fg_scratch_path(&s.scratch, "sub"), 0777, NULL);
	assert_int_equal(status, FG_OK);
	fg_scratch_write_text(&s.scratch, "sub/input.txt", "value 17\n");
	s.benchmark.environment = variables;
	s.benchmark.environment_count = 1;
	s.benchmark.working_directory = "sub";
	s.benchmark.stdin_path = "input.txt";
	s.benchmark.metrics = &metric;
	s.benchmark.metric_count = 1;
	assert_int_equal(go(&s, 1), FG_RUNNER_REACHED);
	assert_true(s.run.series[0].repetitions[0].values[FG_METRIC_BUILTIN_COUNT] == 17);
	tear_down(&s);
}

FG_TEST(max_pairs_ends_the_measuring)
{
	struct session s;

	set_up(&s, "true", NULL);
	s.benchmark.measure.max_pairs = 4;
	assert_int_equal(go(&s, 80), FG_RUNNER_EXHAUSTED);
	assert_int_equal(s.run.series[0].repetition_count, 5);
	tear_down(&s);
}

/* A sampled repetition comes with a folder to which the program could write. */
static int look_at_trace(struct session *session, const struct fg_runner_event *event,
			 struct fg_error *err)
{
	const struct fg_repetition *r =
		&session->run.series[event->series].repetitions[event->repetition];

	(void)err;
	assert_int_equal(r->sampled, event->trace_folder != NULL);
	assert_int_equal(r->sampled, r->period_ns != 0);
	if (event->trace_folder) {
		char *file = fg_fs_join(event->trace_folder, "trace");

		session->handed_over++;
		assert_true(fg_fs_exists(file));
		free(file);
	}
	return FG_OK;
}

FG_TEST(sampled_repetitions_have_traces_and_some_go_without)
{
	struct session s;
	Dl_info library;
	unsigned unsampled = 0;
	char **names = NULL;
	size_t count = 0;
	int status = FG_OK;

	/* Any library can be preloaded; the program plays the collector. */
	assert_true(dladdr((void *)(uintptr_t)&qsort, &library) != 0);
	set_up(&s,
	       "if [ \"$FASTGATE_COLLECTOR_OUTPUT\" ]; then echo x > "
	       "$FASTGATE_COLLECTOR_OUTPUT/trace; fi",
	       NULL);
	s.benchmark.measure.sampler.enabled = true;
	s.benchmark.measure.sampler.unsampled_share = 0.5;
	s.options.collector = library.dli_fname;
	s.take = look_at_trace;
	assert_int_equal(go(&s, 4), FG_RUNNER_REACHED);
	for (size_t i = 0; i < s.run.series[0].repetition_count; i++) {
		unsampled += !s.run.series[0].repetitions[i].sampled;
		if (!s.run.series[0].repetitions[i].sampled)
			assert_int_equal(s.run.series[0].repetitions[i].aside, FG_ASIDE_UNSAMPLED);
	}
	assert_int_equal(unsampled, 2);
	assert_int_equal(s.handed_over, 1 + 4 + 2);
	assert_false(isnan(s.run.series[0].sampler_cost));
	status = fg_fs_list(fg_scratch_path(&s.scratch, ".fastgate/traces"), &names, &count, NULL);
	assert_int_equal(status, FG_OK);
	assert_int_equal(count, 0); /* no trace is left */
	fg_fs_list_free(names, count);
	tear_down(&s);
}

FG_TEST(without_a_collector_it_is_measured_with_a_note)
{
	struct session s;

	set_up(&s, spin, NULL);
	s.benchmark.measure.sampler.enabled = true;
	s.options.collector = "/no/such/collector.so";
	assert_int_equal(go(&s, 2), FG_RUNNER_REACHED);
	assert_int_equal(s.notes, 1);
	assert_false(s.run.series[0].repetitions[0].sampled);
	tear_down(&s);
}

FG_TEST(cases_of_a_harness_become_series_and_are_resumed)
{
	struct session s;
	const struct fg_series *b = NULL;

	set_up(&s,
	       "echo '{\"benchmarks\": [{\"name\": \"A\", \"cpu_time\": 5, \"real_time\": 6}, "
	       "{\"name\": \"B\", \"cpu_time\": 7, \"real_time\": 8, \"hits\": 3}]}'",
	       "echo '{\"benchmarks\": [{\"name\": \"A\", \"cpu_time\": 4, \"real_time\": 6}]}'");
	s.benchmark.harness = FG_HARNESS_GOOGLE_BENCHMARK;
	s.benchmark.measure.schedule = FG_SCHEDULE_AUTO;
	assert_int_equal(go(&s, 2), FG_RUNNER_REACHED);
	assert_int_equal(s.run.series_count, 2);
	assert_string_equal(s.run.series[0].name, "bench/A");
	assert_int_equal(s.run.series[0].schedule, FG_SCHEDULE_ABBA);
	assert_int_equal(s.run.series[0].repetition_count, 2 + 8);
	b = fg_run_find(&s.run, "bench/B");
	assert_non_null(b);
	assert_int_equal(b->repetition_count, 1 + 4);
	assert_true(b->only_in[FG_ARM_CANDIDATE]);
	assert_int_equal(b->state, FG_MEASURED);
	assert_true(b->repetitions[0].values[FG_METRIC_CPU_TIME] == 7);
	assert_true(b->repetitions[0].values[fg_series_find_metric(b, "hits")] == 3);
	assert_true(isnan(b->repetitions[0].values[FG_METRIC_MAX_RSS]));
	assert_int_equal(go(&s, 3), FG_RUNNER_REACHED);
	assert_int_equal(s.run.series_count, 2);
	assert_int_equal(s.run.series[0].repetition_count, 2 + 8 + 2 + 4);
	tear_down(&s);
}

/*
 * Memory held before exec counts towards a process's peak: fastgate's own must not become the
 * benchmark's.
 */
FG_TEST(peak_memory_is_the_benchmarks_own)
{
	enum {
		OURS_BYTES = 200 << 20
	};
	static const double most_bytes = 8e6;
	char *ours = fg_xmalloc(OURS_BYTES);
	struct session s;

	memset(ours, 1, OURS_BYTES);
	set_up(&s, "head -c 3000000 /dev/zero | tail -c 1 > /dev/null", NULL);
	assert_int_equal(go(&s, 2), FG_RUNNER_REACHED);
	for (size_t i = 0; i < s.run.series[0].repetition_count; i++) {
		const double bytes = s.run.series[0].repetitions[i].values[FG_METRIC_MAX_RSS];

		if (!(bytes < most_bytes))
			fail_msg("%.0f bytes", bytes);
	}
	assert_int_equal(ours[OURS_BYTES - 1], 1);
	free(ours);
	tear_down(&s);
}

static int refuse(struct session *session, const struct fg_runner_event *event,
		  struct fg_error *err)
{
	(void)session;
	(void)event;
	return fg_error_set(err, FG_EDB, "disk full");
}

FG_TEST(measuring_can_stop_after_any_repetition)
{
	static char *cleanup[] = {"/bin/sh", "-c", "echo c >> log", NULL};
	enum fg_runner_state end = FG_RUNNER_FAILED;
	struct fg_error err = {0};
	struct session s;
	char *log = NULL;

	set_up(&s, "true", NULL);
	s.benchmark.cleanup = (struct fg_command){.text = "cleanup", .argv = cleanup, .argc = 3};
	s.take = refuse;
	assert_int_equal(fg_runner_create(&s.options, &s.runner, &err), FG_OK);
	assert_int_equal(fg_runner_start(s.runner, &s.benchmark, &s.job, &err), FG_OK);
	assert_int_equal(measure(&s, 1, &end, &err), FG_EDB);
	fg_runner_finish(s.job);
	fg_runner_free(s.runner);
	log = fg_scratch_read(&s.scratch, "log", NULL);
	assert_string_equal(log, "c\n");
	free(log);
	tear_down(&s);
}
