// SPDX-License-Identifier: Apache-2.0
#include "runner/execute/extra.h"

#include "base/fs.h"
#include "runner/execute/entry_plan.h"
#include "runner/job.h"

#include <stdlib.h>
#include <string.h>
#include <sys/personality.h>

int fg_runner_extra_folder(struct fg_runner_job *job, char **folder, struct fg_error *err)
{
	return fg_fs_temporary_folder(job->runner->traces_folder, "extra-", folder, err);
}

void fg_runner_extra_remove(const struct fg_runner_job *job, char *folder)
{
	fg_runner_remove_traces(job->runner, folder);
	free(folder);
}

/*
 * Disables address randomisation for the programs that this process starts; some containers refuse
 * this. Returns the value for restore_addresses().
 */
static int fix_addresses(void)
{
	const int before = personality(0xffffffff);

	if (before != -1)
		(void)personality((unsigned long)before | ADDR_NO_RANDOMIZE);
	return before;
}

static void restore_addresses(int before)
{
	if (before != -1)
		(void)personality((unsigned long)before);
}

static int run(const struct fg_extra *extra, const struct fg_process_options *options,
	       struct fg_process_result *result, struct fg_error *err)
{
	const int before = fix_addresses();
	const int status = extra->observe ? extra->observe(extra->context, options, result, err)
					  : fg_process_run(options, result, err);

	restore_addresses(before);
	return status;
}

static int execute(struct fg_runner_job *job, const struct fg_extra *extra, char **why,
		   struct fg_error *err)
{
	const struct fg_target *target = &job->executor.targets[extra->arm];
	struct fg_process_result result = {0};
	struct fg_strbuf text = {0};
	struct fg_error found = {0};
	char **words = fg_join_words(extra->before, target->command->argv);
	const struct fg_process_options options = {
		.argv = words,
		.environment = target->environment,
		.working_directory = target->working_directory,
		.stdin_path = target->stdin_path,
		.stdout_to = FG_STREAM_CAPTURE,
		.stderr_to = FG_STREAM_CAPTURE,
		.timeout_ns = extra->timeout_ns,
		.no_core = true,
		.interrupted = job->executor.interrupted,
	};
	int status = run(extra, &options, &result, &found);

	if (status == FG_EINTERRUPTED) {
		status = fg_error_set(err, FG_EINTERRUPTED, "interrupted");
	} else if (status != FG_OK) {
		*why = fg_xstrdup(found.message);
		status = fg_error_set(err, FG_ECHILD, "%s", found.message);
	} else if (result.timed_out || !result.exited ||
		   result.exit_code != target->benchmark->expect_exit_code) {
		fg_process_describe(&result, &text);
		*why = fg_strbuf_detach(&text);
		status = fg_error_set(err, FG_ECHILD, "%s", *why);
	}
	fg_strbuf_release(&text);
	fg_process_result_release(&result);
	free(words);
	return status;
}

int fg_runner_extra(struct fg_runner_job *job, const struct fg_extra *extra, char **why,
		    struct fg_error *err)
{
	const struct fg_target *target = &job->executor.targets[extra->arm];
	const struct fg_benchmark *benchmark = target->benchmark;
	struct fg_failure failure = {0};
	int status = fg_execute_helper(&job->executor, extra->arm, &benchmark->prepare, "prepare",
				       &failure, err);
	int cleaned = FG_OK;

	*why = NULL;
	if (status != FG_OK)
		goto out;
	status = execute(job, extra, why, err);
	cleaned = fg_execute_helper(&job->executor, extra->arm, &benchmark->cleanup, "cleanup",
				    &failure, status == FG_OK ? err : NULL);
	status = status == FG_OK ? cleaned : status;
out:
	if (status == FG_ECHILD && !*why && failure.text)
		*why = fg_xstrdup(failure.text);
	fg_failure_release(&failure);
	if (status == FG_EINTERRUPTED)
		job->interrupted = true;
	return status;
}

int fg_runner_extra_entry_plans(const struct fg_runner_job *job, char *const paths[FG_ARM_COUNT],
				struct fg_error *err)
{
	struct fg_entry_plan plans[FG_ARM_COUNT];
	size_t count = 0;

	for (size_t arm = 0; arm < FG_ARM_COUNT; arm++) {
		const struct fg_target *target = &job->executor.targets[arm];

		if (paths[arm])
			plans[count++] = (struct fg_entry_plan){.program = target->program,
								.environment = target->environment,
								.working_directory =
									target->working_directory,
								.path = paths[arm]};
	}
	return fg_entry_plans_write(plans, count, err);
}
