// SPDX-License-Identifier: Apache-2.0
#include "store/serving/chain.h"

#include "base/json.h"
#include "model/policy.h"
#include "store/chunks.h"
#include "store/db.h"
#include "store/names.h"
#include "store/serving/history.h"
#include "store/session.h"

#include <limits.h>
#include <math.h>

static cJSON *parse(const char *details)
{
	cJSON *json = NULL;

	return details && fg_json_parse(details, strlen(details), FG_MAX_CHUNK_BYTES, &json,
					NULL) == FG_OK
		       ? json
		       : NULL;
}

/*
 * Returns true if the benchmark was not measured because nothing that it executes or reads has
 * changed.
 */
static bool is_unaffected(const char *details)
{
	cJSON *json = parse(details);
	const bool is = cJSON_IsTrue(fg_json_find(json, "unaffected"));

	cJSON_Delete(json);
	return is;
}

/* Takes the policy of the newest run, whose edge is still the first of the list. */
static int take_policy(struct fg_store *store, struct fg_chain_edges *edges, struct fg_error *err)
{
	struct fg_policy policy;
	struct fg_query q;
	cJSON *json = NULL;
	double window = 0;
	double tolerated = 0;
	int status = FG_OK;

	fg_policy_defaults(&policy);
	edges->creep_window = policy.creep_window;
	edges->creep_tolerated = policy.creep_tolerated;
	if (edges->count == 0)
		return FG_OK;
	FG_QUERY_WITH(&q, store->db, FG_SQL_SERIES_DETAILS, FG_BIND(edges->items[0].series));
	status = fg_query_step(&q, err);
	if (status > 0)
		json = parse(fg_column_text(&q, 0));
	fg_query_end(&q);
	window = fg_json_double_or(json, "creep_window", 0);
	tolerated = fg_json_double_or(json, "creep_tolerated", 0);
	if (window > 0 || tolerated > 0) { /* 0: not recorded in the run */
		edges->creep_window = (unsigned)fmin(fmax(window, 0), INT_MAX);
		edges->creep_tolerated = fmax(tolerated, 0);
	}
	cJSON_Delete(json);
	return status < 0 ? status : FG_OK;
}

static bool is_outcome(const struct fg_query *q, const char *name)
{
	const char *outcome = fg_column_text(q, 8);

	return outcome && strcmp(outcome, name) == 0;
}

static void take_edge(const struct fg_query *q, struct fg_chain_edges *edges)
{
	struct fg_chain_edge edge = {
		.series = fg_column_int(q, 4),
		.pairs = (unsigned)fg_column_int(q, 5),
		.change = fg_column_double(q, 6),
		.error = fg_column_double(q, 7),
		.is_known = is_outcome(q, "regression") || is_outcome(q, "improvement"),
	};

	if (is_unaffected(fg_column_text(q, 9)))
		edge.change = edge.error = 0;
	if (!isfinite(edge.change) || !(edge.error >= 0) || !isfinite(edge.error))
		return;
	edge.run = fg_arena_strdup(&edges->texts, fg_column_text(q, 0));
	edge.from = fg_arena_strdup(&edges->texts, fg_column_text(q, 1));
	edge.to = fg_arena_strdup(&edges->texts, fg_column_text(q, 2));
	edge.tag = fg_arena_strdup(&edges->texts, fg_column_text(q, 3));
	FG_APPEND(edges->items, edges->count, edges->capacity) = edge;
}

int fg_store_chain(struct fg_store *store, const char *project, const char *benchmark,
		   const char *metric, struct fg_chain_edges *edges, struct fg_error *err)
{
	struct fg_chain_edges found = {0};
	uint8_t digest[FG_DIGEST_SIZE];
	struct fg_query q;
	int64_t id = 0;
	int status = FG_OK;

	FG_TRY(fg_store_benchmark(store, project, benchmark, &id, err));
	fg_digest(metric, NULL, NULL, digest);
	FG_QUERY_WITH(&q, store->db, FG_SQL_CHAIN, FG_BIND(id), FG_BIND(fg_digest_blob(digest)),
		      FG_BIND(FG_CHAIN_RUNS_MAX));
	while ((status = fg_query_step(&q, err)) > 0)
		take_edge(&q, &found);
	fg_query_end(&q);
	if (status == FG_OK)
		status = take_policy(store, &found, err);
	if (status != FG_OK) {
		fg_chain_edges_release(&found);
		return status;
	}
	for (size_t i = 0; i < found.count / 2; i++) {
		const struct fg_chain_edge edge = found.items[i];

		found.items[i] = found.items[found.count - 1 - i];
		found.items[found.count - 1 - i] = edge;
	}
	*edges = found;
	return FG_OK;
}

void fg_chain_edges_release(struct fg_chain_edges *edges)
{
	free(edges->items);
	fg_arena_release(&edges->texts);
	*edges = (struct fg_chain_edges){0};
}
