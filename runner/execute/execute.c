// SPDX-License-Identifier: Apache-2.0
#include "runner/execute/execute.h"

#include "base/clock.h"
#include "base/fs.h"
#include "runner/execute/output_tail.h"
#include "runner/execute/preload.h"

enum {
	CAPTURE_LIMIT_BYTES = 1 << 20,
	HARNESS_LIMIT_BYTES = 32 << 20,
	TAIL_LINES = 12,
	TAIL_BYTES = 2048,
	HELPER_TIMEOUT_S = 600,
	LAST_CLEANUP_TIMEOUT_S = 10, /* time limit of a cleanup after the user has asked to stop */
	PADDING_VARIABLES = 16,
	PRINTS_MUCH_BYTES = 512 << 10, /* half the capacity of a pipe */
};

static const char padding_name[] = "FASTGATE_PADDING=";

static uint64_t count_oom_kills(void)
{
	char *text = NULL;
	size_t size = 0;
	uint64_t kills = 0;

	if (fg_fs_read("/proc/vmstat", 1 << 20, &text, &size, NULL) == FG_OK) {
		const char *line = strstr(text, "\noom_kill ");

		kills = line ? strtoull(line + strlen("\noom_kill "), NULL, 10) : 0;
	}
	free(text);
	return kills;
}

void fg_executor_init(struct fg_executor *executor, const char *host_root)
{
	fg_observer_init(&executor->observer, host_root ? host_root : "");
	executor->oom_kills = count_oom_kills();
}

void fg_executor_release(struct fg_executor *executor)
{
	fg_observer_release(&executor->observer);
	for (size_t i = 0; i < FG_ARM_COUNT; i++)
		fg_target_release(&executor->targets[i]);
}

void fg_execution_release(struct fg_execution *execution)
{
	fg_process_result_release(&execution->result);
	fg_harness_report_release(&execution->report);
	free(execution->user_values);
	free(execution->trace_folder);
	*execution = (struct fg_execution){0};
}

void fg_failure_release(struct fg_failure *failure)
{
	free(failure->text);
	free(failure->tail);
	*failure = (struct fg_failure){0};
}

static int fail(struct fg_failure *failure, const struct fg_target *target, char *text,
		const struct fg_process_result *result, struct fg_error *err)
{
	fg_failure_release(failure);
	failure->arm = target->arm;
	failure->text = text;
	failure->tail = result ? fg_output_tail(result, TAIL_LINES, TAIL_BYTES) : NULL;
	return fg_error_set(err, FG_ECHILD, "%s", text);
}

static const char *arm_words(const struct fg_executor *executor, enum fg_arm arm)
{
	if (!executor->targets[FG_ARM_BASELINE].command ||
	    !executor->targets[FG_ARM_CANDIDATE].command)
		return "";
	return arm == FG_ARM_BASELINE ? "baseline: " : "candidate: ";
}

/* Fails, with the reason, unless the program ended as expected. */
static int judge(struct fg_executor *executor, const struct fg_target *target,
		 const struct fg_execution *execution, struct fg_failure *failure,
		 struct fg_error *err)
{
	const struct fg_process_result *result = &execution->result;
	const int expected = target->benchmark->expect_exit_code;
	struct fg_strbuf text = {0};

	if (!result->timed_out && result->exited && result->exit_code == expected)
		return FG_OK;
	fg_strbuf_add_text(&text, arm_words(executor, target->arm));
	fg_strbuf_printf(&text, "'%s' ", target->command->text);
	fg_process_describe(result, &text);
	if (!result->timed_out && result->exited)
		fg_strbuf_printf(&text, ", expected %d", expected);
	else if (!result->timed_out && result->signal == SIGKILL &&
		 count_oom_kills() > executor->oom_kills)
		fg_strbuf_add_text(&text, "; the kernel ran out of memory meanwhile");
	return fail(failure, target, fg_strbuf_detach(&text), result, err);
}

int fg_execute_helper(struct fg_executor *executor, enum fg_arm arm,
		      const struct fg_command *command, const char *what,
		      struct fg_failure *failure, struct fg_error *err)
{
	const struct fg_target *target = &executor->targets[arm];
	const bool is_cleanup = command == &target->benchmark->cleanup;
	const bool stopping = executor->interrupted && *executor->interrupted;
	struct fg_process_result result = {0};
	struct fg_strbuf text = {0};
	struct fg_error found = {0};
	int status = FG_OK;

	if (!command->argc || !target->command)
		return FG_OK;
	const struct fg_process_options options = {
		.argv = command->argv,
		.environment = target->environment,
		.working_directory = target->working_directory,
		.stdout_to = FG_STREAM_CAPTURE,
		.stderr_to = FG_STREAM_CAPTURE,
		.capture_limit_bytes = CAPTURE_LIMIT_BYTES,
		.timeout_ns = (stopping ? LAST_CLEANUP_TIMEOUT_S : HELPER_TIMEOUT_S) * FG_NS_PER_S,
		.keep_children = command == &target->benchmark->setup,
		.interrupted = is_cleanup ? NULL : executor->interrupted,
	};

	fg_strbuf_printf(&text, "%s%s '%s' ", arm_words(executor, arm), what, command->text);
	status = fg_process_run(&options, &result, &found);
	if (status == FG_OK && (result.timed_out || !result.exited || result.exit_code != 0)) {
		fg_process_describe(&result, &text);
		status = fail(failure, target, fg_strbuf_detach(&text), &result, err);
	} else if (status == FG_ENOENT || status == FG_EIO) {
		fg_strbuf_printf(&text, "cannot be run: %s", found.message);
		status = fail(failure, target, fg_strbuf_detach(&text), NULL, err);
	} else if (status != FG_OK) {
		status = fg_error_set(err, found.code, "%s", found.message);
	}
	fg_strbuf_release(&text);
	fg_process_result_release(&result);
	return status;
}

/* A stale file would supply the number of an earlier repetition. */
static void remove_metric_files(const struct fg_target *target)
{
	for (size_t i = 0; i < target->benchmark->metric_count; i++) {
		const char *file = target->benchmark->metrics[i].file;
		char *path = file ? fg_fs_join(target->working_directory, file) : NULL;

		if (path)
			(void)remove(path);
		free(path);
	}
}

/*
 * Returns the target's variables and the padding. The size of the padding shifts the stack; the
 * number of its variables shifts the heap of programs that copy their environment, such as shells.
 * One more variable can change the time of such a program by 6 %.
 */
static char **environment_of(const struct fg_target *target, uint16_t padding)
{
	const size_t name_length = strlen(padding_name);
	char *variable = fg_xmalloc(name_length + padding + 1);
	char **environment = fg_copy_words(target->environment);

	memcpy(variable, padding_name, name_length);
	memset(variable + name_length, '.', padding);
	variable[name_length + padding] = '\0';
	fg_variable_set(&environment, variable);
	for (unsigned i = 0; i < padding % PADDING_VARIABLES; i++)
		fg_variable_set(&environment, fg_xasprintf("FASTGATE_PADDING_%x=", i));
	return environment;
}

/* One block being executed. */
struct pass {
	struct fg_executor *executor;
	const struct fg_block *block;
	struct fg_execution *executions;
	struct fg_failure *failure;
};

static const struct fg_target *target_of(const struct pass *pass, size_t slot)
{
	return &pass->executor->targets[pass->block->slots[slot].arm];
}

/*
 * Adds the sampler's variables to the environment, and makes a folder for its traces. A repetition
 * without the sampler gets variables of the same sizes under unused names, so that the sampler's
 * cost is not confused with the cost of a larger environment.
 */
static int add_sampler(const struct pass *pass, size_t slot, char ***environment,
		       struct fg_error *err)
{
	const bool sampled = pass->block->slots[slot].sampled;
	const struct fg_target *target = target_of(pass, slot);
	struct fg_execution *execution = &pass->executions[slot];
	struct fg_executor *executor = pass->executor;
	const struct fg_sampler *sampler = &target->benchmark->measure.sampler;
	char **variables = NULL;
	char name[16];
	char slowdown[16]; /* padded to the same length on both sides */

	if (sampler->units && !fg_preload_units_valid(sampler->units))
		return fg_error_set(
			err, FG_EINVAL,
			"measure.sampler.units: expected FIRST-LAST, two numbers in ascending "
			"order, got '%s'",
			sampler->units);
	(void)snprintf(name, sizeof(name), "%06u", executor->next_trace++);
	execution->trace_folder = fg_fs_join(executor->traces_folder, name);
	if (sampled)
		FG_TRY(fg_fs_make_folders(execution->trace_folder, 0755, err));
	(void)snprintf(slowdown, sizeof(slowdown), "%010u",
		       target->arm == FG_ARM_CANDIDATE ? sampler->slowdown : 0);
	variables = fg_preload_variables(
		&(struct fg_preload){.library = executor->collector,
				     .trace_folder = execution->trace_folder,
				     .clock = sampler->clock,
				     .kernel = sampler->kernel,
				     .period_ns = pass->block->period_ns,
				     .slowdown = sampler->slowdown ? slowdown : NULL,
				     .follow_children = sampler->follow_children,
				     .delay_ms = (uint64_t)((sampler->delay_ns + FG_NS_PER_MS - 1) /
							    FG_NS_PER_MS),
				     .units = sampler->units,
				     .paused = sampler->paused,
				     .no_python = sampler->python == FG_PYTHON_OFF},
		*environment);
	for (size_t i = 0; variables[i]; i++) {
		if (!sampled)
			variables[i][0] = '_';
		fg_variable_set(environment, variables[i]);
	}
	free(variables);
	if (!sampled) {
		free(execution->trace_folder);
		execution->trace_folder = NULL;
	}
	return FG_OK;
}

static int start_failed(const struct pass *pass, const struct fg_target *target,
			const struct fg_error *found, struct fg_error *err)
{
	const char *arm = arm_words(pass->executor, target->arm);

	if (found->code == FG_EIO || found->code == FG_ELIMIT)
		return fg_error_set(err, found->code, "%s", found->message);
	return fail(pass->failure, target, fg_xasprintf("%s%s", arm, found->message), NULL, err);
}

/*
 * Returns the command with the program of this layout, which the caller frees, and puts the
 * layout's libraries first in the search path. NULL: the program runs as it was linked.
 */
static char **place(const struct fg_target *target, unsigned layout, char ***environment)
{
	static const char name[] = "LD_LIBRARY_PATH";
	const struct fg_target_layout *at = &target->layouts.items[layout];
	const char *others = fg_variable_get(target->environment, name);
	char **argv = NULL;

	if (!at->program)
		return NULL;
	argv = fg_xcalloc(target->command->argc + 1, sizeof(argv[0]));
	memcpy(argv, target->command->argv, target->command->argc * sizeof(argv[0]));
	argv[0] = at->program;
	if (at->library_folder)
		fg_variable_set(environment, fg_xasprintf("%s=%s%s%s", name, at->library_folder,
							  others ? ":" : "", others ? others : ""));
	return argv;
}

static int start_slot(const struct pass *pass, size_t slot, struct fg_process *process,
		      struct fg_error *err)
{
	const struct fg_block *block = pass->block;
	const struct fg_target *target = target_of(pass, slot);
	struct fg_execution *execution = &pass->executions[slot];
	struct fg_process_options options = {
		.argv = target->command->argv,
		.working_directory = target->working_directory,
		.stdin_path = target->stdin_path,
		.stdout_to = pass->executor->to_file[0] ? FG_STREAM_FILE : FG_STREAM_CAPTURE,
		.stderr_to = pass->executor->to_file[1] ? FG_STREAM_FILE : FG_STREAM_CAPTURE,
		.capture_limit_bytes = target->benchmark->harness != FG_HARNESS_NONE
					       ? HARNESS_LIMIT_BYTES
					       : CAPTURE_LIMIT_BYTES,
		/* two programs on one CPU take twice as long */
		.timeout_ns = target->benchmark->timeout_ns * (block->concurrent ? 2 : 1),
		.pinned = block->cpu >= 0,
		.cpu = block->cpu,
		.no_core = true,
		.interrupted = pass->executor->interrupted,
		.launcher = pass->executor->launcher,
	};
	char **environment = environment_of(target, block->slots[slot].padding);
	char **argv = place(target, block->layout, &environment);
	struct fg_error found = {0};
	int status = FG_OK;

	if (argv)
		options.argv = argv;
	if (block->period_ns)
		FG_TRY_OUT(add_sampler(pass, slot, &environment, err));
	options.environment = environment;
	fg_observe(&pass->executor->observer, block->cpu, &execution->before);
	execution->started_wall_ns = fg_clock_wall_ns();
	status = fg_process_start(&options, process, &found);
	if (status != FG_OK)
		status = start_failed(pass, target, &found, err);
	process->options.environment = NULL; /* exec has copied the array */
	process->options.argv = target->command->argv;
out:
	free(argv);
	fg_free_words(environment);
	return status;
}

/* Parses the harness's report and drops unwanted cases. */
static int read_cases(const struct fg_benchmark *benchmark, const struct fg_process_result *result,
		      struct fg_harness_report *report, struct fg_error *err)
{
	int status = FG_OK;

	if (benchmark->harness == FG_HARNESS_NONE)
		return FG_OK;
	status = fg_harness_parse(benchmark->harness, result->stdout_text, result->stdout_size,
				  report, err);
	if (status != FG_OK || benchmark->case_count == 0)
		return status;
	return fg_harness_keep(report, benchmark->cases, benchmark->case_count, err);
}

/*
 * Extracts the user's metrics before cleanup or the next repetition changes the files that may
 * contain the metrics.
 */
static int extract(const struct pass *pass, size_t slot, struct fg_error *err)
{
	const struct fg_executor *executor = pass->executor;
	const struct fg_target *target = target_of(pass, slot);
	struct fg_execution *execution = &pass->executions[slot];
	const struct fg_process_result *result = &execution->result;
	const struct fg_extract_source source = {
		.stdout_text = result->stdout_text,
		.stdout_size = result->stdout_size,
		.stderr_text = result->stderr_text,
		.stderr_size = result->stderr_size,
		.cut = result->output_cut,
		.working_directory = target->working_directory,
	};
	double *values = fg_xcalloc(executor->user_metric_count, sizeof(double));
	struct fg_error found = {0};

	if (fg_extractor_run(executor->extractor, &source, values, &found) != FG_OK ||
	    read_cases(target->benchmark, result, &execution->report, &found) != FG_OK) {
		free(values);
		return fail(pass->failure, target,
			    fg_xasprintf("%s%s", arm_words(executor, target->arm), found.message),
			    result, err);
	}
	execution->user_values = values;
	return FG_OK;
}

/*
 * Notes whether an arm prints a lot. The report of a harness stays in a pipe: many harnesses write
 * it to /dev/stdout, and a file opened a second time would be overwritten from its beginning.
 */
static void see_output(struct fg_executor *executor, const uint64_t printed[2])
{
	if (executor->targets[FG_ARM_CANDIDATE].benchmark->harness != FG_HARNESS_NONE)
		return;
	for (size_t k = 0; k < 2; k++) {
		if (printed[k] < PRINTS_MUCH_BYTES || executor->large_output[k])
			continue;
		executor->large_output[k] = true;
		executor->output_moved = true;
	}
}

static int wait_for(const struct pass *pass, struct fg_process *processes, size_t first,
		    size_t count, struct fg_error *err)
{
	struct fg_process_result results[FG_BLOCK_SLOTS_MAX] = {0};
	int status = fg_process_wait(processes, count, results, err);

	for (size_t i = 0; i < count; i++) {
		struct fg_execution *execution = &pass->executions[first + i];

		execution->result = results[i];
		see_output(pass->executor, results[i].printed);
		fg_observe(&pass->executor->observer, pass->block->cpu, &execution->after);
	}
	for (size_t i = first; i < first + count && status == FG_OK; i++) {
		status = judge(pass->executor, target_of(pass, i), &pass->executions[i],
			       pass->failure, err);
		if (status == FG_OK)
			status = extract(pass, i, err);
	}
	return status;
}

/* Runs `count` slots at once, beginning with slot `first`. */
static int run_together(const struct pass *pass, size_t first, size_t count, struct fg_error *err)
{
	struct fg_process processes[FG_BLOCK_SLOTS_MAX] = {0};
	size_t started = 0;
	int status = FG_OK;

	while (started < count && status == FG_OK) {
		status = start_slot(pass, first + started, &processes[started], err);
		started += status == FG_OK;
	}
	if (status == FG_OK)
		status = wait_for(pass, processes, first, count, err);
	for (size_t i = 0; i < started; i++)
		fg_process_release(&processes[i]); /* kills a program that still runs */
	return status;
}

enum helper {
	BEFORE,
	AFTER,
};

/* Runs prepare or cleanup for the slots. */
static int run_helpers(const struct pass *pass, size_t first, size_t count, enum helper helper,
		       struct fg_error *err)
{
	int status = FG_OK;

	for (size_t i = first; i < first + count && status == FG_OK; i++) {
		const struct fg_target *target = target_of(pass, i);
		const struct fg_benchmark *benchmark = target->benchmark;

		if (helper == BEFORE)
			remove_metric_files(target);
		status = fg_execute_helper(
			pass->executor, target->arm,
			helper == BEFORE ? &benchmark->prepare : &benchmark->cleanup,
			helper == BEFORE ? "prepare" : "cleanup", pass->failure, err);
	}
	return status;
}

size_t fg_block_step(const struct fg_block *block)
{
	return block->concurrent ? block->count : 1;
}

int fg_execute_step(struct fg_executor *executor, const struct fg_block *block, size_t first,
		    struct fg_execution executions[FG_BLOCK_SLOTS_MAX], struct fg_failure *failure,
		    struct fg_error *err)
{
	const struct pass pass = {
		.executor = executor, .block = block, .executions = executions, .failure = failure};
	const size_t count = fg_block_step(block);
	int status = FG_OK;

	if (first == 0) {
		executor->output_moved = false;
		memcpy(executor->to_file, executor->large_output, sizeof(executor->to_file));
	}
	status = run_helpers(&pass, first, count, BEFORE, err);
	return status == FG_OK ? run_together(&pass, first, count, err) : status;
}

int fg_execute_cleanup(struct fg_executor *executor, const struct fg_block *block, size_t first,
		       struct fg_failure *failure, struct fg_error *err)
{
	const struct pass pass = {.executor = executor, .block = block, .failure = failure};

	return run_helpers(&pass, first, fg_block_step(block), AFTER, err);
}

int fg_execute_block(struct fg_executor *executor, const struct fg_block *block,
		     struct fg_execution executions[FG_BLOCK_SLOTS_MAX], struct fg_failure *failure,
		     struct fg_error *err)
{
	int status = FG_OK;

	for (size_t first = 0; first < block->count && status == FG_OK;
	     first += fg_block_step(block)) {
		struct fg_failure later = {0};
		int cleaned = FG_OK;

		if (executor->interrupted && *executor->interrupted)
			return fg_error_set(err, FG_EINTERRUPTED, "interrupted");
		status = fg_execute_step(executor, block, first, executions, failure, err);
		cleaned = fg_execute_cleanup(executor, block, first,
					     status == FG_OK ? failure : &later,
					     status == FG_OK ? err : NULL);
		status = status == FG_OK ? cleaned : status;
		fg_failure_release(&later);
	}
	return status;
}
