// SPDX-License-Identifier: Apache-2.0
#include "gate/accept.h"

#include "gate/gate.h"

#include <math.h>
#include <time.h>

static bool matches(const char *pattern, const char *name)
{
	return strcmp(pattern, "*") == 0 || strcmp(pattern, name) == 0;
}

static bool has_ended(const struct fg_accept *accept, int64_t now_ns)
{
	return accept->until_ns < now_ns;
}

const struct fg_accept *fg_accept_find(const struct fg_policy *policy, const char *benchmark,
				       const char *metric, double worse_by, int64_t now_ns)
{
	for (size_t i = 0; i < policy->accept_count; i++) {
		const struct fg_accept *accept = &policy->accepts[i];

		if (matches(accept->benchmark, benchmark) && matches(accept->metric, metric) &&
		    !has_ended(accept, now_ns) &&
		    (isnan(accept->up_to) || worse_by <= accept->up_to))
			return accept;
	}
	return NULL;
}

/* Was there a benchmark and metric that the key speaks of, and did any of them need it? */
static void find_use(const struct fg_accept *accept, const struct fg_verdict *verdict, bool *seen,
		     bool *needed)
{
	*seen = *needed = false;
	for (size_t i = 0; i < verdict->benchmark_count; i++) {
		const struct fg_benchmark_verdict *b = &verdict->benchmarks[i];

		if (!matches(accept->benchmark, b->name))
			continue;
		for (size_t k = 0; k < b->metric_count; k++) {
			if (!matches(accept->metric, b->metrics[k].name))
				continue;
			*seen = true;
			*needed = *needed || b->metrics[k].outcome == FG_OUTCOME_REGRESSION;
		}
	}
}

static const char *day_of(int64_t ns, char text[16])
{
	time_t seconds = (time_t)(ns / 1000000000);
	struct tm broken;

	text[0] = '\0';
	if (gmtime_r(&seconds, &broken))
		(void)strftime(text, 16, "%Y-%m-%d", &broken);
	return text;
}

void fg_accept_note_leftovers(const struct fg_policy *policy, int64_t now_ns,
			      struct fg_verdict *verdict)
{
	char day[16];

	for (size_t i = 0; i < policy->accept_count; i++) {
		const struct fg_accept *accept = &policy->accepts[i];
		bool seen;
		bool needed;

		find_use(accept, verdict, &seen, &needed);
		if (has_ended(accept, now_ns))
			fg_notes_add(
				&verdict->notes, &verdict->arena,
				"the accepted slowdown of %s, %s (%s) ended on %s and no longer counts",
				accept->benchmark, accept->metric, accept->source,
				day_of(accept->until_ns, day));
		else if (seen && !needed)
			fg_notes_add(
				&verdict->notes, &verdict->arena,
				"the accepted slowdown of %s, %s (%s) was not needed in this run",
				accept->benchmark, accept->metric, accept->source);
	}
}

/*
 * One word, or text in double quotes; moves *at behind it.  NULL when there is none before the end
 * of the line.
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

/* More trailers than this in one message are not read by anyone. */
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
	size_t used = 0;
	const char *line = message;

	while (*line) {
		const char *end = strchr(line, '\n');

		if (!end)
			end = line + strlen(line);
		if (strncmp(line, TRAILER, sizeof(TRAILER) - 1) == 0) {
			struct fg_accept *grown;

			if (used == TRAILERS_MAX)
				return fg_error_set(err, FG_ELIMIT,
						    "commit %s: more than %d accepted slowdowns",
						    commit, TRAILERS_MAX);
			grown = fg_arena_array(arena, used + 1, sizeof(grown[0]));
			if (used > 0)
				memcpy(grown, found, used * sizeof(grown[0]));
			found = grown;
			if (parse_trailer(line, end, commit, arena, &found[used], err) != FG_OK)
				return FG_EPARSE;
			used++;
		}
		line = *end ? end + 1 : end;
	}
	*accepts = found;
	*count = used;
	return FG_OK;
}
