// SPDX-License-Identifier: Apache-2.0
#include "perfdb/server/changes.h"

#include "gate/statistics/sample.h"

#include <math.h>

enum {
	CONFIRMED = 5, /* runs needed on either side of a confirmed change point */
	FAR_OFF = 5,   /* minimum distance from the level, in standard deviations of the noise */
};

/* share of the level; smaller changes are ignored, however small the noise */
#define MIN_SHARE 0.001

static void write_level(struct fg_json_writer *w, const struct fg_change_series *u, size_t first,
			double before, double after)
{
	fg_json_int(w, "at", (int64_t)u->places[first]);
	fg_json_text(w, "run", u->runs[u->places[first]]);
	fg_json_text(w, "last_run_before", u->runs[u->places[first - 1]]);
	fg_json_double(w, "before", before);
	fg_json_double(w, "after", after);
	fg_json_double(w, "ratio", fabs(before) > 0 ? after / before : (double)NAN);
}

/* Do all values from `first` on lie far above, or all far below, the level since `start`? */
static bool has_left(const struct fg_change_series *u, size_t start, size_t first, double noise)
{
	const double level = fg_median(u->values + start, first - start);
	const double spread = fmax(noise, fg_mad(u->values + start, first - start));
	const double far = FAR_OFF * spread + MIN_SHARE * fabs(level);
	const bool up = u->values[first] > level;

	for (size_t i = first; i < u->count; i++) {
		if ((up ? u->values[i] - level : level - u->values[i]) <= far)
			return false;
	}
	return true;
}

/* Returns how many of the last one to four values have left the level that began at `start`. */
static size_t count_left(const struct fg_change_series *u, size_t start, double noise)
{
	for (size_t tail = CONFIRMED - 1; tail > 0; tail--) {
		const size_t first = u->count - fg_min_size(tail, u->count);

		if (first >= start + CONFIRMED && has_left(u, start, first, noise))
			return tail;
	}
	return 0;
}

/*
 * Returns the number of changes that are followed by CONFIRMED runs. A few runs far from the level
 * can make the search place a change a little too early, among unchanged runs. Such a change does
 * not count: write_possible() reports these runs.
 */
static size_t confirmed(const struct fg_change_series *u, const struct fg_changepoints *changes)
{
	const size_t count = changes->count;
	const struct fg_changepoint *last = count ? &changes->items[count - 1] : NULL;
	const size_t start = count > 1 ? changes->items[count - 2].at : 0;
	const size_t tail = last ? count_left(u, start, changes->noise) : 0;
	const size_t first = u->count - tail;

	if (!tail || first <= last->at)
		return count;
	return fabs(fg_median(u->values + last->at, first - last->at) - last->before) <=
			       2 * changes->noise
		       ? count - 1
		       : count;
}

/*
 * A possible change at the newest runs is reported separately, as an early hint and not as a
 * finding.
 */
static void write_possible(struct fg_json_writer *w, const struct fg_change_series *u, size_t start,
			   double noise)
{
	const size_t tail = count_left(u, start, noise);
	const size_t first = u->count - tail;

	if (!tail)
		return;
	fg_json_begin_object(w, "possible_change");
	write_level(w, u, first, fg_median(u->values + start, first - start),
		    fg_median(u->values + first, tail));
	fg_json_int(w, "runs", (int64_t)tail);
	fg_json_int(w, "runs_needed", CONFIRMED);
	fg_json_end(w);
}

int fg_changes_find(const struct fg_change_series *series, struct fg_changepoints *changes,
		    struct fg_error *err)
{
	/*
	 * The cost of the simulations grows with the length of the series; 199 simulations are
	 * enough for alpha = 0.01.
	 */
	const struct fg_changepoint_options options = {
		.alpha = 0.01, .min_segment = CONFIRMED, .simulations = 199, .seed = 1};

	FG_TRY(fg_changepoints_find(series->values, series->count, &options, changes, err));
	changes->count = confirmed(series, changes);
	return FG_OK;
}

/* Keeps the newest values, up to the number of values that the search accepts. */
static struct fg_change_series newest_of(const struct fg_change_series *all)
{
	struct fg_change_series newest = *all;
	const size_t drop = all->count - fg_min_size(all->count, (size_t)FG_CHANGEPOINT_VALUES_MAX);

	newest.values += drop;
	newest.places += drop;
	newest.count -= drop;
	return newest;
}

int fg_changes_write(struct fg_json_writer *w, const struct fg_change_series *series,
		     struct fg_error *err)
{
	const struct fg_change_series newest = newest_of(series);
	const struct fg_change_series *u = &newest;
	struct fg_changepoints changes = {0};

	FG_TRY(fg_changes_find(u, &changes, err));
	fg_json_begin_array(w, "changes");
	for (size_t i = 0; i < changes.count; i++) {
		const struct fg_changepoint *c = &changes.items[i];

		fg_json_begin_object(w, NULL);
		write_level(w, u, c->at, c->before, c->after);
		fg_json_double(w, "p", c->p);
		fg_json_end(w);
	}
	fg_json_end(w);
	write_possible(w, u, changes.count ? changes.items[changes.count - 1].at : 0,
		       changes.noise);
	fg_changepoints_release(&changes);
	return FG_OK;
}

void fg_change_series_release(struct fg_change_series *series)
{
	free(series->values);
	free(series->places);
	free(series->runs);
}

void fg_change_series_init(struct fg_change_series *series, size_t points)
{
	series->values = fg_xcalloc(points, sizeof(*series->values));
	series->places = fg_xcalloc(points, sizeof(*series->places));
	series->runs = fg_xcalloc(points, sizeof(*series->runs));
}

void fg_change_series_add(struct fg_change_series *series, size_t place, const char *run,
			  double value)
{
	series->runs[place] = run;
	if (!isfinite(value))
		return;
	series->values[series->count] = value;
	series->places[series->count++] = place;
}
