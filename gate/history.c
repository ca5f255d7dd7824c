// SPDX-License-Identifier: Apache-2.0
#include "gate/history.h"

#include "base/sort.h"
#include "gate/statistics/changepoint.h"
#include "gate/statistics/sample.h"

#include <math.h>

/* One environment's values, and their positions in the whole series. */
struct line {
	double *values;
	size_t *places;
	size_t count;
	bool logarithms;
};

static void pick_line(const struct fg_trend *trend, size_t environment, struct line *line)
{
	const size_t count = trend->point_count;

	*line = (struct line){.logarithms = true};
	line->values = fg_xcalloc(count + 1, sizeof(line->values[0]));
	line->places = fg_xcalloc(count + 1, sizeof(line->places[0]));
	for (size_t i = 0; i < count; i++) {
		const double value = trend->points[i].value;

		if (trend->points[i].environment != environment)
			continue;
		line->logarithms = line->logarithms && value > 0.0;
		line->places[line->count] = i;
		line->values[line->count++] = value;
	}
	/* Changes are relative if every value is positive. */
	for (size_t i = 0; i < line->count && line->logarithms; i++)
		line->values[i] = log(line->values[i]);
}

static void line_release(struct line *line)
{
	free(line->values);
	free(line->places);
}

static struct fg_trend_change change_of(const struct line *line, const struct fg_changepoint *point,
					enum fg_better better)
{
	struct fg_trend_change change = {.point = line->places[point->at], .p = point->p};

	change.before = line->logarithms ? exp(point->before) : point->before;
	change.after = line->logarithms ? exp(point->after) : point->after;
	change.ratio = line->logarithms ? change.after / change.before : (double)NAN;
	change.worse = (change.after > change.before) == (better == FG_BETTER_LOWER);
	return change;
}

FG_ORDER_BY(compare_changes, struct fg_trend_change, FG_UP(point))

/* Returns the index of this host's line; a new fingerprint starts a new line. */
static size_t environment_of(const struct fg_run *run, char (*fingerprints)[17], size_t *count)
{
	char own[17];
	size_t i = 0;

	fg_environment_fingerprint(&run->host, own);
	while (i < *count && strcmp(fingerprints[i], own) != 0)
		i++;
	if (i == *count)
		memcpy(fingerprints[(*count)++], own, sizeof(own));
	return i;
}

static bool make_point(const struct fg_run *run, const char *benchmark, const char *metric,
		       struct fg_trend_point *point, enum fg_better *better)
{
	const struct fg_series *series = fg_run_find(run, benchmark);
	size_t at = series ? fg_series_find_metric(series, metric) : SIZE_MAX;
	double *values;
	size_t count;

	if (at == SIZE_MAX)
		return false;
	*better = series->metrics[at].better;
	values = fg_series_values(series, at, FG_ARM_CANDIDATE, &count);
	fg_sort(values, count);
	*point = (struct fg_trend_point){.value = fg_sorted_quantile(values, count, 0.5),
					 .low = fg_sorted_quantile(values, count, 0.25),
					 .high = fg_sorted_quantile(values, count, 0.75),
					 .repetitions = count};
	free(values);
	return count > 0;
}

static int find_changes(struct fg_trend *trend, enum fg_better better, uint64_t seed,
			struct fg_error *err)
{
	const struct fg_changepoint_options search = {.seed = seed};
	int status = FG_OK;

	for (size_t e = 0; e < trend->environment_count && status == FG_OK; e++) {
		struct fg_changepoints points = {0};
		struct line line;

		pick_line(trend, e, &line);
		status = fg_changepoints_find(line.values, line.count, &search, &points, err);
		trend->changes =
			fg_xreallocarray(trend->changes, trend->change_count + points.count + 1,
					 sizeof(trend->changes[0]));
		for (size_t k = 0; k < points.count; k++)
			trend->changes[trend->change_count++] =
				change_of(&line, &points.items[k], better);
		fg_changepoints_release(&points);
		line_release(&line);
	}
	if (trend->change_count > 1)
		qsort(trend->changes, trend->change_count, sizeof(trend->changes[0]),
		      compare_changes);
	return status;
}

int fg_trend_build(const struct fg_run *const *runs, size_t count,
		   const struct fg_trend_options *options, struct fg_trend *trend,
		   struct fg_error *err)
{
	enum fg_better better = FG_BETTER_LOWER;
	struct fg_trend made = {0};
	char(*fingerprints)[17];
	int status;

	if (count > FG_TREND_POINTS_MAX)
		return fg_error_set(err, FG_ELIMIT,
				    "a history of %zu runs is too long: at most %d can be searched",
				    count, FG_TREND_POINTS_MAX);
	fingerprints = fg_xcalloc(count + 1, sizeof(fingerprints[0]));
	made.points = fg_xcalloc(count + 1, sizeof(made.points[0]));
	for (size_t i = 0; i < count; i++) {
		struct fg_trend_point *point = &made.points[made.point_count];

		if (!make_point(runs[i], options->benchmark, options->metric, point, &better))
			continue;
		point->run = i;
		point->environment = environment_of(runs[i], fingerprints, &made.environment_count);
		made.point_count++;
	}
	free(fingerprints);
	if (made.point_count == 0)
		status = fg_error_set(err, FG_ENOENT,
				      "no run has a result for metric '%s' of benchmark '%s'",
				      options->metric, options->benchmark);
	else
		status = find_changes(&made, better, options->seed, err);
	if (status != FG_OK) {
		fg_trend_release(&made);
		return status;
	}
	*trend = made;
	return FG_OK;
}

void fg_trend_release(struct fg_trend *trend)
{
	free(trend->points);
	free(trend->changes);
	*trend = (struct fg_trend){0};
}
