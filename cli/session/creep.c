// SPDX-License-Identifier: Apache-2.0
#include "gate/creep.h"

#include "cli/session/stored.h"
#include "store/functions.h"
#include "store/serving/sums.h"

#include <math.h>

enum {
	ANCHOR_EVERY = 10, /* minimum number of commits between anchors */
	FUNCTIONS_KEPT = 10,
};

static const char work_tree[] = "the work tree";

/* ---- functions ---- */

static struct fg_arena *arena_of(struct fg_chained *chained)
{
	return chained->arena ? chained->arena : &chained->edges.texts;
}

size_t fg_creep_name(struct fg_store *store, const struct fg_creep_rise *rises, size_t count,
		     struct fg_arena *arena, struct fg_creep_function **named)
{
	size_t kept = 0;

	*named = fg_arena_array(arena, FUNCTIONS_KEPT, sizeof(**named));
	for (size_t i = 0; i < count && kept < FUNCTIONS_KEPT; i++) {
		struct fg_function_row row;

		if (fg_store_function(store, rises[i].function, &row, NULL) != FG_OK)
			continue;
		(*named)[kept++] = (struct fg_creep_function){
			.name = fg_arena_strdup(arena, row.function.name),
			.library = fg_arena_strdup(arena, row.function.library),
			.change = rises[i].change,
			.benchmarks = (unsigned)rises[i].benchmarks,
		};
	}
	return kept;
}

static void find_functions(struct fg_store *store, const struct fg_policy *policy,
			   struct fg_chained *chained)
{
	struct fg_creep_verdict *creep = chained->creep;
	struct fg_creep_runs runs = {0};
	struct fg_creep_pool pool = {0};
	size_t risen = 0;

	fg_creep_runs_pick(&chained->chain, chained->edges.items, chained->edges.count,
			   policy->creep_window, &runs);
	fg_store_edge_totals(store, runs.edges, runs.count, runs.totals);
	fg_creep_pool_add_runs(&pool, &chained->chain, &runs, policy->creep_window);
	if (chained->pool)
		fg_creep_pool_add_runs(chained->pool, &chained->chain, &runs, policy->creep_window);
	risen = fg_creep_pool_risen(&pool, 1, policy->function_floor);
	creep->function_count =
		fg_creep_name(store, pool.rises, risen, arena_of(chained), &creep->functions);
	fg_creep_pool_release(&pool);
	fg_creep_runs_release(&runs);
}

/* ---- one metric ---- */

/* Replaces the run's stored edges, which exist if the run is judged again. */
static void add_own(struct fg_chain_edges *edges, const struct fg_chain_edge *own)
{
	size_t kept = 0;

	for (size_t i = 0; i < edges->count; i++) {
		if (strcmp(edges->items[i].run, own->run) != 0)
			edges->items[kept++] = edges->items[i];
	}
	edges->count = kept;
	FG_APPEND(edges->items, edges->count, edges->capacity) = *own;
}

int fg_chained_load(struct fg_store *store, const struct fg_chained_metric *metric,
		    const struct fg_policy *policy, const struct fg_chain_edge *own,
		    struct fg_chained *chained, struct fg_error *err)
{
	const int status = fg_store_chain(store, metric->project, metric->benchmark, metric->name,
					  &chained->edges, err);
	struct fg_chain_edges *edges = &chained->edges;
	struct fg_policy stored;

	if (status != FG_OK && status != FG_ENOENT)
		return status;
	if (!policy) {
		fg_policy_defaults(&stored);
		stored.creep_window = edges->creep_window;
		stored.creep_tolerated = edges->creep_tolerated;
		policy = &stored;
	}
	if (own)
		add_own(edges, own);
	if (edges->count == 0)
		return FG_OK;
	fg_chain_build(edges->items, edges->count, own ? own->to : NULL, &chained->chain);
	chained->creep = fg_creep_judge(&chained->chain, policy, metric->better, arena_of(chained));
	if (!chained->creep)
		return FG_OK;
	chained->creep->metric = fg_arena_strdup(arena_of(chained), metric->name);
	chained->creep->label = fg_arena_strdup(arena_of(chained), metric->label);
	if (strcmp(metric->name, "cpu_time") == 0)
		find_functions(store, policy, chained);
	chained->creep->sentence = fg_creep_words(chained->creep, arena_of(chained));
	return FG_OK;
}

void fg_chained_release(struct fg_chained *chained)
{
	fg_chain_release(&chained->chain);
	fg_chain_edges_release(&chained->edges);
	*chained = (struct fg_chained){0};
}

/* ---- a run ---- */

static bool is_anchored_lately(const struct fg_chain *chain)
{
	for (size_t i = 0; i < chain->anchor_count; i++) {
		if (chain->anchors[i].to + ANCHOR_EVERY >= chain->count)
			return true;
	}
	return false;
}

/* Raises the outcome to creep, unless the outcome is inconclusive and already fails the run. */
static void raise_outcome(const struct fg_policy *policy, enum fg_outcome *outcome)
{
	if (*outcome != FG_OUTCOME_INCONCLUSIVE || !policy->fail_on_inconclusive)
		*outcome = fg_outcome_worse(*outcome, FG_OUTCOME_CREEP);
}

static void take_creep(struct fg_session *session, const struct fg_policy *policy,
		       struct fg_benchmark_verdict *benchmark, struct fg_metric_verdict *metric,
		       const struct fg_creep_verdict *creep)
{
	struct fg_arena *arena = &session->result.verdict.arena;

	if (benchmark->creep && (benchmark->creep->is_creep || !creep->is_creep))
		return;
	benchmark->creep = creep;
	fg_notes_add(&benchmark->notes, arena, "%s: %s", creep->is_creep ? "creep" : "crept up",
		     creep->sentence);
	if (!creep->is_creep)
		return;
	raise_outcome(policy, &metric->outcome);
	raise_outcome(policy, &benchmark->outcome);
}

static struct fg_chain_edge edge_of(const struct fg_run *run,
				    const struct fg_metric_verdict *metric)
{
	const struct fg_side *candidate = &run->sides[FG_ARM_CANDIDATE];

	return (struct fg_chain_edge){
		.run = run->id,
		.from = run->sides[FG_ARM_BASELINE].commit,
		.to = candidate->dirty ? work_tree : candidate->commit,
		.pairs = metric->pairs,
		.change = metric->step,
		.error = metric->step_error,
		.is_known = metric->outcome == FG_OUTCOME_REGRESSION ||
			    metric->outcome == FG_OUTCOME_IMPROVEMENT,
	};
}

static bool is_step(const struct fg_chain_edge *edge)
{
	return strcmp(edge->from, edge->to) != 0 && isfinite(edge->change) && edge->error >= 0 &&
	       isfinite(edge->error);
}

static int look_at(struct fg_session *session, const struct fg_policy *policy,
		   struct fg_benchmark_verdict *benchmark, struct fg_metric_verdict *metric,
		   struct fg_error *err)
{
	const struct fg_run *run = &session->result.run;
	const struct fg_chain_edge own = edge_of(run, metric);
	struct fg_chained chained = {.arena = &session->result.verdict.arena};
	int status = FG_OK;

	if (!metric->gated || !is_step(&own))
		return FG_OK;
	status = fg_chained_load(session->open.store,
				 &(struct fg_chained_metric){run->project, benchmark->name,
							     metric->name, metric->label,
							     metric->better},
				 policy, &own, &chained, err);
	if (status == FG_OK && chained.creep) {
		if (chained.creep->is_creep || chained.creep->function_count > 0)
			take_creep(session, policy, benchmark, metric, chained.creep);
		session->result.wants_anchor =
			session->result.wants_anchor ||
			(own.to != work_tree && policy->anchors && metric->step_error > 0 &&
			 fg_creep_needs_anchor(chained.creep, policy) &&
			 !is_anchored_lately(&chained.chain));
	}
	fg_chained_release(&chained);
	return status;
}

void fg_session_add_creep(struct fg_session *session, const struct fg_gate_input *input)
{
	struct fg_verdict *verdict = &session->result.verdict;
	const struct fg_side *baseline = &session->result.run.sides[FG_ARM_BASELINE];
	struct fg_error err = {0};
	int status = FG_OK;

	if (!session->open.store || !session->result.run.has_baseline || baseline->dirty ||
	    !baseline->commit || !session->result.run.sides[FG_ARM_CANDIDATE].commit)
		return;
	for (size_t i = 0; i < verdict->benchmark_count && status == FG_OK; i++) {
		struct fg_benchmark_verdict *benchmark = &verdict->benchmarks[i];
		const struct fg_benchmark *planned =
			fg_plan_find(session->request.plan, benchmark->name);
		const struct fg_policy *policy = planned ? &planned->policy : input->policy;
		struct fg_series *series = fg_run_find(&session->result.run, benchmark->name);

		if (series) {
			series->creep_window = policy->creep_window;
			series->creep_tolerated = policy->creep_tolerated;
		}
		for (size_t m = 0; m < benchmark->metric_count && status == FG_OK; m++)
			status = look_at(session, policy, benchmark, &benchmark->metrics[m], &err);
		verdict->outcome = fg_outcome_worse(verdict->outcome, benchmark->outcome);
	}
	if (status != FG_OK)
		fg_cli_warn(session->cli, "creep is not judged: %s", err.message);
	fg_gate_set_exit_codes(input, verdict);
}
