// SPDX-License-Identifier: Apache-2.0
#include "base/clock.h"
#include "base/fs.h"
#include "base/text.h"
#include "cli/framework/command.h"
#include "cli/session/session.h"

struct options {
	struct fg_option_range pairs;
	const char *schedule;
	int64_t budget_ns;
	unsigned rate_hz;
	bool no_sampling;
	const char *html;
};

static int set_command(struct fg_plan *plan, const char *text, const char *which,
		       struct fg_command *command, struct fg_error *err)
{
	const int status =
		fg_text_split_words(text, &plan->arena, &command->argv, &command->argc, err);

	command->text = text;
	if (status != FG_OK)
		return status;
	if (command->argc == 0)
		return fg_error_set(err, FG_EINVAL, "command %s is empty", which);
	if (fg_text_shell_word(command->argv))
		return fg_error_set(
			err, FG_EINVAL,
			"command %s: '%s' needs a shell, but commands run without one: write "
			"\"sh -c '...'\"",
			which, fg_text_shell_word(command->argv));
	return FG_OK;
}

static void set_page(struct fg_plan *plan, const char *path)
{
	if (!path)
		return;
	plan->reports = fg_arena_alloc(&plan->arena, sizeof(*plan->reports));
	plan->reports[0] = (struct fg_report_target){.format = "html", .path = path};
	plan->report_count = 1;
}

/* Makes a plan with one benchmark, whose arms are the two commands. */
static int make_plan(const struct fg_cli *cli, const struct options *given, struct fg_plan *plan,
		     struct fg_error *err)
{
	struct fg_benchmark *benchmark = NULL;
	struct fg_command *commands[FG_ARM_COUNT] = {NULL, NULL};

	fg_plan_init(plan);
	plan->project = "duel";
	plan->root = ".";
	plan->measure.min_pairs = given->pairs.min;
	plan->measure.max_pairs = given->pairs.max;
	plan->measure.budget_ns = given->budget_ns;
	plan->measure.sampler.enabled = !given->no_sampling;
	plan->measure.sampler.rate_hz = given->rate_hz;
	if (!fg_schedule_parse(given->schedule, &plan->measure.schedule) ||
	    plan->measure.schedule == FG_SCHEDULE_STORED)
		return fg_error_set(err, FG_EINVAL,
				    "--schedule: '%s' is not one of auto, duet, abba",
				    given->schedule);
	plan->benchmarks = fg_arena_alloc(&plan->arena, sizeof(*plan->benchmarks));
	plan->benchmark_count = 1;
	benchmark = plan->benchmarks;
	*benchmark = (struct fg_benchmark){.name = "duel",
					   .timeout_ns = 600 * FG_NS_PER_S,
					   .measure = plan->measure,
					   .policy = plan->policy};
	commands[FG_ARM_BASELINE] = &benchmark->baseline_command;
	commands[FG_ARM_CANDIDATE] = &benchmark->command;
	set_page(plan, given->html);
	for (size_t arm = 0; arm < FG_ARM_COUNT; arm++) {
		FG_TRY(set_command(plan, cli->arguments[arm], arm == 0 ? "A" : "B", commands[arm],
				   err));
	}
	return FG_OK;
}

static int fight(struct fg_cli *cli, const struct fg_plan *plan, struct fg_error *err)
{
	const struct fg_benchmark *const benchmarks[1] = {plan->benchmarks};
	struct fg_session session;
	struct fg_gate_input input = {0};
	const char *parent = getenv("TMPDIR");
	char *state = NULL;
	int measured = FG_OK;
	int status = fg_session_init(&session, cli, plan, err);

	if (status == FG_OK)
		status = fg_fs_temporary_folder(parent && *parent ? parent : "/tmp",
						"fastgate-duel", &state, err);
	if (status != FG_OK)
		goto out;
	session.request.benchmarks = benchmarks;
	session.request.benchmark_count = 1;
	session.open.roots[FG_ARM_BASELINE] = ".";
	session.open.roots[FG_ARM_CANDIDATE] = ".";
	session.request.state_folder = state;
	for (size_t arm = 0; arm < FG_ARM_COUNT; arm++)
		session.result.run.sides[arm].describe = fg_xstrdup(cli->arguments[arm]);
	measured = fg_session_measure(&session, err);
	FG_TRY_OUT(measured == FG_EINTERRUPTED ? FG_OK : measured);
	FG_TRY_OUT(fg_session_decide(&session, &input, err));
	FG_TRY_OUT(fg_session_report(&session, err));
	status = measured == FG_EINTERRUPTED ? FG_EXIT_INTERRUPTED
					     : (int)session.result.verdict.exit_code;
out:
	if (state && fg_fs_remove_tree(state, NULL) != FG_OK)
		fg_cli_warn(cli, "cannot remove %s", state);
	free(state);
	fg_session_release(&session);
	return status;
}

static int run(struct fg_cli *cli, const void *values)
{
	const struct options *given = values;
	struct fg_plan plan = {0};
	struct fg_error err = {0};
	int status = make_plan(cli, given, &plan, &err);

	if (status == FG_OK && fg_session_guard(cli, &status))
		status = fight(cli, &plan, &err);
	fg_plan_release(&plan);
	return status < 0 ? fg_cli_fail(cli, &err) : status;
}

static const struct fg_option options[] = {
	{.name = "pairs",
	 .letter = 'p',
	 .kind = FG_OPTION_RANGE,
	 .offset = offsetof(struct options, pairs),
	 .argument = "MIN:MAX",
	 .initial = "10:400",
	 .minimum = 2,
	 .maximum = 100000,
	 .help = "judge after MIN pairs at the earliest and after MAX at the latest"},
	FG_ROW_WORD(struct options, schedule, "schedule", 0, "S", "auto", "auto, duet or abba"),
	FG_ROW_BUDGET(struct options, budget_ns, "5m", "time limit"),
	{.name = "rate",
	 .kind = FG_OPTION_UNSIGNED,
	 .offset = offsetof(struct options, rate_hz),
	 .argument = "HZ",
	 .minimum = 1,
	 .maximum = 20000,
	 .help = "samples per second of CPU time (default: the rate that costs 3 %)"},
	FG_ROW_FLAG(struct options, no_sampling, "no-sampling", 0,
		    "measure times only, without functions"),
	FG_ROW_FILE(struct options, html, "html", 0,
		    "write an HTML page with the flame graphs to this file"),
	{.name = NULL},
};

static const struct fg_cli_argument arguments[] = {
	{.name = "A", .help = "the command to compare with, as one argument", .min = 1, .max = 1},
	{.name = "B", .help = "the command that may be slower", .min = 1, .max = 1},
	{.name = NULL},
};

static const struct fg_cli_example examples[] = {
	{"fastgate duel './old input.bin' './new input.bin'", "is ./new slower, and where?"},
	{"fastgate duel \"sh -c './old | wc'\" \"sh -c './new | wc'\"", "a pipe needs a shell"},
	{"fastgate duel 'gzip -k -c f' 'zstd -c f' --pairs 10:20", "two programs for the same "
								   "purpose"},
	{NULL, NULL},
};

const struct fg_cli_command fg_cmd_duel = {
	.name = "duel",
	.group = FG_CLI_GROUP_GATE,
	.summary = "compare two commands: which is faster, by how much, how sure that is, and why",
	.description = "Executes two commands in pairs under the call-stack sampler until the "
		       "answer is clear. Needs no configuration and stores nothing. Each command "
		       "is one argument, split into words as a shell would; no shell runs it.",
	FG_CLI_TABLES,
	.exits = FG_CLI_EXITS_OF_A_GATE,
	.has_json = true,
	.stops_cleanly = true,
	.run = run,
};
