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

struct session {
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
};

static void set_up(struct session *s, enum fg_schedule schedule, const struct script *script)
{
	static char *words[] = {"/bin/sh", NULL};
	static const struct fg_command command = {.text = "sh", .argv = words, .argc = 1};

	world.script = *script;
	world.now_ns = FG_NS_PER_S;
	world.duets = 0;
	fg_random_seed(&world.random, 17);
	*s = (struct session){
		.benchmark = {.name = "bench", .command = command, .baseline_command = command}};
	fg_scratch_init(&s->scratch);
	fg_run_init(&s->run);
	s->run.seed = 1;
	fg_measuring_defaults(&s->benchmark.measure);
	s->benchmark.measure.schedule = schedule;
	s->benchmark.measure.sampler.enabled = false;
	s->state_folder = fg_xstrdup(fg_scratch_path(&s->scratch, ".fastgate"));
	s->options = (struct fg_runner_options){
		.run = &s->run,
		.roots = {s->scratch.path, s->scratch.path},
		.state_folder = s->state_folder,
	};
}

static void keep_progress(struct session *s)
{
	struct fg_runner_progress progress;

	fg_runner_progress_of(s->job, &progress);
	if (progress.phase == FG_RUNNER_MEASURE && s->progress_count < FG_ARRAY_SIZE(s->progress))
		s->progress[s->progress_count++] = progress;
}

static enum fg_runner_state measure(struct session *s, unsigned pairs)
{
	enum fg_runner_state state = FG_RUNNER_FAILED;
	struct fg_runner_event event;
	struct fg_error err = {0};

	do {
		if (fg_runner_next(s->job, pairs, &state, &event, &err) != FG_OK)
			fail_msg("%s", err.message);
		s->given_up += state == FG_RUNNER_RESTARTED;
		if (state == FG_RUNNER_NOTES) {
			free(s->note);
			s->note = fg_xstrdup(event.note);
		} else if (state != FG_RUNNER_REPEATED) {
			keep_progress(s);
		}
	} while (!fg_runner_is_over(state));
	return state;
}

/* Starts the session, up to the first pair. */
static void start(struct session *s)
{
	struct fg_error err = {0};

	if (fg_runner_create(&s->options, &s->runner, &err) != FG_OK ||
	    fg_runner_start(s->runner, &s->benchmark, &s->job, &err) != FG_OK)
		fail_msg("%s", err.message);
	(void)measure(s, 0);
	s->progress_count = 0;
}

static void finish(struct session *s)
{
	fg_runner_finish(s->job);
	fg_runner_free(s->runner);
}

static void tear_down(struct session *s)
{
	finish(s);
	free(s->note);
	free(s->state_folder);
	fg_run_release(&s->run);
	fg_scratch_release(&s->scratch);
}

static const struct fg_series *series_of(const struct session *s)
{
	return &s->run.series[0];
}

/* Counts pairs, by their first repetition, with exactly these reasons to be set aside. */
static unsigned count_pairs(const struct session *s, uint16_t aside)
{
	const struct fg_series *series = series_of(s);
	unsigned count = 0;

	for (size_t i = 0; i < series->repetition_count; i++)
		count += series->repetitions[i].position == 0 &&
			 series->repetitions[i].aside == aside;
	return count;
}

static const struct script quiet = {
	.seconds = {0.5, 0.5},
	.duet_scatter = 0.01,
	.abba_scatter = 0.01,
	.together = 1000,
};

/* ---- the choice ---- */

FG_TEST(a_quiet_machine_gets_the_duet_after_three_rounds)
{
	struct session s;

	set_up(&s, FG_SCHEDULE_AUTO, &quiet);
	start(&s);
	assert_int_equal(series_of(&s)->schedule, FG_SCHEDULE_DUET);
	assert_int_equal(strncmp(series_of(&s)->schedule_reason, "duet decides faster here: ", 26),
			 0);
	assert_non_null(strstr(series_of(&s)->schedule_reason, "3 pairs of each were tried"));
	assert_int_equal(count_pairs(&s, FG_ASIDE_TRIAL), 3 + 3);
	tear_down(&s);
}

FG_TEST(a_duet_that_scatters_much_more_loses)
{
	struct script script = quiet;
	struct session s;

	script.duet_scatter = 0.3;
	set_up(&s, FG_SCHEDULE_AUTO, &script);
	start(&s);
	assert_int_equal(series_of(&s)->schedule, FG_SCHEDULE_ABBA);
	assert_int_equal(strncmp(series_of(&s)->schedule_reason, "abba decides faster here: ", 26),
			 0);
	tear_down(&s);
}

FG_TEST(programs_that_never_overlap_cannot_run_as_a_duet)
{
	struct script script = quiet;
	struct session s;

	script.trial_apart = true;
	set_up(&s, FG_SCHEDULE_AUTO, &script);
	start(&s);
	assert_int_equal(series_of(&s)->schedule, FG_SCHEDULE_ABBA);
	assert_non_null(strstr(series_of(&s)->schedule_reason, "do not run at the same time"));
	assert_non_null(strstr(series_of(&s)->schedule_reason, ": make the benchmark repeat"));
	tear_down(&s);
}

FG_TEST(a_program_that_sleeps_cannot_run_as_a_duet)
{
	struct script script = quiet;
	struct session s;

	script.idle = 0.25;
	set_up(&s, FG_SCHEDULE_AUTO, &script);
	start(&s);
	assert_int_equal(series_of(&s)->schedule, FG_SCHEDULE_ABBA);
	assert_non_null(strstr(series_of(&s)->schedule_reason, "does so for 75 % of its time"));
	assert_non_null(strstr(series_of(&s)->schedule_reason, ": make it wait less"));
	assert_int_equal(count_pairs(&s, FG_ASIDE_TRIAL), 0);
	tear_down(&s);
}

/* Expects ABBA, and one complete line with the reason and, after the colon, the remedy. */
static void check_refusal(struct session *s, const char *why, const char *what_to_do)
{
	const char *reason = series_of(s)->schedule_reason;
	const char *found = strstr(reason, what_to_do);

	assert_int_equal(series_of(s)->schedule, FG_SCHEDULE_ABBA);
	if (!strstr(reason, why) || !found || found < strstr(reason, why) ||
	    strlen(reason) > REASON_MAX || strchr(reason, '\n'))
		fail_msg("%s", reason);
	assert_int_equal(count_pairs(s, FG_ASIDE_TRIAL), 0);
}

FG_TEST(a_refused_duet_is_reported_with_its_remedy)
{
	struct fg_user_metric metric = {
		.name = "rate", .unit = "1/s", .regex = "(.*)", .file = "rate.txt"};
	struct script script = quiet;
	struct fg_error err = {0};
	struct session s;

	script.threads = 2;
	set_up(&s, FG_SCHEDULE_AUTO, &script);
	start(&s);
	check_refusal(&s, "uses several threads or processes at once", ": limit it to one");
	tear_down(&s);
	set_up(&s, FG_SCHEDULE_AUTO, &quiet);
	s.benchmark.metrics = &metric;
	s.benchmark.metric_count = 1;
	start(&s);
	check_refusal(&s, "write their metrics to the same file", ": give each its own file");
	tear_down(&s);
	set_up(&s, FG_SCHEDULE_AUTO, &quiet);
	s.benchmark.harness = FG_HARNESS_GOOGLE_BENCHMARK;
	start(&s);
	check_refusal(&s, "a harness decides how long it runs", ": give one case its own command");
	tear_down(&s);
	set_up(&s, FG_SCHEDULE_AUTO, &quiet);
	assert_int_equal(fg_runner_create(&s.options, &s.runner, &err), FG_OK);
	s.runner->cpu_count = 0;
	assert_int_equal(fg_runner_start(s.runner, &s.benchmark, &s.job, &err), FG_OK);
	(void)measure(&s, 0);
	check_refusal(&s, "cannot be pinned to a CPU here", ": allow sched_setaffinity");
	tear_down(&s);
}

FG_TEST(a_trial_that_the_budget_cannot_pay_is_left_out)
{
	struct session s;

	set_up(&s, FG_SCHEDULE_AUTO, &quiet);
	/* Three rounds of four executions of half a second are 15 % of 40 s. */
	s.benchmark.measure.budget_ns = 39 * FG_NS_PER_S;
	start(&s);
	assert_int_equal(series_of(&s)->schedule, FG_SCHEDULE_DUET);
	assert_non_null(strstr(series_of(&s)->schedule_reason, "too much of the budget"));
	assert_int_equal(count_pairs(&s, FG_ASIDE_TRIAL), 0);
	tear_down(&s);
}

/* ---- giving it up ---- */

FG_TEST(a_duet_that_falls_apart_is_given_up_for_blocks)
{
	struct script script = quiet;
	struct session s;

	script.together = 5;
	script.apart = 1000;
	set_up(&s, FG_SCHEDULE_AUTO, &script);
	start(&s);
	assert_int_equal(series_of(&s)->schedule, FG_SCHEDULE_DUET);
	assert_int_equal(measure(&s, 10), FG_RUNNER_RESTARTED);
	assert_int_equal(series_of(&s)->schedule, FG_SCHEDULE_ABBA);
	assert_int_equal(s.given_up, 1);
	assert_string_equal(
		s.note,
		"one after the other: in 12 of the last 16 pairs the two programs ran together "
		"for less than 80 % of their time or left processes running, which is not a "
		"duet: make the benchmark repeat its work and wait for its processes (these "
		"pairs are set aside)");
	assert_string_equal(series_of(&s)->schedule_reason, s.note);
	assert_int_equal(count_pairs(&s, FG_ASIDE_GIVEN_UP), 5);
	assert_int_equal(count_pairs(&s, FG_ASIDE_GIVEN_UP | FG_ASIDE_OVERLAP), 12);
	assert_int_equal(count_pairs(&s, FG_ASIDE_TRIAL), 3 + 3);
	assert_int_equal(measure(&s, 10), FG_RUNNER_REACHED);
	assert_int_equal(count_pairs(&s, 0), 10);
	assert_int_equal(s.given_up, 1);
	tear_down(&s);
}

/* The short program is never alone; the long one continues alone. */
FG_TEST(a_duet_with_a_program_that_became_much_slower_counts)
{
	struct script script = quiet;
	struct session s;

	script.seconds[FG_ARM_CANDIDATE] = 5;
	set_up(&s, FG_SCHEDULE_DUET, &script);
	start(&s);
	assert_int_equal(measure(&s, 10), FG_RUNNER_REACHED);
	assert_int_equal(count_pairs(&s, 0), 10);
	assert_int_equal(count_pairs(&s, FG_ASIDE_OVERLAP), 0);
	tear_down(&s);
}

FG_TEST(a_useless_duet_is_given_up_after_four_pairs)
{
	struct script script = quiet;
	struct session s;

	script.together = 0;
	script.apart = 1000;
	set_up(&s, FG_SCHEDULE_AUTO, &script);
	start(&s);
	assert_int_equal(measure(&s, 10), FG_RUNNER_RESTARTED);
	assert_int_equal(count_pairs(&s, FG_ASIDE_GIVEN_UP | FG_ASIDE_OVERLAP), 4);
	assert_non_null(strstr(s.note, "in 4 of the last 4 pairs"));
	tear_down(&s);
}

FG_TEST(eleven_pairs_apart_of_sixteen_are_endured)
{
	struct script script = quiet;
	struct session s;

	script.together = 5;
	script.apart = 11;
	set_up(&s, FG_SCHEDULE_AUTO, &script);
	start(&s);
	assert_int_equal(measure(&s, 10), FG_RUNNER_REACHED);
	assert_int_equal(series_of(&s)->schedule, FG_SCHEDULE_DUET);
	assert_int_equal(count_pairs(&s, FG_ASIDE_OVERLAP), 11);
	assert_int_equal(s.given_up, 0);
	tear_down(&s);
}

FG_TEST(a_duet_that_the_user_chose_is_kept)
{
	struct script script = quiet;
	struct session s;

	script.together = 0;
	script.apart = 40;
	set_up(&s, FG_SCHEDULE_DUET, &script);
	start(&s);
	assert_int_equal(measure(&s, 2), FG_RUNNER_REACHED);
	assert_int_equal(count_pairs(&s, FG_ASIDE_OVERLAP), 40);
	assert_int_equal(s.given_up, 0);
	tear_down(&s);
}

FG_TEST(without_time_for_blocks_a_poor_duet_continues)
{
	struct script script = quiet;
	struct session s;

	script.together = 5;
	script.apart = 1000;
	set_up(&s, FG_SCHEDULE_AUTO, &script);
	/* 17 pairs of a second fit into the budget, but ten blocks of two seconds no longer do. */
	s.benchmark.measure.budget_ns = 42 * FG_NS_PER_S;
	start(&s);
	assert_int_equal(measure(&s, 10), FG_RUNNER_EXHAUSTED);
	assert_int_equal(series_of(&s)->schedule, FG_SCHEDULE_DUET);
	assert_int_equal(count_pairs(&s, 0), 5);
	tear_down(&s);
}

/* Resumes a run that was killed during ABBA from the stored part. */
FG_TEST(a_schedule_that_was_given_up_stays_so_when_resumed)
{
	struct script script = quiet;
	struct session s;

	script.together = 5;
	script.apart = 1000;
	set_up(&s, FG_SCHEDULE_AUTO, &script);
	start(&s);
	assert_int_equal(measure(&s, 10), FG_RUNNER_RESTARTED);
	assert_int_equal(measure(&s, 4), FG_RUNNER_REACHED);
	finish(&s);
	start(&s);
	assert_int_equal(series_of(&s)->schedule, FG_SCHEDULE_ABBA);
	assert_int_equal(measure(&s, 10), FG_RUNNER_REACHED);
	assert_int_equal(count_pairs(&s, 0), 10);
	assert_int_equal(count_pairs(&s, FG_ASIDE_GIVEN_UP | FG_ASIDE_OVERLAP), 12);
	assert_int_equal(s.given_up, 1);
	tear_down(&s);
}

FG_TEST(programs_that_cannot_be_linked_again_are_measured_as_linked)
{
	struct fg_error err = {0};
	struct session s;

	set_up(&s, FG_SCHEDULE_ABBA, &quiet);
	start(&s);
	assert_int_equal(fg_runner_begin_in_layouts(s.job, true, &err), FG_EUNSUPPORTED);
	assert_non_null(strstr(err.message, "only builds made by fastgate"));
	assert_null(series_of(&s)->as_linked_metric);
	assert_int_equal(measure(&s, 10), FG_RUNNER_REACHED);
	assert_int_equal(count_pairs(&s, 0), 10);
	finish(&s);
	/* A session that continues a run keeps its schedule. */
	start(&s);
	assert_int_equal(fg_runner_begin_in_layouts(s.job, true, &err), FG_EUNSUPPORTED);
	assert_non_null(strstr(err.message, "used the default layout"));
	tear_down(&s);
}

FG_TEST(cases_of_a_harness_do_not_begin_in_layouts)
{
	struct fg_error err = {0};
	struct session s;

	set_up(&s, FG_SCHEDULE_ABBA, &quiet);
	s.benchmark.harness = FG_HARNESS_GOOGLE_BENCHMARK;
	start(&s);
	assert_int_equal(fg_runner_begin_in_layouts(s.job, true, &err), FG_EUNSUPPORTED);
	assert_non_null(strstr(err.message, "cases of a harness"));
	tear_down(&s);
}

/* ---- limits ---- */

FG_TEST(the_budget_ends_before_the_pair_that_would_exceed_it)
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
		struct script script = quiet;
		struct session s;

		script.abba_scatter = 0;
		set_up(&s, FG_SCHEDULE_ABBA, &script);
		s.benchmark.measure.budget_ns = rows[i].budget_ns;
		start(&s);
		assert_int_equal(measure(&s, 80), FG_RUNNER_EXHAUSTED);
		assert_int_equal(count_pairs(&s, 0), rows[i].blocks);
		tear_down(&s);
	}
}

FG_TEST(a_budget_that_was_exceeded_ends_nothing_but_max_pairs_does)
{
	struct script script = quiet;
	struct session s;

	script.abba_scatter = 0;
	set_up(&s, FG_SCHEDULE_ABBA, &script);
	s.benchmark.measure.budget_ns = 7 * FG_NS_PER_S;
	s.benchmark.measure.max_pairs = 20;
	start(&s);
	assert_int_equal(measure(&s, 80), FG_RUNNER_EXHAUSTED);
	fg_runner_exceed_budget(s.job);
	assert_int_equal(measure(&s, 10), FG_RUNNER_REACHED);
	assert_int_equal(count_pairs(&s, 0), 10);
	assert_int_equal(measure(&s, 80), FG_RUNNER_EXHAUSTED);
	assert_int_equal(count_pairs(&s, 0), 20);
	tear_down(&s);
}

FG_TEST(pairs_that_never_count_are_tried_three_times_as_often)
{
	struct script script = quiet;
	struct session s;

	script.stolen = true;
	set_up(&s, FG_SCHEDULE_ABBA, &script);
	s.benchmark.measure.max_pairs = 20;
	s.benchmark.measure.budget_ns = 0;
	start(&s);
	assert_int_equal(measure(&s, 10), FG_RUNNER_EXHAUSTED);
	assert_int_equal(count_pairs(&s, FG_ASIDE_STEAL), 3 * 20 + 10);
	assert_int_equal(count_pairs(&s, 0), 0);
	tear_down(&s);
}

FG_TEST(progress_counts_pairs_time_and_exclusions)
{
	struct script script = quiet;
	const struct fg_runner_progress *last = NULL;
	struct session s;

	script.duet_scatter = 0;
	script.abba_scatter = 0;
	script.together = 2;
	script.apart = 1;
	set_up(&s, FG_SCHEDULE_DUET, &script);
	start(&s);
	assert_int_equal(measure(&s, 4), FG_RUNNER_REACHED);
	last = &s.progress[s.progress_count - 1];
	assert_int_equal(s.progress[0].pairs, 0);
	assert_int_equal(s.progress[0].per_pair_ns, 0);
	assert_int_equal(last->pairs, 4);
	assert_int_equal(last->wanted, 4);
	assert_int_equal(last->set_aside, 1);
	/* A warm-up and a pair of solos first, then five pairs of a second each. */
	assert_int_equal(last->per_pair_ns, FG_NS_PER_S);
	assert_int_equal(last->spent_ns, 7 * FG_NS_PER_S);
	tear_down(&s);
}
