// SPDX-License-Identifier: Apache-2.0
#include "base/clock.h"
#include "base/fs.h"
#include "base/text.h"
#include "cli/record/options.h"
#include "cli/record/outcome.h"
#include "cli/record/recorded_command.h"
#include "profile/attach/kernel_traces.h"
#include "runner/execute/control_file.h"
#include "runner/execute/entry_plan.h"
#include "runner/execute/preload.h"

#include <unistd.h>

#define PLAN_NAME "entries.plan"

/* Rounds up, because 0 would mean no limit. */
static uint64_t whole_ms(int64_t ns)
{
	return (uint64_t)((ns + FG_NS_PER_MS - 1) / FG_NS_PER_MS);
}

static bool is_countable(const char *name, size_t length)
{
	for (const char *const *word = fg_recordable; *word; word++)
		if (strlen(*word) == length && strncmp(*word, name, length) == 0)
			return true;
	return false;
}

static int check_measures(const char *measures, struct fg_error *err)
{
	while (measures && *measures) {
		const size_t length = strcspn(measures, ",");

		if (!is_countable(measures, length)) {
			char *words = fg_text_join(fg_recordable, ", ");

			(void)fg_error_set(err, FG_EINVAL,
					   "--measure: '%.*s' cannot be counted: expected %s",
					   (int)length, measures, words);
			free(words);
			return FG_EINVAL;
		}
		measures += length + (measures[length] == ',');
	}
	return FG_OK;
}

/* Replaces the plain library with the counting library. */
static int take_counting(const struct fg_recording *given, char **library, struct fg_error *err)
{
	char *counting = NULL;

	FG_TRY(fg_record_counts_calls(given)
		       ? fg_preload_calls_library(*library, &counting, err)
		       : fg_preload_counting_library(*library, &counting, err));
	free(*library);
	*library = counting;
	return FG_OK;
}

/* Writes a plan of the function entries that can have jumps, next to the traces. */
static int make_plan(const struct fg_recording *given, const char *program, const char *folder,
		     char **path, struct fg_error *err)
{
	if (!given->count.entries)
		return FG_OK;
	*path = fg_fs_join(folder, PLAN_NAME);
	return fg_entry_plans_write(&(struct fg_entry_plan){.program = program, .path = *path}, 1,
				    err);
}

static int prepare(const struct fg_recording *given, const char *command,
		   struct fg_preload *preload, char *owned[3], struct fg_error *err)
{
	/* If the program is given by its path, fg_preload_check() explains any problem with it. */
	char *program = strchr(command, '/') ? fg_xstrdup(command) : fg_fs_find_program(command);
	int status = FG_OK;

	if (!program)
		return fg_error_set(err, FG_ENOENT, "program '%s' was not found", command);
	FG_TRY_OUT(fg_preload_library(&owned[0], err));
	FG_TRY_OUT(fg_preload_check(program, owned[0], err));
	if (fg_record_counts_events(given))
		FG_TRY_OUT(take_counting(given, &owned[0], err));
	FG_TRY_OUT(fg_record_make_folder(given, &owned[1], err));
	FG_TRY_OUT(make_plan(given, program, owned[1], &owned[2], err));
	*preload = (struct fg_preload){
		.library = owned[0],
		.trace_folder = owned[1],
		.clock = fg_record_counts_events(given) ? FG_SAMPLE_NOTHING
							: (enum fg_sample_clock)given->sample.clock,
		.kernel = (enum fg_kernel_functions)given->sample.kernel,
		.period_ns =
			given->sample.rate_hz ? (uint64_t)FG_NS_PER_S / given->sample.rate_hz : 0,
		.budget = given->sample.rate_hz ? 0 : given->sample.budget,
		.follow_children = !given->no_follow,
		.delay_ms = whole_ms(given->sample.delay_ns),
		.duration_ms = whole_ms(given->sample.duration_ns),
		.counters = given->count.measures,
		.units = given->units,
		.paused = given->paused,
		.no_python = given->sample.python == FG_PYTHON_OFF,
		.calls = given->count.calls,
		.domains = given->count.domains,
		.entries = owned[2],
		.call_times = given->count.times,
		.values = given->count.values,
		.value_bits = given->count.value_bits,
	};
out:
	free(program);
	return status;
}

static int open_control(const struct fg_recording *given, struct fg_control_file **control,
			struct fg_preload *preload, struct fg_error *err)
{
	if (!given->control)
		return FG_OK;
	FG_TRY(fg_control_file_open(given->control, control, err));
	preload->control = fg_control_file_page(*control);
	return FG_OK;
}

static int run_command(char *const *argv, const struct fg_preload *preload,
		       struct fg_control_file *control, int *exit_code, struct fg_error *err)
{
	struct fg_recorded recorded;
	char **variables = fg_preload_variables(preload, environ);
	const pid_t pid = fg_recorded_start(argv, variables, &recorded);

	fg_free_words(variables);
	if (pid < 0)
		return fg_error_errno(err, FG_EIO, "cannot start %s", argv[0]);
	/*
	 * Start the thread only after the fork: the child of a threaded process may call only
	 * async-signal-safe functions.
	 */
	fg_control_file_watch(control);
	*exit_code = fg_recorded_await(pid, &recorded);
	return FG_OK;
}

/* Adds names of kernel functions to new traces. */
static void name_kernel_functions(const struct fg_cli *cli, const char *folder)
{
	struct fg_kernel_naming naming = {0};

	fg_kernel_naming_add(&naming, folder);
	if (naming.is_hidden)
		fg_cli_say(cli, "functions of the kernel have no names: their addresses are hidden "
				"from this user (kernel.kptr_restrict)");
	fg_kernel_naming_release(&naming);
}

int fg_record_inside(struct fg_cli *cli, const struct fg_recording *given, int signal,
		     int *exit_code, struct fg_error *err)
{
	struct fg_preload preload = {0};
	struct fg_control_file *control = NULL;
	char *owned[3] = {NULL, NULL, NULL};
	int status = FG_OK;

	FG_TRY(check_measures(given->count.measures, err));
	fg_preload_warm();
	FG_TRY_OUT(prepare(given, cli->arguments[0], &preload, owned, err));
	preload.dump_signal = signal;
	FG_TRY_OUT(open_control(given, &control, &preload, err));
	status = run_command(cli->arguments, &preload, control, exit_code, err);
	if (owned[2])
		(void)unlink(owned[2]);
	if (status != FG_OK)
		goto out;
	name_kernel_functions(cli, owned[1]);
	status = fg_record_finish(cli, given, owned[1], err);
out:
	fg_control_file_close(control);
	for (size_t i = 0; i < FG_ARRAY_SIZE(owned); i++)
		free(owned[i]);
	return status;
}
