// SPDX-License-Identifier: Apache-2.0
#include "cli/session/arms.h"

#include "base/fs.h"
#include "base/text.h"
#include "cli/session/plan.h"
#include "cli/session/stored.h"
#include "config/config.h"
#include "gate/commit_trailers.h"
#include "reporters/reporter.h"
#include "runner/build/git.h"
#include "runner/facts/build_info.h"
#include "runner/target.h"
#include "store/serving/trend.h"

/* ---- renamed benchmarks ---- */

static bool load(struct fg_arms *arms, const struct fg_plan *plan, const char *root)
{
	const char *name =
		plan->config_path ? fg_fs_base_name(plan->config_path) : FG_CONFIG_FILE_NAME;
	char *path = fg_fs_join(root, name);
	const struct fg_config_source source = {.path = path};
	struct fg_config_report report = {0};
	bool loaded = false;

	loaded = fg_config_load(&source, &arms->baseline_plan, &report, NULL) == FG_OK;
	fg_config_report_release(&report);
	free(path);
	return loaded;
}

static const struct fg_benchmark *find_old(const struct fg_arms *arms,
					   const struct fg_benchmark *benchmark)
{
	const struct fg_benchmark *old = fg_plan_find(&arms->baseline_plan, benchmark->name);

	if (!old && benchmark->was)
		old = fg_plan_find(&arms->baseline_plan, benchmark->was);
	return old;
}

static bool has_program(const struct fg_benchmark *benchmark, const char *root)
{
	struct fg_target target;
	bool found = false;

	fg_target_init(&target, FG_ARM_BASELINE, benchmark, root);
	fg_target_resolve(&target);
	found = target.program != NULL;
	fg_target_release(&target);
	return found;
}

/*
 * A comparison needs the same work on both sides, so the candidate's command is preferred if the
 * baseline can run it.
 */
static void choose_command(const struct fg_arms *arms, struct fg_benchmark *benchmark,
			   const char *root)
{
	const struct fg_benchmark *old = find_old(arms, benchmark);
	const bool is_given = benchmark->baseline_command.argc > 0;

	if (old && !is_given && !has_program(benchmark, root))
		benchmark->baseline_command = old->command;
}

static bool is_known(const struct fg_plan *plan, const char *name)
{
	for (size_t i = 0; i < plan->benchmark_count; i++) {
		const char *was = plan->benchmarks[i].was;

		if (strcmp(plan->benchmarks[i].name, name) == 0 || (was && strcmp(was, name) == 0))
			return true;
	}
	return false;
}

static void match_commit(struct fg_arms *arms, struct fg_plan *plan, const char *root)
{
	if (!load(arms, plan, root))
		return;
	for (size_t i = 0; i < plan->benchmark_count; i++)
		choose_command(arms, &plan->benchmarks[i], root);
	arms->gone = fg_arena_array(&arms->baseline_plan.arena,
				    arms->baseline_plan.benchmark_count + 1, sizeof(arms->gone[0]));
	for (size_t i = 0; i < arms->baseline_plan.benchmark_count; i++) {
		const char *name = arms->baseline_plan.benchmarks[i].name;

		if (!is_known(plan, name))
			arms->gone[arms->gone_count++] = name;
	}
}

/* "old" becomes "new"; the case "old/BM_sort" of a harness becomes "new/BM_sort". */
static void rename_series(struct fg_series *series, const struct fg_benchmark *benchmark)
{
	const size_t length = strlen(benchmark->was);
	const char *rest = series->name + length;
	char *name = NULL;

	if (!fg_text_starts_with(series->name, benchmark->was) || (*rest && *rest != '/'))
		return;
	name = fg_xasprintf("%s%s", benchmark->name, rest);
	free(series->name);
	series->name = name;
}

static void match_stored(const struct fg_plan *plan, struct fg_run *run)
{
	for (size_t i = 0; i < plan->benchmark_count; i++) {
		const struct fg_benchmark *benchmark = &plan->benchmarks[i];

		if (!benchmark->was || fg_run_find(run, benchmark->name))
			continue;
		for (size_t k = 0; k < run->series_count; k++)
			rename_series(&run->series[k], benchmark);
	}
}

/* ---- worktrees ---- */

static void say_note(void *context, const char *note)
{
	const struct fg_session *session = context;

	fg_cli_say(session->cli, "%s", note);
}

/* Shows the last lines of a failed build, which say more than a one-line message. */
static void show_tail(const struct fg_session *session, char *tail)
{
	char *rest = tail;

	if (tail && *tail)
		fg_cli_warn(session->cli, "the last lines of the build's output:");
	for (const char *line = strsep(&rest, "\n"); line; line = strsep(&rest, "\n")) {
		if (*line)
			fg_cli_say(session->cli, "%s", line);
	}
	free(tail);
}

static struct fg_worktree_options worktree_options(struct fg_session *session, const char *commit,
						   bool snapshot)
{
	return (struct fg_worktree_options){
		.root = session->request.plan->root,
		.state_folder = session->request.state_folder,
		.commit = commit,
		.snapshot = snapshot,
		.keep = session->request.keep_builds,
		.build = &session->request.plan->build,
		.interrupted = session->cli->interrupted,
		.context = session,
		.on_note = say_note,
	};
}

/* Records as a fact that only the candidate was built in place. */
static void say_in_place(struct fg_session *session)
{
	struct fg_side *sides = session->result.run.sides;

	fg_environment_set(&sides[FG_ARM_BASELINE].build, "build.place", "a separate worktree",
			   false);
	fg_environment_set(&sides[FG_ARM_CANDIDATE].build, "build.place", "the work tree, in place",
			   false);
}

/* Builds the work tree with the same command as the commit that it is compared with. */
static int build_candidate(struct fg_session *session, struct fg_error *err)
{
	const struct fg_worktree_options options = worktree_options(session, NULL, false);
	char *log = fg_fs_join(session->request.state_folder, "build-candidate.log");
	char *tail = NULL;
	int status = FG_OK;

	if (session->request.plan->build.command.argc > 0) {
		fg_cli_detail(session->cli, "building the work tree: %s",
			      session->request.plan->build.command.text);
		status = fg_worktree_build(&options, session->request.plan->root, log, &tail, err);
		if (status != FG_OK) {
			fg_error_prefix(err, "candidate");
			show_tail(session, tail);
		}
	}
	free(log);
	return status;
}

static int open_worktree(struct fg_arms *arms, struct fg_session *session, enum fg_arm arm,
			 const char *commit, bool snapshot, struct fg_error *err)
{
	struct fg_worktree_options options = worktree_options(session, commit, snapshot);
	char *tail = NULL;
	int status = FG_OK;

	/*
	 * A commit made here to contain files of the work tree does not exist on other hosts, so
	 * the build is also known by the original commit.
	 */
	options.known_as = arm == FG_ARM_BASELINE ? session->result.run.sides[arm].commit
						  : arms->candidate_commit;
	options.apart = arm == FG_ARM_CANDIDATE && session->request.apart;
	if (arm == FG_ARM_CANDIDATE)
		options.baseline = session->result.run.sides[FG_ARM_BASELINE].commit;
	status = fg_worktree_open(&options, &arms->worktrees[arm], &tail, err);

	if (status != FG_OK) {
		fg_error_prefix(err, "%s", arm == FG_ARM_CANDIDATE ? "candidate" : "baseline");
		show_tail(session, tail);
		return status;
	}
	arms->has_worktree[arm] = true;
	if (options.apart) {
		FG_TRY(fg_worktree_claim(&arms->worktrees[arm], err));
	}
	session->open.roots[arm] = arms->worktrees[arm].root;
	session->open.checkouts[arm] = arms->worktrees[arm].tree;
	if (arm == FG_ARM_BASELINE)
		session->open.baseline = &arms->worktrees[arm];
	return FG_OK;
}

/* ---- files of the benchmarks ---- */

/* Paths below the plan's root that a side gets from elsewhere. */
struct taken {
	const char **paths;
	size_t count;
	size_t capacity;
};

static void take_path(struct taken *taken, const char *path)
{
	taken->paths =
		fg_grow(taken->paths, &taken->capacity, taken->count + 2, sizeof(taken->paths[0]));
	taken->paths[taken->count++] = path;
	taken->paths[taken->count] = NULL;
}

static void take_configured(const struct fg_session *session, struct taken *taken)
{
	const struct fg_build *build = &session->request.plan->build;

	for (size_t i = 0; i < build->from_candidate_count; i++)
		take_path(taken, build->from_candidate[i]);
}

/* Takes a benchmark's script or input if it exists in the work tree but not in the commit. */
static void take_if_missing(const struct fg_session *session, const struct fg_git *git,
			    const char *commit, const char *word, struct taken *taken)
{
	char *path = NULL;

	if (!word || !*word || *word == '-' || *word == '/' || strstr(word, "..") ||
	    strcmp(word, ".") == 0)
		return;
	path = fg_fs_join(session->request.plan->root, word);
	if (fg_fs_exists(path) && !fg_git_has(git, commit, word) && !fg_git_ignores(git, word))
		take_path(taken, word);
	free(path);
}

static void take_inputs(const struct fg_session *session, const struct fg_git *git,
			const char *commit, struct taken *taken)
{
	for (size_t i = 0; i < session->request.benchmark_count; i++) {
		const struct fg_benchmark *benchmark = session->request.benchmarks[i];

		for (size_t k = 0; k < benchmark->command.argc; k++)
			take_if_missing(session, git, commit, benchmark->command.argv[k], taken);
		take_if_missing(session, git, commit, benchmark->stdin_path, taken);
		take_if_missing(session, git, commit, benchmark->working_directory, taken);
	}
}

/*
 * Makes a copy of `commit` in which these files are as in `source`, or as in the work tree if
 * `source` is NULL.
 */
static int with_files(struct fg_session *session, const char *commit, const char *source,
		      const struct taken *taken, char **made, struct fg_error *err)
{
	const struct fg_git git = {.folder = session->request.plan->root,
				   .interrupted = session->cli->interrupted};
	char *state = NULL;
	char *snapshot = NULL;
	int status = FG_OK;

	if (taken->count == 0) {
		*made = fg_xstrdup(commit);
		return FG_OK;
	}
	if (!source) {
		state = realpath(session->request.state_folder, NULL);
		status = fg_git_commit_work_tree(&git, state, &snapshot, err);
		source = snapshot;
	}
	if (status == FG_OK)
		status = fg_git_commit_with_files(&git, commit, source, taken->paths, made, err);
	if (status == FG_ENOENT)
		fg_error_prefix(err, "build.from_candidate");
	free(snapshot);
	free(state);
	return status;
}

/*
 * An older commit may lack the benchmarks, so their files come from the work tree, like the
 * configuration.
 */
static int open_old_candidate(struct fg_arms *arms, struct fg_session *session,
			      const struct fg_git *git, struct fg_error *err)
{
	struct taken taken = {0};
	char *made = NULL;
	int status = FG_OK;

	take_configured(session, &taken);
	take_inputs(session, git, arms->candidate_commit, &taken);
	status = with_files(session, arms->candidate_commit, NULL, &taken, &made, err);
	if (status == FG_OK)
		status = open_worktree(arms, session, FG_ARM_CANDIDATE, made, false, err);
	free(taken.paths);
	free(made);
	return status;
}

/* ---- the sides ---- */

static int open_staged(struct fg_arms *arms, struct fg_session *session, const struct fg_git *git,
		       struct fg_error *err)
{
	struct fg_side *side = &session->result.run.sides[FG_ARM_CANDIDATE];
	int status = FG_OK;

	FG_TRY_OUT(fg_git_commit_staged(git, &arms->candidate_commit, err));
	FG_TRY_OUT(
		open_worktree(arms, session, FG_ARM_CANDIDATE, arms->candidate_commit, false, err));
	free(side->describe);
	side->describe = fg_xstrdup("staged");
	side->dirty = side->commit && strcmp(side->commit, arms->candidate_commit) != 0;
out:
	fg_git_forget_hook();
	return status;
}

/* Opens a commit that is not checked out here. */
static int open_git_candidate(struct fg_arms *arms, struct fg_session *session,
			      const struct fg_git *git, struct fg_error *err)
{
	struct fg_side *side = &session->result.run.sides[FG_ARM_CANDIDATE];
	char *words = NULL;
	int status = fg_git_resolve(git, session->request.candidate, &arms->candidate_commit,
				    &words, err);

	if (status != FG_OK)
		goto out;
	FG_TRY_OUT(open_old_candidate(arms, session, git, err));
	/* Branch, tag and changes describe the checked-out tree instead of this commit. */
	fg_side_release(side);
	*side = (struct fg_side){.commit = fg_xstrdup(arms->candidate_commit), .describe = words};
	words = NULL;
	fg_git_note_subject(git, side);
out:
	fg_git_forget_hook();
	free(words);
	return status;
}

/* Opens a snapshot of the work tree, in a folder like the baseline's. */
static int open_snapshot(struct fg_arms *arms, struct fg_session *session, const struct fg_git *git,
			 struct fg_error *err)
{
	char *state = realpath(session->request.state_folder, NULL);
	char *commit = NULL;
	int status = fg_git_commit_work_tree(git, state, &commit, err);

	if (status == FG_OK)
		status = open_worktree(arms, session, FG_ARM_CANDIDATE, commit, true, err);
	arms->candidate_commit = commit;
	free(state);
	return status;
}

/* Resolves the ref before anything is built, so that a mistyped ref costs no build. */
static int resolve_git_baseline(struct fg_session *session, struct fg_error *err)
{
	const struct fg_git git = {.folder = session->request.plan->root,
				   .head = session->request.candidate,
				   .interrupted = session->cli->interrupted};
	struct fg_side *side = &session->result.run.sides[FG_ARM_BASELINE];

	FG_TRY(fg_git_resolve(&git, session->request.plan->baseline.value, &side->commit,
			      &side->describe, err));
	fg_git_note_subject(&git, side);
	return FG_OK;
}

/* Records that both sides use these files of the candidate. */
static void say_from_candidate(struct fg_session *session)
{
	const struct fg_build *build = &session->request.plan->build;
	char *paths = fg_text_join(build->from_candidate, " ");

	for (size_t arm = 0; arm < FG_ARM_COUNT; arm++)
		fg_environment_set(&session->result.run.sides[arm].build, "build.from_candidate",
				   paths, false);
	free(paths);
}

/*
 * Makes the baseline's commit with the configured files replaced by the candidate's. If the
 * candidate is a commit, both sides get these files from the work tree.
 */
static int make_baseline_commit(const struct fg_arms *arms, struct fg_session *session,
				char **commit, struct fg_error *err)
{
	const struct fg_git git = {.folder = session->request.plan->root,
				   .interrupted = session->cli->interrupted};
	const char *base = session->result.run.sides[FG_ARM_BASELINE].commit;
	const bool is_old = session->request.candidate != NULL;
	struct taken taken = {0};
	int status = FG_OK;

	take_configured(session, &taken);
	if (is_old)
		take_inputs(session, &git, base, &taken);
	status = with_files(session, base, is_old ? NULL : arms->candidate_commit, &taken, commit,
			    err);
	if (status == FG_OK && session->request.plan->build.from_candidate_count > 0)
		say_from_candidate(session);
	free(taken.paths);
	return status;
}

static int open_git_baseline(struct fg_arms *arms, struct fg_session *session, struct fg_plan *plan,
			     struct fg_error *err)
{
	char *commit = NULL;
	int status = FG_OK;

	FG_TRY(make_baseline_commit(arms, session, &commit, err));
	status = open_worktree(arms, session, FG_ARM_BASELINE, commit, false, err);
	free(commit);
	if (status == FG_OK)
		match_commit(arms, plan, session->open.roots[FG_ARM_BASELINE]);
	else if (status == FG_ECHILD && session->request.plan->build.from_candidate_count == 0)
		fg_cli_say(session->cli,
			   "if the baseline lacks files that the benchmark needs, list them in "
			   "`build.from_candidate`");
	return status;
}

/* Loads earlier runs of the baseline's branch. */
static int load_history(struct fg_arms *arms, struct fg_session *session, struct fg_error *err)
{
	const int status = fg_store_load_history(session->open.store, &arms->baseline.run, 0,
						 &arms->history, err);

	for (size_t i = 0; i < arms->history.count; i++)
		match_stored(session->request.plan, &arms->history.runs[i].run);
	arms->store = session->open.store;
	return status;
}

static void take_baseline(struct fg_arms *arms)
{
	const struct fg_stored_run *baseline = &arms->baseline;

	arms->has_baseline = true;
	fg_report_restore_arguments(baseline->report, &baseline->run, baseline->profiles);
}

static int take_stored_baseline(struct fg_arms *arms, struct fg_session *session, const char *words,
				struct fg_error *err)
{
	char id[37] = "";

	if (!session->open.store)
		return fg_error_set(err, FG_ENOENT,
				    "no runs are stored: there is nothing to compare with");
	FG_TRY(fg_store_find(session->open.store, session->result.run.project, words, id, err));
	FG_TRY(fg_store_load(session->open.store, id, &arms->baseline, err));
	take_baseline(arms);
	match_stored(session->request.plan, &arms->baseline.run);
	session->result.run.sides[FG_ARM_BASELINE].describe = fg_xasprintf("run %.8s", id);
	return load_history(arms, session, err);
}

/*
 * Takes an exported run as the baseline; the history comes from its branch in the local store, if
 * any.
 */
static int take_baseline_file(struct fg_arms *arms, struct fg_session *session, const char *name,
			      struct fg_error *err)
{
	char *path = fg_fs_join(session->request.plan->root, name);
	int status = fg_cli_run_from_file(path, &arms->baseline, err);

	if (status == FG_OK) {
		take_baseline(arms);
		session->result.run.sides[FG_ARM_BASELINE].describe = fg_xasprintf("file %s", name);
		status = session->open.store ? load_history(arms, session, err) : FG_OK;
	}
	free(path);
	return status;
}

/* Records user-defined facts about the host and both sides. */
static int record_facts(struct fg_session *session, struct fg_error *err)
{
	const struct fg_plan *plan = session->request.plan;
	const struct fg_git git = {.folder = plan->root, .interrupted = session->cli->interrupted};
	struct fg_record_options options = {
		.facts = plan->host_record,
		.count = plan->host_record_count,
		.folder = plan->root,
		.identity = true,
		.interrupted = session->cli->interrupted,
	};
	int status = fg_build_record(&options, &session->result.run.host, err);

	fg_git_note_request(&session->result.run.sides[FG_ARM_CANDIDATE]);
	fg_git_note_commits(&git, &session->result.run.sides[FG_ARM_BASELINE],
			    &session->result.run.sides[FG_ARM_CANDIDATE]);
	fg_cli_record_links(plan, &session->result.run.sides[FG_ARM_CANDIDATE].build);
	options.facts = plan->build.record;
	options.count = plan->build.record_count;
	options.identity = false;
	for (size_t arm = 0; status == FG_OK && arm < FG_ARM_COUNT; arm++) {
		options.folder = session->open.roots[arm];
		if (options.folder)
			status = fg_build_record(&options, &session->result.run.sides[arm].build,
						 err);
	}
	return status;
}

static int settle_baseline(struct fg_arms *arms, struct fg_session *session, struct fg_plan *plan,
			   struct fg_error *err)
{
	const struct fg_baseline *baseline = &session->request.plan->baseline;
	int status = FG_OK;

	if (baseline->kind == FG_BASELINE_NONE)
		return FG_OK;
	if (baseline->kind == FG_BASELINE_GIT)
		return open_git_baseline(arms, session, plan, err);
	status = baseline->kind == FG_BASELINE_FILE
			 ? take_baseline_file(arms, session, baseline->value, err)
			 : take_stored_baseline(arms, session, baseline->value, err);
	if (status == FG_ENOENT) {
		/*
		 * The first run on a branch has nothing to compare with: its verdict is "new", or
		 * it fails if a baseline is required.
		 */
		fg_cli_say(session->cli, "%s", err ? err->message : "no baseline");
		status = FG_OK;
	}
	return status;
}

int fg_arms_open(struct fg_arms *arms, struct fg_session *session, struct fg_plan *plan,
		 struct fg_error *err)
{
	const struct fg_git git = {.folder = session->request.plan->root,
				   .interrupted = session->cli->interrupted};
	struct fg_side *side = &session->result.run.sides[FG_ARM_CANDIDATE];
	int status = FG_OK;

	*arms = (struct fg_arms){0};
	session->open.roots[FG_ARM_CANDIDATE] = session->request.plan->root;
	FG_TRY(fg_git_describe_side(&git, side, err));
	if (plan->baseline.kind == FG_BASELINE_GIT)
		FG_TRY(resolve_git_baseline(session, err));
	if (session->request.staged)
		status = open_staged(arms, session, &git, err);
	else if (session->request.candidate)
		status = open_git_candidate(arms, session, &git, err);
	else if (plan->baseline.kind == FG_BASELINE_GIT && !session->request.in_place)
		status = open_snapshot(arms, session, &git, err);
	else
		status = build_candidate(session, err);
	if (status != FG_OK)
		return status;
	if (plan->baseline.kind == FG_BASELINE_GIT && session->request.in_place)
		say_in_place(session);
	status = settle_baseline(arms, session, plan, err);
	return status == FG_OK ? record_facts(session, err) : status;
}

int fg_arms_open_stored(struct fg_arms *arms, struct fg_session *session, struct fg_error *err)
{
	const struct fg_run *run = &session->result.run;
	unsigned index = 0;
	unsigned count = 0;
	int status = FG_OK;

	*arms = (struct fg_arms){0};
	if (run->has_baseline || session->request.plan->baseline.kind == FG_BASELINE_GIT)
		return FG_OK;
	status = settle_baseline(arms, session, NULL, err);
	if (status != FG_OK || !arms->has_baseline)
		return status;
	if (strcmp(arms->baseline.run.id, run->id) == 0 ||
	    fg_shard_of(&arms->baseline.run, &index, &count))
		return fg_error_set(
			err, FG_EINVAL,
			"the only baseline found, run %.8s, is this run itself or a shard: name "
			"an earlier run with --set baseline.run=ID",
			arms->baseline.run.id);
	return FG_OK;
}

static size_t list_own_times(void *context, const char *benchmark,
			     const struct fg_profile_function *function, double *self_ns,
			     size_t room)
{
	const struct fg_arms *arms = context;

	return fg_store_own_times(
		&(struct fg_earlier_runs){.store = arms->store, .baseline = &arms->baseline.run},
		benchmark, function, self_ns, room);
}

void fg_arms_describe(struct fg_arms *arms, struct fg_gate_input *input)
{
	input->gone = arms->gone;
	input->gone_count = arms->gone_count;
	if (!arms->has_baseline)
		return;
	input->baseline = &arms->baseline.run;
	input->baseline_profiles = (const struct fg_profile_set *const *)arms->baseline.profiles;
	input->history = arms->history.list;
	input->history_count = arms->history.count;
	input->function_history = arms->store ? list_own_times : NULL;
	input->history_context = arms;
}

/* Appends to the policy's accepted regressions; the array moves to the plan's arena. */
static void add_accepts(struct fg_policy *policy, struct fg_plan *plan,
			const struct fg_accept *more, size_t count)
{
	struct fg_accept *all =
		fg_arena_array(&plan->arena, policy->accept_count + count, sizeof(all[0]));

	if (policy->accept_count)
		memcpy(all, policy->accepts, policy->accept_count * sizeof(all[0]));
	memcpy(all + policy->accept_count, more, count * sizeof(all[0]));
	policy->accepts = all;
	policy->accept_count += count;
}

static void accept_message(struct fg_session *session, struct fg_plan *plan, const char *hash,
			   const char *message)
{
	struct fg_accept *accepts = NULL;
	struct fg_error err = {0};
	size_t count = 0;

	if (fg_gate_accepts_of_message(message, hash, &plan->arena, &accepts, &count, &err) !=
	    FG_OK) {
		fg_cli_warn(session->cli, "commit %.7s: %s", hash, err.message);
		return;
	}
	if (count == 0)
		return;
	add_accepts(&plan->policy, plan, accepts, count);
	for (size_t i = 0; i < plan->benchmark_count; i++)
		add_accepts(&plan->benchmarks[i].policy, plan, accepts, count);
}

void fg_arms_add_accepts(struct fg_session *session, struct fg_plan *plan)
{
	const struct fg_git git = {.folder = plan->root, .interrupted = session->cli->interrupted};
	const char *from = session->result.run.sides[FG_ARM_BASELINE].commit;
	const char *to = session->result.run.sides[FG_ARM_CANDIDATE].commit;
	struct fg_error err = {0};
	char *text = NULL;
	size_t size = 0;

	if (!from || !to)
		return;
	if (fg_git_messages(&git, from, to, &text, &size, &err) != FG_OK) {
		fg_cli_warn(session->cli, "cannot read the commits for accepted regressions: %s",
			    err.message);
		return;
	}
	for (const char *at = text; at < text + size; at += strlen(at) + 1) {
		const char *line_end = strchr(at, '\n');
		char *hash = line_end ? fg_xstrndup(at, (size_t)(line_end - at)) : NULL;

		if (hash)
			accept_message(session, plan, hash, line_end + 1);
		free(hash);
	}
	free(text);
}

void fg_arms_close(struct fg_arms *arms)
{
	for (size_t arm = 0; arm < FG_ARM_COUNT; arm++) {
		if (arms->has_worktree[arm])
			fg_worktree_close(&arms->worktrees[arm]);
	}
	fg_plan_release(&arms->baseline_plan);
	if (arms->has_baseline)
		fg_stored_run_release(&arms->baseline);
	fg_stored_history_release(&arms->history);
	free(arms->candidate_commit);
	*arms = (struct fg_arms){0};
}
