// SPDX-License-Identifier: Apache-2.0
#include "reporters/verdict_queries.h"

#include "base/sort.h"
#include "base/text.h"

#include <math.h>
#include <stdlib.h>

#define ROUNDING 1e-9 /* relative error of a total that is summed in another order */

const char fg_report_unaffected[] = "unchanged code, placement not checked";

const struct fg_metric_verdict *fg_report_headline(const struct fg_benchmark_verdict *benchmark)
{
	const struct fg_metric_verdict *best = NULL;
	int best_rank = -1;

	for (size_t i = 0; i < benchmark->metric_count; i++) {
		const struct fg_metric_verdict *metric = &benchmark->metrics[i];
		/* An accepted regression ranks like a pass. */
		const int weight = metric->accepted ? 0 : (int)metric->outcome;
		const int rank = (metric->gated ? 20 : 0) + (metric->decided ? 100 + weight : 0);

		if (rank > best_rank) {
			best = metric;
			best_rank = rank;
		}
	}
	return best;
}

const char *fg_report_schedule_reason(const struct fg_report *report,
				      const struct fg_benchmark_verdict *benchmark)
{
	const struct fg_series *series = fg_run_find(report->run, benchmark->name);

	return series && benchmark->schedule != FG_SCHEDULE_STORED ? series->schedule_reason : NULL;
}

const struct fg_profile_set *fg_report_profile(const struct fg_report *report,
					       const struct fg_series *series)
{
	return report->profiles && series ? report->profiles[series - report->run->series] : NULL;
}

static bool tells_the_story(const struct fg_benchmark_verdict *benchmark,
			    const struct fg_blame *blame)
{
	const struct fg_metric_verdict *headline = fg_report_headline(benchmark);

	if (!headline)
		return false;
	/* A program that became larger is explained by functions that hold more memory. */
	return strcmp(headline->name, blame->measure) == 0 ||
	       (strcmp(headline->name, "max_rss") == 0 && strcmp(blame->measure, "heap.peak") == 0);
}

const struct fg_blame *fg_report_blame(const struct fg_benchmark_verdict *benchmark, size_t index)
{
	size_t first = 0;

	if (index > benchmark->measure_count)
		return NULL;
	for (size_t i = 1; first == 0 && i <= benchmark->measure_count; i++)
		first = tells_the_story(benchmark, &benchmark->measures[i - 1]) ? i : 0;
	if (index == 0)
		index = first;
	else if (index <= first)
		index--;
	return index == 0 ? &benchmark->time : &benchmark->measures[index - 1];
}

size_t fg_report_sure_count(const struct fg_blame *blame)
{
	size_t count = 0;

	while (count < blame->function_count &&
	       fg_standing_is_sure(blame->functions[count].standing))
		count++;
	return count;
}

/* Can parts of the change be given as shares of the total? */
static bool has_shares(const struct fg_blame *blame)
{
	return fg_report_sure_count(blame) > 0 && isfinite(blame->functions[0].share_of_change);
}

struct fg_remainder fg_report_everything_else(const struct fg_blame *blame, size_t shown)
{
	struct fg_remainder rest = {.delta = blame->total_delta, .share = (double)NAN};

	for (size_t i = 0; i < shown; i++)
		rest.delta -= blame->functions[i].delta;
	/* A rest larger than the total gets no share: it cancels a part of the shown functions. */
	if (has_shares(blame) && fabs(rest.delta) <= fabs(blame->total_delta))
		rest.share = rest.delta / blame->total_delta;
	if (!(fabs(rest.delta) > ROUNDING * fabs(blame->total_delta)))
		rest.delta = (double)NAN;
	return rest;
}

const char *fg_report_schedule(const struct fg_verdict *verdict)
{
	for (size_t i = 1; i < verdict->benchmark_count; i++) {
		if (verdict->benchmarks[i].schedule != verdict->benchmarks[0].schedule)
			return "mixed";
	}
	return verdict->benchmark_count > 0 ? fg_schedule_name(verdict->benchmarks[0].schedule)
					    : "none";
}

bool fg_report_has_change(const struct fg_metric_verdict *metric)
{
	return metric->decided && isfinite(metric->ratio);
}

const char *fg_report_probably(const struct fg_benchmark_verdict *benchmark)
{
	const struct fg_metric_verdict *metric = benchmark->outcome == FG_OUTCOME_INCONCLUSIVE
							 ? fg_report_headline(benchmark)
							 : NULL;

	for (size_t i = 0; metric && i < metric->notes.count; i++) {
		if (fg_text_starts_with(metric->notes.items[i], "probably slower ("))
			return metric->notes.items[i];
	}
	return NULL;
}

/* A benchmark's states in order of urgency: outcomes, and "probably slower". */
static const struct {
	enum fg_outcome outcome;
	bool probably;
	const char *name;
	const char *words; /* follows a number of benchmarks */
} states[] = {
	{.outcome = FG_OUTCOME_REGRESSION, .name = "regression", .words = "regressed"},
	{.outcome = FG_OUTCOME_ERROR, .name = "error", .words = "could not be measured"},
	{.outcome = FG_OUTCOME_CREEP, .name = "creep", .words = "crept up"},
	{.outcome = FG_OUTCOME_INCONCLUSIVE,
	 .probably = true,
	 .name = "probably slower",
	 .words = "probably slower"},
	{.outcome = FG_OUTCOME_INCONCLUSIVE, .name = "inconclusive", .words = "inconclusive"},
	{.outcome = FG_OUTCOME_PLACEMENT, .name = "placement", .words = "placed differently"},
	{.outcome = FG_OUTCOME_IMPROVEMENT, .name = "improvement", .words = "improved"},
	{.outcome = FG_OUTCOME_MISSING, .name = "missing", .words = "missing"},
	{.outcome = FG_OUTCOME_NEW, .name = "new", .words = "new"},
	{.outcome = FG_OUTCOME_PASS, .name = "pass", .words = "passed"},
};

static size_t state_of(const struct fg_benchmark_verdict *benchmark)
{
	size_t i = 0;

	while (states[i].outcome != benchmark->outcome ||
	       (states[i].probably && !fg_report_probably(benchmark)))
		i++;
	return i;
}

const char *fg_report_state(const struct fg_benchmark_verdict *benchmark)
{
	return states[state_of(benchmark)].name;
}

const char *fg_report_state_words(const struct fg_benchmark_verdict *benchmark)
{
	return states[state_of(benchmark)].words;
}

const char *fg_report_remark(const struct fg_benchmark_verdict *benchmark)
{
	const struct fg_metric_verdict *headline = fg_report_headline(benchmark);

	if (benchmark->outcome == FG_OUTCOME_ERROR)
		return "could not be measured";
	if (benchmark->outcome == FG_OUTCOME_NEW)
		return "nothing to compare with yet";
	if (benchmark->outcome == FG_OUTCOME_MISSING)
		return "in the baseline only";
	if (benchmark->unaffected)
		return fg_report_unaffected;
	if (benchmark->identical)
		return "same binaries on both sides";
	if (!headline || !fg_report_has_change(headline))
		return "nothing was compared";
	return NULL;
}

bool fg_report_is_quiet(const struct fg_benchmark_verdict *benchmark)
{
	if (benchmark->outcome != FG_OUTCOME_PASS || benchmark->time.moved_count > 0)
		return false;
	for (size_t i = 0; i < benchmark->metric_count; i++) {
		if (benchmark->metrics[i].accepted)
			return false;
	}
	return true;
}

/* Returns the magnitude of the benchmark's change; 0 if unknown. */
static double change_size(const struct fg_benchmark_verdict *benchmark)
{
	const struct fg_metric_verdict *metric = fg_report_headline(benchmark);

	return metric && isfinite(metric->ratio) ? fabs(metric->ratio - 1) : 0;
}

struct ranked {
	size_t index;
	size_t state; /* index into `states` */
	double size;
};

FG_ORDER_BY(worst_first, struct ranked, FG_UP(state), FG_DOWN(size), FG_UP(index))

size_t *fg_report_worst_first(const struct fg_verdict *verdict)
{
	struct ranked *ranked = fg_xcalloc(verdict->benchmark_count, sizeof(ranked[0]));
	size_t *order = fg_xcalloc(verdict->benchmark_count, sizeof(order[0]));

	for (size_t i = 0; i < verdict->benchmark_count; i++) {
		const struct fg_benchmark_verdict *benchmark = &verdict->benchmarks[i];

		ranked[i].index = i;
		ranked[i].state = state_of(benchmark);
		if (benchmark->outcome != FG_OUTCOME_PASS)
			ranked[i].size = change_size(benchmark);
	}
	qsort(ranked, verdict->benchmark_count, sizeof(ranked[0]), worst_first);
	for (size_t i = 0; i < verdict->benchmark_count; i++)
		order[i] = ranked[i].index;
	free(ranked);
	return order;
}

void fg_report_add_summary(struct fg_strbuf *text, const struct fg_verdict *verdict)
{
	size_t counts[FG_ARRAY_SIZE(states)] = {0};
	const char *separator = ": ";

	for (size_t i = 0; i < verdict->benchmark_count; i++)
		counts[state_of(&verdict->benchmarks[i])]++;
	fg_strbuf_printf(text, "%zu benchmark%s", verdict->benchmark_count,
			 verdict->benchmark_count == 1 ? "" : "s");
	for (size_t i = 0; i < FG_ARRAY_SIZE(states); i++) {
		if (counts[i] == 0)
			continue;
		fg_strbuf_printf(text, "%s%zu %s", separator, counts[i], states[i].words);
		separator = ", ";
	}
}

static bool has_its_own_place(const char *note)
{
	return strstr(note, "could have detected") || fg_text_starts_with(note, "accepted (") ||
	       fg_text_starts_with(note, "probably slower (");
}

static bool is_among(const struct fg_notes *notes, const char *note)
{
	for (size_t i = 0; i < notes->count; i++) {
		if (strcmp(notes->items[i], note) == 0)
			return true;
	}
	return false;
}

static bool has_notes_of_interest(const struct fg_metric_verdict *metric)
{
	return metric->gated && metric->decided && metric->outcome != FG_OUTCOME_PASS;
}

/* Was the note printed before? One note may apply to several metrics. */
static bool is_repeated(const struct fg_benchmark_verdict *benchmark, size_t metric,
			const char *note)
{
	for (size_t i = 0; i < metric; i++) {
		if (has_notes_of_interest(&benchmark->metrics[i]) &&
		    is_among(&benchmark->metrics[i].notes, note))
			return true;
	}
	return is_among(&benchmark->notes, note);
}

const char *fg_report_next_metric_note(const struct fg_benchmark_verdict *benchmark,
				       struct fg_note_place *place)
{
	for (; place->metric < benchmark->metric_count; place->metric++, place->note = 0) {
		const struct fg_metric_verdict *metric = &benchmark->metrics[place->metric];

		if (!has_notes_of_interest(metric))
			continue;
		while (place->note < metric->notes.count) {
			const char *note = metric->notes.items[place->note++];

			if (!has_its_own_place(note) &&
			    !is_repeated(benchmark, place->metric, note))
				return note;
		}
	}
	return NULL;
}
