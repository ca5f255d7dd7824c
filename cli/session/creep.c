// SPDX-License-Identifier: Apache-2.0
#include "cli/session/creep.h"

#include "base/map.h"
#include "gate/creep.h"
#include "store/functions.h"
#include "store/serving/sums.h"

#include <math.h>

enum {
	ANCHOR_EVERY = 10,     /* commits, at least */
	FUNCTIONS_MAX = 20000, /* functions tested for creep, at most */
	FUNCTIONS_KEPT = 10,
};

static const char work_tree[] = "the work tree";

/* ---- functions ---- */

/* Functions by the store's id, and what each gained in every run. */
struct gains {
	struct fg_map ids;
	double *steps;
	double *anchors;
	double *sampling;
	size_t points; /* position in the chain */
	size_t anchor_count;
};

/* Without a profile of both sides, a run says nothing about functions. */
static bool has_profile(const struct fg_totals *totals)
{
	return totals->count > 0 && totals->repetitions[0] > 0 && totals->repetitions[1] > 0;
}

/* The variance of a mean of pairs whose own is 1. */
static double variance_of(const struct fg_totals *totals)
{
	return 0.5 / totals->repetitions[0] + 0.5 / totals->repetitions[1];
}

/* The variance of a pair if the function's samples came at random. */
static double sampling_of(const struct fg_totals *totals, const struct fg_function_total *item,
			  double whole)
{
	const double sample = FG_TOTALS_FRACTIONS * totals->unit;

	return sample *
	       (item->self[0] / totals->repetitions[0] + item->self[1] / totals->repetitions[1]) /
	       (whole * whole) / variance_of(totals);
}

static double total_of(const struct fg_totals *totals, int arm)
{
	double sum = 0;

	for (size_t i = 0; i < totals->count; i++)
		sum += totals->items[i].self[arm];
	return sum;
}

/*
 * The runs between commits of the window that have profiles, and the time of their functions. Their
 * errors count pairs.
 */
static size_t pick_edges(struct fg_store *store, const struct fg_chained *chained, size_t window,
			 struct fg_chain_edge *edges, struct fg_totals *totals)
{
	const struct fg_chain *chain = &chained->chain;
	const size_t first = chain->count > window + 1 ? chain->count - window - 1 : 0;
	struct fg_map commits = {0};
	size_t count = 0;

	for (size_t i = first; i < chain->count; i++)
		(void)fg_map_add_text(&commits, chain->points[i].commit, i, NULL);
	for (size_t i = 0; i < chained->edges.count; i++) {
		struct fg_chain_edge edge = chained->edges.items[i];
		const bool is_same = !(edge.error > 0) && !(fabs(edge.change) > 0);
		struct fg_totals *own = &totals[count];

		if (!edge.series || !fg_map_get_text(&commits, edge.from) ||
		    !fg_map_get_text(&commits, edge.to))
			continue;
		if (!is_same && (fg_store_totals(store, edge.series, own, NULL) != FG_OK ||
				 !has_profile(own) || !(total_of(own, 0) > 0))) {
			fg_totals_release(own);
			*own = (struct fg_totals){0};
			continue;
		}
		edge.error = is_same ? 0 : sqrt(variance_of(own));
		edges[count++] = edge;
	}
	fg_map_release(&commits);
	return count;
}

static void name_functions(const struct fg_totals *totals, size_t count, struct fg_map *ids)
{
	for (size_t i = 0; i < count; i++) {
		for (size_t k = 0; k < totals[i].count && ids->count < FUNCTIONS_MAX; k++)
			(void)fg_map_add(ids, &totals[i].items[k].id, sizeof(totals[i].items[k].id),
					 ids->count, NULL);
	}
}

/* Candidate − baseline, as shares of the baseline's time; `values` is one column of a table. */
static void take_gains(const struct fg_totals *totals, const struct gains *gains, bool is_reversed,
		       double *values, size_t stride)
{
	const double whole = total_of(totals, 0);

	for (size_t k = 0; k < totals->count; k++) {
		const struct fg_function_total *item = &totals->items[k];
		const uint64_t *index = fg_map_get(&gains->ids, &item->id, sizeof(item->id));
		const double gain = (item->self[1] - item->self[0]) / whole;

		if (!index)
			continue;
		values[*index * stride] = is_reversed ? -gain : gain;
		gains->sampling[*index] =
			fmax(gains->sampling[*index], sampling_of(totals, item, whole));
	}
}

static void fill(const struct fg_chain *chain, const struct fg_chain_edge *edges,
		 const struct fg_totals *totals, struct gains *gains)
{
	gains->points = chain->count;
	gains->anchor_count = chain->anchor_count;
	gains->steps = fg_xcalloc(gains->ids.count * chain->count + 1, sizeof(double));
	gains->sampling = fg_xcalloc(gains->ids.count + 1, sizeof(double));
	gains->anchors = fg_xcalloc(gains->ids.count * chain->anchor_count + 1, sizeof(double));
	for (size_t i = 1; i < chain->count; i++) {
		const size_t edge = chain->points[i].edge;
		const bool is_reversed = strcmp(edges[edge].to, chain->points[i].commit) != 0;

		take_gains(&totals[edge], gains, is_reversed, &gains->steps[i], gains->points);
	}
	for (size_t i = 0; i < chain->anchor_count; i++) {
		const struct fg_chain_anchor *anchor = &chain->anchors[i];
		const bool is_reversed =
			strcmp(edges[anchor->edge].to, chain->points[anchor->to].commit) != 0;

		take_gains(&totals[anchor->edge], gains, is_reversed, &gains->anchors[i],
			   gains->anchor_count);
	}
}

static struct fg_arena *arena_of(struct fg_chained *chained)
{
	return chained->arena ? chained->arena : &chained->edges.texts;
}

/* Tests all functions, and keeps those that rose. */
static void judge_functions(struct fg_store *store, const struct fg_policy *policy,
			    const struct fg_chain *chain, const struct gains *gains,
			    struct fg_chained *chained)
{
	const size_t count = gains->ids.count;
	struct fg_creep_verdict *creep = chained->creep;
	struct fg_arena *arena = arena_of(chained);
	size_t *risen = fg_xcalloc(count + 1, sizeof(risen[0]));
	double *changes = fg_xcalloc(count + 1, sizeof(changes[0]));
	const size_t found = fg_creep_functions(
		chain, policy,
		&(struct fg_creep_gains){count, gains->steps, gains->anchors, gains->sampling},
		risen, changes);

	creep->functions = fg_arena_array(arena, FUNCTIONS_KEPT, sizeof(creep->functions[0]));
	for (size_t i = 0; i < found && creep->function_count < FUNCTIONS_KEPT; i++) {
		struct fg_function_row row;
		uint64_t id = 0;

		memcpy(&id, gains->ids.entries[risen[i]].key, sizeof(id));
		if (fg_store_function(store, id, &row, NULL) != FG_OK)
			continue;
		creep->functions[creep->function_count++] = (struct fg_creep_function){
			.name = fg_arena_strdup(arena, row.function.name),
			.library = fg_arena_strdup(arena, row.function.library),
			.change = changes[risen[i]],
		};
	}
	free(risen);
	free(changes);
}

/*
 * The tip of a run that is not stored yet has no profile in the store, so its baseline is the end.
 */
static const char *profiled_tip(const struct fg_chain *chain, const struct fg_chain_edge *edges,
				size_t count)
{
	for (size_t i = chain->count; i-- > 0;) {
		for (size_t k = 0; k < count; k++) {
			if (strcmp(edges[k].to, chain->points[i].commit) == 0)
				return edges[k].to;
		}
	}
	return NULL;
}

static void find_functions(struct fg_store *store, const struct fg_policy *policy,
			   struct fg_chained *chained)
{
	const size_t most = chained->edges.count;
	struct fg_chain_edge *edges = fg_xcalloc(most + 1, sizeof(edges[0]));
	struct fg_totals *totals = fg_xcalloc(most + 1, sizeof(totals[0]));
	const size_t count = pick_edges(store, chained, policy->creep_window, edges, totals);
	const char *tip = profiled_tip(&chained->chain, edges, count);
	struct fg_chain chain = {0};
	struct gains gains = {0};

	if (tip)
		fg_chain_build(edges, count, tip, &chain);
	if (chain.count > FG_CREEP_FUNCTION_STEPS) {
		name_functions(totals, count, &gains.ids);
		fill(&chain, edges, totals, &gains);
		judge_functions(store, policy, &chain, &gains, chained);
	}
	for (size_t i = 0; i < count; i++)
		fg_totals_release(&totals[i]);
	fg_map_release(&gains.ids);
	free(gains.steps);
	free(gains.anchors);
	free(gains.sampling);
	fg_chain_release(&chain);
	free(edges);
	free(totals);
}

/* ---- one metric ---- */

/* A run that is judged again is already stored. */
static void add_own(struct fg_chain_edges *edges, const struct fg_chain_edge *own)
{
	size_t kept = 0;

	for (size_t i = 0; i < edges->count; i++) {
		if (strcmp(edges->items[i].run, own->run) != 0)
			edges->items[kept++] = edges->items[i];
	}
	edges->count = kept;
	edges->items =
		fg_grow(edges->items, &edges->capacity, edges->count + 1, sizeof(edges->items[0]));
	edges->items[edges->count++] = *own;
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

/* If that fails, an undecided metric stays undecided. */
static void raise_outcome(const struct fg_policy *policy, enum fg_outcome *outcome)
{
	if (*outcome != FG_OUTCOME_INCONCLUSIVE || !policy->fail_on_inconclusive)
		*outcome = fg_outcome_worse(*outcome, FG_OUTCOME_CREEP);
}

static void take_creep(struct fg_session *session, const struct fg_policy *policy,
		       struct fg_benchmark_verdict *benchmark, struct fg_metric_verdict *metric,
		       const struct fg_creep_verdict *creep)
{
	struct fg_arena *arena = &session->got.verdict.arena;

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
	const struct fg_run *run = &session->got.run;
	const struct fg_chain_edge own = edge_of(run, metric);
	struct fg_chained chained = {.arena = &session->got.verdict.arena};
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
		session->got.wants_anchor =
			session->got.wants_anchor ||
			(own.to != work_tree && policy->anchors && metric->step_error > 0 &&
			 fg_creep_needs_anchor(chained.creep, policy) &&
			 !is_anchored_lately(&chained.chain));
	}
	fg_chained_release(&chained);
	return status;
}

void fg_session_add_creep(struct fg_session *session, const struct fg_gate_input *input)
{
	struct fg_verdict *verdict = &session->got.verdict;
	const struct fg_side *baseline = &session->got.run.sides[FG_ARM_BASELINE];
	struct fg_error err = {0};
	int status = FG_OK;

	if (!session->open.store || !session->got.run.has_baseline || baseline->dirty ||
	    !baseline->commit || !session->got.run.sides[FG_ARM_CANDIDATE].commit)
		return;
	for (size_t i = 0; i < verdict->benchmark_count && status == FG_OK; i++) {
		struct fg_benchmark_verdict *benchmark = &verdict->benchmarks[i];
		const struct fg_benchmark *planned =
			fg_plan_find(session->asked.plan, benchmark->name);
		const struct fg_policy *policy = planned ? &planned->policy : input->policy;
		struct fg_series *series = fg_run_find(&session->got.run, benchmark->name);

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
	verdict->exit_code = fg_gate_exit_code(input, verdict);
}
