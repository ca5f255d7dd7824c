// SPDX-License-Identifier: Apache-2.0
/*
 * A session's decisions without a machine: the linker substitutes a scripted clock and executor for
 * the real ones, and each program takes as long as its script says. The choice of schedule, giving
 * it up, limits, budgets and progress are exact to the repetition.
 */
#include "base/clock.h"
#include "base/random.h"
#include "runner/job.h"
#include "runner/runner.h"
#include "tests/support/fg_test.h"
#include "tests/support/scratch.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
	REASON_MAX = 150, /* columns */
};

/* The programs of one test. */
struct script {
	double seconds[FG_ARM_COUNT]; /* CPU time, without scatter */
	double duet_scatter;          /* scatter of ln(candidate / baseline) in a pair */
	double abba_scatter;          /* scatter of ln(time) of a program that runs alone */
	double idle;                  /* share of the time that a program alone sleeps */
	unsigned threads;             /* threads that a program alone keeps busy; 0: one */
	unsigned together;            /* number of measured duet pairs that overlap, at first */
	unsigned apart;               /* number of pairs after `together` that do not overlap */
	bool trial_apart;             /* no pair of the trial overlaps */
	bool stolen;                  /* the hypervisor takes two thirds of the measured time */
};

static struct {
	struct script script;
	struct fg_random random;
	int64_t now_ns;
	unsigned duets; /* measured duets, without the trial */
} world;

/* The linker requires these names. NOLINTBEGIN(bugprone-reserved-identifier) */
int64_t __wrap_fg_clock_monotonic_ns(void);
int __wrap_fg_execute_step(struct fg_executor *executor, const struct fg_block *block, size_t first,
			   struct fg_execution *executions, struct fg_failure *failure,
			   struct fg_error *err);
int __wrap_fg_execute_block(struct fg_executor *executor, const struct fg_block *block,
			    struct fg_execution *executions, struct fg_failure *failure,
			    struct fg_error *err);
/* NOLINTEND(bugprone-reserved-identifier) */

int64_t __wrap_fg_clock_monotonic_ns(void)
{
	return world.now_ns;
}

static bool overlaps(const struct fg_block *block)
{
	if (block->aside & FG_ASIDE_TRIAL)
		return !world.script.trial_apart;
	world.duets++;
	return world.duets <= world.script.together ||
	       world.duets > world.script.together + world.script.apart;
}

/* One program ran from `started_ns` to `ended_ns`, and used a CPU for `cpu_ns` of that. */
static void fill(struct fg_execution *execution, int64_t started_ns, int64_t ended_ns,
		 int64_t cpu_ns)
{
	struct fg_process_result *result = &execution->result;
	const uint64_t ticks = (uint64_t)((ended_ns - started_ns) / (10 * FG_NS_PER_MS));

	result->exited = true;
	result->started_ns = started_ns;
	result->ended_ns = ended_ns;
	result->wall_ns = ended_ns - started_ns;
	result->leader_cpu_ns = cpu_ns;
	result->usage.ru_utime.tv_sec = cpu_ns / FG_NS_PER_S;
	result->usage.ru_utime.tv_usec = cpu_ns % FG_NS_PER_S / FG_NS_PER_US;
	execution->user_values = fg_xcalloc(1, sizeof(double));
	execution->before.all_ticks = 1000;
	execution->after.all_ticks = 1000 + ticks;
	execution->after.stolen_ticks = world.script.stolen ? ticks * 2 / 3 : 0;
}

static int64_t draw_ns(enum fg_arm arm, double scatter)
{
	const double seconds =
		world.script.seconds[arm] * exp(scatter * fg_random_normal(&world.random));

	return (int64_t)(seconds * (double)FG_NS_PER_S);
}

static void run_duet(const struct fg_block *block, struct fg_execution *executions)
{
	const int64_t cpu_ns[2] = {
		draw_ns(block->slots[0].arm, world.script.duet_scatter),
		draw_ns(block->slots[1].arm, 0),
	};
	const int64_t start_ns = world.now_ns;
	const int64_t end_ns = start_ns + cpu_ns[0] + cpu_ns[1];

	if (overlaps(block)) {
		/* Each program gets half of the CPU until the shorter one has ended. */
		const size_t shorter = cpu_ns[1] < cpu_ns[0];

		fill(&executions[shorter], start_ns, start_ns + 2 * cpu_ns[shorter],
		     cpu_ns[shorter]);
		fill(&executions[!shorter], start_ns, end_ns, cpu_ns[!shorter]);
	} else {
		fill(&executions[0], start_ns, start_ns + cpu_ns[0], cpu_ns[0]);
		fill(&executions[1], start_ns + cpu_ns[0], end_ns, cpu_ns[1]);
	}
	world.now_ns = end_ns;
}

static void run_alone(enum fg_arm arm, struct fg_execution *execution)
{
	const int64_t cpu_ns = draw_ns(arm, world.script.abba_scatter);
	const int64_t start_ns = world.now_ns;
	const int64_t of_thread_ns = cpu_ns / (world.script.threads ? world.script.threads : 1);

	world.now_ns += (int64_t)((double)of_thread_ns / (1 - world.script.idle));
	fill(execution, start_ns, world.now_ns, cpu_ns);
	execution->result.leader_cpu_ns = of_thread_ns;
}

int __wrap_fg_execute_step(struct fg_executor *executor, const struct fg_block *block, size_t first,
			   struct fg_execution *executions, struct fg_failure *failure,
			   struct fg_error *err)
{
	(void)executor;
	(void)failure;
	(void)err;
	if (block->concurrent)
		run_duet(block, executions);
	else
		run_alone(block->slots[first].arm, &executions[first]);
	return FG_OK;
}

/* Replaces the executor of blocks, which tries the layouts. */
int __wrap_fg_execute_block(struct fg_executor *executor, const struct fg_block *block,
			    struct fg_execution *executions, struct fg_failure *failure,
			    struct fg_error *err)
{
	for (size_t first = 0; first < block->count; first += fg_block_step(block))
		(void)__wrap_fg_execute_step(executor, block, first, executions, failure, err);
	return FG_OK;
}

/* ---- a session in the scripted world ---- */

static struct session {
	struct fg_scratch scratch;
	struct fg_run run;
	struct fg_benchmark benchmark;
	struct fg_runner_options options;
	struct fg_runner *runner;
	struct fg_runner_job *job;
	char *state_folder;
	char *note;
	unsigned given_up;
	struct fg_runner_progress progress[256];
	size_t progress_count;
} s;

/* Two programs on a quiet machine; tests change world.script. */
static int set_up(void **state)
{
	static char *words[] = {"/bin/sh", NULL};
	static const struct fg_command command = {.text = "sh", .argv = words, .argc = 1};

	(void)state;
	world.script = (struct script){
		.seconds = {0.5, 0.5},
		.duet_scatter = 0.01,
		.abba_scatter = 0.01,
		.together = 1000,
	};
	world.now_ns = FG_NS_PER_S;
	world.duets = 0;
	fg_random_seed(&world.random, 17);
	s = (struct session){
		.benchmark = {.name = "bench", .command = command, .baseline_command = command}};
	fg_scratch_init(&s.scratch);
	fg_run_init(&s.run);
	s.run.seed = 1;
	fg_measuring_defaults(&s.benchmark.measure);
	s.benchmark.measure.sampler.enabled = false;
	s.state_folder = fg_xstrdup(fg_scratch_path(&s.scratch, ".fastgate"));
	s.options = (struct fg_runner_options){
		.run = &s.run,
		.roots = {s.scratch.path, s.scratch.path},
		.state_folder = s.state_folder,
		.host_root = s.scratch.path,
	};
	return 0;
}

static void finish(void)
{
	if (s.job)
		fg_runner_finish(s.job);
	fg_runner_free(s.runner);
}

static int tear_down(void **state)
{
	(void)state;
	finish();
	free(s.note);
	free(s.state_folder);
	fg_run_release(&s.run);
	fg_scratch_release(&s.scratch);
	return 0;
}

static void set_up_again(void)
{
	(void)tear_down(NULL);
	(void)set_up(NULL);
}

static void keep_progress(void)
{
	struct fg_runner_progress progress;

	fg_runner_progress_of(s.job, &progress);
	if (progress.phase == FG_RUNNER_MEASURE && s.progress_count < FG_ARRAY_SIZE(s.progress))
		s.progress[s.progress_count++] = progress;
}

static enum fg_runner_state measure(unsigned pairs)
{
	enum fg_runner_state state = FG_RUNNER_FAILED;
	struct fg_runner_event event;
	struct fg_error err = {0};

	do {
		if (fg_runner_next(s.job, pairs, &state, &event, &err) != FG_OK)
			fail_msg("%s", err.message);
		s.given_up += state == FG_RUNNER_RESTARTED;
		if (state == FG_RUNNER_NOTES) {
			free(s.note);
			s.note = fg_xstrdup(event.note);
		} else if (state != FG_RUNNER_REPEATED) {
			keep_progress();
		}
	} while (!fg_runner_is_over(state));
	return state;
}

/* Starts the session, up to the first pair. */
static void start(enum fg_schedule schedule)
{
	struct fg_error err = {0};

	s.benchmark.measure.schedule = schedule;
	if (fg_runner_create(&s.options, &s.runner, &err) != FG_OK ||
	    fg_runner_start(s.runner, &s.benchmark, &s.job, &err) != FG_OK)
		fail_msg("%s", err.message);
	(void)measure(0);
	s.progress_count = 0;
}

static const struct fg_series *series(void)
{
	return &s.run.series[0];
}

/* Counts pairs, by their first repetition, with exactly these reasons to be set aside. */
static unsigned count_pairs(uint16_t aside)
{
	unsigned count = 0;

	for (size_t i = 0; i < series()->repetition_count; i++)
		count += series()->repetitions[i].position == 0 &&
			 series()->repetitions[i].aside == aside;
	return count;
}

/* ---- the choice ---- */

FG_TEST_IN(a_quiet_machine_gets_the_duet_after_three_rounds, set_up, tear_down)
{
	start(FG_SCHEDULE_AUTO);
	assert_int_equal(series()->schedule, FG_SCHEDULE_DUET);
	assert_int_equal(strncmp(series()->schedule_reason, "duet decides faster here: ", 26), 0);
	assert_non_null(strstr(series()->schedule_reason, "3 pairs of each were tried"));
	assert_int_equal(count_pairs(FG_ASIDE_TRIAL), 3 + 3);
}

FG_TEST_IN(a_duet_that_scatters_much_more_loses, set_up, tear_down)
{
	world.script.duet_scatter = 0.3;
	start(FG_SCHEDULE_AUTO);
	assert_int_equal(series()->schedule, FG_SCHEDULE_ABBA);
	assert_int_equal(strncmp(series()->schedule_reason, "abba decides faster here: ", 26), 0);
}

FG_TEST_IN(programs_that_never_overlap_cannot_run_as_a_duet, set_up, tear_down)
{
	world.script.trial_apart = true;
	start(FG_SCHEDULE_AUTO);
	assert_int_equal(series()->schedule, FG_SCHEDULE_ABBA);
	assert_non_null(strstr(series()->schedule_reason, "do not run at the same time"));
	assert_non_null(strstr(series()->schedule_reason, ": make the benchmark repeat"));
}

FG_TEST_IN(a_program_that_sleeps_cannot_run_as_a_duet, set_up, tear_down)
{
	world.script.idle = 0.25;
	start(FG_SCHEDULE_AUTO);
	assert_int_equal(series()->schedule, FG_SCHEDULE_ABBA);
	assert_non_null(strstr(series()->schedule_reason, "does so for 75 % of its time"));
	assert_non_null(strstr(series()->schedule_reason, ": make it wait less"));
	assert_int_equal(count_pairs(FG_ASIDE_TRIAL), 0);
}

/* Expects ABBA, and one complete line with the reason and, after the colon, the remedy. */
static void check_refusal(const char *why, const char *what_to_do)
{
	const char *reason = series()->schedule_reason;
	const char *found = strstr(reason, what_to_do);

	assert_int_equal(series()->schedule, FG_SCHEDULE_ABBA);
	if (!strstr(reason, why) || !found || found < strstr(reason, why) ||
	    strlen(reason) > REASON_MAX || strchr(reason, '\n'))
		fail_msg("%s", reason);
	assert_int_equal(count_pairs(FG_ASIDE_TRIAL), 0);
}

FG_TEST_IN(a_refused_duet_is_reported_with_its_remedy, set_up, tear_down)
{
	struct fg_user_metric metric = {
		.name = "rate", .unit = "1/s", .regex = "(.*)", .file = "rate.txt"};
	struct fg_error err = {0};

	world.script.threads = 2;
	start(FG_SCHEDULE_AUTO);
	check_refusal("uses several threads or processes at once", ": limit it to one");
	set_up_again();
	s.benchmark.metrics = &metric;
	s.benchmark.metric_count = 1;
	start(FG_SCHEDULE_AUTO);
	check_refusal("write their metrics to the same file", ": give each its own file");
	set_up_again();
	s.benchmark.harness = FG_HARNESS_GOOGLE_BENCHMARK;
	start(FG_SCHEDULE_AUTO);
	check_refusal("a harness decides how long it runs", ": give one case its own command");
	set_up_again();
	s.benchmark.measure.schedule = FG_SCHEDULE_AUTO;
	assert_int_equal(fg_runner_create(&s.options, &s.runner, &err), FG_OK);
	s.runner->cpu_count = 0;
	assert_int_equal(fg_runner_start(s.runner, &s.benchmark, &s.job, &err), FG_OK);
	(void)measure(0);
	check_refusal("cannot be pinned to a CPU here", ": allow sched_setaffinity");
}

FG_TEST_IN(a_trial_that_the_budget_cannot_pay_is_left_out, set_up, tear_down)
{
	/* Three rounds of four executions of half a second are 15 % of 40 s. */
	s.benchmark.measure.budget_ns = 39 * FG_NS_PER_S;
	start(FG_SCHEDULE_AUTO);
	assert_int_equal(series()->schedule, FG_SCHEDULE_DUET);
	assert_non_null(strstr(series()->schedule_reason, "too much of the budget"));
	assert_int_equal(count_pairs(FG_ASIDE_TRIAL), 0);
}

/* ---- giving it up ---- */

FG_TEST_IN(a_duet_that_falls_apart_is_given_up_for_blocks, set_up, tear_down)
{
	world.script.together = 5;
	world.script.apart = 1000;
	start(FG_SCHEDULE_AUTO);
	assert_int_equal(series()->schedule, FG_SCHEDULE_DUET);
	assert_int_equal(measure(10), FG_RUNNER_RESTARTED);
	assert_int_equal(series()->schedule, FG_SCHEDULE_ABBA);
	assert_int_equal(s.given_up, 1);
	assert_string_equal(
		s.note,
		"in 12 of the last 16 pairs the two programs ran together for less than 80 % of "
		"their time or left processes running, so they now run one after the other (the "
		"pairs so far are set aside); for a duet, make the benchmark repeat its work and "
		"wait for its processes");
	assert_string_equal(series()->schedule_reason, s.note);
	assert_int_equal(count_pairs(FG_ASIDE_GIVEN_UP), 5);
	assert_int_equal(count_pairs(FG_ASIDE_GIVEN_UP | FG_ASIDE_OVERLAP), 12);
	assert_int_equal(count_pairs(FG_ASIDE_TRIAL), 3 + 3);
	assert_int_equal(measure(10), FG_RUNNER_REACHED);
	assert_int_equal(count_pairs(0), 10);
	assert_int_equal(s.given_up, 1);
}

/* The short program is never alone; the long one continues alone. */
FG_TEST_IN(a_duet_with_a_program_that_became_much_slower_counts, set_up, tear_down)
{
	world.script.seconds[FG_ARM_CANDIDATE] = 5;
	start(FG_SCHEDULE_DUET);
	assert_int_equal(measure(10), FG_RUNNER_REACHED);
	assert_int_equal(count_pairs(0), 10);
	assert_int_equal(count_pairs(FG_ASIDE_OVERLAP), 0);
}

FG_TEST_IN(a_useless_duet_is_given_up_after_four_pairs, set_up, tear_down)
{
	world.script.together = 0;
	world.script.apart = 1000;
	start(FG_SCHEDULE_AUTO);
	assert_int_equal(measure(10), FG_RUNNER_RESTARTED);
	assert_int_equal(count_pairs(FG_ASIDE_GIVEN_UP | FG_ASIDE_OVERLAP), 4);
	assert_non_null(strstr(s.note, "in 4 of the last 4 pairs"));
}

FG_TEST_IN(eleven_pairs_apart_of_sixteen_are_endured, set_up, tear_down)
{
	world.script.together = 5;
	world.script.apart = 11;
	start(FG_SCHEDULE_AUTO);
	assert_int_equal(measure(10), FG_RUNNER_REACHED);
	assert_int_equal(series()->schedule, FG_SCHEDULE_DUET);
	assert_int_equal(count_pairs(FG_ASIDE_OVERLAP), 11);
	assert_int_equal(s.given_up, 0);
}

FG_TEST_IN(a_duet_that_the_user_chose_is_kept, set_up, tear_down)
{
	world.script.together = 0;
	world.script.apart = 40;
	start(FG_SCHEDULE_DUET);
	assert_int_equal(measure(2), FG_RUNNER_REACHED);
	assert_int_equal(count_pairs(FG_ASIDE_OVERLAP), 40);
	assert_int_equal(s.given_up, 0);
}

FG_TEST_IN(without_time_for_blocks_a_poor_duet_continues, set_up, tear_down)
{
	world.script.together = 5;
	world.script.apart = 1000;
	/* 17 pairs of a second fit into the budget, but ten blocks of two seconds no longer do. */
	s.benchmark.measure.budget_ns = 42 * FG_NS_PER_S;
	start(FG_SCHEDULE_AUTO);
	assert_int_equal(measure(10), FG_RUNNER_EXHAUSTED);
	assert_int_equal(series()->schedule, FG_SCHEDULE_DUET);
	assert_int_equal(count_pairs(0), 5);
}

/* Resumes a run that was killed during ABBA from the stored part. */
FG_TEST_IN(a_schedule_that_was_given_up_stays_so_when_resumed, set_up, tear_down)
{
	world.script.together = 5;
	world.script.apart = 1000;
	start(FG_SCHEDULE_AUTO);
	assert_int_equal(measure(10), FG_RUNNER_RESTARTED);
	assert_int_equal(measure(4), FG_RUNNER_REACHED);
	finish();
	start(FG_SCHEDULE_AUTO);
	assert_int_equal(series()->schedule, FG_SCHEDULE_ABBA);
	assert_int_equal(measure(10), FG_RUNNER_REACHED);
	assert_int_equal(count_pairs(0), 10);
	assert_int_equal(count_pairs(FG_ASIDE_GIVEN_UP | FG_ASIDE_OVERLAP), 12);
	assert_int_equal(s.given_up, 1);
}

FG_TEST_IN(programs_that_cannot_be_linked_again_are_measured_as_linked, set_up, tear_down)
{
	struct fg_error err = {0};

	start(FG_SCHEDULE_ABBA);
	assert_int_equal(fg_runner_begin_in_layouts(s.job, true, &err), FG_EUNSUPPORTED);
	assert_non_null(strstr(err.message, "only builds made by fastgate"));
	assert_null(series()->as_linked_metric);
	assert_int_equal(measure(10), FG_RUNNER_REACHED);
	assert_int_equal(count_pairs(0), 10);
	finish();
	/* A session that continues a run keeps its schedule. */
	start(FG_SCHEDULE_ABBA);
	assert_int_equal(fg_runner_begin_in_layouts(s.job, true, &err), FG_EUNSUPPORTED);
	assert_non_null(strstr(err.message, "used the default layout"));
}

FG_TEST_IN(cases_of_a_harness_do_not_begin_in_layouts, set_up, tear_down)
{
	struct fg_error err = {0};

	s.benchmark.harness = FG_HARNESS_GOOGLE_BENCHMARK;
	start(FG_SCHEDULE_ABBA);
	assert_int_equal(fg_runner_begin_in_layouts(s.job, true, &err), FG_EUNSUPPORTED);
	assert_non_null(strstr(err.message, "cases of a harness"));
}

/* ---- limits ---- */

FG_TEST_IN(the_budget_ends_before_the_pair_that_would_exceed_it, set_up, tear_down)
{
	static const struct {
		int64_t budget_ns;
		unsigned blocks;
	} rows[] = {
		/* The warm-up takes one second, a block two. */
		{.budget_ns = 7 * FG_NS_PER_S, .blocks = 3},
		{.budget_ns = 7 * FG_NS_PER_S - 1, .blocks = 2},
		{.budget_ns = FG_NS_PER_MS, .blocks = 1},
	};

	for (size_t i = 0; i < FG_ARRAY_SIZE(rows); i++) {
		set_up_again();
		world.script.abba_scatter = 0;
		s.benchmark.measure.budget_ns = rows[i].budget_ns;
		start(FG_SCHEDULE_ABBA);
		assert_int_equal(measure(80), FG_RUNNER_EXHAUSTED);
		assert_int_equal(count_pairs(0), rows[i].blocks);
	}
}

FG_TEST_IN(a_budget_that_was_exceeded_ends_nothing_but_max_pairs_does, set_up, tear_down)
{
	world.script.abba_scatter = 0;
	s.benchmark.measure.budget_ns = 7 * FG_NS_PER_S;
	s.benchmark.measure.max_pairs = 20;
	start(FG_SCHEDULE_ABBA);
	assert_int_equal(measure(80), FG_RUNNER_EXHAUSTED);
	fg_runner_exceed_budget(s.job);
	assert_int_equal(measure(10), FG_RUNNER_REACHED);
	assert_int_equal(count_pairs(0), 10);
	assert_int_equal(measure(80), FG_RUNNER_EXHAUSTED);
	assert_int_equal(count_pairs(0), 20);
}

FG_TEST_IN(pairs_that_never_count_are_tried_three_times_as_often, set_up, tear_down)
{
	world.script.stolen = true;
	s.benchmark.measure.max_pairs = 20;
	s.benchmark.measure.budget_ns = 0;
	start(FG_SCHEDULE_ABBA);
	assert_int_equal(measure(10), FG_RUNNER_EXHAUSTED);
	assert_int_equal(count_pairs(FG_ASIDE_STEAL), 3 * 20 + 10);
	assert_int_equal(count_pairs(0), 0);
}

FG_TEST_IN(progress_counts_pairs_time_and_exclusions, set_up, tear_down)
{
	const struct fg_runner_progress *last = NULL;

	world.script.duet_scatter = 0;
	world.script.abba_scatter = 0;
	world.script.together = 2;
	world.script.apart = 1;
	start(FG_SCHEDULE_DUET);
	assert_int_equal(measure(4), FG_RUNNER_REACHED);
	last = &s.progress[s.progress_count - 1];
	assert_int_equal(s.progress[0].pairs, 0);
	assert_int_equal(s.progress[0].per_pair_ns, 0);
	assert_int_equal(last->pairs, 4);
	assert_int_equal(last->wanted, 4);
	assert_int_equal(last->set_aside, 1);
	/* A warm-up and a pair of solos first, then five pairs of a second each. */
	assert_int_equal(last->per_pair_ns, FG_NS_PER_S);
	assert_int_equal(last->spent_ns, 7 * FG_NS_PER_S);
}
