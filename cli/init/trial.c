// SPDX-License-Identifier: Apache-2.0
/*
 * Every program runs in the trial build's tree, reads only the inputs listed here, and has a time
 * limit.
 */
#include "base/clock.h"
#include "base/fs.h"
#include "base/launch.h"
#include "base/process.h"
#include "base/text.h"
#include "cli/init/inputs.h"
#include "cli/init/project.h"
#include "runner/build/git.h"
#include "runner/harness/harness.h"
#include "runner/installed.h"
#include "runner/schedule/choice.h"

#include <math.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
	TRIED_MAX = 12,
	WANTED = 3,
	TRY_SECONDS = 20,
	BENCHMARK_SECONDS = 60,
	INPUT_SECONDS = 5,
	ALL_SECONDS = 90,
	SAMPLES_MIN = 4,
	SAMPLES_MAX = 8,
	SAMPLES_SECONDS = 4,
	SAMPLES_SECONDS_MAX = 16,
	PAIRS_MAX = 120,
	PROMISED_SECONDS = 30,
	COPIES_MAX = 100000,
	LENGTHEN_MAX = 3,
	COPIED_BYTES_MAX = 256 << 20,
	COMPARED_BYTES = 4 << 20,
	MAX_CPUS = 1024,
	OUTPUT_LIMIT_BYTES = 16 << 10,
	CASES_LIMIT_BYTES = 8 << 20, /* limit of a harness's list of cases */
	SAID_BYTES = 120,            /* limit of the reason that is kept for a program */
};

static const double short_s = 0.02; /* a shorter execution is mostly program start */
static const double wanted_s = 0.3; /* inputs are repeated until an execution takes this long */
static const double smallest_cpu_s = 0.001;
static const double more_cpu = 1.2; /* a larger ratio of CPU times is not due to chance */
static const double sure = 3.4;     /* sum of the normal quantiles for alpha 1 % and power 80 % */
static const double min_effect = 0.01; /* the default of gate.metrics.cpu_time */

struct seen {
	double wall_s;
	double cpu_s;
	double queued_s; /* runnable but waiting for a CPU */
};

/* The duration without the time spent waiting for a CPU, which depends on the load. */
static double own_seconds(const struct seen *seen)
{
	return seen->wall_s - seen->queued_s;
}

struct trying {
	struct fg_cli *cli;
	struct fg_project *project;
	const char *tree;
	char *launcher; /* fastgate-launch, which measures the time a program waited for a CPU */
	int64_t ends_ns;
};

static double seconds_of(const struct timeval *time)
{
	return (double)time->tv_sec + (double)time->tv_usec / 1e6;
}

/* Our environment with the LD_LIBRARY_PATH that libtool's wrapper would set; to be freed. */
static char **environment_for(const char *library_path)
{
	size_t count = 0;
	char **variables = NULL;

	while (environ[count])
		count++;
	variables = fg_xcalloc(count + 2, sizeof(variables[0]));
	variables[0] = fg_xasprintf("LD_LIBRARY_PATH=%s", library_path);
	memcpy(variables + 1, environ, count * sizeof(variables[0]));
	return variables;
}

/* Adds the first line of the output to a reason: ": usage: encode FILE". */
static void add_first_line(struct fg_strbuf *words, const char *output)
{
	const char *line = output + strspn(output, " \t\r\n");
	const size_t length = strcspn(line, "\r\n");

	if (length == 0)
		return;
	fg_strbuf_add_text(words, ": ");
	fg_text_add_clean(words, line, length, SAID_BYTES);
}

/* Does it print cases in the format of its harness? If not, program->why has the reason. */
static bool has_cases(struct trying *t, struct fg_project_program *program,
		      const struct fg_process_result *result)
{
	struct fg_harness_report report = {0};
	struct fg_error err = {0};
	const bool has = fg_harness_parse(program->harness, result->stdout_text,
					  result->stdout_size, &report, &err) == FG_OK;

	if (has)
		fg_harness_report_release(&report);
	else
		program->why = fg_arena_strdup(&t->cli->arena, err.message);
	return has;
}

/* Executes the program once. If it fails, returns false with the reason in program->why. */
static bool execute(struct trying *t, struct fg_project_program *program, const char *line,
		    const char *input, int seconds, struct seen *seen)
{
	char *folder = program->working_directory ? fg_fs_join(t->tree, program->working_directory)
						  : fg_xstrdup(t->tree);
	char *input_path = input ? fg_fs_join(t->tree, input) : NULL;
	const bool has_harness = program->harness != FG_HARNESS_NONE;
	char **variables = program->library_path ? environment_for(program->library_path) : NULL;
	struct fg_process_options options = {
		.environment = variables,
		.working_directory = folder,
		.stdin_path = input_path,
		.stdout_to = FG_STREAM_CAPTURE,
		.stderr_to = FG_STREAM_CAPTURE,
		.capture_limit_bytes = has_harness ? CASES_LIMIT_BYTES : OUTPUT_LIMIT_BYTES,
		.timeout_ns = seconds * FG_NS_PER_S,
		.interrupted = t->cli->interrupted,
		.launcher = t->launcher,
	};
	struct fg_process_result result = {0};
	struct fg_strbuf words = {0};
	struct fg_error err = {0};
	char **argv = NULL;
	bool good = false;
	size_t argc = 0;
	int status = FG_OK;

	program->why = NULL;
	status = fg_text_split_words(line, &t->cli->arena, &argv, &argc, &err);
	options.argv = argv;
	if (status == FG_OK)
		status = fg_process_run(&options, &result, &err);
	if (status != FG_OK) {
		program->why = fg_arena_strdup(&t->cli->arena, err.message);
		goto out;
	}
	good = result.exited && result.exit_code == 0 && !result.timed_out;
	if (!good) {
		fg_process_describe(&result, &words);
		add_first_line(&words, result.stderr_text);
		program->why = fg_arena_strdup(&t->cli->arena, fg_strbuf_text(&words));
	} else if (has_harness) {
		good = has_cases(t, program, &result);
	}
	*seen = (struct seen){
		.wall_s = (double)result.wall_ns / (double)FG_NS_PER_S,
		.cpu_s = seconds_of(&result.usage.ru_utime) + seconds_of(&result.usage.ru_stime),
		.queued_s = (double)result.leader_wait_ns / (double)FG_NS_PER_S,
	};
out:
	fg_strbuf_release(&words);
	fg_process_result_release(&result);
	if (variables)
		free(variables[0]);
	free((void *)variables);
	free(input_path);
	free(folder);
	return good;
}

static bool is_over(const struct trying *t)
{
	return fg_clock_monotonic_ns() > t->ends_ns ||
	       (t->cli->interrupted && *t->cli->interrupted);
}

/* ---- inputs ---- */

struct found {
	const struct fg_project_input *input; /* NULL until one works */
	bool as_argument;
	enum fg_project_input_kind kind;
	bool is_harmful; /* it changes or removes its input files */
	double cpu_s;
	bool works[FG_PROJECT_MAX_INPUTS]; /* by index, for inputs of `kind` */
};

static void stat_input(const char *tree, struct fg_project_input *input)
{
	char *path = fg_fs_join(tree, input->path);
	struct stat facts = {0};

	(void)stat(path, &facts);
	input->size = facts.st_size;
	input->written = facts.st_mtim;
	free(path);
}

/* Is the input still there and unchanged? A program may change or remove it. */
static bool is_untouched(const char *tree, struct fg_project_input *input)
{
	const struct fg_git git = {.folder = tree};
	const char *const restore[] = {"checkout", "--", input->path, NULL};
	const struct fg_project_input before = *input;
	char *ignored = NULL;

	stat_input(tree, input);
	if (before.size == input->size && before.written.tv_sec == input->written.tv_sec &&
	    before.written.tv_nsec == input->written.tv_nsec)
		return true;
	if (fg_git_output(&git, restore, &ignored, NULL) == FG_OK)
		stat_input(tree, input);
	free(ignored);
	return false;
}

/* Makes the input, even if it was made before: a program may have removed it. */
static bool make_input(struct trying *t, struct fg_project_input *input)
{
	struct fg_project_program setup = {.path = ""};
	struct seen seen = {0};

	if (!input->made)
		return true;
	if (!execute(t, &setup, input->made, NULL, INPUT_SECONDS, &seen))
		return false;
	stat_input(t->tree, input);
	return true;
}

/* Returns false if the program fails with this input or damages it. */
static bool try_input(struct trying *t, struct fg_project_program *program,
		      struct fg_project_input *input, struct found *found)
{
	const char *line = fg_project_command(program, &t->cli->arena);
	struct seen seen = {0};

	if (found->as_argument)
		line = fg_arena_printf(&t->cli->arena, "%s %s", line, input->path);
	for (int round = 0; round < 2; round++) {
		const bool works =
			execute(t, program, line, found->as_argument ? NULL : input->path,
				INPUT_SECONDS, &seen);

		if (!is_untouched(t->tree, input))
			found->is_harmful = true;
		if (!works || found->is_harmful)
			return false;
	}
	/* Inputs are sorted largest first, so a later one must take clearly longer. */
	if (found->input && seen.cpu_s < more_cpu * found->cpu_s + smallest_cpu_s)
		return true;
	found->input = input;
	found->cpu_s = seen.cpu_s;
	return true;
}

/* Executes the program once with this many concatenated copies of an input. */
static bool execute_copies(struct trying *t, struct fg_project_program *longer,
			   const struct fg_project_input *input, const struct found *found,
			   double copies, struct seen *seen)
{
	struct fg_project_program setup = {.path = ""};

	longer->input = input->path;
	longer->input_copies = (unsigned)copies;
	longer->input_is_argument = found->as_argument;
	return execute(t, &setup, fg_project_input_setup(longer, &t->cli->arena), NULL,
		       INPUT_SECONDS, seen) &&
	       execute(t, longer, fg_project_command(longer, &t->cli->arena),
		       found->as_argument ? NULL
					  : fg_project_input_name(input->path, &t->cli->arena),
		       TRY_SECONDS, seen);
}

/*
 * If no input takes long, the right one is unknown: a program may reject a text at its first line
 * and still exit with 0. Equal amounts of each input show which one keeps it busy.
 */
static void compare_inputs(struct trying *t, const struct fg_project_program *program,
			   const struct fg_project_inputs *inputs, struct found *found)
{
	double most_s = 0;

	for (size_t i = 0; i < inputs->count && !is_over(t); i++) {
		const struct fg_project_input *input = &inputs->items[i];
		const double copies = ceil(COMPARED_BYTES / (double)input->size);
		struct fg_project_program longer = *program;
		struct seen seen = {0};

		if (!found->works[i] || !execute_copies(t, &longer, input, found, copies, &seen) ||
		    seen.cpu_s < more_cpu * most_s + smallest_cpu_s)
			continue;
		most_s = seen.cpu_s;
		found->input = input;
		found->cpu_s = seen.cpu_s / copies;
	}
}

/*
 * Repeats the input until an execution takes about a third of a second. The number of copies is
 * found in steps: a short execution is mostly program start, and on a busy machine one execution
 * may take many times as long as the next.
 */
static void lengthen(struct trying *t, struct fg_project_program *program,
		     const struct found *found)
{
	const double most = fmin(COPIES_MAX, (double)COPIED_BYTES_MAX / (double)found->input->size);
	double cpu_s = fmax(found->cpu_s, smallest_cpu_s);
	const struct fg_project_program as_it_was = *program;
	double least_s = cpu_s;
	double copies = 1;

	for (int round = 0; round < LENGTHEN_MAX && cpu_s < wanted_s / 2 && copies < most;
	     round++) {
		struct fg_project_program longer = *program;
		struct seen seen = {0};

		copies = fmin(ceil(copies * wanted_s / cpu_s), most);
		if (!execute_copies(t, &longer, found->input, found, copies, &seen))
			return;
		if (seen.cpu_s >= 2 * least_s)
			*program = longer;
		cpu_s = fmax(seen.cpu_s, smallest_cpu_s);
		least_s = fmin(least_s, cpu_s);
	}
	/* Too fast to have processed this much: it copies its input or does not read most of it. */
	if (copies * (double)found->input->size > COPIED_BYTES_MAX / 2.0 && cpu_s < wanted_s / 2)
		*program = as_it_was;
}

/*
 * Chooses the input that takes longest, repeated if that is too short. False if every input takes
 * no longer than `cpu_s`, the time without input.
 */
static bool find_input_as(struct trying *t, struct fg_project_program *program,
			  struct fg_project_inputs *inputs, struct found found, double cpu_s)
{
	for (size_t i = 0; i < inputs->count && !found.is_harmful && !is_over(t); i++) {
		if (inputs->items[i].kind == found.kind && make_input(t, &inputs->items[i]))
			found.works[i] = try_input(t, program, &inputs->items[i], &found);
	}
	if (!found.input)
		return false;
	if (found.cpu_s < short_s && !found.input->made)
		compare_inputs(t, program, inputs, &found);
	if (found.cpu_s < wanted_s && !found.input->made)
		lengthen(t, program, &found);
	if (program->input)
		return true;
	if (found.cpu_s < 2 * cpu_s || found.cpu_s < smallest_cpu_s)
		return false;
	program->input = found.input->path;
	program->input_made = found.input->made;
	program->input_is_argument = found.as_argument;
	return true;
}

/*
 * Tries standard input before file names, because a program that only reads can do no harm. Sources
 * come last: if a patch changed one, the two sides would not do the same work.
 */
static bool find_input(struct trying *t, struct fg_project_program *program, double cpu_s)
{
	struct fg_project_inputs inputs = {0};

	fg_project_inputs_find(t->tree, &t->cli->arena, &inputs);
	fg_project_inputs_make(&inputs);
	for (unsigned way = 0; way < 2u * FG_INPUT_KIND_COUNT; way++) {
		const struct found found = {
			.as_argument = way >= FG_INPUT_KIND_COUNT,
			.kind = (enum fg_project_input_kind)(way % FG_INPUT_KIND_COUNT),
		};

		if (find_input_as(t, program, &inputs, found, cpu_s))
			return true;
	}
	return false;
}

/* ---- length, busy share, spread ---- */

static const char *stdin_of(struct trying *t, const struct fg_project_program *program)
{
	if (!program->input || program->input_is_argument)
		return NULL;
	return program->input_copies > 1 ? fg_project_input_name(program->input, &t->cli->arena)
					 : program->input;
}

/* `first` is an earlier execution, which also warmed the caches. */
static void observe(struct trying *t, struct fg_project_program *program)
{
	const char *line = fg_project_command(program, &t->cli->arena);
	struct fg_trial trial = {.count = 0};
	double last_s = 0;
	double own_s = 0;
	double wall_s = 0;
	double cpu_s = 0;
	double pairs = 0;
	size_t count = 0;

	while (count < SAMPLES_MAX && (count < SAMPLES_MIN || wall_s < SAMPLES_SECONDS)) {
		struct seen seen = {0};

		if (!execute(t, program, line, stdin_of(t, program), BENCHMARK_SECONDS, &seen)) {
			program->trial = FG_PROJECT_FAILED;
			return;
		}
		wall_s += seen.wall_s;
		own_s += own_seconds(&seen);
		cpu_s += seen.cpu_s;
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
	if (cpu_s < short_s * (double)count) {
		program->trial = FG_PROJECT_SHORT;
		program->seconds = cpu_s / (double)count;
	}
}

static void try_program(struct trying *t, struct fg_project_program *program)
{
	const bool has_harness = program->harness != FG_HARNESS_NONE;
	const char *line = fg_project_command(program, &t->cli->arena);
	struct seen seen = {0};
	bool works = execute(
		t, program, line, NULL,
		program->rank >= FG_PROJECT_LIKELY_RANK ? BENCHMARK_SECONDS : TRY_SECONDS, &seen);
	const char *why = program->why;

	fg_cli_detail(t->cli, "tried %s: %s, %.3f s", line, works ? "works" : why, seen.wall_s);
	const bool may_want_input = !has_harness && !program->is_named &&
				    program->rank < FG_PROJECT_LIKELY_RANK &&
				    own_seconds(&seen) < INPUT_SECONDS;
	const bool wants_input = may_want_input && (!works || seen.cpu_s < short_s);

	if (wants_input) {
		program->is_idle = !find_input(t, program, works ? seen.cpu_s : 0);
		works |= !program->is_idle;
	}
	if (!works) {
		program->trial = FG_PROJECT_FAILED;
		program->why = why;
		return;
	}
	observe(t, program);
	/* The first execution took longer than later ones. */
	if (!may_want_input || wants_input || program->trial != FG_PROJECT_SHORT)
		return;
	program->is_idle = !find_input(t, program, program->seconds);
	if (!program->is_idle)
		observe(t, program);
}

/* Removes the copies, because the benchmarks make their own. */
static void remove_copies(const struct trying *t)
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

void fg_project_try(struct fg_cli *cli, struct fg_project *project)
{
	struct trying t = {.cli = cli,
			   .project = project,
			   .tree = project->tree,
			   .launcher = fg_installed_find(FG_LAUNCHER_NAME),
			   .ends_ns = fg_clock_monotonic_ns() + ALL_SECONDS * FG_NS_PER_S};
	size_t good = 0;
	size_t tried = 0;

	for (size_t i = 0; i < project->program_count && tried < TRIED_MAX && good < WANTED; i++) {
		struct fg_project_program *program = &project->programs[i];

		/* A program with a benchmark's name is enough; tests never count as benchmarks. */
		if (!program->is_built || program->rank <= FG_PROJECT_TEST_RANK || is_over(&t) ||
		    (good > 0 && program->rank < FG_PROJECT_LIKELY_RANK))
			break;
		fg_cli_say(cli, "trying %s: %s", program->path, program->reason);
		try_program(&t, program);
		good += program->trial == FG_PROJECT_GOOD;
		tried++;
	}
	remove_copies(&t);
	fg_project_sort(project);
	free(t.launcher);
}
