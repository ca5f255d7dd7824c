// SPDX-License-Identifier: Apache-2.0
#include "gate/creep.h"

#include "base/number.h"
#include "base/sort.h"
#include "base/strbuf.h"
#include "gate/statistics/distributions.h"

#include <math.h>

enum {
	CARRIERS_MAX = 5,
	COMMIT_DIGITS = 10,
	FUNCTIONS_NAMED = 3,
};

static const double width = 2.807; /* half width of a 99.5 % interval, in standard errors */
/* commits are named until their steps add up to this share of the creep */
static const double most = 0.8;

bool fg_creep_is_small(const struct fg_chain_point *point)
{
	return !point->is_known && (point->error > 0 || fabs(point->change) > 0);
}

struct fg_creep_window fg_creep_window_of(const struct fg_chain *chain, unsigned commits)
{
	struct fg_creep_window window = {0};

	if (chain->count == 0)
		return window;
	window.to = chain->count - 1;
	window.from = window.to > commits ? window.to - commits : 0;
	for (size_t i = window.from + 1; i <= window.to; i++)
		window.steps += fg_creep_is_small(&chain->points[i]);
	return window;
}

FG_ORDER_BY(largest_first, struct fg_creep_commit, FG_DOWN(change))

/*
 * Names the commits with the largest small steps, estimated from all runs: at most CARRIERS_MAX,
 * until their steps add up to the share `most` of the creep.
 */
static void name_commits(const struct fg_chain *chain, const struct fg_creep_window *window,
			 double sign, struct fg_creep_verdict *creep, struct fg_arena *arena)
{
	struct fg_creep_commit *all = fg_arena_array(arena, window->steps + 1, sizeof(all[0]));
	size_t count = 0;
	double carried = 0;

	for (size_t i = window->from + 1; i <= window->to; i++) {
		const struct fg_chain_sum step = fg_chain_sum(chain, i - 1, i, FG_CHAIN_ALL);
		const double change = sign * step.change;

		if (!fg_creep_is_small(&chain->points[i]))
			continue;
		creep->largest = fmax(creep->largest, expm1(change));
		if (change > 0)
			all[count++] = (struct fg_creep_commit){
				.id = fg_arena_strdup(arena, chain->points[i].commit),
				.change = expm1(change),
				.probability =
					step.error > 0 ? fg_normal_cdf(change / step.error) : 1};
	}
	if (count > 1)
		qsort(all, count, sizeof(all[0]), largest_first);
	creep->by = all;
	while (creep->by_count < count && creep->by_count < CARRIERS_MAX &&
	       carried < most * creep->change)
		carried += all[creep->by_count++].change;
}

static const char *name_of(const struct fg_chain_point *point, struct fg_arena *arena)
{
	return point->tag ? fg_arena_strdup(arena, point->tag)
			  : fg_arena_strndup(arena, point->commit, COMMIT_DIGITS);
}

struct fg_creep_verdict *fg_creep_judge(const struct fg_chain *chain,
					const struct fg_policy *policy, enum fg_better better,
					struct fg_arena *arena)
{
	const struct fg_creep_window window = fg_creep_window_of(chain, policy->creep_window);
	const double sign = better == FG_BETTER_LOWER ? 1 : -1;
	struct fg_creep_verdict *creep = NULL;
	struct fg_chain_sum sum;
	double change = 0;

	if (window.steps < FG_CREEP_STEPS_MIN)
		return NULL;
	sum = fg_chain_sum(chain, window.from, window.to, FG_CHAIN_SMALL);
	change = sign * sum.change;
	creep = fg_arena_alloc(arena, sizeof(*creep));
	*creep = (struct fg_creep_verdict){
		.change = expm1(change),
		.low = expm1(change - width * sum.error),
		.high = expm1(change + width * sum.error),
		.commits = (unsigned)(window.to - window.from),
		.since = name_of(&chain->points[window.from], arena),
		.is_creep =
			change >= log1p(policy->creep_tolerated) && change - width * sum.error > 0,
	};
	name_commits(chain, &window, sign, creep, arena);
	return creep;
}

bool fg_creep_needs_anchor(const struct fg_creep_verdict *creep, const struct fg_policy *policy)
{
	const double error = log1p(creep->high) - log1p(creep->change);

	return error > width * log1p(policy->creep_tolerated) / 2;
}

/* ---- sentences ---- */

static void add_functions(struct fg_strbuf *text, const struct fg_creep_verdict *creep)
{
	char change[FG_NUMBER_TEXT_SIZE];

	for (size_t i = 0; i < creep->function_count && i < FUNCTIONS_NAMED; i++)
		fg_strbuf_printf(text, "%s%.200s (%s)", i ? ", " : "; mostly ",
				 creep->functions[i].name,
				 fg_format_change(creep->functions[i].change, change));
}

static void add_commits(struct fg_strbuf *text, const struct fg_creep_verdict *creep)
{
	char change[FG_NUMBER_TEXT_SIZE];

	for (size_t i = 0; i < creep->by_count; i++)
		fg_strbuf_printf(text, "%s%.*s %s (%.0f %%)",
				 i ? ", " : "; largest steps: ", COMMIT_DIGITS, creep->by[i].id,
				 fg_format_change(creep->by[i].change, change),
				 100 * creep->by[i].probability);
}

const char *fg_creep_words(const struct fg_creep_verdict *creep, struct fg_arena *arena)
{
	struct fg_strbuf text = {0};
	char change[FG_NUMBER_TEXT_SIZE];
	char largest[FG_NUMBER_TEXT_SIZE];

	fg_strbuf_printf(&text, "%s %s [%s%.1f, %s%.1f] over %u commits since %.60s", creep->label,
			 fg_format_change(creep->change, change), fg_format_sign(creep->low),
			 fabs(100 * creep->low), fg_format_sign(creep->high),
			 fabs(100 * creep->high), creep->commits, creep->since);
	if (creep->is_creep)
		fg_strbuf_printf(&text, "; no step above %s",
				 fg_format_without_sign(fg_format_change(creep->largest, largest)));
	add_functions(&text, creep);
	if (creep->is_creep)
		add_commits(&text, creep);
	return fg_strbuf_keep(&text, arena);
}
