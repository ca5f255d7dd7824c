// SPDX-License-Identifier: Apache-2.0
#include "base/fs.h"
#include "cli/session/arms.h"
#include "cli/session/plan.h"
#include "cli/session/session.h"
#include "cli/session/stored.h"

struct options {
	struct fg_cli_config config;
	bool merge;
	bool no_store;
	bool no_post;
};

/* ---- the run to judge ---- */

static int add_file(struct fg_shards *shards, const char *path, struct fg_error *err)
{
	struct fg_stored_run stored = {0};
	int status = fg_cli_run_from_file(path, &stored, err);

	if (status == FG_OK)
		status = fg_shards_add(shards, &stored, path, err);
	fg_stored_run_release(&stored);
	return status;
}

static int merge(const struct fg_session *session, struct fg_stored_run *merged,
		 struct fg_error *err)
{
	const struct fg_cli *cli = session->cli;
	struct fg_shards shards = {0};
	struct fg_strbuf missing = {0};
	int status = FG_OK;

	for (size_t i = 0; i < cli->argument_count && status == FG_OK; i++)
		status = add_file(&shards, cli->arguments[i], err);
	if (status == FG_OK) {
		fg_shards_merge(&shards, session->request.plan, merged, &missing);
		fg_cli_say(cli, "merged %zu of %u shards into run %.8s", shards.count,
			   shards.items[0].count, merged->run.id);
		if (missing.length)
			fg_cli_warn(cli, "%s", fg_strbuf_text(&missing));
	}
	fg_strbuf_release(&missing);
	fg_shards_release(&shards);
	return status;
}

/* ---- the verdict ---- */

static int decide(struct fg_session *session, const struct options *given, struct fg_plan *plan,
		  struct fg_error *err)
{
	struct fg_gate_input input = {.baseline_required = plan->baseline.required};
	struct fg_arms arms = {0};
	int status = FG_OK;

	FG_TRY_OUT(fg_arms_open_stored(&arms, session, err));
	fg_arms_add_accepts(session, plan);
	fg_arms_describe(&arms, &input);
	FG_TRY_OUT(fg_session_decide(session, &input, err));
	if (given->merge)
		FG_TRY_OUT(fg_session_save(session, err));
	status = fg_session_report(session, err);
out:
	fg_arms_close(&arms);
	if (status != FG_OK)
		return status;
	return given->merge ? fg_session_publish(session, !given->no_post)
			    : (int)session->result.verdict.exit_code;
}

static int gate(struct fg_cli *cli, const struct options *given, struct fg_plan *plan,
		struct fg_error *err)
{
	struct fg_session session;
	struct fg_stored_run stored = {0};
	char *state = fg_fs_join(plan->root, FG_STATE_FOLDER);
	char *path = fg_fs_join(plan->root, plan->store_path);
	int status = fg_session_init(&session, cli, plan, err);

	session.request.state_folder = state;
	if (status != FG_OK)
		goto out;
	FG_TRY_OUT(given->merge ? merge(&session, &stored, err)
				: fg_cli_load_run(path, plan->project,
						  cli->argument_count ? cli->arguments[0] : NULL,
						  &stored, err));
	if (given->merge && !given->no_store)
		fg_state_folder_make(state);
	if (!given->merge || !given->no_store)
		status = fg_session_open_store(&session, err);
	if (status != FG_OK)
		goto out;
	fg_report_restore_arguments(stored.report, &stored.run, stored.profiles);
	fg_session_take_run(&session, &stored);
	status = decide(&session, given, plan, err);
out:
	fg_stored_run_release(&stored);
	fg_session_release(&session);
	free(path);
	free(state);
	return status;
}

static int run(struct fg_cli *cli, const void *values)
{
	const struct options *given = values;
	struct fg_error err = {0};
	struct fg_plan plan = {0};
	int status = FG_OK;

	if (given->merge && cli->argument_count == 0)
		return fg_cli_usage(cli, "--merge needs the files of `fastgate run --export`");
	if (!given->merge && cli->argument_count > 1)
		return fg_cli_usage(
			cli, "only one run can be judged at a time; --merge combines several");
	status = fg_cli_load_plan(cli, &given->config, false, &plan);
	if (status != FG_EXIT_PASS)
		return status;
	status = gate(cli, given, &plan, &err);
	if (status < 0)
		status = fg_cli_fail(cli, &err);
	fg_plan_release(&plan);
	return status;
}

static const struct fg_option options[] = {
	FG_CLI_CONFIG_OPTIONS(struct options, config),
	FG_ROW_FLAG(struct options, merge, "merge", 'm',
		    "the RUNs are shards of one run: merge, store and judge them"),
	FG_ROW_FLAG(struct options, no_store, "no-store", 0, "do not store the merged run"),
	FG_ROW_FLAG(struct options, no_post, "no-post", 0,
		    "send nothing: the result is not posted, and a run for perfdb.url waits for "
		    "`fastgate push`"),
	{.name = NULL},
};

static const struct fg_cli_argument arguments[] = {
	{.name = "RUN",
	 .help = "a stored or exported run; with --merge, the files of `fastgate run --export`",
	 .complete = FG_COMPLETE_FILE},
	{.name = NULL},
};

static const struct fg_cli_example examples[] = {
	{"fastgate gate --merge shards/*.fgrun", "one verdict over the measurements of several CI "
						 "jobs"},
	{"fastgate gate latest --set gate.metrics.cpu_time.min_effect=1%",
	 "the verdict under another threshold"},
	{NULL, NULL},
};

const struct fg_cli_command fg_cmd_gate = {
	.name = "gate",
	.group = FG_CLI_GROUP_GATE,
	.summary = "merge and judge the shards of several jobs, or judge a stored run again",
	.description =
		"With --merge: every CI job measures its part with `fastgate run --shard I/N "
		"--export FILE`; one more job merges the files into one run, stores it, decides, "
		"writes and posts the reports of fastgate.yml, and ends with the exit code of "
		"the whole run. Each benchmark is judged by its own pairs, at the same looks as "
		"in its shard, so splitting does not change the rate of false alarms. Give "
		"`fastgate gate` the same --set options as the shards.\n"
		"\n"
		"If a shard is missing or was interrupted, the benchmarks that it did not "
		"measure are `error`, and the exit code is 4. Shards of different commits or "
		"splits, or one shard given twice, are refused with exit code 2.\n"
		"\n"
		"Without --merge: judges one run again, by default the newest, under the current "
		"fastgate.yml. The run and its stored verdict do not change.",
	FG_CLI_TABLES,
	.exits = FG_CLI_EXITS_OF_A_GATE,
	.has_json = true,
	.run = run,
};
