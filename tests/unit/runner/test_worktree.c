// SPDX-License-Identifier: Apache-2.0
#include "base/fs.h"
#include "runner/build/git.h"
#include "runner/build/worktree.h"
#include "tests/support/fg_test.h"
#include "tests/support/scratch.h"

#include <stdlib.h>
#include <string.h>

static struct fg_scratch scratch;
static struct fg_error err;
static struct fg_git git; /* in the repository, unless a test says otherwise */
static char *commit;
static char *words;

/* Runs a shell command in the scratch folder; failure fails the test. */
static void sh(const char *script)
{
	char *argv[] = {"/bin/sh", "-ec", (char *)(uintptr_t)script, NULL};

	free(fg_scratch_run(argv, scratch.path));
}

static void git_in(const char *name)
{
	static char folder[sizeof(scratch.path) + 64];

	(void)snprintf(folder, sizeof(folder), "%s/%s", scratch.path, name);
	git = (struct fg_git){.folder = folder};
}

/* Unset, because the tests may run in a CI job themselves. */
static const char *const ci_variables[] = {
	"GITHUB_BASE_REF",
	"CI_MERGE_REQUEST_TARGET_BRANCH_NAME",
	"CHANGE_TARGET",
	"BITBUCKET_PR_DESTINATION_BRANCH",
	"SYSTEM_PULLREQUEST_TARGETBRANCH",
	"GITHUB_HEAD_REF",
	"CI_MERGE_REQUEST_SOURCE_BRANCH_NAME",
	"CI_COMMIT_BRANCH",
	"CHANGE_BRANCH",
	"BRANCH_NAME",
	"BITBUCKET_BRANCH",
	"SYSTEM_PULLREQUEST_SOURCEBRANCH",
	"BUILD_SOURCEBRANCH",
	"GITHUB_REF",
	"CI_MERGE_REQUEST_IID",
};

static int set_up(void **state)
{
	(void)state;
	(void)setenv("GIT_CONFIG_GLOBAL", "/dev/null", 1);
	(void)setenv("GIT_AUTHOR_NAME", "t", 1);
	(void)setenv("GIT_AUTHOR_EMAIL", "t@localhost", 1);
	(void)setenv("GIT_COMMITTER_NAME", "t", 1);
	(void)setenv("GIT_COMMITTER_EMAIL", "t@localhost", 1);
	for (size_t i = 0; i < FG_ARRAY_SIZE(ci_variables); i++)
		(void)unsetenv(ci_variables[i]);
	fg_scratch_init(&scratch);
	err = (struct fg_error){0};
	git_in("repo");
	sh("git init -q -b main repo; cd repo; mkdir sub; echo one > sub/value; git add .; git "
	   "commit -qm first;"
	   "echo two > sub/value; git commit -qam second; git checkout -qb topic; echo three > "
	   "sub/value; git commit -qam third");
	return 0;
}

static void forget(void)
{
	free(commit);
	free(words);
	commit = words = NULL;
}

static int tear_down(void **state)
{
	(void)state;
	forget();
	fg_scratch_release(&scratch);
	return 0;
}

static char *hash_of(const char *ref)
{
	const char *const arguments[] = {"rev-parse", ref, NULL};
	char *text = NULL;

	assert_int_equal(fg_git_output(&git, arguments, &text, NULL), FG_OK);
	return text;
}

static void resolves_to(const char *ref, const char *expected_ref, const char *expected_words)
{
	char *expected = hash_of(expected_ref);

	forget();
	if (fg_git_resolve(&git, ref, &commit, &words, &err) != FG_OK)
		fail_msg("%s", err.message);
	assert_string_equal(commit, expected);
	assert_string_equal(words, expected_words);
	free(expected);
}

static void lies_at(const char *folder, const char *expected_top, const char *expected_prefix)
{
	char *top = NULL;
	char *prefix = NULL;
	char *expected = realpath(fg_scratch_path(&scratch, expected_top), NULL);

	git_in(folder);
	if (fg_git_locate(&git, &top, &prefix, &err) != FG_OK)
		fail_msg("%s", err.message);
	assert_string_equal(top, expected);
	assert_string_equal(prefix, expected_prefix);
	free(expected);
	free(prefix);
	free(top);
}

FG_TEST_IN(a_folder_is_located_whatever_its_name, set_up, tear_down)
{
	sh("mkdir 'repo/a\nb' 'repo/a b'; git init -q 'two\nlines'; mkdir 'two\nlines/sub'");
	lies_at("repo", "repo", "");
	lies_at("repo/sub", "repo", "sub");
	lies_at("repo/a b", "repo", "a b");
	lies_at("repo/a\nb", "repo", "a\nb");
	lies_at("two\nlines", "two\nlines", "");
	lies_at("two\nlines/sub", "two\nlines", "sub");
}

FG_TEST_IN(merge_base_is_found_on_a_branch, set_up, tear_down)
{
	resolves_to("merge-base", "main", "merge-base with main");
	resolves_to("HEAD~2", "HEAD~2", "HEAD~2");
}

FG_TEST_IN(on_the_target_branch_the_parent_is_the_baseline, set_up, tear_down)
{
	sh("cd repo; git checkout -q main");
	resolves_to("merge-base", "main~1", "HEAD^ (HEAD is on the target branch)");
	sh("cd repo; echo changed > sub/value");
	resolves_to("merge-base", "main", "HEAD (the work tree has changes)");
}

FG_TEST_IN(the_target_that_a_ci_names_comes_first, set_up, tear_down)
{
	sh("cd repo; git branch release HEAD~2");
	(void)setenv("GITHUB_BASE_REF", "release", 1);
	resolves_to("merge-base", "HEAD~2", "merge-base with release");
	(void)unsetenv("GITHUB_BASE_REF");
}

FG_TEST_IN(an_unknown_ref_is_named, set_up, tear_down)
{
	assert_int_equal(fg_git_resolve(&git, "no-such-ref", &commit, &words, &err), FG_ENOENT);
	assert_non_null(strstr(err.message, "'no-such-ref'"));
	assert_int_equal(fg_git_resolve(&git, "--all", &commit, &words, &err), FG_ENOENT);
	assert_null(commit);
}

FG_TEST_IN(a_shallow_clone_says_how_to_deepen_it, set_up, tear_down)
{
	git_in("shallow");
	sh("git clone -q --depth 1 --branch topic file://$PWD/repo shallow");
	assert_int_equal(fg_git_resolve(&git, "merge-base", &commit, &words, &err), FG_ENOENT);
	assert_non_null(strstr(err.message, "git fetch --unshallow"));
	assert_int_equal(fg_git_resolve(&git, "HEAD~1", &commit, &words, &err), FG_ENOENT);
	assert_non_null(strstr(err.message, "fetch-depth: 0"));
}

FG_TEST_IN(outside_a_repository_a_ref_is_not_found, set_up, tear_down)
{
	struct fg_side side = {0};

	git_in(".");
	assert_int_equal(fg_git_resolve(&git, "main", &commit, &words, &err), FG_ENOENT);
	assert_non_null(strstr(err.message, "not in a git work tree"));
	assert_int_equal(fg_git_describe_side(&git, &side, &err), FG_OK);
	assert_null(side.commit);
}

FG_TEST_IN(a_side_records_commit_branch_and_changes, set_up, tear_down)
{
	struct fg_side side = {0};

	git_in("repo/sub");
	assert_int_equal(fg_git_describe_side(&git, &side, NULL), FG_OK);
	assert_int_equal(strlen(side.commit), 40);
	assert_string_equal(side.branch, "topic");
	assert_false(side.dirty);
	sh("cd repo; echo x > untracked");
	assert_int_equal(fg_git_describe_side(&git, &side, NULL), FG_OK);
	assert_false(side.dirty);
	sh("cd repo; echo x > sub/value; git checkout -q --detach");
	assert_int_equal(fg_git_describe_side(&git, &side, NULL), FG_OK);
	assert_true(side.dirty);
	assert_null(side.branch);
	fg_side_release(&side);
}

FG_TEST_IN(the_commits_of_a_descendant_are_counted, set_up, tear_down)
{
	struct fg_side baseline = {0};
	struct fg_side candidate = {0};

	assert_int_equal(fg_git_describe_side(&git, &baseline, NULL), FG_OK);
	sh("cd repo; git commit -q --allow-empty -m One; git commit -q --allow-empty -m Two");
	assert_int_equal(fg_git_describe_side(&git, &candidate, NULL), FG_OK);
	fg_git_note_commits(&git, &candidate, &baseline);
	assert_null(fg_environment_get(&baseline.build, "git.commits"));
	fg_git_note_commits(&git, &baseline, &candidate);
	assert_string_equal(fg_environment_get(&candidate.build, "git.commits"), "2");
	fg_side_release(&baseline);
	fg_side_release(&candidate);
}

/* A CI checks out a detached HEAD; a pull request's ref is not a branch. */
FG_TEST_IN(a_detached_side_is_on_the_branch_that_the_ci_names, set_up, tear_down)
{
	struct fg_side side = {0};

	git_in("repo/sub");
	sh("cd repo; git checkout -q -f --detach topic; git tag v7");
	setenv("GITHUB_REF", "refs/pull/7/merge", 1);
	assert_int_equal(fg_git_describe_side(&git, &side, NULL), FG_OK);
	assert_null(side.branch);
	fg_git_note_request(&side);
	assert_string_equal(fg_environment_get(&side.build, "git.pull_request"), "#7");
	assert_string_equal(fg_environment_get(&side.build, "git.tag"), "v7");
	fg_side_release(&side);
	setenv("GITHUB_REF", "refs/heads/release/1", 1);
	fg_git_note_request(&side);
	assert_null(fg_environment_get(&side.build, "git.pull_request"));
	setenv("CI_MERGE_REQUEST_IID", "12", 1);
	fg_git_note_request(&side);
	assert_string_equal(fg_environment_get(&side.build, "git.pull_request"), "!12");
	unsetenv("CI_MERGE_REQUEST_IID");
	sh("cd repo; echo x > sub/value");
	assert_int_equal(fg_git_describe_side(&git, &side, NULL), FG_OK);
	assert_string_equal(side.branch, "release/1");
	/* The measured tree differs from the tagged tree. */
	assert_null(fg_environment_get(&side.build, "git.tag"));
	unsetenv("GITHUB_REF");
	fg_side_release(&side);
}

FG_TEST_IN(staged_changes_become_a_commit_without_a_branch, set_up, tear_down)
{
	char *first = NULL;
	char *second = NULL;
	char *head = hash_of("HEAD");

	sh("cd repo; echo staged > sub/value; git add sub/value; echo unstaged > sub/value");
	assert_int_equal(fg_git_commit_staged(&git, &first, NULL), FG_OK);
	assert_int_equal(fg_git_commit_staged(&git, &second, NULL), FG_OK);
	assert_string_equal(first, second);
	assert_string_not_equal(first, head);
	(void)setenv("STAGED", first, 1);
	sh("cd repo; test $(git show $STAGED:sub/value) = staged");
	/* With nothing staged, the side is the last commit, whatever is in the work tree. */
	sh("cd repo; git reset -q; sha256sum .git/index > ../before");
	free(second);
	assert_int_equal(fg_git_commit_staged(&git, &second, NULL), FG_OK);
	assert_string_equal(second, head);
	sh("cd repo; sha256sum .git/index | cmp - ../before");
	free(first);
	free(second);
	free(head);
}

FG_TEST_IN(messages_of_a_range_are_listed, set_up, tear_down)
{
	char *text = NULL;
	size_t size = 0;

	assert_int_equal(fg_git_messages(&git, "main", "HEAD", &text, &size, NULL), FG_OK);
	assert_non_null(strstr(text, "third"));
	assert_null(memmem(text, size, "second", 6));
	free(text);
}

/* ---- worktrees ---- */

static struct {
	struct fg_build build;
	struct fg_worktree_options options;
	struct fg_worktree worktree;
	char *argv[4];
	char *commit;
	char *root;
	char *state;
	unsigned builds_announced;
} c;

static void on_note(void *context, const char *note)
{
	(void)context;
	c.builds_announced += strncmp(note, "building ", 9) == 0;
}

static int done(void **state)
{
	free(c.commit);
	free(c.root);
	free(c.state);
	memset(&c, 0, sizeof(c));
	return tear_down(state);
}

static void take_commit(const char *ref)
{
	free(c.commit);
	c.commit = hash_of(ref);
	c.options.commit = c.commit;
}

static void prepare(const char *root, const char *ref, const char *script)
{
	c.argv[0] = "/bin/sh";
	c.argv[1] = "-c";
	c.argv[2] = (char *)(uintptr_t)script;
	c.build.command = (struct fg_command){.text = script, .argv = c.argv, .argc = 3};
	c.root = fg_xstrdup(fg_scratch_path(&scratch, root));
	c.state = fg_fs_join(c.root, ".fastgate");
	c.options = (struct fg_worktree_options){
		.root = c.root, .state_folder = c.state, .build = &c.build, .on_note = on_note};
	take_commit(ref);
}

static void open_tree(void)
{
	if (fg_worktree_open(&c.options, &c.worktree, NULL, &err) != FG_OK)
		fail_msg("%s", err.message);
}

static void check_file(const char *name, const char *expected)
{
	char *path = fg_fs_join(c.worktree.root, name);
	char *text = NULL;

	assert_int_equal(fg_fs_read(path, 100, &text, NULL, NULL), FG_OK);
	assert_string_equal(text, expected);
	free(text);
	free(path);
}

static void check_pruned(size_t keep, size_t expected)
{
	size_t removed = 99;

	assert_int_equal(fg_worktree_prune(c.root, c.state, keep, &removed, &err), FG_OK);
	assert_int_equal(removed, expected);
}

FG_TEST_IN(a_commit_is_built_once_and_found_again, set_up, done)
{
	prepare("repo/sub", "main", "cat value > product");
	for (int i = 0; i < 2; i++) {
		open_tree();
		assert_int_equal(c.worktree.cached, i > 0);
		assert_int_equal(c.builds_announced, 1);
		check_file("product", "two\n");
		fg_worktree_close(&c.worktree);
	}
	c.argv[2] = "cat value > product; true"; /* different settings, so a different folder */
	open_tree();
	assert_false(c.worktree.cached);
	fg_worktree_close(&c.worktree);
}

FG_TEST_IN(a_commit_that_does_not_build_says_so_and_is_tried_again, set_up, done)
{
	char *tail = NULL;

	prepare("repo", "main", "echo compiling; echo broken.c:3: error >&2; exit 2");
	for (int i = 0; i < 2; i++) {
		assert_int_equal(fg_worktree_open(&c.options, &c.worktree, &tail, &err), FG_ECHILD);
		assert_non_null(strstr(err.message, "does not build"));
		assert_non_null(strstr(err.message, "exited with code 2"));
		assert_non_null(strstr(err.message, "build.log"));
		assert_string_equal(tail, "broken.c:3: error");
		free(tail);
		assert_null(c.worktree.root);
	}
	assert_int_equal(c.builds_announced, 2);
}

/* This build ends only when its output is in the log. */
FG_TEST_IN(a_build_can_be_followed_while_it_runs, set_up, done)
{
	prepare("repo", "main",
		"echo compi''ling; until grep -qx compiling ../build.log; do :; done");
	open_tree();
	fg_worktree_close(&c.worktree);
}

FG_TEST_IN(a_build_sees_its_own_repository_even_inside_a_hook, set_up, done)
{
	char *seen = NULL;

	prepare("repo", "main", "git rev-parse HEAD > seen");
	(void)setenv("GIT_DIR", fg_scratch_path(&scratch, "repo/.git"), 1);
	(void)setenv("GIT_INDEX_FILE", "/nowhere", 1);
	open_tree();
	(void)unsetenv("GIT_DIR");
	(void)unsetenv("GIT_INDEX_FILE");
	seen = fg_xasprintf("%s\n", c.commit);
	check_file("seen", seen);
	fg_worktree_close(&c.worktree);
	free(seen);
}

FG_TEST_IN(a_lost_tree_is_checked_out_again, set_up, done)
{
	prepare("repo", "main", "true");
	open_tree();
	assert_int_equal(fg_fs_remove_tree(c.worktree.root, NULL), FG_OK);
	fg_worktree_close(&c.worktree);
	open_tree();
	assert_false(c.worktree.cached);
	assert_true(fg_fs_is_folder(c.worktree.root));
	fg_worktree_close(&c.worktree);
}

FG_TEST_IN(submodules_are_cloned_without_a_network, set_up, done)
{
	sh("git init -q -b main lib; cd lib; echo lib > lib.c; git add .; git commit -qm lib; cd "
	   "../repo;"
	   "git -c protocol.file.allow=always submodule --quiet add file://$PWD/../lib deps/lib; "
	   "git commit -qm sub; rm -rf ../lib");
	prepare("repo", "HEAD", "true");
	open_tree();
	check_file("deps/lib/lib.c", "lib\n");
	fg_worktree_close(&c.worktree);
}

FG_TEST_IN(a_submodule_out_of_reach_is_named, set_up, done)
{
	sh("git init -q -b main lib; cd lib; echo 1 > lib.c; git add .; git commit -qm 1; cd ../repo;"
	   "git -c protocol.file.allow=always submodule --quiet add file://$PWD/../lib deps/lib;"
	   "git submodule --quiet update --init; git commit -qm sub");
	/* The commit was made elsewhere: its submodule's commit is unknown here. */
	sh("cd repo; git update-index --cacheinfo "
	   "160000,1111111111111111111111111111111111111111,deps/lib; git commit -qm elsewhere;"
	   "rm -rf ../lib");
	prepare("repo", "HEAD", "true");
	assert_int_equal(fg_worktree_open(&c.options, &c.worktree, NULL, &err), FG_ECHILD);
	assert_non_null(strstr(err.message, "submodule 'deps/lib'"));
	/* If the submodule is not initialised, the work tree and the commit build without it. */
	sh("cd repo; git submodule --quiet deinit -f deps/lib");
	open_tree();
	fg_worktree_close(&c.worktree);
}

/*
 * Two runs at once: neither waits for the other's measurement, and both keep the build from being
 * removed.
 */
FG_TEST_IN(a_build_is_shared, set_up, done)
{
	struct fg_worktree first = {0};
	struct fg_worktree second = {0};

	prepare("repo", "main", "true");
	assert_int_equal(fg_worktree_open(&c.options, &first, NULL, &err), FG_OK);
	assert_int_equal(fg_worktree_open(&c.options, &second, NULL, &err), FG_OK);
	assert_true(second.cached);
	assert_string_equal(first.root, second.root);
	fg_worktree_close(&first);
	check_pruned(0, 0);
	fg_worktree_close(&second);
}

FG_TEST_IN(a_reworded_commit_is_not_built_again, set_up, done)
{
	prepare("repo", "HEAD", "true");
	open_tree();
	fg_worktree_close(&c.worktree);
	sh("cd repo; git commit -q --amend -m reworded");
	take_commit("HEAD");
	open_tree();
	assert_true(c.worktree.cached);
	fg_worktree_close(&c.worktree);
}

FG_TEST_IN(old_builds_are_cleared_away_but_not_those_in_use, set_up, done)
{
	prepare("repo", "main", "true");
	open_tree();
	check_pruned(0, 0);
	fg_worktree_close(&c.worktree);
	check_pruned(1, 0);
	check_pruned(0, 1);
	sh("cd repo; test $(git worktree list | wc -l) = 1");
}
