// SPDX-License-Identifier: Apache-2.0
#include "runner/build/range.h"

/* Separators of fields and records: bytes that no subject contains. */
#define FIELD  "\x1f"
#define RECORD "\x1e"

/* Returns git's output, in the arena; NULL if git fails. */
static char *ask(const struct fg_git *git, const char *const *arguments, struct fg_arena *arena)
{
	char *text = fg_git_try_output(git, arguments);
	char *kept = fg_arena_strdup(arena, text);

	free(text);
	return kept;
}

#define ASK(git, arena, ...) ask(git, (const char *const[]){__VA_ARGS__, NULL}, arena)

/* Explains why the good end, which exists, is not an ancestor of the bad end. */
static int explain_ends(const struct fg_git *git, const struct fg_commit_range *range,
			struct fg_arena *arena, struct fg_error *err)
{
	const char *base = ASK(git, arena, "merge-base", range->good, range->bad);
	const char *shallow = ASK(git, arena, "rev-parse", "--is-shallow-repository");

	if (base && strcmp(base, range->bad) == 0)
		return fg_error_set(err, FG_EINVAL,
				    "the ends are swapped: %.12s (bad) is older than %.12s (good)",
				    range->bad, range->good);
	if (shallow && strcmp(shallow, "true") == 0)
		return fg_error_set(err, FG_ENOENT,
				    "this clone is shallow and lacks the commits between %.12s and "
				    "%.12s: run 'git fetch --unshallow' first",
				    range->good, range->bad);
	if (!base)
		return fg_error_set(err, FG_EINVAL, "%.12s and %.12s have no common history",
				    range->good, range->bad);
	return fg_error_set(
		err, FG_EINVAL,
		"%.12s (good) is not an ancestor of %.12s: use their merge base, %.12s, as the "
		"good end",
		range->good, range->bad, base);
}

static int find_end(const struct fg_git *git, const char *ref, struct fg_arena *arena,
		    const char **hash, struct fg_error *err)
{
	char *commit = NULL;
	char *words = NULL;
	const int status = fg_git_resolve(git, ref, &commit, &words, err);

	*hash = fg_arena_strdup(arena, commit);
	free(words);
	free(commit);
	return status;
}

static int check_ends(const struct fg_git *git, const struct fg_commit_range *range,
		      struct fg_arena *arena, struct fg_error *err)
{
	if (strcmp(range->good, range->bad) == 0)
		return fg_error_set(err, FG_EINVAL,
				    "both ends of the range are %.12s: there is nothing to search",
				    range->good);
	return ASK(git, arena, "merge-base", "--is-ancestor", range->good, range->bad)
		       ? FG_OK
		       : explain_ends(git, range, arena, err);
}

/* Parses "HASH FIELD PARENTS FIELD AUTHOR FIELD SUBJECT", then one file per line. */
static void take_record(char *record, struct fg_arena *arena, struct fg_commit_range *range,
			size_t *capacity)
{
	char *files = strchr(record, '\n');
	const char *hash = strsep(&record, FIELD);
	char *parents = strsep(&record, FIELD);
	const char *author = strsep(&record, FIELD);
	char *side = NULL;

	if (!hash || !parents || !author || !record)
		return;
	if (files)
		*files++ = '\0';
	side = strchr(parents, ' ');
	if (side)
		side[1 + strcspn(side + 1, " ")] = '\0';
	range->commits = fg_arena_grow(arena, range->commits, capacity, range->count + 1,
				       sizeof(range->commits[0]));
	range->commits[range->count++] = (struct fg_range_commit){
		.hash = hash,
		.side = side ? side + 1 : NULL,
		.author = author,
		.subject = record,
		.files = files ? files + strspn(files, "\n") : "",
	};
}

int fg_range_list(const struct fg_git *git, const char *good, const char *bad,
		  struct fg_arena *arena, struct fg_commit_range *range, struct fg_error *err)
{
	static const char format[] = "--format=" RECORD "%H" FIELD "%P" FIELD "%an" FIELD "%s";
	char *rest = NULL;
	size_t capacity = 0;

	*range = (struct fg_commit_range){0};
	FG_TRY(find_end(git, good, arena, &range->good, err));
	FG_TRY(find_end(git, bad, arena, &range->bad, err));
	FG_TRY(check_ends(git, range, arena, err));
	rest = ASK(git, arena, "-c", "core.quotePath=false", "log", "--first-parent", "--reverse",
		   "--diff-merges=first-parent", "--no-renames", "--name-only", format,
		   fg_arena_printf(arena, "%s..%s", range->good, range->bad));
	for (char *record = strsep(&rest, RECORD); record; record = strsep(&rest, RECORD))
		take_record(record, arena, range, &capacity);
	return range->count > 0
		       ? FG_OK
		       : fg_error_set(err, FG_ECHILD,
				      "git lists no commits between the ends of the range");
}

const char *fg_range_side_start(const struct fg_git *git, const struct fg_range_commit *merge,
				struct fg_arena *arena)
{
	return merge->side ? ASK(git, arena, "merge-base",
				 fg_arena_printf(arena, "%s^1", merge->hash), merge->side)
			   : NULL;
}

void fg_range_mark_function(const struct fg_git *git, const struct fg_commit_range *range,
			    const char *function, const char *file, bool *marks)
{
	struct fg_arena arena = {0};
	const char *where =
		fg_arena_printf(&arena, "-L:%.*s:%s", (int)strcspn(function, "(<"), function, file);
	const char *text = ASK(git, &arena, "log", "-s", "--format=%H", where,
			       fg_arena_printf(&arena, "%s..%s", range->good, range->bad));

	/* if git does not find the function, nothing is marked */
	for (size_t i = 0; text && i < range->count; i++)
		marks[i] |= strstr(text, range->commits[i].hash) != NULL;
	fg_arena_release(&arena);
}
