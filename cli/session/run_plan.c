// SPDX-License-Identifier: Apache-2.0
#include "cli/session/run_plan.h"

#include "base/clock.h"
#include "base/fs.h"
#include "base/text.h"
#include "cli/session/arms.h"
#include "cli/session/session.h"
#include "cli/session/shards.h"
#include "cli/session/state_folder.h"
#include "cli/session/stored.h"
#include "runner/build/git.h"
#include "runner/runner.h"

enum {
	QUICK_MAX_PAIRS = 41,
	QUICK_BUDGET_S = 15,
};

struct selection {
	const struct fg_benchmark **items;
	size_t count;
	unsigned shard; /* 0: all of them */
	unsigned shards;
};

/* "gb/BM_sort" is a case of the harness "gb": returns "BM_sort", or NULL. */
static const char *case_of(const struct fg_benchmark *benchmark, const char *name)
{
	const size_t length = strlen(benchmark->name);

	return benchmark->harness != FG_HARNESS_NONE &&
			       strncmp(name, benchmark->name, length) == 0 && name[length] == '/'
		       ? name + length + 1
		       : NULL;
}

static bool is_known(const struct fg_plan *plan, const char *name)
{
	for (size_t i = 0; i < plan->benchmark_count; i++) {
		if (case_of(&plan->benchmarks[i], name))
			return true;
	}
	return fg_plan_find(plan, name);
}

static int check_names(const struct fg_run_request *request, const struct fg_plan *plan,
		       struct fg_error *err)
{
	for (size_t i = 0; i < request->name_count; i++) {
		const char *name = request->names[i];
		const char **names = NULL;
		const char *near = NULL;

		if (is_known(plan, name))
			continue;
		names = fg_xcalloc(plan->benchmark_count + 1, sizeof(names[0]));
		for (size_t k = 0; k < plan->benchmark_count; k++)
			names[k] = plan->benchmarks[k].name;
		near = fg_text_nearest(name, names);
		free(names);
		if (near)
			return fg_error_set(err, FG_EINVAL,
					    "there is no benchmark '%s'; did you mean '%s'?", name,
					    near);
		return fg_error_set(err, FG_EINVAL, "there is no benchmark '%s' in %s", name,
				    plan->config_path);
	}
	return FG_OK;
}

static bool is_selected(const struct fg_run_request *request, const struct selection *selection,
			const struct fg_benchmark *benchmark)
{
	bool named = request->name_count == 0;

	for (size_t i = 0; i < request->name_count && !named; i++)
		named = strcmp(request->names[i], benchmark->name) == 0 ||
			case_of(benchmark, request->names[i]);
	return named && (!request->shard ||
			 fg_shard_contains(benchmark->name, selection->shard, selection->shards));
}

/* Appends an argument that makes Google Benchmark skip unwanted cases. */
static void add_filter(struct fg_plan *plan, const struct fg_benchmark *benchmark,
		       struct fg_command *command)
{
	struct fg_strbuf filter = {0};
	char **argv = NULL;

	if (command->argc == 0 || benchmark->harness != FG_HARNESS_GOOGLE_BENCHMARK ||
	    strcmp(fg_fs_base_name(command->argv[0]), "sh") == 0)
		return;
	for (size_t i = 0; i < benchmark->case_count; i++) {
		fg_strbuf_add_text(&filter, i ? "|" : "--benchmark_filter=^(");
		for (const char *c = benchmark->cases[i]; *c; c++) {
			if (strchr("\\^$.|?*+()[]{}", *c))
				fg_strbuf_add_char(&filter, '\\');
			fg_strbuf_add_char(&filter, *c);
		}
	}
	fg_strbuf_add_text(&filter, ")$");
	argv = fg_arena_array(&plan->arena, command->argc + 2, sizeof(argv[0]));
	memcpy(argv, command->argv, command->argc * sizeof(argv[0]));
	argv[command->argc++] = fg_arena_strdup(&plan->arena, fg_strbuf_text(&filter));
	command->argv = argv;
	fg_strbuf_release(&filter);
}

/* Selects the named cases; the benchmark's own name stands for all of them. */
static void choose_cases(const struct fg_run_request *request, struct fg_plan *plan,
			 struct fg_benchmark *benchmark)
{
	const char **cases =
		fg_arena_array(&plan->arena, request->name_count + 1, sizeof(cases[0]));
	size_t count = 0;

	for (size_t i = 0; i < request->name_count; i++) {
		const char *name = case_of(benchmark, request->names[i]);

		if (strcmp(request->names[i], benchmark->name) == 0)
			return;
		if (name)
			cases[count++] = name;
	}
	if (count == 0)
		return;
	benchmark->cases = cases;
	benchmark->case_count = count;
	add_filter(plan, benchmark, &benchmark->command);
	add_filter(plan, benchmark, &benchmark->baseline_command);
}

/* For a first answer within seconds: the fourth look is the last, or the budget ends it. */
static void shorten(struct fg_measuring *measure)
{
	measure->budget_ns = QUICK_BUDGET_S * FG_NS_PER_S;
	if (measure->exact_budget_ns > measure->budget_ns)
		measure->exact_budget_ns = measure->budget_ns;
	if (measure->max_pairs > QUICK_MAX_PAIRS)
		measure->max_pairs = QUICK_MAX_PAIRS;
}

/* Nothing is timed, so no schedule is searched for and nothing is warmed up. */
static void only_count(struct fg_measuring *measure)
{
	measure->exact_only = true;
	measure->warmup = 0;
	measure->schedule = FG_SCHEDULE_ABBA;
	if (measure->exact == FG_EXACT_OFF)
		measure->exact = FG_EXACT_AUTO;
}

static int select_benchmarks(struct fg_cli *cli, const struct fg_run_request *request,
			     struct fg_plan *plan, struct selection *selection,
			     struct fg_error *err)
{
	int status = check_names(request, plan, err);

	if (status != FG_OK)
		return status;
	if (plan->benchmark_count == 0)
		return fg_error_set(err, FG_EINVAL, "%s has no benchmarks: nothing to measure",
				    plan->config_path);
	if (request->shard)
		status = fg_shard_parse(request->shard, &selection->shard, &selection->shards, err);
	if (status != FG_OK)
		return status;
	selection->items =
		fg_arena_array(&cli->arena, plan->benchmark_count, sizeof(selection->items[0]));
	for (size_t i = 0; i < plan->benchmark_count; i++) {
		struct fg_benchmark *benchmark = &plan->benchmarks[i];

		if (request->quick)
			shorten(&benchmark->measure);
		if ((request->quick || request->affected) &&
		    benchmark->measure.affected == FG_AFFECTED_AUTO)
			benchmark->measure.affected = FG_AFFECTED_ALWAYS;
		if (request->exact)
			only_count(&benchmark->measure);
		choose_cases(request, plan, benchmark);
		if (is_selected(request, selection, benchmark))
			selection->items[selection->count++] = benchmark;
	}
	return FG_OK;
}

/* Continues an interrupted run: its pairs count as if it had never stopped. */
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
	if (status != FG_OK)
		return status;
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
	fg_report_restore_arguments(stored.report, &stored.run, stored.profiles);
	fg_session_take_run(session, &stored);
	/* Both sides are described afresh: the work tree may have changed. */
	for (size_t arm = 0; arm < FG_ARM_COUNT; arm++)
		fg_side_release(&session->run.sides[arm]);
	fg_stored_run_release(&stored);
	fg_cli_say(session->cli, "resuming run %.8s", id);
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

/* Measures, decides, stores, reports and uploads; returns the exit code, or a negative status. */
static int gate(struct fg_session *session, struct fg_arms *arms,
		const struct fg_run_request *request, struct fg_error *err)
{
	struct fg_gate_input input = {.baseline_required = session->plan->baseline.required};
	struct fg_error told = {0};
	int measured = FG_OK;
	int kept = FG_OK;
	int status = FG_OK;

	fg_arms_describe(arms, &input);
	/* With a selection of benchmarks, missing ones do not count as removed. */
	if (session->benchmark_count < session->plan->benchmark_count)
		input.gone_count = 0;
	measured = fg_session_measure(session, err);
	if (measured != FG_OK && measured != FG_EINTERRUPTED)
		return measured;
	status = fg_session_decide(session, &input, err);
	if (status != FG_OK)
		return status;
	/* A run that cannot be stored is still reported. */
	kept = fg_session_save(session, err);
	if (kept == FG_OK)
		kept = export_run(session, request->export_path, err);
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
	 * A shard is neither uploaded nor posted; `fastgate gate --merge` does that for the whole
	 * run.
	 */
	return request->shard ? (int)session->verdict.exit_code
			      : fg_session_tell(session, !request->no_post);
}

/* An empty shard is stored too, so that it is not mistaken for a missing one. */
static int keep_empty_shard(struct fg_session *session, const struct fg_run_request *request,
			    const struct selection *selection, struct fg_error *err)
{
	const struct fg_git git = {.folder = session->plan->root,
				   .interrupted = session->cli->interrupted};
	int status = fg_git_describe_side(&git, &session->run.sides[FG_ARM_CANDIDATE], err);

	fg_cli_say(session->cli, "no benchmark belongs to shard %s", request->shard);
	fg_shard_mark(&session->run, selection->shard, selection->shards);
	session->run.ended_ns = session->run.started_ns;
	session->run.complete = true;
	if (status != FG_OK)
		return status;
	if (session->store)
		status = fg_store_save(session->store, &session->run, NULL, NULL, err);
	if (status != FG_OK)
		return status;
	status = export_run(session, request->export_path, err);
	return status == FG_OK ? FG_EXIT_PASS : status;
}

static int measure_and_gate(struct fg_session *session, const struct fg_run_request *request,
			    struct fg_plan *plan, const struct selection *selection,
			    struct fg_error *err)
{
	struct fg_arms arms = {0};
	int status = request->resume ? resume(session, selection, err) : FG_OK;

	if (status != FG_OK)
		goto out;
	status = fg_arms_open(&arms, session, plan, err);
	if (status != FG_OK)
		goto out;
	if (request->shard)
		fg_shard_mark(&session->run, selection->shard, selection->shards);
	fg_arms_add_accepts(session, plan);
	status = gate(session, &arms, request, err);
out:
	fg_arms_close(&arms);
	return status;
}

int fg_session_run_plan(struct fg_cli *cli, const struct fg_run_request *request,
			struct fg_plan *plan, struct fg_error *err)
{
	struct fg_session session;
	struct selection selection = {0};
	char *state = fg_fs_join(plan->root, FG_STATE_FOLDER);
	int status = fg_session_init(&session, cli, plan, err);

	if (status != FG_OK)
		goto out;
	status = select_benchmarks(cli, request, plan, &selection, err);
	if (status != FG_OK)
		goto out;
	if (!request->no_store || plan->baseline.kind == FG_BASELINE_GIT)
		fg_state_folder_make(state);
	if (!request->no_store)
		status = fg_session_open_store(&session, err);
	if (status != FG_OK)
		goto out;
	session.benchmarks = selection.items;
	session.benchmark_count = selection.count;
	session.state_folder = state;
	session.staged = request->staged;
	session.in_place = request->in_place || plan->build.in_place;
	session.candidate = request->candidate;
	session.keep_traces = request->keep_traces;
	status = selection.count ? measure_and_gate(&session, request, plan, &selection, err)
				 : keep_empty_shard(&session, request, &selection, err);
out:
	fg_session_release(&session);
	free(state);
	return status;
}
