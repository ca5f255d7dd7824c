// SPDX-License-Identifier: Apache-2.0
#include "model/run.h"

#include "base/json_exchange.h"
#include "base/sort.h"
#include "base/text.h"

#include <math.h>

static void init_without_metrics(struct fg_series *series, const char *name)
{
	*series = (struct fg_series){.name = fg_xstrdup(name),
				     .state = FG_INTERRUPTED,
				     .sampler_cost = (double)NAN,
				     .as_linked = (double)NAN};
}

void fg_series_init(struct fg_series *series, const char *name)
{
	init_without_metrics(series, name);
	for (size_t i = 0; i < FG_METRIC_BUILTIN_COUNT; i++)
		(void)fg_series_add_metric(series, fg_metric_builtin((enum fg_metric_id)i));
}

size_t fg_series_add_metric(struct fg_series *series, const struct fg_metric *metric)
{
	const size_t index = series->metric_count;
	struct fg_metric *copy = NULL;

	FG_ASSERT(series->repetition_count == 0 ||
		  fg_series_find_metric(series, metric->name) == SIZE_MAX);
	series->metrics = fg_xreallocarray(series->metrics, index + 1, sizeof(series->metrics[0]));
	series->metric_count = index + 1;
	copy = &series->metrics[index];
	*copy = *metric;
	copy->name = fg_xstrdup(metric->name);
	copy->label = fg_xstrdup(metric->label ? metric->label : metric->name);
	copy->unit = fg_xstrdup(metric->unit ? metric->unit : "1");
	/* A harness may add a metric after the first repetition; earlier repetitions lack it. */
	for (size_t i = 0; i < series->repetition_count; i++) {
		struct fg_repetition *repetition = &series->repetitions[i];

		repetition->values = fg_xreallocarray(repetition->values, index + 1,
						      sizeof(repetition->values[0]));
		repetition->values[index] = (double)NAN;
	}
	return index;
}

size_t fg_series_find_metric(const struct fg_series *series, const char *name)
{
	for (size_t i = 0; i < series->metric_count; i++) {
		if (strcmp(series->metrics[i].name, name) == 0)
			return i;
	}
	return SIZE_MAX;
}

bool fg_metric_is_time(const struct fg_metric *metric)
{
	static const char *const units[] = {"ns", "us", "ms", "s"};

	return FG_TEXT_IS_AMONG(metric->unit, units);
}

bool fg_metric_is_measured_time(const struct fg_metric *metric)
{
	return !metric->exact && fg_metric_is_time(metric);
}

struct fg_repetition *fg_series_add_repetition(struct fg_series *series)
{
	struct fg_repetition *repetition = NULL;

	repetition = &FG_APPEND(series->repetitions, series->repetition_count,
				series->repetition_capacity);
	*repetition = (struct fg_repetition){.cpu = -1, .pressure = (float)NAN};
	repetition->values = fg_xcalloc(series->metric_count, sizeof(repetition->values[0]));
	for (size_t i = 0; i < series->metric_count; i++)
		repetition->values[i] = (double)NAN;
	return repetition;
}

bool fg_aside_was_meant_to_count(uint16_t aside)
{
	const unsigned never =
		FG_ASIDE_WARMUP | FG_ASIDE_SOLO | FG_ASIDE_TRIAL | FG_ASIDE_UNSAMPLED;

	return (aside & never) == 0;
}

uint32_t fg_series_pair_end(const struct fg_series *series)
{
	uint32_t end = 0;

	for (size_t i = 0; i < series->repetition_count; i++) {
		if (series->repetitions[i].pair >= end)
			end = series->repetitions[i].pair + 1;
	}
	return end;
}

double *fg_series_values(const struct fg_series *series, size_t metric, enum fg_arm arm,
			 size_t *count)
{
	double *values = fg_xcalloc(series->repetition_count + 1, sizeof(values[0]));
	size_t used = 0;

	for (size_t i = 0; i < series->repetition_count; i++) {
		const struct fg_repetition *repetition = &series->repetitions[i];

		if (repetition->aside == 0 && repetition->arm == arm &&
		    isfinite(repetition->values[metric]))
			values[used++] = repetition->values[metric];
	}
	*count = used;
	return values;
}

double fg_series_median(const struct fg_series *series, size_t metric, enum fg_arm arm,
			size_t *count)
{
	size_t used = 0;
	double *values = fg_series_values(series, metric, arm, &used);
	const double median = fg_middle(values, used);

	free(values);
	if (count)
		*count = used;
	return median;
}

/* The series owns the strings of a copied metric. */
static void release_metric(struct fg_metric *metric)
{
	free((void *)(uintptr_t)metric->name);
	free((void *)(uintptr_t)metric->label);
	free((void *)(uintptr_t)metric->unit);
}

void fg_series_remark(struct fg_series *series, enum fg_remark remark, char *text)
{
	free(series->remarks[remark]);
	series->remarks[remark] = text;
}

void fg_series_release(struct fg_series *series)
{
	for (size_t i = 0; i < series->metric_count; i++)
		release_metric(&series->metrics[i]);
	for (size_t i = 0; i < series->repetition_count; i++)
		free(series->repetitions[i].values);
	free(series->metrics);
	free(series->repetitions);
	free(series->name);
	free(series->command);
	free(series->failure);
	free(series->failure_tail);
	free(series->schedule_reason);
	free(series->affected);
	for (size_t i = 0; i < FG_REMARK_COUNT; i++)
		free(series->remarks[i]);
	free(series->as_linked_metric);
	for (size_t arm = 0; arm < FG_ARM_COUNT; arm++)
		fg_build_facts_release(&series->build[arm]);
	*series = (struct fg_series){0};
}

void fg_side_copy(struct fg_side *to, const struct fg_side *from)
{
	to->commit = fg_xstrdup(from->commit);
	to->branch = fg_xstrdup(from->branch);
	to->describe = fg_xstrdup(from->describe);
	to->dirty = from->dirty;
	fg_environment_copy(&to->build, &from->build);
}

void fg_side_release(struct fg_side *side)
{
	free(side->commit);
	free(side->branch);
	free(side->describe);
	fg_environment_release(&side->build);
	*side = (struct fg_side){0};
}

void fg_run_init(struct fg_run *run)
{
	*run = (struct fg_run){0};
}

static struct fg_series *add_room(struct fg_run *run)
{
	run->series = fg_xreallocarray(run->series, run->series_count + 1, sizeof(run->series[0]));
	return &run->series[run->series_count++];
}

struct fg_series *fg_run_add_series(struct fg_run *run, const char *name)
{
	struct fg_series *series = add_room(run);

	fg_series_init(series, name);
	return series;
}

struct fg_series *fg_run_add_profile(struct fg_run *run, const char *name)
{
	struct fg_series *series = add_room(run);

	init_without_metrics(series, name);
	series->state = FG_MEASURED;
	return series;
}

bool fg_series_is_profile(const struct fg_series *series)
{
	return series->metric_count == 0;
}

struct fg_series *fg_run_find(const struct fg_run *run, const char *name)
{
	for (size_t i = 0; i < run->series_count; i++) {
		if (strcmp(run->series[i].name, name) == 0)
			return &run->series[i];
	}
	return NULL;
}

void fg_run_release(struct fg_run *run)
{
	for (size_t i = 0; i < run->series_count; i++)
		fg_series_release(&run->series[i]);
	free(run->series);
	free(run->project);
	free(run->tool_version);
	for (size_t arm = 0; arm < FG_ARM_COUNT; arm++)
		fg_side_release(&run->sides[arm]);
	fg_environment_release(&run->host);
	*run = (struct fg_run){0};
}

static void exchange_words_of(const struct fg_exchange *with, const char *name, char *words,
			      size_t size)
{
	if (with->w)
		fg_json_text(with->w, name, *words ? words : NULL);
	else
		(void)snprintf(words, size, "%s", fg_json_text_or(with->json, name, ""));
}

bool fg_sampling_exchange(const struct fg_exchange *with, void *at)
{
	struct fg_sampling *sampling = at;

	fg_exchange_positive(with, "rate_hz", &sampling->rate_hz);
	fg_exchange_positive(with, "budget", &sampling->budget);
	fg_exchange_positive(with, "signal_ns", &sampling->signal_ns);
	fg_exchange_positive(with, "handler_ns", &sampling->handler_ns);
	fg_exchange_positive(with, "switch_ns", &sampling->switch_ns);
	fg_exchange_positive(with, "switches_hz", &sampling->switches_hz);
	fg_exchange_number(with, "expected_cost", &sampling->expected_cost);
	exchange_words_of(with, "clock", sampling->clock, sizeof(sampling->clock));
	exchange_words_of(with, "unseen", sampling->unseen, sizeof(sampling->unseen));
	return true;
}
