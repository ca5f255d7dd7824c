// SPDX-License-Identifier: Apache-2.0
#include "runner/build/range.h"

#include "base/text.h"

/* Fields of a line, and lines: bytes that no subject contains. */
#define FIELD  "\x1f"
#define RECORD "\x1e"

static bool is_ancestor(const struct fg_git *git, const char *older, const char *newer)
{
	const char *const ask[] = {"merge-base", "--is-ancestor", older, newer, NULL};
	char *nothing = NULL;
	const bool is = fg_git_output(git, ask, &nothing, NULL) == FG_OK;

	free(nothing);
	return is;
}

static bool is_shallow(const struct fg_git *git)
{
	const char *const ask[] = {"rev-parse", "--is-shallow-repository", NULL};
	char *answer = NULL;
	const bool is =
		fg_git_output(git, ask, &answer, NULL) == FG_OK && strcmp(answer, "true") == 0;

	free(answer);
	return is;
}

/* Both ends exist, and the good one is not an ancestor of the bad one. */
static int explain_ends(const struct fg_git *git, const char *good, const char *bad,
			struct fg_error *err)
{
	const char *const ask[] = {"merge-base", good, bad, NULL};
	char *base = NULL;

	if (is_ancestor(git, bad, good))
		return fg_error_set(err, FG_EINVAL,
				    "the ends are swapped: %.12s (bad) is older than %.12s (good)",
				    bad, good);
	if (is_shallow(git))
		return fg_error_set(err, FG_ENOENT,
				    "this clone is shallow and lacks the commits between %.12s and "
				    "%.12s: run 'git fetch --unshallow' first",
				    good, bad);
	if (fg_git_output(git, ask, &base, NULL) != FG_OK)
		return fg_error_set(err, FG_EINVAL, "%.12s and %.12s have no common history", good,
				    bad);
	(void)fg_error_set(err, FG_EINVAL,
			   "%.12s (good) is not an ancestor of %.12s: their merge base is %.12s, "
			   "which may be the good end",
			   good, bad, base);
	free(base);
	return FG_EINVAL;
}

static int find_ends(const struct fg_git *git, const char *good, const char *bad,
		     struct fg_commit_range *range, struct fg_error *err)
{
	char *words = NULL;
	int status = fg_git_resolve(git, good, &range->good, &words, err);

	free(words);
	words = NULL;
	if (status == FG_OK)
		status = fg_git_resolve(git, bad, &range->bad, &words, err);
	free(words);
	if (status != FG_OK)
		return status;
	if (strcmp(range->good, range->bad) == 0)
		return fg_error_set(err, FG_EINVAL,
				    "both ends are %.12s: there is nothing between them",
				    range->good);
	return is_ancestor(git, range->good, range->bad)
		       ? FG_OK
		       : explain_ends(git, range->good, range->bad, err);
}

/* "HASH FIELD PARENTS FIELD AUTHOR FIELD SUBJECT", then the files on lines of their own. */
static void take_record(char *record, struct fg_commit_range *range, size_t *capacity)
{
	char *files = strchr(record, '\n');
	const char *hash = strsep(&record, FIELD);
	char *parents = strsep(&record, FIELD);
	const char *author = strsep(&record, FIELD);
	const char *side = NULL;
	struct fg_range_commit *commit = NULL;

	if (!hash || !parents || !author || !record)
		return;
	if (files)
		*files++ = '\0';
	side = strchr(parents, ' ');
	range->commits =
		fg_grow(range->commits, capacity, range->count + 1, sizeof(range->commits[0]));
	commit = &range->commits[range->count++];
	*commit = (struct fg_range_commit){
		.hash = fg_xstrdup(hash),
		.side = side ? fg_xstrndup(side + 1, strcspn(side + 1, " ")) : NULL,
		.author = fg_xstrdup(author),
		.subject = fg_xstrdup(record),
		.files = fg_xstrdup(files ? files + strspn(files, "\n") : ""),
	};
}

int fg_range_list(const struct fg_git *git, const char *good, const char *bad,
		  struct fg_commit_range *range, struct fg_error *err)
{
	char *line = NULL;
	char *text = NULL;
	char *rest = NULL;
	size_t capacity = 0;
	int status = FG_OK;

	*range = (struct fg_commit_range){0};
	status = find_ends(git, good, bad, range, err);
	if (status == FG_OK) {
		line = fg_xasprintf("%s..%s", range->good, range->bad);
		const char *const ask[] = {"-c",
					   "core.quotePath=false",
					   "log",
					   "--first-parent",
					   "--reverse",
					   "--diff-merges=first-parent",
					   "--no-renames",
					   "--name-only",
					   "--format=" RECORD "%H" FIELD "%P" FIELD "%an" FIELD
					   "%s",
					   line,
					   NULL};

		status = fg_git_output(git, ask, &text, err);
	}
	rest = text;
	for (char *record = strsep(&rest, RECORD); record; record = strsep(&rest, RECORD))
		take_record(record, range, &capacity);
	free(text);
	free(line);
	if (status != FG_OK)
		fg_range_release(range);
	return status;
}

char *fg_range_side_start(const struct fg_git *git, const struct fg_range_commit *merge)
{
	char *main_line = fg_xasprintf("%s^1", merge->hash);
	const char *const ask[] = {"merge-base", main_line, merge->side, NULL};
	char *start = NULL;

	if (fg_git_output(git, ask, &start, NULL) != FG_OK)
		start = NULL;
	free(main_line);
	return start;
}

void fg_range_release(struct fg_commit_range *range)
{
	for (size_t i = 0; i < range->count; i++) {
		free(range->commits[i].hash);
		free(range->commits[i].side);
		free(range->commits[i].author);
		free(range->commits[i].subject);
		free(range->commits[i].files);
	}
	free(range->commits);
	free(range->good);
	free(range->bad);
	*range = (struct fg_commit_range){0};
}

void fg_range_mark_function(const struct fg_git *git, const struct fg_commit_range *range,
			    const char *function, const char *file, bool *marks)
{
	char *line = fg_xasprintf("%s..%s", range->good, range->bad);
	char *where = fg_xasprintf("-L:%.*s:%s", (int)strcspn(function, "(<"), function, file);
	const char *const ask[] = {"log", "-s", "--format=%H", where, line, NULL};
	char *text = NULL;

	/* git does not find every function; then there is no mark */
	if (fg_git_output(git, ask, &text, NULL) == FG_OK) {
		for (size_t i = 0; i < range->count; i++)
			marks[i] |= strstr(text, range->commits[i].hash) != NULL;
	}
	free(text);
	free(where);
	free(line);
}
