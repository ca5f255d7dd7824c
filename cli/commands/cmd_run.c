// SPDX-License-Identifier: Apache-2.0
#include "base/clock.h"
#include "base/fs.h"
#include "base/text.h"
#include "cli/framework/internal.h"
#include "cli/session/arms.h"
#include "cli/session/plan.h"
#include "cli/session/session.h"
#include "cli/session/shards.h"
#include "cli/session/stored.h"
#include "runner/git.h"
#include "runner/runner.h"

struct options {
	struct fg_cli_config config;
	const char *against;
	const char *candidate;
	bool staged;
	const char *schedule;
	const char *pairs;
	const char *budget;
	const char *shard;
	const char *export;
	bool quick;
	bool resume;
	bool keep_traces;
	bool no_store;
	bool no_post;
};

/* A first answer within seconds: enough pairs to see 5 % where the host is quiet. */
enum {
	QUICK_MAX_PAIRS = 24,
	QUICK_BUDGET_S = 15,
};

/* ---- which benchmarks ---- */

struct selection {
	const struct fg_benchmark **items;
	size_t count;
	unsigned shard; /* 0: all of them */
	unsigned shards;
};

static int check_names(const struct fg_cli *cli, const struct fg_plan *plan, struct fg_error *err)
{
	for (size_t i = 0; i < cli->argument_count; i++) {
		const char **names = NULL;
		const char *near = NULL;

		if (fg_plan_find(plan, cli->arguments[i]))
			continue;
		names = fg_xcalloc(plan->benchmark_count + 1, sizeof(names[0]));
		for (size_t k = 0; k < plan->benchmark_count; k++)
			names[k] = plan->benchmarks[k].name;
		near = fg_text_nearest(cli->arguments[i], names);
		free(names);
		if (near)
			return fg_error_set(err, FG_EINVAL,
					    "there is no benchmark '%s'; did you mean '%s'?",
					    cli->arguments[i], near);
		return fg_error_set(err, FG_EINVAL, "there is no benchmark '%s' in %s",
				    cli->arguments[i], plan->config_path);
	}
	return FG_OK;
}

static bool is_named(const struct fg_cli *cli, const char *name)
{
	for (size_t i = 0; i < cli->argument_count; i++) {
		if (strcmp(cli->arguments[i], name) == 0)
			return true;
	}
	return cli->argument_count == 0;
}

static int select_benchmarks(struct fg_cli *cli, const struct options *given, struct fg_plan *plan,
			     struct selection *selection, struct fg_error *err)
{
	int status = check_names(cli, plan, err);

	if (status == FG_OK && given->shard)
		status = fg_shard_parse(given->shard, &selection->shard, &selection->shards, err);
	if (status != FG_OK)
		return status;
	selection->items =
		fg_arena_array(&cli->arena, plan->benchmark_count, sizeof(selection->items[0]));
	for (size_t i = 0; i < plan->benchmark_count; i++) {
		struct fg_benchmark *benchmark = &plan->benchmarks[i];

		if (given->quick) {
			benchmark->measure.budget_ns = QUICK_BUDGET_S * FG_NS_PER_S;
			if (benchmark->measure.max_pairs > QUICK_MAX_PAIRS)
				benchmark->measure.max_pairs = QUICK_MAX_PAIRS;
		}
		if (is_named(cli, benchmark->name) &&
		    (!given->shard ||
		     fg_shard_contains(benchmark->name, selection->shard, selection->shards)))
			selection->items[selection->count++] = benchmark;
	}
	if (plan->benchmark_count == 0)
		return fg_error_set(err, FG_EINVAL, "%s names no benchmark: nothing to measure",
				    plan->config_path);
	return FG_OK;
}

/* ---- one run ---- */

/* Take up what an interrupted run has measured; its pairs count as if nothing had happened. */
static int resume(struct fg_session *session, const struct selection *selection,
		  struct fg_error *err)
{
	struct fg_stored_run stored = {0};
	char id[37] = "";
	unsigned shard = 0;
	unsigned shards = 0;
	int status = FG_OK;

	if (!session->store)
		return fg_error_set(err, FG_EINVAL, "--resume needs the store");
	status = fg_store_find_incomplete(session->store, session->run.project, id, err);
	if (status == FG_OK)
		status = fg_store_load(session->store, id, &stored, err);
	if (status != FG_OK)
		return status;
	(void)fg_shard_of(&stored.run, &shard, &shards);
	if (shard != selection->shard || shards != selection->shards) {
		fg_stored_run_release(&stored);
		return fg_error_set(err, FG_EINVAL,
				    "run %.8s, the newest that was interrupted, measured shard "
				    "%u/%u: --resume needs the same --shard",
				    id, shard, shards);
	}
	fg_run_release(&session->run);
	session->run = stored.run;
	session->profiles = stored.profiles;
	session->profile_count = stored.run.series_count;
	stored.run = (struct fg_run){0};
	stored.profiles = NULL;
	/* Both sides are looked at anew: the work tree may have moved on. */
	for (size_t arm = 0; arm < FG_ARM_COUNT; arm++)
		fg_side_release(&session->run.sides[arm]);
	fg_stored_run_release(&stored);
	fg_cli_say(session->cli, "going on with run %.8s", id);
	return FG_OK;
}

/* The run as one file, for `fastgate gate --merge` or another store. */
static int export_run(const struct fg_session *session, const char *path, struct fg_error *err)
{
	struct fg_stored_run stored = {0};
	int status = FG_OK;

	if (!path)
		return FG_OK;
	status = fg_store_load(session->store, session->run.id, &stored, err);
	if (status == FG_OK)
		status = fg_cli_export_run(session->cli, &stored, path, err);
	fg_stored_run_release(&stored);
	return status;
}

/* Measured, decided, kept, told: the exit code, or a negative status. */
static int gate(struct fg_session *session, struct fg_arms *arms, const struct options *given,
		struct fg_error *err)
{
	struct fg_gate_input input = {.baseline_required = session->plan->baseline.required};
	struct fg_error told = {0};
	int measured = FG_OK;
	int kept = FG_OK;
	int status = FG_OK;

	fg_arms_describe(arms, &input);
	/* Of a part of the benchmarks nobody can say what is not there any more. */
	if (session->benchmark_count < session->plan->benchmark_count)
		input.gone_count = 0;
	measured = fg_session_measure(session, err);
	if (measured != FG_OK && measured != FG_EINTERRUPTED)
		return measured;
	status = fg_session_decide(session, &input, err);
	if (status != FG_OK)
		return status;
	/* What cannot be kept is told all the same. */
	kept = fg_session_save(session, err);
	if (kept == FG_OK)
		kept = export_run(session, given->export, err);
	status = fg_session_report(session, &told);
	if (kept != FG_OK)
		return kept;
	if (measured == FG_EINTERRUPTED) {
		fg_cli_say(session->cli, "interrupted: what was measured is kept; `fastgate run "
					 "--resume` goes on with it");
		return FG_EXIT_INTERRUPTED;
	}
	if (session->is_open && session->store)
		fg_cli_say(session->cli, "not sure yet: `fastgate run --resume` adds to what was "
					 "measured, as long as both sides stay as they are");
	if (status != FG_OK) {
		*err = told;
		return status;
	}
	/*
	 * A part of a run is nothing to be sent about: `fastgate gate --merge` tells of the whole.
	 */
	return given->shard ? (int)session->verdict.exit_code
			    : fg_session_tell(session, !given->no_post);
}

/* A shard without a benchmark is kept as well: that it is empty is not the same as missing. */
static int keep_empty_shard(struct fg_session *session, const struct options *given,
			    const struct selection *selection, struct fg_error *err)
{
	const struct fg_git git = {.folder = session->plan->root,
				   .interrupted = session->cli->interrupted};
	int status = fg_git_describe_side(&git, &session->run.sides[FG_ARM_CANDIDATE], err);

	fg_cli_say(session->cli, "no benchmark belongs to shard %s", given->shard);
	fg_shard_mark(&session->run, selection->shard, selection->shards);
	session->run.ended_ns = session->run.started_ns;
	session->run.complete = true;
	if (status != FG_OK)
		goto out;
	if (session->store)
		status = fg_store_save(session->store, &session->run, NULL, NULL, err);
	if (status != FG_OK)
		goto out;
	status = export_run(session, given->export, err);
out:
	return status == FG_OK ? FG_EXIT_PASS : status;
}

static int measure_and_gate(struct fg_session *session, const struct options *given,
			    struct fg_plan *plan, const struct selection *selection,
			    struct fg_error *err)
{
	struct fg_arms arms = {0};
	int status = given->resume ? resume(session, selection, err) : FG_OK;

	if (status != FG_OK)
		goto out;
	status = fg_arms_open(&arms, session, plan, err);
	if (status != FG_OK)
		goto out;
	if (given->shard)
		fg_shard_mark(&session->run, selection->shard, selection->shards);
	fg_arms_add_accepts(session, plan);
	status = gate(session, &arms, given, err);
out:
	fg_arms_close(&arms);
	return status;
}

static int run_plan(struct fg_cli *cli, const struct options *given, struct fg_plan *plan,
		    struct fg_error *err)
{
	struct fg_session session;
	struct selection selection = {0};
	char *state = fg_fs_join(plan->root, ".fastgate");
	int status = fg_session_init(&session, cli, plan, err);

	if (status != FG_OK)
		goto out;
	status = select_benchmarks(cli, given, plan, &selection, err);
	if (status != FG_OK)
		goto out;
	if (!given->no_store)
		status = fg_session_open_store(&session, err);
out:
	session.benchmarks = selection.items;
	session.benchmark_count = selection.count;
	session.state_folder = state;
	session.staged = given->staged;
	session.candidate = given->candidate;
	session.keep_traces = given->keep_traces;
	if (status == FG_OK)
		status = selection.count ? measure_and_gate(&session, given, plan, &selection, err)
					 : keep_empty_shard(&session, given, &selection, err);
	fg_session_release(&session);
	free(state);
	return status;
}

/* Options that are short for a key. */
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

static int run(struct fg_cli *cli, const void *values)
{
	struct options given = *(const struct options *)values;
	struct fg_error err = {0};
	struct fg_plan plan = {0};
	int status = FG_OK;

	if (given.export && given.no_store)
		return fg_cli_usage(cli,
				    "--export takes the run out of the store: not with --no-store");
	take_short_forms(cli, &given);
	if (given.staged && given.candidate)
		return fg_cli_usage(cli, "--staged and --candidate exclude each other");
	/* What is staged is a change of the last commit. */
	if (given.staged && !given.against)
		given.against = "HEAD";
	status = fg_cli_load_plan(cli, &given.config, false, &plan);
	if (status != FG_EXIT_PASS)
		return status;
	if (given.against) {
		plan.baseline.kind = FG_BASELINE_GIT;
		plan.baseline.value = given.against;
	}
	if (fg_session_guard(cli, &status)) {
		status = run_plan(cli, &given, &plan, &err);
		status = status < 0 ? fg_cli_fail(cli, &err) : status;
	}
	fg_plan_release(&plan);
	return status;
}

static const struct fg_option options[] = {
	FG_CLI_CONFIG_OPTIONS(struct options, config),
	FG_CLI_NAME(struct options, against, "against", 'a', "REF", FG_COMPLETE_GIT_REF,
		    "build this git ref (or `merge-base`) beside the work tree and measure both in "
		    "this session"),
	FG_CLI_FLAG(struct options, staged, "staged", 0,
		    "measure what is staged instead of the work tree, in a worktree of its own, "
		    "against HEAD or --against"),
	FG_CLI_NAME(struct options, candidate, "candidate", 0, "REF", FG_COMPLETE_GIT_REF,
		    "measure this git ref instead of the work tree, in a worktree of its own"),
	FG_CLI_TEXT(struct options, schedule, "schedule", 0, "S", "auto, duet, abba or stored"),
	FG_CLI_TEXT(struct options, pairs, "pairs", 0, "MIN:MAX",
		    "first look after MIN pairs, last one after MAX"),
	FG_CLI_TEXT(struct options, budget, "budget", 0, "T", "longest time for one benchmark: 5m"),
	FG_CLI_FLAG(struct options, quick, "quick", 'Q',
		    "a first answer: benchmarks whose binaries did not change are skipped, 15 s "
		    "for each other one"),
	FG_CLI_TEXT(struct options, shard, "shard", 0, "I/N",
		    "measure only the Ith of N parts of the benchmarks; `fastgate gate --merge` "
		    "makes one verdict of them"),
	FG_CLI_FILE(struct options, export, "export", 'e',
		    "write the run to one file as well, to be merged or imported elsewhere"),
	FG_CLI_FLAG(struct options, resume, "resume", 0,
		    "go on with the newest run that was interrupted, or is not yet sure"),
	FG_CLI_FLAG(struct options, keep_traces, "keep-traces", 0,
		    "leave the raw traces in .fastgate/traces"),
	FG_CLI_FLAG(struct options, no_store, "no-store", 0, "do not keep this run"),
	FG_CLI_FLAG(struct options, no_post, "no-post", 0,
		    "do not post the result, whatever fastgate.yml says"),
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
	{"fastgate run --shard 2/8 --export 2.fgrun",
	 "one of eight CI jobs; `fastgate gate --merge *.fgrun` ends them"},
	{NULL, NULL},
};

const struct fg_cli_command fg_cmd_run = {
	.name = "run",
	.group = FG_CLI_GROUP_GATE,
	.summary = "measure, decide, report: the gate",
	.description = "Builds the baseline beside the work tree, executes every benchmark of "
		       "fastgate.yml in both, in pairs, under the call-stack sampler, and stops as "
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
