// SPDX-License-Identifier: Apache-2.0
#include "perfdb/server/watcher.h"

#include <math.h>

enum {
	NEARBY = 5, /* maximum distance in points between a verdict and a confirming change point */
};

/* Changes with the index of their point, oldest first. */
struct changes {
	struct fg_watched_change items[FG_WATCHED_CHANGES];
	size_t at[FG_WATCHED_CHANGES];
	size_t count;
};

static void drop(struct changes *c, size_t index)
{
	c->count--;
	for (size_t i = index; i < c->count; i++) {
		c->items[i] = c->items[i + 1];
		c->at[i] = c->at[i + 1];
	}
}

/* If the list is full, drops the oldest change. */
static void insert(struct changes *c, const struct fg_watched_change *change, size_t at)
{
	size_t i = 0;

	if (c->count == FG_WATCHED_CHANGES && at < c->at[0])
		return;
	if (c->count == FG_WATCHED_CHANGES)
		drop(c, 0);
	for (i = c->count++; i > 0 && c->at[i - 1] > at; i--) {
		c->items[i] = c->items[i - 1];
		c->at[i] = c->at[i - 1];
	}
	c->items[i] = *change;
	c->at[i] = at;
}

static bool is_outcome(const struct fg_history_point *point, const char *outcome)
{
	return point->outcome && strcmp(point->outcome, outcome) == 0;
}

static bool is_same_text(const char *a, const char *b)
{
	return a && b && strcmp(a, b) == 0;
}

/* Was the same branch measured again, against the same baseline? */
static bool is_again(const struct fg_history_point *point, const struct fg_history_point *earlier)
{
	return is_same_text(point->branch, earlier->branch) &&
	       is_same_text(point->base_commit, earlier->base_commit);
}

static bool reverts_slowdown(const struct fg_history_point *point,
			     const struct fg_history_point *earlier)
{
	return is_outcome(point, "improvement") && is_same_text(point->branch, earlier->branch) &&
	       fabs(log(point->ratio * earlier->ratio)) <= fabs(log(earlier->ratio)) / 2;
}

static void open_change(const struct fg_history *history, size_t at, struct changes *open)
{
	const struct fg_history_point *point = &history->points[at];
	struct fg_watched_change change = {
		.started_ns = point->started_ns,
		.before = point->baseline,
		.after = point->baseline * point->ratio,
		.from_gate = true,
		.low = point->low,
		.high = point->high,
	};

	(void)snprintf(change.run, sizeof(change.run), "%s", point->run);
	if (at > 0)
		(void)snprintf(change.last, sizeof(change.last), "%s", history->points[at - 1].run);
	insert(open, &change, at);
}

static void look_at(const struct fg_history *history, size_t at, struct changes *open)
{
	const struct fg_history_point *point = &history->points[at];
	const bool is_regression = is_outcome(point, "regression");
	const bool is_good = is_outcome(point, "pass") || is_outcome(point, "improvement");

	for (size_t i = open->count; i-- > 0;) {
		const struct fg_history_point *earlier = &history->points[open->at[i]];
		struct fg_watched_change *change = &open->items[i];

		if (change->reverted_by[0])
			continue;
		if (is_regression && is_again(point, earlier))
			drop(open, i);
		else if ((is_good && is_again(point, earlier)) || reverts_slowdown(point, earlier))
			(void)snprintf(change->reverted_by, sizeof(change->reverted_by), "%s",
				       point->run);
	}
	if (is_regression && isfinite(point->ratio))
		open_change(history, at, open);
}

static size_t find_point(const struct fg_history *history, const char *run)
{
	size_t i = 0;

	while (i < history->count && strcmp(history->points[i].run, run) != 0)
		i++;
	return i;
}

/* Marks the open regression that the change point confirms; false if it confirms no regression. */
static bool confirms(const struct fg_watched_change *c, size_t at, struct changes *open)
{
	for (size_t i = 0; i < open->count; i++) {
		struct fg_watched_change *change = &open->items[i];
		const size_t distance = at > open->at[i] ? at - open->at[i] : open->at[i] - at;

		if (change->from_gate && distance <= NEARBY &&
		    (c->after > c->before) == (change->after > change->before)) {
			change->is_confirmed = true;
			return true;
		}
	}
	return false;
}

void fg_gate_changes_add(const struct fg_history *history, struct fg_watched *watched)
{
	struct changes open = {0};

	for (size_t i = 0; i < history->count; i++)
		look_at(history, i, &open);
	for (size_t i = 0; i < watched->count; i++) {
		const struct fg_watched_change *c = &watched->changes[i];
		const size_t at = find_point(history, c->run);

		if (!confirms(c, at, &open))
			insert(&open, c, at);
	}
	memcpy(watched->changes, open.items, sizeof(open.items));
	watched->count = open.count;
}
