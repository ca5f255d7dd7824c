// SPDX-License-Identifier: Apache-2.0
/* The history of a metric or function, and its lasting changes. */
#include "gate/creep.h"
#include "perfdb/server/api/handlers.h"
#include "perfdb/server/changes.h"
#include "store/serving/chain.h"
#include "store/serving/history.h"
#include "store/serving/trend.h"

#include <math.h>

enum {
	POINTS_MAX = 10000,
	TIPS_TRIED = 50, /* maximum number of newest runs tried as the end of the chain */
};

static void begin_point(struct fg_json_writer *w, const char *run, int64_t started_ns,
			const char *commit)
{
	fg_json_begin_object(w, NULL);
	fg_json_text(w, "run", run);
	fg_json_time(w, "started_at", started_ns);
	fg_json_text(w, "commit", commit);
}

static void write_point(struct fg_json_writer *w, const struct fg_history_point *p)
{
	begin_point(w, p->run, p->started_ns, p->commit);
	fg_json_text(w, "branch", p->branch);
	fg_json_text(w, "host_fingerprint", p->fingerprint);
	fg_json_double(w, "value", p->candidate);
	fg_json_double(w, "baseline", p->baseline);
	fg_json_double(w, "ratio", p->ratio);
	fg_json_pair(w, "interval", p->low, p->high);
	fg_json_text(w, "verdict", p->outcome);
	if (p->tag)
		fg_json_text(w, "tag", p->tag);
	fg_json_end(w);
}

static int read_place(struct fg_request *rq, const char **project, const char **benchmark,
		      struct fg_error *err)
{
	FG_TRY(fg_request_need(rq, "project", project, err));
	FG_TRY(fg_request_need(rq, "benchmark", benchmark, err));
	return fg_request_may_see(rq, *project, err);
}

/* Returns false if the request turns this part of the answer off. */
static bool is_requested(struct fg_request *rq, const char *part)
{
	const char *value = fg_request_parameter(rq, part);

	return !value || strcmp(value, "0") != 0;
}

/* ---- the chain of ratios ---- */

static void write_chain_point(struct fg_json_writer *w, const struct fg_chain *chain, size_t at,
			      const struct fg_chain_edges *edges)
{
	const struct fg_chain_point *point = &chain->points[at];
	const struct fg_chain_sum level = fg_chain_sum(chain, 0, at, FG_CHAIN_ALL);

	fg_json_begin_object(w, NULL);
	fg_json_text(w, "commit", point->commit);
	if (point->tag)
		fg_json_text(w, "tag", point->tag);
	if (point->edge != SIZE_MAX)
		fg_json_text(w, "run", edges->items[point->edge].run);
	fg_json_double(w, "level", expm1(level.change));
	fg_json_double(w, "standard_error", level.error);
	fg_json_end(w);
}

static void write_levels(struct fg_json_writer *w, const struct fg_chain *chain,
			 const struct fg_chain_edges *edges)
{
	fg_json_begin_array(w, "chain");
	for (size_t i = 0; i < chain->count; i++)
		write_chain_point(w, chain, i, edges);
	fg_json_end(w);
}

static void write_creep(struct fg_json_writer *w, const struct fg_chain *chain,
			const struct fg_chain_edges *edges, const struct fg_history *history,
			const char *metric, struct fg_arena *arena)
{
	const struct fg_metric *builtin = NULL;
	struct fg_creep_verdict *creep = NULL;
	struct fg_policy policy;

	fg_policy_defaults(&policy);
	policy.creep_window = edges->creep_window;
	policy.creep_tolerated = edges->creep_tolerated;
	creep = fg_creep_judge(chain, &policy, history->better, arena);
	if (!creep)
		return;
	builtin = fg_metric_find_builtin(metric);
	creep->label = builtin ? builtin->label : metric;
	fg_json_begin_object(w, "creep");
	fg_json_bool(w, "is_creep", creep->is_creep);
	fg_json_text(w, "sentence", fg_creep_words(creep, arena));
	fg_json_end(w);
}

/*
 * A branch's chain ends at the newest of the branch's last TIPS_TRIED runs that compared two
 * commits.
 */
static int write_chain(struct fg_request *rq, struct fg_json_writer *w,
		       const struct fg_history_query *query, const struct fg_history *history,
		       struct fg_error *err)
{
	struct fg_chain_edges edges = {0};
	struct fg_chain chain = {0};

	FG_TRY(fg_store_chain(rq->store, query->project, query->benchmark, query->metric, &edges,
			      err));
	if (!query->branch)
		fg_chain_build(edges.items, edges.count, NULL, &chain);
	for (size_t i = 0; query->branch && i < history->count && i < TIPS_TRIED && !chain.count;
	     i++) {
		const struct fg_history_point *point = &history->points[history->count - 1 - i];

		if (point->commit && !point->dirty)
			fg_chain_build(edges.items, edges.count, point->commit, &chain);
	}
	write_levels(w, &chain, &edges);
	if (chain.count > 0)
		write_creep(w, &chain, &edges, history, query->metric, &rq->arena);
	fg_chain_release(&chain);
	fg_chain_edges_release(&edges);
	return FG_OK;
}

static int read_query(struct fg_request *rq, struct fg_history_query *query, struct fg_error *err)
{
	*query = (struct fg_history_query){.branch = fg_request_parameter(rq, "branch"),
					   .limit = POINTS_MAX};
	FG_TRY(read_place(rq, &query->project, &query->benchmark, err));
	/* A gated measure is a metric of the same name. */
	query->metric = fg_request_parameter(rq, "measure");
	if (!query->metric)
		FG_TRY(fg_request_need(rq, "metric", &query->metric, err));
	return fg_request_size(rq, "limit", POINTS_MAX, &query->limit, err);
}

int fg_handle_trend(struct fg_request *rq, struct fg_error *err)
{
	struct fg_history_query query = {0};
	struct fg_history history = {0};
	struct fg_change_series usable = {0};
	struct fg_json_writer w;
	const bool shows_points = is_requested(rq, "points");
	int status = FG_OK;

	FG_TRY(read_query(rq, &query, err));
	FG_TRY(fg_store_history(rq->store, &query, &history, err));
	fg_change_series_init(&usable, history.count);
	fg_request_json(rq, &w);
	fg_json_begin_object(&w, NULL);
	fg_json_text(&w, "unit", history.unit);
	fg_json_text(&w, "better", history.better == FG_BETTER_HIGHER ? "higher" : "lower");
	if (history.min_effect > 0)
		fg_json_double(&w, "threshold", history.min_effect);
	fg_json_begin_array(&w, "points");
	for (size_t i = 0; i < history.count; i++) {
		if (shows_points)
			write_point(&w, &history.points[i]);
		fg_change_series_add(&usable, i, history.points[i].run,
				     history.points[i].candidate);
	}
	fg_json_end(&w);
	if (shows_points && is_requested(rq, "chain"))
		FG_TRY_OUT(write_chain(rq, &w, &query, &history, err));
	if (is_requested(rq, "changes"))
		status = fg_changes_write(&w, &usable, err);
	if (status == FG_OK)
		fg_json_end(&w);
out:
	fg_change_series_release(&usable);
	fg_history_release(&history);
	return status;
}

static int check_cost(struct fg_request *rq, struct fg_error *err)
{
	const char *of = fg_request_parameter(rq, "of");

	if (of && strcmp(of, "own") != 0 && strcmp(of, "callees") != 0)
		return fg_error_set(err, FG_EINVAL,
				    "parameter 'of' is '%.20s': expected own or callees", of);
	return FG_OK;
}

/* Does the request want times with callees instead of own times? */
static bool is_with_callees(struct fg_request *rq)
{
	const char *of = fg_request_parameter(rq, "of");

	return of && strcmp(of, "callees") == 0;
}

/* Converts times from nanoseconds to milliseconds, with a precision of 0.1 µs. */
static double written(double value, bool is_time)
{
	return is_time ? round(value / 100) / 1e4 : value;
}

/* Writes changes only on request, because the search takes longer than the rest of the answer. */
static int write_function_changes(struct fg_request *rq, struct fg_json_writer *w,
				  const struct fg_function_point *points, size_t count,
				  bool is_time, struct fg_error *err)
{
	const char *wanted = fg_request_parameter(rq, "changes");
	const bool with_callees = is_with_callees(rq);
	struct fg_change_series usable = {0};
	int status = FG_OK;

	if (!wanted || strcmp(wanted, "1") != 0)
		return FG_OK;
	fg_change_series_init(&usable, count);
	for (size_t i = 0; i < count; i++)
		fg_change_series_add(
			&usable, i, points[i].run,
			written(with_callees ? points[i].inclusive : points[i].self, is_time));
	status = fg_changes_write(w, &usable, err);
	fg_change_series_release(&usable);
	return status;
}

static void write_function_point(struct fg_json_writer *w, const struct fg_function_point *p,
				 bool is_time, bool with_callees)
{
	begin_point(w, p->run, p->started_ns, p->commit);
	fg_json_double(w, "value", written(with_callees ? p->inclusive : p->self, is_time));
	fg_json_double(w, "self", written(p->self, is_time));
	fg_json_double(w, "inclusive", written(p->inclusive, is_time));
	fg_json_end(w);
}

static int write_function_trend(struct fg_request *rq, const struct fg_trend_query *query,
				const struct fg_function_trend *trend, struct fg_error *err)
{
	const size_t count = fg_min_size(query->limit, trend->count);
	const struct fg_function_point *newest = trend->points + (trend->count - count);
	const bool with_callees = is_with_callees(rq);
	struct fg_json_writer w;

	fg_request_json(rq, &w);
	fg_json_begin_object(&w, NULL);
	fg_json_text(&w, "name", query->name);
	fg_json_text(&w, "library", query->library);
	fg_json_text(&w, "unit", trend->unit ? trend->unit : "ms");
	fg_json_begin_array(&w, "points");
	for (size_t i = 0; i < count; i++)
		write_function_point(&w, &newest[i], !trend->unit, with_callees);
	fg_json_end(&w);
	FG_TRY(write_function_changes(rq, &w, newest, count, !trend->unit, err));
	fg_json_end(&w);
	return FG_OK;
}

int fg_handle_function_trend(struct fg_request *rq, struct fg_error *err)
{
	struct fg_function_trend trend = {0};
	struct fg_trend_query query = {
		.branch = fg_request_parameter(rq, "branch"),
		.library = fg_request_parameter(rq, "library"),
		.measure = fg_request_parameter(rq, "measure"),
		.limit = POINTS_MAX,
	};
	int status = FG_OK;

	FG_TRY(read_place(rq, &query.project, &query.benchmark, err));
	FG_TRY(fg_request_need(rq, "name", &query.name, err));
	FG_TRY(check_cost(rq, err));
	FG_TRY(fg_request_size(rq, "limit", POINTS_MAX, &query.limit, err));
	status = fg_store_function_trend(rq->store, &query, &trend, err);
	if (status == FG_OK)
		status = write_function_trend(rq, &query, &trend, err);
	fg_function_trend_release(&trend);
	return status;
}
