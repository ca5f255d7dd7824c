// SPDX-License-Identifier: Apache-2.0
#include "base/clock.h"
#include "base/fs.h"
#include "base/number.h"
#include "base/text.h"
#include "cli/prove/prove.h"
#include "cli/session/arms.h"
#include "cli/session/plan.h"
#include "cli/session/receipt.h"
#include "cli/session/session.h"
#include "cli/session/stored.h"
#include "reporters/verdict_queries.h"
#include "runner/build/git.h"
#include "runner/runner.h"

#include <math.h>

enum {
	QUICK_BUDGET_S = 15,
};

struct options {
	struct fg_cli_config config;
	const char *against;
	const char *schedule;
	const char *pairs;
	const char *budget;
	const char *shard;       /* "2/8"; NULL: no sharding */
	const char *candidate;   /* a git ref; NULL: the work tree */
	bool staged;             /* the candidate is the staged changes */
	bool in_place;           /* the candidate is the work tree itself, not a snapshot */
	const char *export_path; /* also write the run to this file; needs the store */
	const char *receipt;     /* write a receipt to this file; needs the store and a commit */
	bool quick;
	bool affected; /* only benchmarks that a change can touch; implied by `quick` */
	bool exact;    /* no pairs: count once per side */
	bool resume;
	bool keep_traces;
	bool no_store;
	bool no_post;
	const char *anchor; /* a tag to measure against, only for the chain of ratios */
	char *const *names; /* benchmarks named on the command line; none: all */
	size_t name_count;
};

struct selection {
	const struct fg_benchmark **items;
	size_t count;
	unsigned shard; /* 0: no sharding */
	unsigned shards;
};

static int check_names(const struct options *given, const struct fg_plan *plan,
		       struct fg_error *err)
{
	for (size_t i = 0; i < given->name_count; i++) {
		const char *name = given->names[i];
		const char **names = NULL;
		const char *near = NULL;

		if (fg_plan_find(plan, name))
			continue;
		names = fg_xcalloc(plan->benchmark_count + 1, sizeof(names[0]));
		for (size_t k = 0; k < plan->benchmark_count; k++)
			names[k] = plan->benchmarks[k].name;
		near = fg_text_nearest(name, names);
		free(names);
		if (near)
			return fg_error_set(err, FG_EINVAL,
					    "unknown benchmark '%s'; did you mean '%s'?", name,
					    near);
		return fg_error_set(err, FG_EINVAL, "no benchmark '%s' in %s", name,
				    plan->config_path);
	}
	return FG_OK;
}

static bool is_selected(const struct options *given, const struct selection *selection,
			const struct fg_benchmark *benchmark)
{
	bool named = given->name_count == 0;

	for (size_t i = 0; i < given->name_count && !named; i++)
		named = strcmp(given->names[i], benchmark->name) == 0 ||
			fg_benchmark_case(benchmark, given->names[i]);
	return named && (!given->shard ||
			 fg_shard_contains(benchmark->name, selection->shard, selection->shards));
}

/* Cuts the budgets, so that an answer comes within seconds. */
static void shorten(struct fg_measuring *measure)
{
	measure->budget_ns = QUICK_BUDGET_S * FG_NS_PER_S;
	if (measure->exact_budget_ns > measure->budget_ns)
		measure->exact_budget_ns = measure->budget_ns;
}

/* Without timing, neither a schedule nor a warm-up is needed. */
static void only_count(struct fg_measuring *measure)
{
	measure->exact_only = true;
	measure->warmup = 0;
	measure->schedule = FG_SCHEDULE_ABBA;
	if (measure->exact == FG_EXACT_OFF)
		measure->exact = FG_EXACT_AUTO;
}

static int select_benchmarks(struct fg_cli *cli, const struct options *given, struct fg_plan *plan,
			     struct selection *selection, struct fg_error *err)
{
	FG_TRY(check_names(given, plan, err));
	if (plan->benchmark_count == 0)
		return fg_error_set(err, FG_EINVAL,
				    "%s has no benchmarks: there is nothing to measure",
				    plan->config_path);
	if (given->shard)
		FG_TRY(fg_shard_parse(given->shard, &selection->shard, &selection->shards, err));
	selection->items =
		fg_arena_array(&cli->arena, plan->benchmark_count, sizeof(selection->items[0]));
	for (size_t i = 0; i < plan->benchmark_count; i++) {
		struct fg_benchmark *benchmark = &plan->benchmarks[i];

		if (given->quick)
			shorten(&benchmark->measure);
		if ((given->quick || given->affected) &&
		    benchmark->measure.affected == FG_AFFECTED_AUTO)
			benchmark->measure.affected = FG_AFFECTED_ALWAYS;
		if (given->exact)
			only_count(&benchmark->measure);
		fg_cli_choose_cases(plan, benchmark, (const char *const *)given->names,
				    given->name_count);
		if (is_selected(given, selection, benchmark))
			selection->items[selection->count++] = benchmark;
	}
	return FG_OK;
}

/* Loads an interrupted or undecided run, whose pairs count as if the run had never stopped. */
static int resume(struct fg_session *session, const struct selection *selection,
		  struct fg_error *err)
{
	struct fg_stored_run stored = {0};
	char id[37] = "";
	unsigned shard = 0;
	unsigned shards = 0;

	if (!session->open.store)
		return fg_error_set(err, FG_EINVAL, "--resume needs the store");
	FG_TRY(fg_store_find_incomplete(session->open.store, session->result.run.project, id, err));
	FG_TRY(fg_store_load(session->open.store, id, &stored, err));
	(void)fg_shard_of(&stored.run, &shard, &shards);
	if (shard != selection->shard || shards != selection->shards) {
		fg_stored_run_release(&stored);
		return fg_error_set(
			err, FG_EINVAL,
			"run %.8s, the newest interrupted run, measured shard %u/%u: --resume "
			"needs the same --shard",
			id, shard, shards);
	}
	fg_report_restore_arguments(stored.report, &stored.run, stored.profiles);
	fg_session_take_run(session, &stored);
	/* Both sides are described again, because the work tree may have changed. */
	for (size_t arm = 0; arm < FG_ARM_COUNT; arm++)
		fg_side_release(&session->result.run.sides[arm]);
	fg_stored_run_release(&stored);
	fg_cli_say(session->cli, "resuming run %.8s", id);
	return FG_OK;
}

/* Writes the run to one file, for `fastgate gate --merge` or another store. */
static int export_run(const struct fg_session *session, const char *path, struct fg_error *err)
{
	struct fg_stored_run stored = {0};
	int status = FG_OK;

	if (!path)
		return FG_OK;
	status = fg_store_load(session->open.store, session->result.run.id, &stored, err);
	if (status == FG_OK)
		status = fg_cli_export_run(session->cli, &stored, path, err);
	fg_stored_run_release(&stored);
	return status;
}

/* ---- anchors ---- */

enum {
	/* fixed number of pairs, because stopping early at a large change biases the estimate */
	ANCHOR_PAIRS = 41,
};

/*
 * Prints the changes and sets every verdict to pass: a run against the last release only links both
 * ends of the chain.
 */
static void say_anchored(struct fg_session *session, const char *tag)
{
	struct fg_verdict *verdict = &session->result.verdict;

	for (size_t i = 0; i < verdict->benchmark_count; i++) {
		struct fg_benchmark_verdict *benchmark = &verdict->benchmarks[i];
		const struct fg_metric_verdict *metric = fg_report_headline(benchmark);
		char change[FG_NUMBER_TEXT_SIZE];

		if (metric && isfinite(metric->ratio))
			fg_cli_say(session->cli,
				   "compared with the last release: %s %s %s since %s",
				   benchmark->name, metric->label,
				   fg_format_change(metric->ratio - 1, change), tag);
		for (size_t m = 0; m < benchmark->metric_count; m++)
			benchmark->metrics[m].outcome = FG_OUTCOME_PASS;
		benchmark->outcome = FG_OUTCOME_PASS;
	}
	verdict->outcome = FG_OUTCOME_PASS;
	verdict->exit_code = FG_EXIT_PASS;
}

static int measure_anchor(struct fg_session *session, const struct options *given,
			  struct fg_error *err)
{
	struct fg_gate_input input = {0};

	FG_TRY(fg_session_measure(session, err));
	FG_TRY(fg_session_decide(session, &input, err));
	say_anchored(session, given->anchor);
	FG_TRY(fg_session_save(session, err));
	if (!fg_upload_run(session->cli, &session->request.plan->perfdb,
			   session->request.state_folder, session->open.store,
			   session->result.run.id, !given->no_post))
		fg_cli_warn(session->cli, "the comparison with the last release (%s) was not sent",
			    given->anchor);
	return FG_OK;
}

/* Returns the nearest tag before the candidate, or NULL. The caller frees it. */
static char *last_release(const struct fg_cli *cli, const struct fg_plan *plan,
			  const char *candidate)
{
	const struct fg_git git = {.folder = plan->root, .interrupted = cli->interrupted};
	char *before = fg_xasprintf("%s^", candidate ? candidate : "HEAD");
	const char *const arguments[] = {"describe", "--tags", "--abbrev=0", before, NULL};
	char *tag = NULL;

	if (fg_git_output(&git, arguments, &tag, NULL) != FG_OK)
		tag = NULL;
	free(before);
	return tag;
}

static void choose_anchor(struct fg_plan *plan, const char *tag)
{
	plan->baseline.kind = FG_BASELINE_GIT;
	plan->baseline.value = tag;
	plan->post_count = 0;
	for (size_t i = 0; i < plan->benchmark_count; i++) {
		struct fg_measuring *measure = &plan->benchmarks[i].measure;

		measure->min_pairs = measure->max_pairs = ANCHOR_PAIRS;
		measure->until_sure = false;
		measure->affected = FG_AFFECTED_NEVER;
	}
}

/* ---- attempts ---- */

/*
 * Counts a whole run against a commit as an attempt on the branch. A problem fails the run only if
 * a receipt is requested, because only a receipt needs the ledger.
 */
static int count_attempt(const struct fg_session *session, const struct options *given,
			 struct fg_error *err)
{
	struct fg_ledger ledger = {0};
	struct fg_error inner = {0};
	int status = FG_OK;

	if (given->shard || !session->open.store || !session->result.run.has_baseline ||
	    session->request.plan->baseline.kind != FG_BASELINE_GIT)
		return FG_OK;
	status = fg_ledger_add(session, &ledger, &inner);
	if (status != FG_OK && !given->receipt) {
		fg_cli_detail(session->cli, "this run is not counted as an attempt: %s",
			      inner.message);
		status = FG_OK;
	} else if (status != FG_OK) {
		*err = inner;
	} else if (given->receipt) {
		status = fg_receipt_write(session, &ledger, given->receipt, err);
		fg_receipt_print(session, &ledger);
	}
	fg_ledger_release(&ledger);
	return status;
}

/*
 * Makes the first look late enough that its pairs can prove the claims of this attempt, as far as
 * `max_pairs` allows.
 */
static int plan_proof(const struct fg_session *session, struct fg_plan *plan, struct fg_error *err)
{
	struct fg_ledger ledger = {0};
	const int status = fg_ledger_load(session, &ledger, err);
	const unsigned pairs = fg_claim_pairs(
		ledger.count + (size_t)FG_CLAIM_COUNT * session->request.benchmark_count);

	for (size_t i = 0; i < plan->benchmark_count && status == FG_OK; i++) {
		struct fg_measuring *measure = &plan->benchmarks[i].measure;

		if (measure->min_pairs < pairs)
			measure->min_pairs =
				pairs < measure->max_pairs ? pairs : measure->max_pairs;
	}
	fg_ledger_release(&ledger);
	return status;
}

/* Measures, decides, stores, reports and uploads; returns the exit code, or a negative status. */
static int gate(struct fg_session *session, struct fg_arms *arms, const struct options *given,
		struct fg_error *err)
{
	struct fg_gate_input input = {.baseline_required =
					      session->request.plan->baseline.required};
	struct fg_error inner = {0};
	int measured = FG_OK;
	int kept = FG_OK;
	int status = FG_OK;

	fg_arms_describe(arms, &input);
	if (session->result.run.sides[FG_ARM_BASELINE].commit)
		fg_cli_say_sides(session->cli, &session->result.run, FG_ARM_BASELINE,
				 &session->result.run);
	/* If only some benchmarks were selected, a missing benchmark does not count as removed. */
	if (session->request.benchmark_count < session->request.plan->benchmark_count)
		input.gone_count = 0;
	measured = fg_session_measure(session, err);
	if (measured != FG_OK && measured != FG_EINTERRUPTED)
		return measured;
	FG_TRY(fg_session_decide(session, &input, err));
	/* A run that cannot be stored is still reported. */
	kept = fg_session_save(session, err);
	if (kept == FG_OK)
		kept = export_run(session, given->export_path, err);
	status = fg_session_report(session, &inner);
	if (kept == FG_OK && measured == FG_OK)
		kept = count_attempt(session, given, err);
	if (kept != FG_OK)
		return kept;
	if (measured == FG_EINTERRUPTED) {
		fg_cli_say(session->cli, "interrupted: finished repetitions are kept; `fastgate "
					 "run --resume` continues the run");
		return FG_EXIT_INTERRUPTED;
	}
	if (session->result.is_open && session->open.store)
		fg_cli_say(session->cli, "undecided: `fastgate run --resume` adds pairs to this "
					 "run, as long as neither side changes");
	if (status != FG_OK) {
		*err = inner;
		return status;
	}
	/*
	 * A shard is neither uploaded nor posted: `fastgate gate --merge` does this for the whole
	 * run.
	 */
	return given->shard ? (int)session->result.verdict.exit_code
			    : fg_session_publish(session, !given->no_post);
}

/* Stores a shard even if it has no benchmarks, so that it does not seem to be missing. */
static int keep_empty_shard(struct fg_session *session, const struct options *given,
			    const struct selection *selection, struct fg_error *err)
{
	const struct fg_git git = {.folder = session->request.plan->root,
				   .interrupted = session->cli->interrupted};
	int status = fg_git_describe_side(&git, &session->result.run.sides[FG_ARM_CANDIDATE], err);

	fg_cli_say(session->cli, "no benchmark belongs to shard %s", given->shard);
	fg_shard_mark(&session->result.run, selection->shard, selection->shards);
	session->result.run.ended_ns = session->result.run.started_ns;
	session->result.run.complete = true;
	if (status != FG_OK)
		return status;
	if (session->open.store)
		FG_TRY(fg_store_save(session->open.store, &session->result.run, NULL, NULL, err));
	status = export_run(session, given->export_path, err);
	return status == FG_OK ? FG_EXIT_PASS : status;
}

static int measure_and_gate(struct fg_session *session, const struct options *given,
			    struct fg_plan *plan, const struct selection *selection,
			    struct fg_error *err)
{
	struct fg_arms arms = {0};
	int status = FG_OK;

	FG_TRY_OUT(given->resume ? resume(session, selection, err) : FG_OK);
	FG_TRY_OUT(fg_arms_open(&arms, session, plan, err));
	if (given->shard)
		fg_shard_mark(&session->result.run, selection->shard, selection->shards);
	fg_arms_add_accepts(session, plan);
	status = given->anchor ? measure_anchor(session, given, err)
			       : gate(session, &arms, given, err);
out:
	fg_arms_close(&arms);
	return status;
}

/* Facts about a run that decide which steps follow. */
struct afterwards {
	bool wants_anchor;
	bool is_paired;
	uint64_t seed;
	const char *baseline; /* a commit */
};

/*
 * Builds both sides, measures and judges the chosen benchmarks, then stores, reports, uploads and
 * posts the run. Returns the exit code, or a negative status.
 */
static int run_plan(struct fg_cli *cli, const struct options *given, struct fg_plan *plan,
		    struct afterwards *then, struct fg_error *err)
{
	struct fg_session session;
	struct selection selection = {0};
	char *state = fg_fs_join(plan->root, FG_STATE_FOLDER);
	int status = FG_OK;

	FG_TRY_OUT(fg_session_init(&session, cli, plan, err));
	FG_TRY_OUT(select_benchmarks(cli, given, plan, &selection, err));
	if (given->anchor)
		choose_anchor(plan, given->anchor);
	if (!given->no_store || plan->baseline.kind == FG_BASELINE_GIT)
		fg_state_folder_make(state);
	if (!given->no_store)
		FG_TRY_OUT(fg_session_open_store(&session, err));
	session.request.benchmarks = selection.items;
	session.request.benchmark_count = selection.count;
	session.request.state_folder = state;
	session.request.staged = given->staged;
	session.request.in_place = given->in_place || plan->build.in_place;
	session.request.candidate = given->candidate;
	session.request.keep_traces = given->keep_traces;
	if (given->receipt)
		status = plan_proof(&session, plan, err);
	if (status != FG_OK)
		goto out;
	status = selection.count ? measure_and_gate(&session, given, plan, &selection, err)
				 : keep_empty_shard(&session, given, &selection, err);
	then->wants_anchor = session.result.wants_anchor && !given->shard;
	then->is_paired = session.result.run.has_baseline;
	then->seed = session.result.run.seed;
	then->baseline =
		fg_arena_strdup(&cli->arena, session.result.run.sides[FG_ARM_BASELINE].commit);
out:
	fg_session_release(&session);
	free(state);
	return status;
}

/* Problems with the anchor are only warnings, because the verdict stands without it. */
static void add_anchor(struct fg_cli *cli, const struct options *given)
{
	struct options alike = *given;
	struct fg_error err = {0};
	struct fg_plan plan = {0};
	struct afterwards again = {0};
	char *tag = NULL;

	alike.resume = alike.quick = alike.affected = alike.staged = alike.in_place = false;
	if (fg_cli_load_plan(cli, &alike.config, false, &plan) != FG_EXIT_PASS)
		return;
	tag = last_release(cli, &plan, given->candidate);
	if (!tag)
		fg_cli_warn(cli,
			    "gate.anchor: this checkout has no tag before the candidate: run `git "
			    "fetch --tags --unshallow`");
	alike.anchor = tag;
	if (tag && run_plan(cli, &alike, &plan, &again, &err) < 0)
		fg_cli_warn(cli, "gate.anchor: %s was not measured: %s", tag, err.message);
	free(tag);
	fg_plan_release(&plan);
}

/*
 * Measures once more for `gate.prove`, with the plan as configured. This run never affects the
 * verdict.
 */
static void add_hidden(struct fg_cli *cli, const struct options *given,
		       const struct afterwards *then)
{
	struct fg_plan plan = {0};

	if (given->no_store || given->quick || given->exact || given->shard ||
	    fg_cli_load_plan(cli, &given->config, false, &plan) != FG_EXIT_PASS)
		return;
	fg_cli_set_plan_root(&plan);
	if (plan.policy.prove_share > 0)
		fg_prove_hidden(cli, &plan, then->baseline, then->seed);
	fg_plan_release(&plan);
}

/* ---- the command ---- */

/* Translates options that are shorthand for a configuration key. */
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
	struct afterwards then = {0};
	int status = FG_OK;

	if (given.export_path && given.no_store)
		return fg_cli_usage(cli, "--export reads the run from the store and cannot be "
					 "combined with --no-store");
	if (given.in_place && (given.staged || given.candidate))
		return fg_cli_usage(
			cli,
			"--in-place measures the work tree and cannot be combined with --staged or "
			"--candidate");
	if (given.staged && given.candidate)
		return fg_cli_usage(cli, "--staged and --candidate cannot be combined");
	if (given.receipt && (given.no_store || given.shard))
		return fg_cli_usage(
			cli,
			"--receipt needs the store and the whole run, and cannot be combined with "
			"--no-store or --shard");
	given.names = cli->arguments;
	given.name_count = cli->argument_count;
	take_short_forms(cli, &given);
	/* Staged changes are compared with the last commit by default. */
	if (given.staged && !given.against)
		given.against = "HEAD";
	if (fg_cli_check_event(&err) != FG_OK)
		return fg_cli_fail(cli, &err);
	status = fg_cli_load_plan(cli, &given.config, false, &plan);
	if (status != FG_EXIT_PASS)
		return status;
	fg_cli_warn_of_tokens(cli, &plan);
	/* Only a comparison of two commits can have a receipt. */
	if (given.receipt && !given.against && plan.baseline.kind != FG_BASELINE_GIT)
		given.against = "merge-base";
	if (given.against) {
		plan.baseline.kind = FG_BASELINE_GIT;
		plan.baseline.value = given.against;
	}
	if (plan.baseline.kind == FG_BASELINE_GIT)
		fg_cli_set_plan_root(&plan);
	if (fg_session_guard(cli, &status)) {
		status = run_plan(cli, &given, &plan, &then, &err);
		status = status < 0 ? fg_cli_fail(cli, &err) : status;
		if (then.wants_anchor)
			add_anchor(cli, &given);
		if (then.is_paired && status != FG_EXIT_INTERRUPTED)
			add_hidden(cli, &given, &then);
	}
	fg_plan_release(&plan);
	return status;
}

static const struct fg_option options[] = {
	FG_CLI_CONFIG_OPTIONS(struct options, config),
	FG_ROW_NAME(struct options, against, "against", 'a', "REF", FG_COMPLETE_GIT_REF,
		    "build this git ref (or `merge-base`) and a snapshot of the work tree, and "
		    "measure both in this session"),
	FG_ROW_FLAG(
		struct options, staged, "staged", 0,
		"build the staged changes in a separate worktree, and measure them instead of the "
		"work tree, against HEAD or --against"),
	FG_ROW_NAME(struct options, candidate, "candidate", 0, "REF", FG_COMPLETE_GIT_REF,
		    "build this git ref in a separate worktree, and measure it instead of the work "
		    "tree"),
	FG_ROW_FLAG(struct options, in_place, "in-place", 0,
		    "build and measure the work tree where it is, not a snapshot of it"),
	FG_ROW_TEXT(struct options, schedule, "schedule", 0, "S", "auto, duet, abba or stored"),
	FG_ROW_TEXT(struct options, pairs, "pairs", 0, "MIN:MAX",
		    "judge after MIN pairs at the earliest and after MAX at the latest"),
	FG_ROW_TEXT(struct options, budget, "budget", 0, "T", "time limit for one benchmark: 5m"),
	FG_ROW_FLAG(
		struct options, quick, "quick", 'Q',
		"give a first answer: skip benchmarks as --affected does, and spend at most 15 s "
		"on each remaining benchmark"),
	FG_ROW_FLAG(struct options, affected, "affected", 0,
		    "skip benchmarks if nothing that they execute or read has changed"),
	FG_ROW_FLAG(struct options, exact, "exact", 0,
		    "instead of times, count the instructions of one execution per side, and fail "
		    "if the candidate executes more"),
	FG_ROW_TEXT(struct options, shard, "shard", 0, "I/N",
		    "split the benchmarks into N parts and measure part I; `fastgate gate --merge` "
		    "combines the parts into one verdict"),
	FG_ROW_FILE(struct options, export_path, "export", 'e',
		    "write the run to one file as well, to be merged or imported elsewhere"),
	FG_ROW_FILE(
		struct options, receipt, "receipt", 0,
		"write a receipt for `fastgate verify`: the verdict, both builds, and the claims "
		"proven after all attempts on this branch"),
	FG_ROW_FLAG(struct options, resume, "resume", 0,
		    "continue the newest run that was interrupted or is undecided"),
	FG_ROW_FLAG(struct options, keep_traces, "keep-traces", 0,
		    "leave the raw traces in .fastgate/traces"),
	FG_ROW_FLAG(struct options, no_store, "no-store", 0, "do not store this run"),
	FG_ROW_FLAG(struct options, no_post, "no-post", 0,
		    "send nothing: the result is not posted, and a run for perfdb.url waits for "
		    "`fastgate push`"),
	{.name = NULL},
};

static const struct fg_cli_argument arguments[] = {
	{.name = "BENCH",
	 .help = "benchmarks of fastgate.yml to measure (default: all)",
	 .complete = FG_COMPLETE_BENCHMARK},
	{.name = NULL},
};

static const struct fg_cli_example examples[] = {
	{"fastgate run --against HEAD", "is the work tree slower than the last commit?"},
	{"fastgate run --staged --quick", "before a commit: are the staged changes slower?"},
	{"fastgate run --against merge-base", "the command of a CI job for pull requests"},
	{"fastgate run parse --set gate.metrics.cpu_time.min_effect=0.5%",
	 "one benchmark, a finer threshold"},
	{"fastgate run --against merge-base --exact",
	 "does the program execute more instructions? Takes seconds, on any machine; needs "
	 "valgrind"},
	{"fastgate run --shard 2/8 --export 2.fgrun",
	 "one of eight CI jobs; `fastgate gate --merge *.fgrun` judges them together"},
	{NULL, NULL},
};

const struct fg_cli_command fg_cmd_run = {
	.name = "run",
	.group = FG_CLI_GROUP_GATE,
	.summary = "measure, decide, report: the gate",
	.description =
		"Builds the baseline and a snapshot of the work tree side by side, executes "
		"the benchmarks of fastgate.yml in both builds, in pairs, under the call-stack "
		"sampler, and stops as soon as the answer is clear. Reports for each benchmark "
		"whether the candidate is slower, by how much, how sure that is, and which "
		"functions on which call paths explain it.\n"
		"\n"
		"Each repetition is stored in .fastgate/store.db as soon as it is complete. Then "
		"the reports that fastgate.yml asks for are written. The terminal report goes to "
		"standard output; with --json, the JSON report goes there instead.\n"
		"\n"
		"The result is then posted to the targets of report.post in fastgate.yml. A post "
		"that fails only causes a warning; if the post is required and the verdict passes, "
		"the exit code is 5. With --shard nothing is posted or sent; the job that merges the "
		"shards posts and sends the result.",
	FG_CLI_TABLES,
	.exits = FG_CLI_EXITS_OF_A_GATE,
	.has_json = true,
	.stops_cleanly = true,
	.run = run,
};
