// SPDX-License-Identifier: Apache-2.0
#include "gate/accept.h"

#include "base/clock.h"

#include <math.h>

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

/*
 * Sets *seen if the accepted regression matches a result of the run, and *needed if a matching
 * result is a regression.
 */
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

void fg_accept_note_leftovers(const struct fg_policy *policy, int64_t now_ns,
			      struct fg_verdict *verdict)
{
	char until[FG_TIME_TEXT_SIZE];

	for (size_t i = 0; i < policy->accept_count; i++) {
		const struct fg_accept *accept = &policy->accepts[i];
		bool seen;
		bool needed;

		find_use(accept, verdict, &seen, &needed);
		fg_time_format_utc(accept->until_ns, until);
		if (has_ended(accept, now_ns))
			fg_notes_add(
				&verdict->notes, &verdict->arena,
				"the accepted regression of %s, %s (%s) expired on %.10s and no longer "
				"counts",
				accept->benchmark, accept->metric, accept->source, until);
		else if (seen && !needed)
			fg_notes_add(
				&verdict->notes, &verdict->arena,
				"the accepted regression of %s, %s (%s) was not needed in this run",
				accept->benchmark, accept->metric, accept->source);
	}
}
