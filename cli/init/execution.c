// SPDX-License-Identifier: Apache-2.0
/* Executes a program once in the trial build's tree. */
#include "base/clock.h"
#include "base/fs.h"
#include "base/process.h"
#include "base/text.h"
#include "cli/init/inputs.h"
#include "cli/init/trial.h"
#include "runner/harness/harness.h"

#include <math.h>
#include <unistd.h>

enum {
	OUTPUT_LIMIT_BYTES = 16 << 10,
	CASES_LIMIT_BYTES = 8 << 20, /* maximum size of a harness's list of cases */
	SAID_BYTES = 120,            /* maximum number of bytes that program->why quotes */
	EXECUTIONS = 3,
	INPUT_BYTES_MAX = 256 << 20,
	LONG_SECONDS = 1, /* a longer execution is not repeated */
};

static double seconds_of(const struct timeval *time)
{
	return (double)time->tv_sec + (double)time->tv_usec / 1e6;
}

/*
 * Returns our environment with the LD_LIBRARY_PATH that libtool's wrapper would set. The caller
 * frees it.
 */
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

/*
 * Adds the first line of the errors, or of the output, to a reason: ": usage: encode FILE". Some
 * programs print their usage to standard output.
 */
static void add_first_line(struct fg_strbuf *words, const struct fg_process_result *result)
{
	const char *const texts[] = {result->stderr_text, result->stdout_text};

	for (size_t i = 0; i < FG_ARRAY_SIZE(texts); i++) {
		const char *line = texts[i] ? texts[i] + strspn(texts[i], " \t\r\n") : "";

		if (*line) {
			fg_strbuf_add_text(words, ": ");
			fg_text_add_clean(words, line, strcspn(line, "\r\n"), SAID_BYTES);
			return;
		}
	}
}

/* Did the program print cases as its harness does? If not, program->why has the reason. */
static bool has_cases(struct fg_project_trying *t, struct fg_project_program *program,
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

bool fg_project_execute(struct fg_project_trying *t, struct fg_project_program *program,
			const char *line, const char *input, int seconds,
			struct fg_project_seen *seen)
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
	t->timeouts += result.timed_out;
	if (!good) {
		fg_process_describe(&result, &words);
		add_first_line(&words, &result);
		program->why = fg_arena_strdup(&t->cli->arena, fg_strbuf_text(&words));
	} else if (has_harness) {
		good = has_cases(t, program, &result);
	}
	*seen = (struct fg_project_seen){
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

/* Finds the smallest CPU time of a few executions, because a busy machine only adds CPU time. */
static bool least_cpu(struct fg_project_trying *t, struct fg_project_program *program,
		      const char *line, const char *input, int seconds, double *cpu_s)
{
	struct fg_project_seen seen = {0};

	for (int i = 0; i < EXECUTIONS && seen.wall_s < LONG_SECONDS; i++) {
		if (!fg_project_execute(t, program, line, input, seconds, &seen))
			return false;
		*cpu_s = i == 0 ? seen.cpu_s : fmin(*cpu_s, seen.cpu_s);
	}
	return true;
}

/* Does the work of fg_project_input_setup()'s command, but reads the file only once. */
static bool write_copies(const struct fg_project_trying *t,
			 const struct fg_project_program *program)
{
	char *from = fg_fs_join(t->tree, program->input);
	char *to = fg_fs_join(t->tree, fg_project_input_name(program->input, &t->cli->arena));
	FILE *file = fopen(to, "we");
	char *text = NULL;
	size_t size = 0;
	bool is_written =
		file && fg_fs_read_regular(from, INPUT_BYTES_MAX, &text, &size, NULL) == FG_OK;

	for (unsigned i = 0; i < program->input_copies && is_written; i++)
		is_written = fwrite(text, 1, size, file) == size;
	is_written = file && fclose(file) == 0 && is_written;
	free(text);
	free(to);
	free(from);
	return is_written;
}

bool fg_project_prepare(struct fg_project_trying *t, const struct fg_project_program *program)
{
	const char *setup = fg_project_input_setup(program, &t->cli->arena);
	struct fg_project_program maker = {.path = ""};
	struct fg_project_seen seen = {0};

	if (setup && !program->input_made)
		return write_copies(t, program);
	return !setup ||
	       fg_project_execute(t, &maker, setup, NULL, FG_PROJECT_INPUT_SECONDS, &seen);
}

/*
 * Returns the CPU time of a process that only receives the program's input: `cat`, or `true` with
 * the names of the files as arguments.
 */
static double reading_seconds(struct fg_project_trying *t, const struct fg_project_program *program)
{
	struct fg_arena *arena = &t->cli->arena;
	struct fg_project_program reader = {.path = ""};
	const char *file = !program->input ? "/dev/null"
			   : program->input_copies > 1
				   ? fg_project_input_name(program->input, arena)
				   : program->input;
	const char *cat = program->input_is_repeated
				  ? fg_arena_printf(arena, "true $(yes %s | head -n %u)",
						    program->input, program->input_copies)
				  : fg_arena_printf(arena, "cat <%s", file);
	const char *line =
		program->loops
			? fg_arena_printf(arena,
					  "sh -c 'for i in $(seq %u); do %s >/dev/null; done'",
					  program->loops, cat)
			: fg_arena_printf(arena, "sh -c 'exec %s >/dev/null'", cat);
	double cpu_s = 0;

	(void)least_cpu(t, &reader, line, NULL, FG_PROJECT_TRY_SECONDS, &cpu_s);
	return cpu_s;
}

void fg_project_set_work(struct fg_project_trying *t, struct fg_project_program *program,
			 double cpu_s)
{
	const double reading_s = reading_seconds(t, program);

	program->work_s = cpu_s > FG_PROJECT_CLEARLY * reading_s ? cpu_s - reading_s : 0;
}

bool fg_project_measure(struct fg_project_trying *t, struct fg_project_program *program,
			int seconds)
{
	program->work_s = 0;
	if (!least_cpu(t, program, fg_project_command(program, &t->cli->arena),
		       fg_project_stdin(program, &t->cli->arena), seconds, &program->seconds))
		return false;
	fg_project_set_work(t, program, program->seconds);
	return true;
}

bool fg_project_is_short(const struct fg_project_program *program)
{
	return FG_PROJECT_CLEARLY * program->work_s < FG_PROJECT_WANTED_S;
}

bool fg_project_is_longer(const struct fg_project_program *a, const struct fg_project_program *b)
{
	return a->work_s > FG_PROJECT_CLEARLY * b->work_s;
}

bool fg_project_is_over(const struct fg_project_trying *t)
{
	return fg_clock_monotonic_ns() > t->ends_ns ||
	       (t->cli->interrupted && *t->cli->interrupted);
}
