/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The commits between two ends, oldest first. Only first parents are listed, so a merge stands for
 * everything it brought in; the commits of its side branch form a separate range.
 */
#ifndef FG_RUNNER_RANGE_H
#define FG_RUNNER_RANGE_H

#include "base/arena.h"
#include "runner/build/git.h"

struct fg_range_commit {
	const char *hash;
	const char *side; /* the merged branch's last commit; NULL: not a merge */
	const char *author;
	const char *subject;
	const char *files; /* files that the commit changes, one per line */
};

struct fg_commit_range {
	const char *good; /* full hashes */
	const char *bad;
	struct fg_range_commit *commits; /* includes the bad end, but not the good end */
	size_t count;
};

/*
 * Lists the range in the arena. FG_EINVAL: the good end is not a proper ancestor of the bad end.
 * FG_ENOENT: an end does not exist, or the clone is too shallow. The message says what to do.
 */
int fg_range_list(const struct fg_git *git, const char *good, const char *bad,
		  struct fg_arena *arena, struct fg_commit_range *range, struct fg_error *err)
	FG_NODISCARD;
/* Returns the commit at which a merge's side branch began; NULL if unknown or not a merge. */
const char *fg_range_side_start(const struct fg_git *git, const struct fg_range_commit *merge,
				struct fg_arena *arena);
/* Marks the commits that change a function, as far as git finds the function's lines. */
void fg_range_mark_function(const struct fg_git *git, const struct fg_commit_range *range,
			    const char *function, const char *file, bool *marks);

#endif
