// SPDX-License-Identifier: Apache-2.0
/* Tries programs in the trial build's tree. Every execution has a time limit. */
#include "cli/init/trial.h"

#include "base/fs.h"
#include "base/launch.h"
#include "base/text.h"
#include "cli/init/inputs.h"
#include "cli/init/uses.h"
#include "runner/installed.h"
#include "runner/schedule/choice.h"

#include <math.h>
#include <sched.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
	TRIED_MAX = 12,
	WANTED = 3,
	BENCHMARK_SECONDS = 60,
	SAMPLES_MIN = 4,
	SAMPLES_MAX = 8,
	SAMPLES_SECONDS = 4,
	SAMPLES_SECONDS_MAX = 16,
	CLOCK_ROUNDS = 3,
	PAIRS_MAX = 120,
	PROMISED_SECONDS = 30,
	TESTS_MAX = 30,
	MAX_CPUS = 1024,
};

static const double sure = 4.1; /* sum of normal quantiles for alpha 0.1 % and power 80 % */
/*
 * A program ends by a clock if it uses less than this share of its usual CPU time while a busy
 * process shares the CPU.
 */
static const double of_alone = 0.85;
static const double min_effect = 0.01; /* the default of gate.metrics.cpu_time */

/* Returns the duration without the wait for a CPU, because that wait depends on the load. */
static double own_seconds(const struct fg_project_seen *seen)
{
	return seen->wall_s - seen->queued_s;
}

/* ---- length, busy share, spread ---- */

/* Measures the program repeatedly. An earlier execution must have warmed the caches. */
static void observe(struct fg_project_trying *t, struct fg_project_program *program)
{
	const char *line = fg_project_command(program, &t->cli->arena);
	struct fg_trial trial = {.count = 0};
	double last_s = 0;
	double own_s = 0;
	double wall_s = 0;
	double cpu_s = 0;
	double min_s = HUGE_VAL;
	double pairs = 0;
	size_t count = 0;

	if (!fg_project_prepare(t, program)) {
		program->trial = FG_PROJECT_FAILED;
		program->why = "has an input that could not be generated again";
		return;
	}
	while (count < SAMPLES_MAX && (count < SAMPLES_MIN || wall_s < SAMPLES_SECONDS)) {
		struct fg_project_seen seen = {0};

		if (!fg_project_execute(t, program, line, fg_project_stdin(program, &t->cli->arena),
					BENCHMARK_SECONDS, &seen)) {
			program->trial = FG_PROJECT_FAILED;
			return;
		}
		wall_s += seen.wall_s;
		own_s += own_seconds(&seen);
		cpu_s += seen.cpu_s;
		min_s = fmin(min_s, seen.cpu_s);
		seen.cpu_s = fmax(seen.cpu_s, 1e-6);
		if (count++ % 2)
			trial.differences[trial.count++] = log(seen.cpu_s / last_s);
		last_s = seen.cpu_s;
		if (wall_s > SAMPLES_SECONDS_MAX && count % 2 == 0)
			break;
	}
	program->seconds = fmax(fmax(own_s, cpu_s / MAX_CPUS), 1e-9) / (double)count;
	program->busy = cpu_s / (program->seconds * (double)count);
	program->spread = trial.count >= 2 ? fg_trial_spread(&trial) : fabs(trial.differences[0]);
	pairs = fmin(PAIRS_MAX, PROMISED_SECONDS * (double)count / (2 * fmax(wall_s, 1e-3)));
	program->smallest = fmax(min_effect, sure * program->spread / sqrt(fmax(pairs, 1)));
	program->trial = FG_PROJECT_GOOD;
	fg_project_set_work(t, program, min_s);
	if (fg_project_is_short(program)) {
		program->trial = FG_PROJECT_SHORT;
		program->seconds = cpu_s / (double)count;
	}
}

/* Starts a process that keeps its CPU busy until this process ends. */
static pid_t start_busy_process(void)
{
	const pid_t parent = getpid();
	const pid_t pid = fork();

	while (pid == 0 && getppid() == parent)
		continue;
	if (pid == 0)
		_exit(0);
	return pid;
}

/* Does the program use less than `of_alone` of its CPU time if a busy process shares its CPU? */
static bool uses_less_next_to_another(struct fg_project_trying *t,
				      struct fg_project_program *program, const char *line)
{
	struct fg_project_seen alone = {0};
	struct fg_project_seen shared = {0};
	pid_t busy;
	bool ran;

	if (!fg_project_execute(t, program, line, NULL, BENCHMARK_SECONDS, &alone))
		return false;
	busy = start_busy_process();
	if (busy < 0)
		return false;
	ran = fg_project_execute(t, program, line, NULL, 2 * BENCHMARK_SECONDS, &shared);
	(void)kill(busy, SIGKILL);
	(void)waitpid(busy, NULL, 0);
	return ran && shared.cpu_s < of_alone * alone.cpu_s;
}

/*
 * Does the program end after a fixed time? Then its CPU time shows no slowdown. If a busy process
 * shares its CPU, the program uses as much CPU time as alone if it has work to finish, but only
 * half as much if it watches a clock. A busy machine can blur one round, but hardly all rounds. The
 * program never runs twice at once, because both executions would write the same files.
 */
static bool ends_by_clock(struct fg_project_trying *t, const struct fg_project_program *program)
{
	const char *line = fg_project_command(program, &t->cli->arena);
	struct fg_project_program tried = *program;
	cpu_set_t allowed;
	cpu_set_t one;
	size_t cpu = 0;
	bool by_clock = true;

	if (program->input || sched_getaffinity(0, sizeof(allowed), &allowed) != 0)
		return false;
	while (!CPU_ISSET(cpu, &allowed))
		cpu++;
	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	if (sched_setaffinity(0, sizeof(one), &one) != 0)
		return false;
	for (int round = 0; round < CLOCK_ROUNDS && by_clock; round++)
		by_clock = uses_less_next_to_another(t, &tried, line);
	(void)sched_setaffinity(0, sizeof(allowed), &allowed);
	return by_clock;
}

/* Observes a program that may be a benchmark loop. */
static void observe_benchmark(struct fg_project_trying *t, struct fg_project_program *program)
{
	observe(t, program);
	if (program->harness != FG_HARNESS_NONE || program->trial != FG_PROJECT_GOOD ||
	    !ends_by_clock(t, program))
		return;
	program->trial = FG_PROJECT_FAILED;
	program->why =
		"ends after a fixed time, so it cannot show a slowdown: make the program do a "
		"fixed amount of work";
}

static void try_program(struct fg_project_trying *t, struct fg_project_program *program)
{
	const bool has_harness = program->harness != FG_HARNESS_NONE;
	const char *line = fg_project_command(program, &t->cli->arena);
	struct fg_project_seen seen = {0};
	bool works =
		fg_project_execute(t, program, line, NULL,
				   program->rank >= FG_PROJECT_LIKELY_RANK ? BENCHMARK_SECONDS
									   : FG_PROJECT_TRY_SECONDS,
				   &seen);
	const char *why = program->why;

	fg_cli_detail(t->cli, "tried %s: %s, %.3f s", line, works ? "works" : why, seen.wall_s);
	const bool may_want_input = !has_harness && !program->is_named &&
				    (!works || program->rank < FG_PROJECT_LIKELY_RANK) &&
				    own_seconds(&seen) < FG_PROJECT_INPUT_SECONDS;

	/*
	 * The work is measured again, because the first execution may take longer than later
	 * executions.
	 */
	if (works && may_want_input) {
		works = fg_project_measure(t, program, FG_PROJECT_TRY_SECONDS);
		why = program->why;
	}
	if (may_want_input && fg_project_is_short(program)) {
		program->is_idle = !fg_project_find_input(t, program);
		works |= !program->is_idle;
	}
	if (!works) {
		program->trial = FG_PROJECT_FAILED;
		program->why = why;
	} else if (program->rank >= FG_PROJECT_LIKELY_RANK) {
		observe_benchmark(t, program);
	} else {
		observe(t, program);
	}
}

/* Removes generated inputs and results, because each benchmark generates its inputs again. */
static void remove_copies(const struct fg_project_trying *t)
{
	char **names = NULL;
	size_t count = 0;

	if (fg_fs_list(t->tree, &names, &count, NULL) != FG_OK)
		return;
	for (size_t i = 0; i < count; i++) {
		char *path = fg_fs_join(t->tree, names[i]);

		if (fg_text_starts_with(names[i], FG_PROJECT_INPUT_NAME))
			(void)unlink(path);
		free(path);
	}
	fg_fs_list_free(names, count);
}

static bool has_good(const struct fg_project_trying *t)
{
	for (size_t i = 0; i < t->project->program_count; i++) {
		if (t->project->programs[i].trial == FG_PROJECT_GOOD)
			return true;
	}
	return false;
}

/* Marks a program as failed, without running it, if it is a service or for administrators. */
static bool is_left_alone(struct fg_project_trying *t, struct fg_project_program *program)
{
	const char *why = fg_project_service(t->tree, t->project, program, &t->cli->arena);

	if (!why)
		return false;
	program->trial = FG_PROJECT_FAILED;
	program->why = why;
	return true;
}

/*
 * Tries likely benchmarks until a few of them work. If none works, tries other programs until one
 * works.
 */
static void try_programs(struct fg_project_trying *t)
{
	size_t good = 0;
	size_t tried = 0;

	for (size_t i = 0; i < t->project->program_count && tried < TRIED_MAX && good < WANTED;
	     i++) {
		struct fg_project_program *program = &t->project->programs[i];

		if (!program->is_built || program->rank <= FG_PROJECT_TEST_RANK ||
		    fg_project_is_over(t) || (good > 0 && program->rank < FG_PROJECT_LIKELY_RANK))
			break;
		if (is_left_alone(t, program))
			continue;
		fg_cli_say(t->cli, "trying %s: %s", program->path, program->reason);
		try_program(t, program);
		if (program->trial == FG_PROJECT_FAILED)
			fg_cli_say(t->cli, "  %s %s", program->path, program->why);
		good += program->trial == FG_PROJECT_GOOD;
		tried++;
	}
}

/* ---- tests ---- */

/* Prepares a test to be timed as a whole. Returns false if it is not a test or must not be run. */
static bool is_test(struct fg_project_trying *t, struct fg_project_program *program)
{
	if (!program->is_built || program->rank != FG_PROJECT_TEST_RANK)
		return false;
	if (program->harness != FG_HARNESS_NONE && !program->is_named)
		program->arguments = NULL;
	program->harness = FG_HARNESS_NONE;
	return !is_left_alone(t, program);
}

/* Returns the program's folder without ".libs", where libtool puts its wrapper; NULL: the root. */
static const char *folder_of(const struct fg_project_program *program, struct fg_arena *arena)
{
	char *folder = strchr(program->path, '/') ? fg_fs_parent(program->path) : NULL;
	const char *found = NULL;

	if (folder && fg_text_ends_with(folder, "/.libs"))
		folder[strlen(folder) - strlen("/.libs")] = '\0';
	if (folder && strcmp(folder, ".libs") != 0)
		found = fg_arena_strdup(arena, folder);
	free(folder);
	return found;
}

/*
 * Measures the test where the build system runs it. A test that is not listed is tried in the root,
 * then in its own folder.
 */
static void run_test(struct fg_project_trying *t, struct fg_project_program *program)
{
	const char *const places[] = {program->working_directory,
				      folder_of(program, &t->cli->arena)};
	const size_t count = program->is_named || !places[1] ? 1 : 2;

	program->trial = FG_PROJECT_SHORT;
	for (size_t i = 0; i < count; i++) {
		program->working_directory = places[i];
		if (fg_project_measure(t, program, FG_PROJECT_TRY_SECONDS))
			return;
	}
	program->working_directory = places[0];
	program->trial = FG_PROJECT_FAILED;
}

/* Runs the tests without input and chooses the longest, which exercises most of a library. */
static void try_tests(struct fg_project_trying *t)
{
	struct fg_project_program *longest = NULL;
	size_t tried = 0;

	for (size_t i = 0;
	     i < t->project->program_count && tried < TESTS_MAX && !fg_project_is_over(t); i++) {
		struct fg_project_program *program = &t->project->programs[i];

		if (!is_test(t, program))
			continue;
		if (tried++ == 0)
			fg_cli_say(t->cli, "trying the tests; the longest is measured");
		run_test(t, program);
		if (!fg_project_is_short(program) &&
		    (!longest || fg_project_is_longer(program, longest)))
			longest = program;
	}
	if (longest)
		observe_benchmark(t, longest);
}

/* Offers files to the tests, because the tests of a parser, for example, need an input. */
static void offer_to_tests(struct fg_project_trying *t)
{
	size_t tried = 0;

	for (size_t i = 0; i < t->project->program_count && tried < TRIED_MAX &&
			   !fg_project_is_over(t) && !has_good(t);
	     i++) {
		struct fg_project_program *program = &t->project->programs[i];

		if (program->is_named || !is_test(t, program))
			continue;
		fg_cli_say(t->cli, "trying %s with the project's files as input (%s)",
			   program->path, program->reason);
		program->working_directory = NULL;
		program->is_idle = !fg_project_find_input(t, program);
		if (!program->is_idle)
			observe(t, program);
		tried++;
	}
}

/*
 * If everything is short, repeats the likeliest program in a shell loop, or the longest of several
 * equally likely programs. The program must spend most of its time on work, not on starting.
 */
static void repeat_one(struct fg_project_trying *t)
{
	struct fg_project_program *best = NULL;
	struct fg_project_program looped;

	for (size_t i = 0; i < t->project->program_count; i++) {
		struct fg_project_program *program = &t->project->programs[i];

		if (program->trial == FG_PROJECT_SHORT && program->work_s > 0 &&
		    program->harness == FG_HARNESS_NONE &&
		    !strchr(fg_project_command(program, &t->cli->arena), '\'') &&
		    (!best || program->rank > best->rank ||
		     (program->rank == best->rank && fg_project_is_longer(program, best))))
			best = program;
	}
	if (!best)
		return;
	looped = *best;
	if (!fg_project_prepare(t, &looped))
		return;
	do {
		looped.loops = looped.loops ? 10 * looped.loops : 10;
		if (!fg_project_measure(t, &looped, FG_PROJECT_TRY_SECONDS) || looped.work_s <= 0)
			return;
	} while (looped.work_s < FG_PROJECT_WANTED_S);
	*best = looped;
	observe(t, best);
}

/* Sorts programs of equal rank by the number of calls in tests or documentation. */
static void count_calls(struct fg_project_trying *t)
{
	for (size_t i = 0; i < t->project->program_count && i < TRIED_MAX; i++) {
		struct fg_project_uses uses;

		fg_project_uses_find(t->tree, &t->cli->arena, &t->project->programs[i], &uses);
		t->project->programs[i].calls = uses.calls;
	}
	fg_project_sort(t->project);
}

void fg_project_try(struct fg_cli *cli, struct fg_project *project, int64_t ends_ns)
{
	struct fg_project_trying t = {.cli = cli,
				      .project = project,
				      .tree = project->tree,
				      .launcher = fg_installed_find(FG_LAUNCHER_NAME),
				      .ends_ns = ends_ns};

	count_calls(&t);
	try_programs(&t);
	if (!has_good(&t))
		try_tests(&t);
	if (!has_good(&t))
		offer_to_tests(&t);
	if (!has_good(&t))
		repeat_one(&t);
	remove_copies(&t);
	fg_project_sort(project);
	free(t.launcher);
}
