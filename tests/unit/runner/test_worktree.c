// SPDX-License-Identifier: Apache-2.0
#include "base/fs.h"
#include "runner/build/git.h"
#include "runner/build/worktree.h"
#include "tests/support/fg_test.h"
#include "tests/support/scratch.h"

#include <stdlib.h>
#include <string.h>

static struct fg_scratch scratch;

/* Runs a shell command in the scratch folder; failure fails the test. */
static void sh(const char *script)
{
	char *argv[] = {"/bin/sh", "-ec", (char *)(uintptr_t)script, NULL};

	free(fg_scratch_run(argv, scratch.path));
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
	sh("git init -q -b main repo; cd repo; mkdir sub; echo one > sub/value; git add .; git "
	   "commit -qm first;"
	   "echo two > sub/value; git commit -qam second; git checkout -qb topic; echo three > "
	   "sub/value; git commit -qam third");
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	fg_scratch_release(&scratch);
	return 0;
}

static char *hash_of(const char *ref)
{
	const struct fg_git git = {.folder = fg_scratch_path(&scratch, "repo")};
	const char *const arguments[] = {"rev-parse", ref, NULL};
	char *text = NULL;

	assert_int_equal(fg_git_output(&git, arguments, &text, NULL), FG_OK);
	return text;
}

static void resolves_to(const char *ref, const char *expected_ref, const char *expected_words)
{
	const struct fg_git git = {.folder = fg_scratch_path(&scratch, "repo")};
	struct fg_error err = {0};
	char *expected = hash_of(expected_ref);
	char *commit = NULL;
	char *words = NULL;

	if (fg_git_resolve(&git, ref, &commit, &words, &err) != FG_OK)
		fail_msg("%s", err.message);
	assert_string_equal(commit, expected);
	assert_string_equal(words, expected_words);
	free(commit);
	free(words);
	free(expected);
}

static void lies_at(const char *folder, const char *expected_top, const char *expected_prefix)
{
	const struct fg_git git = {.folder = fg_scratch_path(&scratch, folder)};
	struct fg_error err = {0};
	char *top = NULL;
	char *prefix = NULL;
	char *expected = realpath(fg_scratch_path(&scratch, expected_top), NULL);

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
	const struct fg_git git = {.folder = fg_scratch_path(&scratch, "repo")};
	struct fg_error err = {0};
	char *commit = NULL;
	char *words = NULL;

	assert_int_equal(fg_git_resolve(&git, "no-such-ref", &commit, &words, &err), FG_ENOENT);
	assert_non_null(strstr(err.message, "'no-such-ref'"));
	assert_int_equal(fg_git_resolve(&git, "--all", &commit, &words, &err), FG_ENOENT);
	assert_null(commit);
}

FG_TEST_IN(a_shallow_clone_says_how_to_deepen_it, set_up, tear_down)
{
	const struct fg_git git = {.folder = fg_scratch_path(&scratch, "shallow")};
	struct fg_error err = {0};
	char *commit = NULL;
	char *words = NULL;

	sh("git clone -q --depth 1 --branch topic file://$PWD/repo shallow");
	assert_int_equal(fg_git_resolve(&git, "merge-base", &commit, &words, &err), FG_ENOENT);
	assert_non_null(strstr(err.message, "git fetch --unshallow"));
	assert_int_equal(fg_git_resolve(&git, "HEAD~1", &commit, &words, &err), FG_ENOENT);
	assert_non_null(strstr(err.message, "fetch-depth: 0"));
}

FG_TEST_IN(outside_a_repository_a_ref_is_not_found, set_up, tear_down)
{
	const struct fg_git git = {.folder = scratch.path};
	struct fg_error err = {0};
	struct fg_side side = {0};
	char *commit = NULL;
	char *words = NULL;

	assert_int_equal(fg_git_resolve(&git, "main", &commit, &words, &err), FG_ENOENT);
	assert_non_null(strstr(err.message, "not in a git work tree"));
	assert_int_equal(fg_git_describe_side(&git, &side, &err), FG_OK);
	assert_null(side.commit);
}

FG_TEST_IN(a_side_records_commit_branch_and_changes, set_up, tear_down)
{
	const struct fg_git git = {.folder = fg_scratch_path(&scratch, "repo/sub")};
	struct fg_side side = {0};

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
	const struct fg_git git = {.folder = fg_scratch_path(&scratch, "repo")};
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
	const struct fg_git git = {.folder = fg_scratch_path(&scratch, "repo/sub")};
	struct fg_side side = {0};

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
	const struct fg_git git = {.folder = fg_scratch_path(&scratch, "repo")};
	const char *const show[] = {"show", NULL, NULL};
	char *first = NULL;
	char *second = NULL;
	char *head = NULL;
	char *text = NULL;
	const char *arguments[3] = {show[0], NULL, NULL};
	char *what = NULL;

	sh("cd repo; echo staged > sub/value; git add sub/value; echo unstaged > sub/value");
	assert_int_equal(fg_git_commit_staged(&git, &first, NULL), FG_OK);
	assert_int_equal(fg_git_commit_staged(&git, &second, NULL), FG_OK);
	assert_string_equal(first, second);
	head = hash_of("HEAD");
	assert_string_not_equal(first, head);
	/* With nothing staged, the side is the last commit, whatever is in the work tree. */
	sh("cd repo; git reset -q; sha256sum .git/index > ../before");
	free(second);
	second = NULL;
	assert_int_equal(fg_git_commit_staged(&git, &second, NULL), FG_OK);
	assert_string_equal(second, head);
	sh("cd repo; sha256sum .git/index | cmp - ../before");
	what = fg_xasprintf("%s:sub/value", first);
	arguments[1] = what;
	assert_int_equal(fg_git_output(&git, arguments, &text, NULL), FG_OK);
	assert_string_equal(text, "staged");
	free(what);
	free(text);
	free(first);
	free(second);
	free(head);
}

FG_TEST_IN(messages_of_a_range_are_listed, set_up, tear_down)
{
	const struct fg_git git = {.folder = fg_scratch_path(&scratch, "repo")};
	char *text = NULL;
	size_t size = 0;

	assert_int_equal(fg_git_messages(&git, "main", "HEAD", &text, &size, NULL), FG_OK);
	assert_non_null(strstr(text, "third"));
	assert_null(memmem(text, size, "second", 6));
	free(text);
}

/* ---- worktrees ---- */

struct case_of_build {
	struct fg_build build;
	struct fg_worktree_options options;
	char *argv[4];
	char *commit;
	char *root;
	char *state;
	unsigned builds_announced;
};

static void on_note(void *context, const char *note)
{
	struct case_of_build *c = context;

	c->builds_announced += strncmp(note, "building ", 9) == 0;
}

static void prepare(struct case_of_build *c, const char *root, const char *ref, const char *script)
{
	*c = (struct case_of_build){.argv = {"/bin/sh", "-c", (char *)(uintptr_t)script, NULL}};
	c->build.command = (struct fg_command){.text = script, .argv = c->argv, .argc = 3};
	c->commit = hash_of(ref);
	c->root = fg_xstrdup(fg_scratch_path(&scratch, root));
	c->state = fg_fs_join(c->root, ".fastgate");
	c->options = (struct fg_worktree_options){.root = c->root,
						  .state_folder = c->state,
						  .commit = c->commit,
						  .build = &c->build,
						  .context = c,
						  .on_note = on_note};
}

static void done(struct case_of_build *c)
{
	free(c->commit);
	free(c->root);
	free(c->state);
}

FG_TEST_IN(a_commit_is_built_once_and_found_again, set_up, tear_down)
{
	struct fg_worktree worktree = {0};
	struct fg_error err = {0};
	struct case_of_build c;
	char *product = NULL;
	char *text = NULL;

	prepare(&c, "repo/sub", "main", "cat value > product");
	for (int i = 0; i < 2; i++) {
		if (fg_worktree_open(&c.options, &worktree, NULL, &err) != FG_OK)
			fail_msg("%s", err.message);
		assert_int_equal(worktree.cached, i > 0);
		assert_int_equal(c.builds_announced, 1);
		product = fg_fs_join(worktree.root, "product");
		assert_int_equal(fg_fs_read(product, 100, &text, NULL, NULL), FG_OK);
		assert_string_equal(text, "two\n");
		free(text);
		free(product);
		fg_worktree_close(&worktree);
	}
	c.argv[2] = "cat value > product; true"; /* other settings: another folder */
	assert_int_equal(fg_worktree_open(&c.options, &worktree, NULL, &err), FG_OK);
	assert_false(worktree.cached);
	fg_worktree_close(&worktree);
	done(&c);
}

FG_TEST_IN(a_commit_that_does_not_build_says_so_and_is_tried_again, set_up, tear_down)
{
	struct fg_worktree worktree = {0};
	struct fg_error err = {0};
	struct case_of_build c;
	char *tail = NULL;

	prepare(&c, "repo", "main", "echo compiling; echo broken.c:3: error >&2; exit 2");
	for (int i = 0; i < 2; i++) {
		assert_int_equal(fg_worktree_open(&c.options, &worktree, &tail, &err), FG_ECHILD);
		assert_non_null(strstr(err.message, "does not build"));
		assert_non_null(strstr(err.message, "exited with code 2"));
		assert_non_null(strstr(err.message, "build.log"));
		assert_string_equal(tail, "broken.c:3: error");
		free(tail);
		assert_null(worktree.root);
	}
	assert_int_equal(c.builds_announced, 2);
	done(&c);
}

/* This build ends only when its output is in the log. */
FG_TEST_IN(a_build_can_be_followed_while_it_runs, set_up, tear_down)
{
	struct fg_worktree worktree = {.lock_fd = -1};
	struct fg_error err = {0};
	struct case_of_build c;

	prepare(&c, "repo", "main",
		"echo compi''ling; until grep -qx compiling ../build.log; do :; done");
	assert_int_equal(fg_worktree_open(&c.options, &worktree, NULL, &err), FG_OK);
	fg_worktree_close(&worktree);
	done(&c);
}

FG_TEST_IN(a_build_sees_its_own_repository_even_inside_a_hook, set_up, tear_down)
{
	struct fg_worktree worktree = {0};
	struct fg_error err = {0};
	struct case_of_build c;
	char *elsewhere = fg_xstrdup(fg_scratch_path(&scratch, "repo/.git"));

	prepare(&c, "repo", "main", "test \"$(git rev-parse HEAD)\" = \"$(cat expected)\"");
	sh("cd repo; git rev-parse main > expected; git add expected; git commit -qm expected; git "
	   "branch -f main");
	free(c.commit);
	c.commit = hash_of("main~1");
	c.options.commit = c.commit;
	c.argv[2] = "git rev-parse HEAD > seen";
	(void)setenv("GIT_DIR", elsewhere, 1);
	(void)setenv("GIT_INDEX_FILE", "/nowhere", 1);
	if (fg_worktree_open(&c.options, &worktree, NULL, &err) != FG_OK)
		fail_msg("%s", err.message);
	(void)unsetenv("GIT_DIR");
	(void)unsetenv("GIT_INDEX_FILE");
	{
		char *seen = fg_fs_join(worktree.root, "seen");
		char *text = NULL;

		assert_int_equal(fg_fs_read(seen, 100, &text, NULL, NULL), FG_OK);
		assert_memory_equal(text, c.commit, 40);
		free(text);
		free(seen);
	}
	fg_worktree_close(&worktree);
	free(elsewhere);
	done(&c);
}

FG_TEST_IN(a_lost_tree_is_checked_out_again, set_up, tear_down)
{
	struct fg_worktree worktree = {0};
	struct fg_error err = {0};
	struct case_of_build c;

	prepare(&c, "repo", "main", "true");
	assert_int_equal(fg_worktree_open(&c.options, &worktree, NULL, &err), FG_OK);
	assert_int_equal(fg_fs_remove_tree(worktree.root, NULL), FG_OK);
	fg_worktree_close(&worktree);
	assert_int_equal(fg_worktree_open(&c.options, &worktree, NULL, &err), FG_OK);
	assert_false(worktree.cached);
	assert_true(fg_fs_is_folder(worktree.root));
	fg_worktree_close(&worktree);
	done(&c);
}

FG_TEST_IN(submodules_are_cloned_without_a_network, set_up, tear_down)
{
	struct fg_worktree worktree = {0};
	struct fg_error err = {0};
	struct case_of_build c;
	char *file = NULL;

	sh("git init -q -b main lib; cd lib; echo lib > lib.c; git add .; git commit -qm lib; cd "
	   "../repo;"
	   "git -c protocol.file.allow=always submodule --quiet add file://$PWD/../lib deps/lib; "
	   "git commit -qm sub; rm -rf ../lib");
	prepare(&c, "repo", "HEAD", "true");
	if (fg_worktree_open(&c.options, &worktree, NULL, &err) != FG_OK)
		fail_msg("%s", err.message);
	file = fg_fs_join(worktree.root, "deps/lib/lib.c");
	assert_true(fg_fs_exists(file));
	free(file);
	fg_worktree_close(&worktree);
	done(&c);
}

FG_TEST_IN(a_submodule_out_of_reach_is_named, set_up, tear_down)
{
	struct fg_worktree worktree = {0};
	struct fg_error err = {0};
	struct case_of_build c;

	sh("git init -q -b main lib; cd lib; echo 1 > lib.c; git add .; git commit -qm 1; cd ../repo;"
	   "git -c protocol.file.allow=always submodule --quiet add file://$PWD/../lib deps/lib;"
	   "git submodule --quiet update --init; git commit -qm sub");
	/* The commit was made elsewhere: its submodule's commit is unknown here. */
	sh("cd repo; git update-index --cacheinfo "
	   "160000,1111111111111111111111111111111111111111,deps/lib; git commit -qm elsewhere;"
	   "rm -rf ../lib");
	prepare(&c, "repo", "HEAD", "true");
	assert_int_equal(fg_worktree_open(&c.options, &worktree, NULL, &err), FG_ECHILD);
	assert_non_null(strstr(err.message, "submodule 'deps/lib'"));
	done(&c);
	/* If the submodule is not initialised, the work tree and the commit build without it. */
	sh("cd repo; git submodule --quiet deinit -f deps/lib");
	prepare(&c, "repo", "HEAD", "true");
	if (fg_worktree_open(&c.options, &worktree, NULL, &err) != FG_OK)
		fail_msg("%s", err.message);
	fg_worktree_close(&worktree);
	done(&c);
}

/*
 * Two runs at once: neither waits for the other's measurement, and both keep the build from being
 * removed.
 */
FG_TEST_IN(a_build_is_shared, set_up, tear_down)
{
	struct fg_worktree first = {0};
	struct fg_worktree second = {0};
	struct fg_error err = {0};
	struct case_of_build c;
	size_t removed = 99;

	prepare(&c, "repo", "main", "true");
	assert_int_equal(fg_worktree_open(&c.options, &first, NULL, &err), FG_OK);
	assert_int_equal(fg_worktree_open(&c.options, &second, NULL, &err), FG_OK);
	assert_true(second.cached);
	assert_string_equal(first.root, second.root);
	fg_worktree_close(&first);
	assert_int_equal(fg_worktree_prune(c.root, c.state, 0, &removed, &err), FG_OK);
	assert_int_equal(removed, 0);
	fg_worktree_close(&second);
	done(&c);
}

FG_TEST_IN(a_reworded_commit_is_not_built_again, set_up, tear_down)
{
	struct fg_worktree worktree = {0};
	struct fg_error err = {0};
	struct case_of_build c;

	prepare(&c, "repo", "HEAD", "true");
	assert_int_equal(fg_worktree_open(&c.options, &worktree, NULL, &err), FG_OK);
	fg_worktree_close(&worktree);
	sh("cd repo; git commit -q --amend -m reworded");
	free(c.commit);
	c.commit = hash_of("HEAD");
	c.options.commit = c.commit;
	assert_int_equal(fg_worktree_open(&c.options, &worktree, NULL, &err), FG_OK);
	assert_true(worktree.cached);
	fg_worktree_close(&worktree);
	done(&c);
}

FG_TEST_IN(old_builds_are_cleared_away_but_not_those_in_use, set_up, tear_down)
{
	struct fg_worktree worktree = {0};
	struct fg_error err = {0};
	struct case_of_build c;
	size_t removed = 99;

	prepare(&c, "repo", "main", "true");
	assert_int_equal(fg_worktree_open(&c.options, &worktree, NULL, &err), FG_OK);
	assert_int_equal(fg_worktree_prune(c.root, c.state, 0, &removed, &err), FG_OK);
	assert_int_equal(removed, 0);
	fg_worktree_close(&worktree);
	assert_int_equal(fg_worktree_prune(c.root, c.state, 1, &removed, &err), FG_OK);
	assert_int_equal(removed, 0);
	assert_int_equal(fg_worktree_prune(c.root, c.state, 0, &removed, &err), FG_OK);
	assert_int_equal(removed, 1);
	sh("cd repo; test $(git worktree list | wc -l) = 1");
	done(&c);
}
