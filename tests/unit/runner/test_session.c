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
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static struct session {
	struct fg_scratch scratch;
	struct fg_run run;
	struct fg_benchmark benchmark;
	struct fg_runner *runner;
	struct fg_runner_job *job;
	struct fg_runner_options options;
	/* gets each repetition; a status other than FG_OK ends the session */
	int (*take)(const struct fg_runner_event *event, struct fg_error *err);
	volatile sig_atomic_t interrupted;
	unsigned handed_over;
	unsigned interrupt_after;
	unsigned notes;
	ino_t reread[8]; /* the files read from the disk again */
	size_t reread_count;
} s;

static int count(const struct fg_runner_event *event, struct fg_error *err)
{
	(void)err;
	assert_true(event->repetition < s.run.series[event->series].repetition_count);
	s.handed_over++;
	if (s.interrupt_after && s.handed_over >= s.interrupt_after)
		s.interrupted = 1;
	return FG_OK;
}

/* The eighth call after this one reuses the command's words. */
static struct fg_command shell(const char *text)
{
	static char *ring[8][4];
	static unsigned next;
	char **argv = ring[next++ % FG_ARRAY_SIZE(ring)];

	argv[0] = "/bin/sh";
	argv[1] = "-c";
	argv[2] = (char *)(uintptr_t)text;
	return (struct fg_command){.text = text, .argv = argv, .argc = 3};
}

static int tear_down(void **state)
{
	(void)state;
	fg_run_release(&s.run);
	free((void *)(uintptr_t)s.options.state_folder);
	fg_scratch_release(&s.scratch);
	s = (struct session){0};
	return 0;
}

static void given(const char *candidate, const char *baseline)
{
	(void)tear_down(NULL);
	s = (struct session){.benchmark = {.name = "bench", .timeout_ns = 20 * FG_NS_PER_S}};
	fg_scratch_init(&s.scratch);
	fg_run_init(&s.run);
	s.run.seed = 1;
	fg_measuring_defaults(&s.benchmark.measure);
	s.benchmark.measure.schedule = FG_SCHEDULE_ABBA;
	s.benchmark.measure.sampler.enabled = false;
	s.benchmark.command = shell(candidate);
	if (baseline)
		s.benchmark.baseline_command = shell(baseline);
	s.options = (struct fg_runner_options){
		.run = &s.run,
		.roots = {baseline ? s.scratch.path : NULL, s.scratch.path},
		.state_folder = fg_xstrdup(fg_scratch_path(&s.scratch, ".fastgate")),
		.host_root = s.scratch.path, /* empty: this host's stolen time sets no pair aside */
		.interrupted = &s.interrupted,
	};
	s.take = count;
}

static int measure(unsigned pairs, enum fg_runner_state *state, struct fg_error *err)
{
	struct fg_runner_event event;
	int status = FG_OK;

	do {
		status = fg_runner_next(s.job, pairs, state, &event, err);
		if (status == FG_OK && *state == FG_RUNNER_REPEATED)
			status = s.take(&event, err);
		if (*state == FG_RUNNER_NOTES) {
			assert_true(*event.note);
			s.notes++;
		}
	} while (status == FG_OK && !fg_runner_is_over(*state));
	return status;
}

static void start(void)
{
	struct fg_error err = {0};

	if (fg_runner_create(&s.options, &s.runner, &err) != FG_OK ||
	    fg_runner_start(s.runner, &s.benchmark, &s.job, &err) != FG_OK)
		fail_msg("%s", err.message);
}

static void finish(void)
{
	fg_runner_finish(s.job);
	fg_runner_free(s.runner);
}

static enum fg_runner_state go(unsigned pairs)
{
	enum fg_runner_state state = FG_RUNNER_FAILED;
	struct fg_error err = {0};

	start();
	if (measure(pairs, &state, &err) != FG_OK)
		fail_msg("%s", err.message);
	finish();
	return state;
}

/* Resumes an interrupted session. */
static void go_on(unsigned pairs)
{
	s.interrupt_after = 0;
	s.interrupted = 0;
	assert_int_equal(go(pairs), FG_RUNNER_REACHED);
}

static void check_log(const char *expected)
{
	char *log = fg_scratch_read(&s.scratch, "log", NULL);

	assert_string_equal(log, expected);
	free(log);
}

static const char spin[] = "i=0; while [ $i -lt 3000 ]; do i=$((i+1)); done";

FG_TEST_IN(abba_fills_blocks_of_four_with_values, NULL, tear_down)
{
	const struct fg_series *series = NULL;
	unsigned counting = 0;

	given(spin, spin);
	assert_int_equal(go(3), FG_RUNNER_REACHED);
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
}

FG_TEST_IN(duet_runs_both_at_once_on_one_cpu, NULL, tear_down)
{
	const struct fg_series *series = NULL;
	unsigned pairs = 0;
	unsigned solos = 0;

	given(spin, spin);
	s.benchmark.measure.schedule = FG_SCHEDULE_DUET;
	(void)go(4);
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
}

FG_TEST_IN(candidate_alone_is_measured_against_the_store, NULL, tear_down)
{
	given(spin, NULL);
	assert_int_equal(go(5), FG_RUNNER_REACHED);
	assert_int_equal(s.run.series[0].schedule, FG_SCHEDULE_STORED);
	assert_int_equal(s.run.series[0].repetition_count, 6);
}

FG_TEST_IN(auto_does_not_run_a_sleeper_as_a_duet, NULL, tear_down)
{
	given("sleep 0.05", "sleep 0.05");
	s.benchmark.measure.schedule = FG_SCHEDULE_AUTO;
	(void)go(1);
	assert_int_equal(s.run.series[0].schedule, FG_SCHEDULE_ABBA);
	assert_non_null(strstr(s.run.series[0].schedule_reason, "one CPU busy"));
}

FG_TEST_IN(a_resumed_duet_remembers_which_pairs_ran_apart, NULL, tear_down)
{
	static const uint16_t asides[] = {FG_ASIDE_GIVEN_UP, FG_ASIDE_OVERLAP, 0, FG_ASIDE_OVERLAP};
	struct fg_series *series = NULL;

	given(spin, spin);
	s.benchmark.measure.schedule = FG_SCHEDULE_AUTO;
	series = fg_run_add_series(&s.run, "bench");
	series->schedule = FG_SCHEDULE_DUET;
	for (uint32_t i = 0; i < 2 * FG_ARRAY_SIZE(asides); i++) {
		struct fg_repetition *repetition = fg_series_add_repetition(series);

		repetition->pair = i / 2;
		repetition->arm = i % 2;
		repetition->aside = asides[i / 2];
	}
	start();
	assert_int_equal(s.job->rules.schedule, FG_SCHEDULE_DUET);
	assert_int_equal(s.job->pairs, 4);
	assert_int_equal(s.job->given_up, 1);
	assert_int_equal(s.job->counting, 1);
	assert_int_equal(s.job->apart, 5);
	finish();
}

FG_TEST_IN(misbehaving_benchmarks_are_distinguished, NULL, tear_down)
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
		const struct fg_series *series = NULL;

		given(cases[i].command, "true");
		if (strstr(cases[i].command, "sleep"))
			s.benchmark.timeout_ns = 3 * FG_NS_PER_S;
		assert_int_equal(go(2), FG_RUNNER_FAILED);
		series = &s.run.series[0];
		assert_int_equal(series->state, FG_NOT_MEASURED);
		if (!strstr(series->failure, cases[i].words) ||
		    !strstr(series->failure, "candidate: "))
			fail_msg("'%s' does not say '%s'", series->failure, cases[i].words);
		if (!series->failure_tail || !strstr(series->failure_tail, cases[i].tail))
			fail_msg("'%s' does not show '%s'",
				 series->failure_tail ? series->failure_tail : "(nothing)",
				 cases[i].tail);
	}
}

static char *missing[] = {"./not-there", NULL};
static const struct fg_command not_there = {.text = "./not-there", .argv = missing, .argc = 1};

FG_TEST_IN(a_missing_program_is_named, NULL, tear_down)
{
	given(spin, NULL);
	s.benchmark.command = not_there;
	assert_int_equal(go(2), FG_RUNNER_FAILED);
	assert_non_null(strstr(s.run.series[0].failure, "./not-there"));
	assert_non_null(strstr(s.run.series[0].failure, "No such file"));
}

FG_TEST_IN(a_benchmark_that_only_the_candidate_has_is_measured_alone, NULL, tear_down)
{
	given(spin, spin);
	s.benchmark.baseline_command = not_there;
	assert_int_equal(go(2), FG_RUNNER_REACHED);
	assert_true(s.run.series[0].only_in[FG_ARM_CANDIDATE]);
	assert_int_equal(s.run.series[0].schedule, FG_SCHEDULE_STORED);
}

FG_TEST_IN(a_metric_that_is_not_printed_fails_the_benchmark, NULL, tear_down)
{
	static struct fg_user_metric metric = {
		.name = "rate", .regex = "rate: ([0-9.]+)", .unit = "1/s"};

	given("echo rate: 12; echo rate: 42", "echo none");
	s.benchmark.metrics = &metric;
	s.benchmark.metric_count = 1;
	assert_int_equal(go(1), FG_RUNNER_FAILED);
	assert_non_null(strstr(s.run.series[0].failure, "baseline: metric 'rate'"));

	given("echo rate: 12; echo rate: 42", "echo rate: 40");
	s.benchmark.metrics = &metric;
	s.benchmark.metric_count = 1;
	assert_int_equal(go(1), FG_RUNNER_REACHED);
	for (size_t i = 0; i < s.run.series[0].repetition_count; i++) {
		const struct fg_repetition *r = &s.run.series[0].repetitions[i];

		assert_true(r->values[FG_METRIC_BUILTIN_COUNT] ==
			    (r->arm == FG_ARM_CANDIDATE ? 42 : 40));
	}
}

FG_TEST_IN(endless_output_is_capped_and_does_not_hang, NULL, tear_down)
{
	given("head -c 20000000 /dev/zero | tr '\\0' x; echo end >&2; exit 1", NULL);
	assert_int_equal(go(1), FG_RUNNER_FAILED);
	assert_string_equal(s.run.series[0].failure_tail, "end");
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

FG_TEST_IN(daemons_are_ended_and_noted_once, NULL, tear_down)
{
	char command[128];
	char word[32];

	(void)snprintf(word, sizeof(word), "%d.25", 1000000 + (int)getpid());
	(void)snprintf(command, sizeof(command), "setsid -f sleep %s", word);
	given(command, NULL);
	assert_int_equal(go(3), FG_RUNNER_REACHED);
	assert_int_equal(s.notes, 1);
	assert_false(is_running(word));
}

FG_TEST_IN(interruption_keeps_measurements_and_leaves_no_process, NULL, tear_down)
{
	given(spin, spin);
	s.interrupt_after = 8;
	assert_int_equal(go(100), FG_RUNNER_INTERRUPTED);
	assert_int_equal(s.run.series[0].state, FG_INTERRUPTED);
	/* One warm-up each, a block of four, and half a block that does not count. */
	assert_int_equal(s.run.series[0].repetition_count, 8);
	for (size_t i = 2; i < 8; i++)
		assert_int_equal(s.run.series[0].repetitions[i].aside,
				 i < 6 ? 0 : FG_ASIDE_UNPAIRED);
}

/*
 * Before the next program starts, the previous repetition has been handed over: programs and
 * hand-overs write to the same log.
 */
static int write_log(const struct fg_runner_event *event, struct fg_error *err)
{
	const struct fg_series *done = &s.run.series[event->series];
	const size_t repetition = event->repetition;
	const struct fg_repetition *r = &done->repetitions[repetition];
	const bool is_last = r->position == 3;
	FILE *log = fopen(fg_scratch_path(&s.scratch, "log"), "a");

	(void)err;
	assert_non_null(log);
	(void)fputs("given ", log);
	(void)fclose(log);
	assert_int_equal(repetition + 1, done->repetition_count);
	for (size_t i = repetition - r->position; i <= repetition; i++)
		assert_int_equal(done->repetitions[i].aside, is_last ? 0 : FG_ASIDE_UNPAIRED);
	return FG_OK;
}

FG_TEST_IN(every_repetition_is_handed_over_before_the_next_program_starts, NULL, tear_down)
{
	static const char program[] = "printf 'ran ' >> log";

	given(program, program);
	s.benchmark.measure.warmup = 0;
	s.benchmark.cleanup = shell("printf 'cleaned '>> log");
	s.take = write_log;
	assert_int_equal(go(1), FG_RUNNER_REACHED);
	check_log("ran given cleaned ran given cleaned ran given cleaned ran given cleaned ");
}

FG_TEST_IN(a_block_with_much_stolen_time_is_set_aside_and_measured_anew, NULL, tear_down)
{
	static const char steal[] = "echo 'cpu 0 0 0 10 0 0 0 90' > proc/stat";
	const struct fg_series *series = NULL;

	given(steal, steal);
	s.benchmark.measure.warmup = 0;
	assert_int_equal(mkdir(fg_scratch_path(&s.scratch, "proc"), 0700), 0);
	fg_scratch_write_text(&s.scratch, "proc/stat", "cpu 0 0 0 1 0 0 0 0\n");
	assert_int_equal(go(1), FG_RUNNER_REACHED);
	series = &s.run.series[0];
	assert_int_equal(series->repetition_count, 8);
	assert_true(series->repetitions[0].steal > 0.9F);
	for (size_t i = 0; i < 8; i++)
		assert_int_equal(series->repetitions[i].aside, i < 4 ? FG_ASIDE_STEAL : 0);
}

FG_TEST_IN(half_a_block_is_kept_and_measured_anew, NULL, tear_down)
{
	const struct fg_series *series = NULL;

	given(spin, spin);
	s.benchmark.measure.warmup = 0;
	s.interrupt_after = 3;
	assert_int_equal(go(1), FG_RUNNER_INTERRUPTED);
	go_on(1);
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
}

FG_TEST_IN(an_interrupted_series_is_resumed_in_the_same_order, NULL, tear_down)
{
	struct fg_run whole;

	given(spin, spin);
	s.benchmark.measure.warmup = 0;
	assert_int_equal(go(6), FG_RUNNER_REACHED);
	whole = s.run;
	fg_run_init(&s.run);
	given(spin, spin);
	s.benchmark.measure.warmup = 0;
	s.interrupt_after = 8;
	assert_int_equal(go(6), FG_RUNNER_INTERRUPTED);
	assert_int_equal(s.run.series[0].repetition_count, 8);
	go_on(6);
	assert_int_equal(s.run.series_count, 1);
	assert_int_equal(s.run.series[0].repetition_count, whole.series[0].repetition_count);
	for (size_t i = 0; i < whole.series[0].repetition_count; i++) {
		const struct fg_repetition *a = &whole.series[0].repetitions[i];
		const struct fg_repetition *b = &s.run.series[0].repetitions[i];

		assert_int_equal(a->pair, b->pair);
		assert_int_equal(a->arm, b->arm);
		assert_int_equal(a->padding, b->padding);
	}
	fg_run_release(&whole);
}

FG_TEST_IN(setup_prepare_and_cleanup_run_as_often_as_they_should, NULL, tear_down)
{
	given("echo b >> log", NULL);
	s.benchmark.measure.warmup = 0;
	s.benchmark.setup = shell("echo s >> log");
	s.benchmark.prepare = shell("echo p >> log");
	s.benchmark.cleanup = shell("echo c >> log");
	assert_int_equal(go(2), FG_RUNNER_REACHED);
	check_log("s\np\nb\nc\np\nb\nc\n");
}

FG_TEST_IN(a_failing_setup_is_the_benchmarks_failure, NULL, tear_down)
{
	given(spin, NULL);
	s.benchmark.setup = shell("echo no data >&2; exit 4");
	assert_int_equal(go(2), FG_RUNNER_FAILED);
	assert_non_null(strstr(s.run.series[0].failure,
			       "setup 'echo no data >&2; exit 4' exited with code 4"));
	assert_string_equal(s.run.series[0].failure_tail, "no data");
}

FG_TEST_IN(environment_stdin_and_folder_reach_the_program, NULL, tear_down)
{
	static struct fg_variable variables[] = {{"COLOUR", "green"}};
	static struct fg_user_metric metric = {.name = "m", .regex = "value ([0-9]+)"};
	int status = 0;

	given("test \"$COLOUR\" = green && test $(basename $PWD) = sub && cat", NULL);
	status = fg_fs_make_folders(fg_scratch_path(&s.scratch, "sub"), 0777, NULL);
	assert_int_equal(status, FG_OK);
	fg_scratch_write_text(&s.scratch, "sub/input.txt", "value 17\n");
	s.benchmark.environment = variables;
	s.benchmark.environment_count = 1;
	s.benchmark.working_directory = "sub";
	s.benchmark.stdin_path = "input.txt";
	s.benchmark.metrics = &metric;
	s.benchmark.metric_count = 1;
	assert_int_equal(go(1), FG_RUNNER_REACHED);
	assert_true(s.run.series[0].repetitions[0].values[FG_METRIC_BUILTIN_COUNT] == 17);
}

/* Measures a program that prints the inode of its standard input; do both arms have the same? */
static bool have_one_input(const char *baseline, const char *candidate, const char *prepare)
{
	static struct fg_user_metric metric = {.name = "inode", .regex = "inode ([0-9]+)"};
	const char *const texts[] = {baseline, candidate};
	static const char *const folders[] = {"old", "new"};
	const struct fg_repetition *r = NULL;

	given("stat -L -c 'inode %i' /dev/stdin", "stat -L -c 'inode %i' /dev/stdin");
	for (size_t arm = 0; arm < FG_ARM_COUNT; arm++) {
		const char *folder = fg_scratch_path(&s.scratch, folders[arm]);

		assert_int_equal(fg_fs_make_folders(folder, 0777, NULL), FG_OK);
		s.options.roots[arm] = fg_xstrdup(folder);
		fg_scratch_write_text(&s.scratch, arm ? "new/input" : "old/input", texts[arm]);
	}
	s.benchmark.stdin_path = "input";
	s.benchmark.metrics = &metric;
	s.benchmark.metric_count = 1;
	if (prepare)
		s.benchmark.prepare = shell(prepare);
	assert_int_equal(go(1), FG_RUNNER_REACHED);
	r = s.run.series[0].repetitions;
	for (size_t arm = 0; arm < FG_ARM_COUNT; arm++)
		free((void *)(uintptr_t)s.options.roots[arm]);
	return r[0].arm != r[1].arm &&
	       r[0].values[FG_METRIC_BUILTIN_COUNT] == r[1].values[FG_METRIC_BUILTIN_COUNT];
}

FG_TEST_IN(both_arms_read_one_file_if_theirs_are_equal, NULL, tear_down)
{
	assert_true(have_one_input("text", "text", NULL));
	assert_false(have_one_input("text", "other text", NULL));
	assert_false(have_one_input("text", "text", "true"));
}

/* Called instead of the C library's function. */
int posix_fadvise(int fd, off_t offset, off_t len, int advise)
{
	struct stat info;

	assert_int_equal(offset, 0);
	assert_int_equal(len, 0);
	assert_int_equal(advise, POSIX_FADV_DONTNEED);
	assert_int_equal(fstat(fd, &info), 0);
	assert_true(s.reread_count < FG_ARRAY_SIZE(s.reread));
	s.reread[s.reread_count++] = info.st_ino;
	return 0;
}

static bool is_reread(const char *path)
{
	struct stat info;
	bool found = false;

	assert_int_equal(stat(path, &info), 0);
	for (size_t i = 0; i < s.reread_count; i++)
		found |= s.reread[i] == info.st_ino;
	return found;
}

FG_TEST_IN(the_program_and_named_inputs_are_read_from_the_disk_again, NULL, tear_down)
{
	static char words[][16] = {"./prog", "one", "--list=two", "/etc/passwd", "missing"};
	static char *argv[FG_ARRAY_SIZE(words) + 1];

	for (size_t i = 0; i < FG_ARRAY_SIZE(words); i++)
		argv[i] = words[i];
	given("", NULL);
	s.benchmark.command =
		(struct fg_command){.text = "", .argv = argv, .argc = FG_ARRAY_SIZE(words)};
	fg_scratch_write_text(&s.scratch, "prog", "#!/bin/sh\n");
	assert_int_equal(chmod(fg_scratch_path(&s.scratch, "prog"), 0700), 0);
	fg_scratch_write_text(&s.scratch, "one", "1");
	fg_scratch_write_text(&s.scratch, "two", "2");
	assert_int_equal(go(1), FG_RUNNER_REACHED);
	assert_int_equal(s.reread_count, 3);
	assert_true(is_reread(fg_scratch_path(&s.scratch, "prog")));
	assert_true(is_reread(fg_scratch_path(&s.scratch, "one")));
	assert_true(is_reread(fg_scratch_path(&s.scratch, "two")));
}

/* A sampled repetition comes with a folder to which the program could write. */
static int look_at_trace(const struct fg_runner_event *event, struct fg_error *err)
{
	const struct fg_repetition *r = &s.run.series[event->series].repetitions[event->repetition];

	(void)err;
	assert_int_equal(r->sampled, event->trace_folder != NULL);
	assert_int_equal(r->sampled, r->period_ns != 0);
	if (event->trace_folder) {
		char *file = fg_fs_join(event->trace_folder, "trace");

		s.handed_over++;
		assert_true(fg_fs_exists(file));
		free(file);
	}
	return FG_OK;
}

FG_TEST_IN(sampled_repetitions_have_traces_and_some_go_without, NULL, tear_down)
{
	Dl_info library;
	unsigned unsampled = 0;
	char **names = NULL;
	size_t count = 0;
	int status = FG_OK;

	/* Any library can be preloaded; the program stands in for the collector. */
	assert_true(dladdr((void *)(uintptr_t)&qsort, &library) != 0);
	given("if [ \"$FASTGATE_COLLECTOR_OUTPUT\" ]; then echo x > "
	      "$FASTGATE_COLLECTOR_OUTPUT/trace; fi",
	      NULL);
	s.benchmark.measure.sampler.enabled = true;
	s.benchmark.measure.sampler.unsampled_share = 0.5;
	s.options.collector = library.dli_fname;
	s.take = look_at_trace;
	assert_int_equal(go(4), FG_RUNNER_REACHED);
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
}

FG_TEST_IN(without_a_collector_it_is_measured_with_a_note, NULL, tear_down)
{
	given(spin, NULL);
	s.benchmark.measure.sampler.enabled = true;
	s.options.collector = "/no/such/collector.so";
	assert_int_equal(go(2), FG_RUNNER_REACHED);
	assert_int_equal(s.notes, 1);
	assert_false(s.run.series[0].repetitions[0].sampled);
}

FG_TEST_IN(cases_of_a_harness_become_series_and_are_resumed, NULL, tear_down)
{
	const struct fg_series *b = NULL;

	given("echo '{\"benchmarks\": [{\"name\": \"A\", \"cpu_time\": 5, \"real_time\": 6}, "
	      "{\"name\": \"B\", \"cpu_time\": 7, \"real_time\": 8, \"hits\": 3}]}'",
	      "echo '{\"benchmarks\": [{\"name\": \"A\", \"cpu_time\": 4, \"real_time\": 6}]}'");
	s.benchmark.harness = FG_HARNESS_GOOGLE_BENCHMARK;
	s.benchmark.measure.schedule = FG_SCHEDULE_AUTO;
	assert_int_equal(go(2), FG_RUNNER_REACHED);
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
	assert_int_equal(go(3), FG_RUNNER_REACHED);
	assert_int_equal(s.run.series_count, 2);
	assert_int_equal(s.run.series[0].repetition_count, 2 + 8 + 2 + 4);
}

/*
 * Memory held before exec counts towards a process's peak: fastgate's own must not become the
 * benchmark's.
 */
FG_TEST_IN(peak_memory_is_the_benchmarks_own, NULL, tear_down)
{
	enum {
		OURS_BYTES = 200 << 20
	};
	static const double most_bytes = 8e6;
	char *ours = fg_xmalloc(OURS_BYTES);

	memset(ours, 1, OURS_BYTES);
	given("head -c 3000000 /dev/zero | tail -c 1 > /dev/null", NULL);
	assert_int_equal(go(2), FG_RUNNER_REACHED);
	for (size_t i = 0; i < s.run.series[0].repetition_count; i++) {
		const double bytes = s.run.series[0].repetitions[i].values[FG_METRIC_MAX_RSS];

		if (!(bytes < most_bytes))
			fail_msg("%.0f bytes", bytes);
	}
	assert_int_equal(ours[OURS_BYTES - 1], 1);
	free(ours);
}

static int refuse(const struct fg_runner_event *event, struct fg_error *err)
{
	(void)event;
	return fg_error_set(err, FG_EDB, "disk full");
}

FG_TEST_IN(measuring_can_stop_after_any_repetition, NULL, tear_down)
{
	enum fg_runner_state end = FG_RUNNER_FAILED;
	struct fg_error err = {0};

	given("true", NULL);
	s.benchmark.cleanup = shell("echo c >> log");
	s.take = refuse;
	start();
	assert_int_equal(measure(1, &end, &err), FG_EDB);
	finish();
	check_log("c\n");
}
