// SPDX-License-Identifier: Apache-2.0
#include "cli/session/plan.h"
#include "cli/session/run_plan.h"
#include "cli/session/session.h"
#include "cli/session/tokens.h"

struct options {
	struct fg_cli_config config;
	struct fg_run_request request;
	const char *against;
	const char *schedule;
	const char *pairs;
	const char *budget;
};

/* Options that are shorthand for a key. */
static void take_short_forms(struct fg_cli *cli, struct options *given)
{
	struct fg_cli_config *config = &given->config;
	const char *pairs = given->pairs ? given->pairs : "";
	const size_t colon = strcspn(pairs, ":");

	fg_cli_set(cli, config, "measure.schedule", given->schedule, "--schedule", given->schedule);
	fg_cli_set(cli, config, "measure.budget", given->budget, "--budget", given->budget);
	fg_cli_set(cli, config, "measure.pairs.min", fg_arena_strndup(&cli->arena, pairs, colon),
		   "--pairs", given->pairs);
	fg_cli_set(cli, config, "measure.pairs.max", pairs[colon] ? pairs + colon + 1 : pairs,
		   "--pairs", given->pairs);
}

/* A pull request from a fork would run foreign code in a job that has this repository's secrets. */
static int check_event(struct fg_error *err)
{
	const char *event = getenv("GITHUB_EVENT_NAME");
	const char *allowed = getenv("FASTGATE_PULL_REQUEST_TARGET");

	if (!event || strcmp(event, "pull_request_target") != 0 ||
	    (allowed && strcmp(allowed, "allow") == 0))
		return FG_OK;
	return fg_error_set(err, FG_EINVAL,
			    "the event is pull_request_target, whose jobs have this repository's "
			    "secrets: measure on pull_request (docs/ci.md), or set "
			    "FASTGATE_PULL_REQUEST_TARGET=allow");
}

static void warn_of_tokens(const struct fg_cli *cli, const struct fg_plan *plan)
{
	pid_t pid = 0;
	char *name = fg_tokens_above(plan, &pid);

	if (name)
		fg_cli_warn(cli,
			    "process %d, which started this, has $%s in its environment, where "
			    "benchmarks can read it: measure without it, then send (docs/ci.md)",
			    (int)pid, name);
	free(name);
}

static int run(struct fg_cli *cli, const void *values)
{
	struct options given = *(const struct options *)values;
	struct fg_run_request *request = &given.request;
	struct fg_error err = {0};
	struct fg_plan plan = {0};
	int status = FG_OK;

	if (request->export_path && request->no_store)
		return fg_cli_usage(cli, "--export takes the run from the store and cannot be "
					 "combined with --no-store");
	if (request->in_place && (request->staged || request->candidate))
		return fg_cli_usage(cli, "--in-place is for the work tree: not with --staged or "
					 "--candidate");
	if (request->staged && request->candidate)
		return fg_cli_usage(cli, "--staged and --candidate exclude each other");
	request->names = cli->arguments;
	request->name_count = cli->argument_count;
	take_short_forms(cli, &given);
	/* Staged changes are compared with the last commit. */
	if (request->staged && !given.against)
		given.against = "HEAD";
	if (check_event(&err) != FG_OK)
		return fg_cli_fail(cli, &err);
	status = fg_cli_load_plan(cli, &given.config, false, &plan);
	if (status != FG_EXIT_PASS)
		return status;
	warn_of_tokens(cli, &plan);
	if (given.against) {
		plan.baseline.kind = FG_BASELINE_GIT;
		plan.baseline.value = given.against;
	}
	if (fg_session_guard(cli, &status)) {
		status = fg_session_run_plan(cli, request, &plan, &err);
		status = status < 0 ? fg_cli_fail(cli, &err) : status;
	}
	fg_plan_release(&plan);
	return status;
}

static const struct fg_option options[] = {
	FG_CLI_CONFIG_OPTIONS(struct options, config),
	FG_ROW_NAME(struct options, against, "against", 'a', "REF", FG_COMPLETE_GIT_REF,
		    "build this git ref (or `merge-base`) and a snapshot of the work tree, and "
		    "measure both in this session"),
	FG_ROW_FLAG(struct options, request.staged, "staged", 0,
		    "measure what is staged instead of the work tree, in a worktree of its own, "
		    "against HEAD or --against"),
	FG_ROW_NAME(struct options, request.candidate, "candidate", 0, "REF", FG_COMPLETE_GIT_REF,
		    "measure this git ref instead of the work tree, in a worktree of its own"),
	FG_ROW_FLAG(struct options, request.in_place, "in-place", 0,
		    "build and measure the work tree where it is, not a snapshot of it beside the "
		    "baseline"),
	FG_ROW_TEXT(struct options, schedule, "schedule", 0, "S", "auto, duet, abba or stored"),
	FG_ROW_TEXT(struct options, pairs, "pairs", 0, "MIN:MAX",
		    "first look after MIN pairs, last one after MAX"),
	FG_ROW_TEXT(struct options, budget, "budget", 0, "T", "longest time for one benchmark: 5m"),
	FG_ROW_FLAG(struct options, request.quick, "quick", 'Q',
		    "a first answer: benchmarks whose binaries did not change are skipped, 15 s "
		    "for each other one"),
	FG_ROW_FLAG(struct options, request.affected, "affected", 0,
		    "leave out benchmarks of which nothing changed that they execute or read; "
		    "--quick does so, too"),
	FG_ROW_FLAG(struct options, request.exact, "exact", 0,
		    "time nothing: count the instructions of one execution a side, and fail if the "
		    "candidate executes more"),
	FG_ROW_TEXT(struct options, request.shard, "shard", 0, "I/N",
		    "measure only the Ith of N parts of the benchmarks; `fastgate gate --merge` "
		    "makes one verdict of them"),
	FG_ROW_FILE(struct options, request.export_path, "export", 'e',
		    "write the run to one file as well, to be merged or imported elsewhere"),
	FG_ROW_FLAG(struct options, request.resume, "resume", 0,
		    "go on with the newest run that was interrupted, or is not yet sure"),
	FG_ROW_FLAG(struct options, request.keep_traces, "keep-traces", 0,
		    "leave the raw traces in .fastgate/traces"),
	FG_ROW_FLAG(struct options, request.no_store, "no-store", 0, "do not keep this run"),
	FG_ROW_FLAG(
		struct options, request.no_post, "no-post", 0,
		"send nothing: the result is not posted, and the run waits for `fastgate push`"),
	{.name = NULL},
};

static const struct fg_cli_argument arguments[] = {
	{.name = "BENCH",
	 .help = "benchmarks of fastgate.yml to measure; all when none is named",
	 .complete = FG_COMPLETE_BENCHMARK},
	{.name = NULL},
};

static const struct fg_cli_example examples[] = {
	{"fastgate run --against HEAD", "is the work tree slower than the last commit?"},
	{"fastgate run --staged --quick", "before a commit: is what I am about to commit slower?"},
	{"fastgate run --against merge-base", "what a CI job for a pull request runs"},
	{"fastgate run parse --set gate.metrics.cpu_time.min_effect=0.5%",
	 "one benchmark, a finer threshold"},
	{"fastgate run --against merge-base --exact",
	 "more work, or not? Seconds, on any machine; needs valgrind or a hardware counter"},
	{"fastgate run --shard 2/8 --export 2.fgrun",
	 "one of eight CI jobs; `fastgate gate --merge *.fgrun` ends them"},
	{NULL, NULL},
};

const struct fg_cli_command fg_cmd_run = {
	.name = "run",
	.group = FG_CLI_GROUP_GATE,
	.summary = "measure, decide, report: the gate",
	.description =
		"Builds the baseline and a snapshot of the work tree side by side, executes "
		"every benchmark of fastgate.yml in both, in pairs, under the call-stack sampler, and stops as "
		"soon as the answer is clear. Says per benchmark whether the candidate is "
		"slower, by how much, how sure that is, and which functions on which call "
		"paths explain it.\n"
		"\n"
		"Every finished repetition is kept in .fastgate/store.db. The reports that "
		"fastgate.yml asks for are written; the terminal report goes to standard "
		"output, or with --json the JSON report.\n"
		"\n"
		"Then the result is posted where report.post of fastgate.yml says. A post "
		"that fails is a warning; one that is required ends with exit code 5 if the "
		"verdict itself passes.  With --shard nothing is posted or sent: that is "
		"for the merged run.",
	FG_CLI_TABLES,
	.exits = FG_CLI_EXITS_OF_A_GATE,
	.has_json = true,
	.stops_cleanly = true,
	.run = run,
};
