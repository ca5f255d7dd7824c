// SPDX-License-Identifier: Apache-2.0
/* Lists functions that crept up over several benchmarks of a project, on all hosts. */

#include "gate/creep_functions.h"
#include "model/policy.h"
#include "perfdb/server/api/handlers.h"
#include "store/functions.h"
#include "store/serving/chain.h"
#include "store/serving/history.h"
#include "store/serving/sums.h"

enum {
	RUNS_MAX = 2000, /* after this many runs, no further benchmark is read */
	FUNCTIONS_SHOWN = 20,
	BENCHMARKS_MIN = 2, /* minimum number of benchmarks that call a function */
};

/* Adds the functions of a benchmark to the pool. Returns the number of runs read. */
static size_t add_benchmark(struct fg_store *store, const char *project, const char *benchmark,
			    struct fg_creep_pool *pool)
{
	struct fg_chain_edges edges = {0};
	struct fg_chain chain = {0};
	struct fg_creep_runs runs = {0};
	size_t read = 0;

	if (fg_store_chain(store, project, benchmark, "cpu_time", &edges, NULL) == FG_OK)
		fg_chain_build(edges.items, edges.count, NULL, &chain);
	if (chain.count > FG_CREEP_FUNCTION_STEPS) {
		fg_creep_runs_pick(&chain, edges.items, edges.count, edges.creep_window, &runs);
		read = runs.count;
		fg_store_edge_totals(store, runs.edges, runs.count, runs.totals);
		fg_creep_pool_add_runs(pool, &chain, &runs, edges.creep_window);
	}
	fg_creep_runs_release(&runs);
	fg_chain_release(&chain);
	fg_chain_edges_release(&edges);
	return read;
}

static void write_pool(struct fg_request *rq, struct fg_creep_pool *pool)
{
	struct fg_json_writer w;
	struct fg_policy policy;
	size_t risen = 0;

	fg_policy_defaults(&policy);
	risen = fg_creep_pool_risen(pool, BENCHMARKS_MIN, policy.function_floor);
	fg_request_json(rq, &w);
	fg_json_begin_object(&w, NULL);
	fg_json_int(&w, "benchmarks", (int64_t)pool->benchmarks);
	fg_json_begin_array(&w, "functions");
	for (size_t i = 0; i < risen && i < FUNCTIONS_SHOWN; i++) {
		struct fg_function_row row;

		if (fg_store_function(rq->store, pool->rises[i].function, &row, NULL) != FG_OK)
			continue;
		fg_json_begin_object(&w, NULL);
		fg_json_text(&w, "name", row.function.name);
		fg_json_text(&w, "library", row.function.library);
		fg_json_double(&w, "change", pool->rises[i].change);
		fg_json_int(&w, "benchmarks", (int64_t)pool->rises[i].benchmarks);
		fg_json_end(&w);
	}
	fg_json_end(&w);
	fg_json_end(&w);
}

int fg_handle_creep(struct fg_request *rq, struct fg_error *err)
{
	struct fg_name_list benchmarks = {0};
	struct fg_creep_pool pool = {0};
	const char *project = NULL;
	size_t read = 0;

	FG_TRY(fg_request_project(rq, &project, err));
	FG_TRY(fg_store_benchmarks(rq->store, project, &benchmarks, err));
	for (size_t i = 0; i < benchmarks.count && read < RUNS_MAX; i++)
		read += add_benchmark(rq->store, project, benchmarks.items[i], &pool);
	write_pool(rq, &pool);
	fg_creep_pool_release(&pool);
	fg_name_list_release(&benchmarks);
	return FG_OK;
}
