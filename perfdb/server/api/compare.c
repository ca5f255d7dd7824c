// SPDX-License-Identifier: Apache-2.0
/* Compares two stored runs, or the two sides of one run, and writes the data for the pages. */
#include "base/clock.h"
#include "gate/gate.h"
#include "perfdb/server/api/handlers.h"
#include "reporters/reporter.h"
#include "store/serving/trend.h"
#include "store/store.h"

enum {
	HIDDEN_MEASURE = UINT16_MAX /* marks rows that no sum includes */
};

struct pair {
	struct fg_stored_run runs[2];
	bool same; /* only runs[0] is loaded: its two arms are the sides */
	/* earlier runs on the baseline's branch */
	struct fg_stored_history earlier;
};

/* Adds the candidate's repetitions to an arm; values are matched by metric name. */
static void add_repetitions(struct fg_series *to, const struct fg_series *from, uint8_t arm)
{
	for (size_t i = 0; i < from->repetition_count; i++) {
		const struct fg_repetition *r = &from->repetitions[i];
		struct fg_repetition *copy = NULL;
		double *values = NULL;

		if (r->arm != FG_ARM_CANDIDATE)
			continue;
		copy = fg_series_add_repetition(to);
		values = copy->values;
		*copy = *r;
		copy->values = values;
		copy->arm = arm;
		copy->position = arm;
		for (size_t m = 0; m < from->metric_count; m++) {
			const size_t place = fg_series_find_metric(to, from->metrics[m].name);

			if (place != SIZE_MAX)
				values[place] = r->values[m];
		}
	}
}

static void add_metrics(struct fg_series *to, const struct fg_series *from)
{
	for (size_t m = 0; m < from->metric_count; m++) {
		if (fg_series_find_metric(to, from->metrics[m].name) == SIZE_MAX)
			(void)fg_series_add_metric(to, &from->metrics[m]);
	}
}

static void add_rows(struct fg_profile_set *to, const struct fg_profile_set *from, uint8_t arm)
{
	uint32_t *functions = fg_xcalloc(from->function_count, sizeof(*functions));
	uint32_t *nodes = fg_xcalloc(from->node_count, sizeof(*nodes));

	for (size_t i = 1; i < from->function_count; i++)
		functions[i] = fg_profile_set_function(to, &from->functions[i]);
	for (size_t i = 1; i < from->node_count; i++)
		nodes[i] = fg_profile_set_node(to, nodes[from->nodes[i].parent],
					       functions[from->nodes[i].function]);
	for (size_t r = 0; r < from->row_count; r++) {
		const struct fg_profile_row *row = &from->rows[r];
		struct fg_profile_row *copy = NULL;

		if (row->arm != FG_ARM_CANDIDATE)
			continue;
		copy = fg_profile_set_add_row(to, row->count);
		copy->arm = arm;
		copy->pair = row->pair;
		copy->aside = row->aside;
		copy->count = row->count;
		copy->measure =
			fg_profile_set_measure(to, fg_measure_at(&from->measures, row->measure));
		copy->total = row->total;
		copy->lost = row->lost;
		copy->truncated = row->truncated;
		for (uint32_t i = 0; i < row->count; i++) {
			copy->nodes[i] = nodes[row->nodes[i]];
			copy->values[i] = row->values[i];
			copy->samples[i] = row->samples[i];
		}
	}
	free(nodes);
	free(functions);
}

static void add_regions(struct fg_profile_set *to, const struct fg_profile_set *from, uint8_t arm)
{
	for (size_t r = 0; r < from->region_row_count; r++) {
		const struct fg_profile_region_row *row = &from->region_rows[r];
		struct fg_profile_region_row *copy = NULL;
		uint32_t region = 0;

		if (row->arm != FG_ARM_CANDIDATE)
			continue;
		region = fg_profile_set_region(to, from->regions[row->region]);
		copy = fg_profile_set_add_region_row(to);
		*copy = *row;
		copy->arm = arm;
		copy->region = region;
	}
}

/* Copies the candidate's part of one profile into an arm of another profile. */
static void add_side(struct fg_profile_set *to, const struct fg_profile_set *from, uint8_t arm)
{
	add_rows(to, from, arm);
	add_regions(to, from, arm);
}

static struct fg_profile_set *merge_profiles(const struct fg_profile_set *a,
					     const struct fg_profile_set *b)
{
	struct fg_profile_set *set = NULL;

	if (!b)
		return NULL;
	set = fg_xcalloc(1, sizeof(*set));
	fg_profile_set_init(set, b->functions[0].name);
	if (a)
		add_side(set, a, FG_ARM_BASELINE);
	add_side(set, b, FG_ARM_CANDIDATE);
	return set;
}

/*
 * Merges two stored runs into one with two arms: the candidate of `a` becomes the baseline, the
 * candidate of `b` the candidate. The merged run has the id of `b`.
 */
static void merge_runs(const struct fg_stored_run *a, const struct fg_stored_run *b,
		       struct fg_stored_run *joined)
{
	const struct fg_run *run = &b->run;
	struct fg_run *to = &joined->run;

	*joined = (struct fg_stored_run){0};
	fg_run_init(to);
	memcpy(to->id, run->id, sizeof(to->id));
	to->project = fg_xstrdup(run->project);
	to->started_ns = run->started_ns;
	to->ended_ns = run->ended_ns;
	to->complete = run->complete;
	to->has_baseline = true;
	to->tool_version = fg_xstrdup(run->tool_version);
	fg_side_copy(&to->sides[FG_ARM_BASELINE], &a->run.sides[FG_ARM_CANDIDATE]);
	fg_side_copy(&to->sides[FG_ARM_CANDIDATE], &run->sides[FG_ARM_CANDIDATE]);
	fg_environment_copy(&to->host, &run->host);
	joined->profiles = fg_xcalloc(run->series_count, sizeof(struct fg_profile_set *));
	for (size_t i = 0; i < run->series_count; i++) {
		const struct fg_series *mine = &run->series[i];
		const struct fg_series *other = fg_run_find(&a->run, mine->name);
		struct fg_series *series = fg_run_add_series(to, mine->name);
		const struct fg_profile_set *profile = NULL;

		series->command = fg_xstrdup(mine->command);
		series->state = mine->state;
		series->schedule = FG_SCHEDULE_STORED;
		add_metrics(series, mine);
		if (other)
			add_repetitions(series, other, FG_ARM_BASELINE);
		add_repetitions(series, mine, FG_ARM_CANDIDATE);
		if (other && a->profiles)
			profile = a->profiles[other - a->run.series];
		joined->profiles[i] = merge_profiles(profile, b->profiles ? b->profiles[i] : NULL);
	}
}

/*
 * Imported profiles are named after their files. If each side has a single profile, both get the
 * same name.
 */
static void match_profile_names(struct pair *pair)
{
	struct fg_run *a = &pair->runs[0].run;
	const struct fg_run *b = &pair->runs[1].run;

	if (pair->same || a->series_count != 1 || b->series_count != 1 ||
	    !fg_series_is_profile(&a->series[0]) || !fg_series_is_profile(&b->series[0]))
		return;
	free(a->series[0].name);
	a->series[0].name = fg_xstrdup(b->series[0].name);
}

/*
 * Parameter `a` is the baseline and `b` the candidate; without `b`, the two arms of `a` are
 * compared.
 */
static int load_pair(struct fg_request *rq, struct pair *pair, struct fg_error *err)
{
	const char *ids[2] = {NULL, fg_request_parameter(rq, "b")};
	int status = fg_request_need(rq, "a", &ids[0], err);

	for (int i = 0; i < 2 && status == FG_OK; i++) {
		if (ids[i])
			status = fg_request_find_run(rq, ids[i], &ids[i], err);
	}
	if (status != FG_OK)
		return status;
	pair->same = !ids[1] || strcmp(ids[0], ids[1]) == 0;
	for (int i = 0; i < (pair->same ? 1 : 2) && status == FG_OK; i++)
		status = fg_store_load(rq->store, ids[i], &pair->runs[i], err);
	if (status != FG_OK)
		return status;
	match_profile_names(pair);
	return FG_OK;
}

static void release_pair(struct pair *pair)
{
	fg_stored_run_release(&pair->runs[0]);
	fg_stored_run_release(&pair->runs[1]);
	fg_stored_history_release(&pair->earlier);
}

static size_t list_own_times(void *context, const char *benchmark,
			     const struct fg_profile_function *function, double *self_ns,
			     size_t room)
{
	return fg_store_own_times(context, benchmark, function, self_ns, room);
}

/*
 * A run that was judged where it was measured keeps that verdict, which follows the project's own
 * policy. Two different runs, a run whose report is missing or lacks benchmarks, and a single
 * measure (`only`) are judged here with the defaults.
 */
static int decide(struct fg_request *rq, const struct pair *pair, const char *only,
		  struct fg_verdict *verdict, struct fg_error *err)
{
	const struct fg_stored_run *candidate = pair->same ? &pair->runs[0] : &pair->runs[1];
	struct fg_earlier_runs earlier = {.store = rq->store,
					  .baseline = &pair->runs[0].run,
					  .before_ns = candidate->run.started_ns};
	struct fg_policy policy;
	struct fg_measuring measure;
	struct fg_gate_input input = {
		.run = &candidate->run,
		.baseline = pair->same ? NULL : &pair->runs[0].run,
		.profiles = (const struct fg_profile_set *const *)candidate->profiles,
		.baseline_profiles =
			pair->same ? NULL
				   : (const struct fg_profile_set *const *)pair->runs[0].profiles,
		.policy = &policy,
		.measure = &measure,
		.history = pair->earlier.list,
		.history_count = pair->earlier.count,
		.function_history = only ? NULL : list_own_times,
		.history_context = &earlier,
		.now_ns = fg_clock_wall_ns(),
	};

	if (pair->same && !only && candidate->report &&
	    fg_report_read(candidate->report, strlen(candidate->report), verdict, NULL) == FG_OK) {
		if (verdict->benchmark_count >= candidate->run.series_count)
			return FG_OK;
		fg_verdict_release(verdict);
	}
	for (int i = 0; i < (pair->same ? 1 : 2); i++)
		fg_report_restore_arguments(pair->runs[i].report, &pair->runs[i].run,
					    pair->runs[i].profiles);
	fg_policy_defaults(&policy);
	fg_measuring_defaults(&measure);
	if (only) {
		FG_TRY(fg_policy_only_measure(&policy, only, &candidate->run, &rq->arena, err));
	}
	FG_TRY(fg_gate_decide(&input, verdict, err));
	if (!pair->same)
		fg_gate_note_sessions(&pair->runs[0].run, &candidate->run, verdict);
	return FG_OK;
}

/* Returns NULL if the run has no such profile. */
static struct fg_profile_set *profile_of(const struct fg_stored_run *stored, const char *benchmark)
{
	const struct fg_series *series = fg_run_find(&stored->run, benchmark);

	return series && stored->profiles ? stored->profiles[series - stored->run.series] : NULL;
}

/* Returns the requested measure; NULL for time. */
static const char *other_measure(struct fg_request *rq)
{
	const char *name = fg_request_parameter(rq, "measure");

	return name && strcmp(name, "cpu_time") != 0 && strcmp(name, "wall_time") != 0 ? name
										       : NULL;
}

/*
 * Pages draw the rows of time, so the measure's rows replace them. Returns false if the set has no
 * rows of the measure, or if its values (a peak, say) are not sums and cannot be drawn as call
 * paths.
 */
static bool show_measure(struct fg_profile_set *set, const char *measure)
{
	uint16_t id = 0;
	bool found = false;

	if (!fg_measure_find(&set->measures, measure, &id) ||
	    fg_measure_at(&set->measures, id)->fold != FG_FOLD_SUM)
		return false;
	for (size_t i = 0; i < set->row_count; i++) {
		struct fg_profile_row *row = &set->rows[i];

		found |= row->measure == id;
		row->measure = row->measure == id ? FG_MEASURE_CPU_TIME : HIDDEN_MEASURE;
	}
	return found;
}

static void show_measure_of_all(const struct fg_stored_run *run, const char *measure)
{
	for (size_t i = 0; measure && run->profiles && i < run->run.series_count; i++) {
		if (run->profiles[i])
			(void)show_measure(run->profiles[i], measure);
	}
}

static void write_verdict(struct fg_request *rq, const struct fg_stored_run *shown,
			  const struct fg_verdict *verdict)
{
	/* one per benchmark of the verdict, which may have more benchmarks than the run */
	const struct fg_profile_set **profiles =
		fg_xcalloc(verdict->benchmark_count, sizeof(*profiles));
	const struct fg_report report = {
		.run = &shown->run, .verdict = verdict, .profiles = profiles};

	for (size_t i = 0; i < verdict->benchmark_count; i++)
		profiles[i] = profile_of(shown, verdict->benchmarks[i].name);
	rq->answer.type = "application/json";
	fg_report_page_json(&report, false, &rq->answer.text);
	free(profiles);
}

/* Answers with everything that the comparison page draws. */
int fg_handle_verdict(struct fg_request *rq, struct fg_error *err)
{
	struct pair pair = {0};
	struct fg_stored_run joined = {0};
	struct fg_verdict verdict = {0};
	const char *measure = NULL;
	int status = FG_OK;

	FG_TRY_OUT(load_pair(rq, &pair, err));
	if (!pair.same)
		FG_TRY_OUT(fg_store_load_history(rq->store, &pair.runs[0].run,
						 pair.runs[1].run.started_ns, &pair.earlier, err));
	measure = other_measure(rq);
	FG_TRY_OUT(decide(rq, &pair, measure, &verdict, err));
	if (!pair.same)
		merge_runs(&pair.runs[0], &pair.runs[1], &joined);
	show_measure_of_all(pair.same ? &pair.runs[0] : &joined, measure);
	write_verdict(rq, pair.same ? &pair.runs[0] : &joined, &verdict);
out:
	fg_verdict_release(&verdict);
	fg_stored_run_release(&joined);
	release_pair(&pair);
	return status;
}

/* Reads "3-9" as pair numbers; all pairs if the parameter is absent. */
static int read_pairs(struct fg_request *rq, uint32_t range[2], struct fg_error *err)
{
	const char *words = fg_request_parameter(rq, "pairs");
	char *end = NULL;
	unsigned long from = 0;
	unsigned long to = UINT32_MAX;

	if (words) {
		from = strtoul(words, &end, 10);
		if (end == words || *end != '-')
			return fg_error_set(err, FG_EINVAL,
					    "parameter 'pairs' is '%.20s': expected FROM-TO",
					    words);
		words = end + 1;
		to = strtoul(words, &end, 10);
		if (end == words || *end || from > to || to > UINT32_MAX)
			return fg_error_set(err, FG_EINVAL,
					    "parameter 'pairs' ends with '%.20s': expected FROM-TO",
					    words);
	}
	range[0] = (uint32_t)from;
	range[1] = (uint32_t)to;
	return FG_OK;
}

/* Excludes the rows of pairs outside the range, as if these pairs were warm-ups. */
static void keep_pairs(struct fg_profile_set *set, const uint32_t range[2])
{
	for (size_t i = 0; i < set->row_count; i++) {
		if (set->rows[i].pair < range[0] || set->rows[i].pair > range[1])
			set->rows[i].aside |= FG_ASIDE_WARMUP;
	}
	for (size_t i = 0; i < set->region_row_count; i++) {
		if (set->region_rows[i].pair < range[0] || set->region_rows[i].pair > range[1])
			set->region_rows[i].aside |= FG_ASIDE_WARMUP;
	}
}

/* Answers with the profile of one benchmark from some of its pairs, as the pages draw it. */
int fg_handle_profile(struct fg_request *rq, struct fg_error *err)
{
	struct pair pair = {0};
	struct fg_stored_run joined = {0};
	const char *benchmark = NULL;
	struct fg_profile_set *set = NULL;
	uint32_t range[2] = {0};
	int status = FG_OK;

	FG_TRY_OUT(fg_request_need(rq, "benchmark", &benchmark, err));
	FG_TRY_OUT(read_pairs(rq, range, err));
	FG_TRY_OUT(load_pair(rq, &pair, err));
	if (!pair.same)
		merge_runs(&pair.runs[0], &pair.runs[1], &joined);
	set = profile_of(pair.same ? &pair.runs[0] : &joined, benchmark);
	if (!set)
		status = fg_error_set(err, FG_ENOENT, "this run has no profile of '%.100s'",
				      benchmark);
out:
	if (set && other_measure(rq) && !show_measure(set, other_measure(rq))) {
		status = fg_error_set(err, FG_ENOENT,
				      "measure '%.100s' of '%.100s' cannot be drawn by call path",
				      other_measure(rq), benchmark);
		set = NULL;
	}
	if (set) {
		keep_pairs(set, range);
		rq->answer.type = "application/json";
		fg_report_profile_json(set, &rq->answer.text);
	}
	fg_stored_run_release(&joined);
	release_pair(&pair);
	return status;
}
