// SPDX-License-Identifier: Apache-2.0
/* Two runs judged, and what the pages draw of them: both are loaded, and gate/ is asked. */
#include "base/clock.h"
#include "gate/gate.h"
#include "perfdb/server/api/handlers.h"
#include "perfdb/server/api/merge.h"
#include "reporters/reporter.h"
#include "store/serving/trend.h"

enum {
	HIDDEN_MEASURE = UINT16_MAX /* rows of it are in nobody's sums */
};

struct pair {
	struct fg_stored_run runs[2];
	bool same;                        /* only runs[0] is loaded: its two arms are the sides */
	struct fg_stored_history earlier; /* than the candidate, on the baseline's branch */
};

/* Imports of two files have the files' names: what is compared is the one profile of each. */
static void name_profiles_alike(struct pair *pair)
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
 * compared, which is what a gate's run holds.
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
	name_profiles_alike(pair);
	return FG_OK;
}

static void release_pair(struct pair *pair)
{
	fg_stored_run_release(&pair->runs[0]);
	fg_stored_run_release(&pair->runs[1]);
	fg_stored_history_release(&pair->earlier);
}

/* The runs before the candidate, of one function. */
struct earlier {
	struct fg_store *store;
	const struct fg_run *baseline;
	int64_t before_ns;
};

static size_t list_own_times(void *context, const char *benchmark,
			     const struct fg_profile_function *function, double *self_ns,
			     size_t room)
{
	const struct earlier *earlier = context;

	return fg_store_own_times(earlier->store, earlier->baseline, earlier->before_ns, benchmark,
				  function, self_ns, room);
}

/*
 * A run that was judged where it was measured keeps that verdict, made under the project's own
 * policy.  Anything else is judged here, by the defaults: so is a run whose report says nothing of
 * its benchmarks.
 */
static int decide(struct fg_request *rq, const struct pair *pair, const char *only,
		  struct fg_verdict *verdict, struct fg_error *err)
{
	const struct fg_stored_run *candidate = pair->same ? &pair->runs[0] : &pair->runs[1];
	struct earlier earlier = {.store = rq->store,
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
	int status = FG_OK;

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
		status = fg_policy_only_measure(&policy, only, &candidate->run, &rq->arena, err);
		if (status != FG_OK)
			return status;
	}
	status = fg_gate_decide(&input, verdict, err);
	if (status != FG_OK)
		return status;
	if (!pair->same)
		fg_gate_note_sessions(&pair->runs[0].run, &candidate->run, verdict);
	return FG_OK;
}

/* NULL: the run has none. */
static struct fg_profile_set *profile_of(const struct fg_stored_run *stored, const char *benchmark)
{
	const struct fg_series *series = fg_run_find(&stored->run, benchmark);

	return series && stored->profiles ? stored->profiles[series - stored->run.series] : NULL;
}

/* The measure that was asked for; NULL: time. */
static const char *other_measure(struct fg_request *rq)
{
	const char *name = fg_request_parameter(rq, "measure");

	return name && strcmp(name, "cpu_time") != 0 && strcmp(name, "wall_time") != 0 ? name
										       : NULL;
}

/*
 * Pages draw the rows of time: those of the measure take their place.  False: the set has none, or
 * its values are not sums (a peak, say) and cannot be drawn as call paths.
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
	/* One per benchmark of the verdict, which may know more benchmarks than the run. */
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

/* Everything that the comparison page draws. */
int fg_handle_verdict(struct fg_request *rq, struct fg_error *err)
{
	struct pair pair = {0};
	struct fg_stored_run joined = {0};
	struct fg_verdict verdict = {0};
	const char *measure = NULL;
	int status = load_pair(rq, &pair, err);

	if (status != FG_OK)
		goto out;
	if (!pair.same)
		status = fg_store_load_history(rq->store, &pair.runs[0].run,
					       pair.runs[1].run.started_ns, &pair.earlier, err);
	if (status != FG_OK)
		goto out;
	measure = other_measure(rq);
	status = decide(rq, &pair, measure, &verdict, err);
	if (status != FG_OK)
		goto out;
	if (!pair.same)
		fg_merge_runs(&pair.runs[0], &pair.runs[1], &joined);
	show_measure_of_all(pair.same ? &pair.runs[0] : &joined, measure);
	write_verdict(rq, pair.same ? &pair.runs[0] : &joined, &verdict);
out:
	fg_verdict_release(&verdict);
	fg_stored_run_release(&joined);
	release_pair(&pair);
	return status;
}

/* "3-9" as pair numbers; everything when the parameter is absent. */
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

/* Rows of other pairs count as little as a warm-up. */
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

/* The profile of one benchmark from some of its pairs, as the pages draw it. */
int fg_handle_profile(struct fg_request *rq, struct fg_error *err)
{
	struct pair pair = {0};
	struct fg_stored_run joined = {0};
	const char *benchmark = NULL;
	struct fg_profile_set *set = NULL;
	uint32_t range[2] = {0};
	int status = fg_request_need(rq, "benchmark", &benchmark, err);

	if (status != FG_OK)
		goto out;
	status = read_pairs(rq, range, err);
	if (status != FG_OK)
		goto out;
	status = load_pair(rq, &pair, err);
	if (status != FG_OK)
		goto out;
	if (!pair.same)
		fg_merge_runs(&pair.runs[0], &pair.runs[1], &joined);
	set = profile_of(pair.same ? &pair.runs[0] : &joined, benchmark);
	if (!set)
		status = fg_error_set(err, FG_ENOENT, "this run has no profile of '%.100s'",
				      benchmark);
out:
	if (set && other_measure(rq) && !show_measure(set, other_measure(rq))) {
		status = fg_error_set(err, FG_ENOENT,
				      "no call paths of '%.100s' can be drawn for '%.100s'",
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
