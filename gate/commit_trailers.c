// SPDX-License-Identifier: Apache-2.0
#include "gate/commit_trailers.h"

#include "base/text.h"

#include <math.h>

/*
 * Takes a word, or text in double quotes, and moves *at past it. Returns NULL at the end of the
 * line, or if the closing quote is missing.
 */
static char *take_word(const char **at, const char *end, struct fg_arena *arena)
{
	const char *start;
	const char *stop;

	while (*at < end && (**at == ' ' || **at == '\t'))
		(*at)++;
	start = *at;
	if (start == end)
		return NULL;
	if (*start == '"') {
		start++;
		stop = memchr(start, '"', (size_t)(end - start));
		if (!stop)
			return NULL;
		*at = stop + 1;
	} else {
		stop = start;
		while (stop < end && *stop != ' ' && *stop != '\t')
			stop++;
		*at = stop;
	}
	return fg_arena_strndup(arena, start, (size_t)(stop - start));
}

static char *take_rest(const char *at, const char *end, struct fg_arena *arena)
{
	while (at < end && (*at == ' ' || *at == '\t'))
		at++;
	while (end > at && (end[-1] == ' ' || end[-1] == '\t' || end[-1] == '\r'))
		end--;
	return at < end ? fg_arena_strndup(arena, at, (size_t)(end - at)) : NULL;
}

#define TRAILER "Fastgate-Accept:"

#define TRAILERS_MAX 1000

static int parse_trailer(const char *line, const char *end, const char *commit,
			 struct fg_arena *arena, struct fg_accept *accept, struct fg_error *err)
{
	const char *at = line + sizeof(TRAILER) - 1;

	*accept = (struct fg_accept){.up_to = (double)NAN, .until_ns = INT64_MAX};
	accept->benchmark = take_word(&at, end, arena);
	accept->metric = accept->benchmark ? take_word(&at, end, arena) : NULL;
	accept->reason = accept->metric ? take_rest(at, end, arena) : NULL;
	if (!accept->reason)
		return fg_error_set(err, FG_EPARSE,
				    "commit %s: found \"%.*s\", expected \"" TRAILER
				    " NAME METRIC reason\"",
				    commit, (int)(end - line), line);
	accept->source = fg_arena_printf(arena, "commit %s", commit);
	return FG_OK;
}

int fg_gate_accepts_of_message(const char *message, const char *commit, struct fg_arena *arena,
			       struct fg_accept **accepts, size_t *count, struct fg_error *err)
{
	struct fg_accept *found = NULL;
	size_t capacity = 0;
	size_t used = 0;
	const char *line = message;

	while (*line) {
		const char *end = strchrnul(line, '\n');

		if (fg_text_starts_with(line, TRAILER)) {
			if (used == TRAILERS_MAX)
				return fg_error_set(err, FG_ELIMIT,
						    "commit %s: more than %d accepted regressions",
						    commit, TRAILERS_MAX);
			found = fg_arena_grow(arena, found, &capacity, used, sizeof(found[0]));
			FG_TRY(parse_trailer(line, end, commit, arena, &found[used++], err));
		}
		line = *end ? end + 1 : end;
	}
	*accepts = found;
	*count = used;
	return FG_OK;
}
