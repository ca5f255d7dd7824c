// SPDX-License-Identifier: Apache-2.0
#include "reporters/verdict_exchange.h"

#include "base/clock.h"
#include "reporters/arguments.h"
#include "reporters/card.h"
#include "reporters/page_data.h"
#include "reporters/verdict_queries.h"

#include <math.h>

/* Keys for the values of functions and call paths; keys of times contain the unit. */
struct keys {
	const char *self;
	const char *inclusive;
	const char *delta;
	const char *interval;
	const char *moved;
	const char *total_delta;
	const char *unattributed;
	const char *everything_else;
};

static const struct keys time_keys = {
	.self = "self_ms",
	.inclusive = "inclusive_ms",
	.delta = "delta_ms",
	.interval = "interval_ms",
	.moved = "moved_ms",
	.total_delta = "total_delta_ms",
	.unattributed = "unattributed_ms",
	.everything_else = "everything_else_ms",
};

static const struct keys measure_keys = {
	.self = "self",
	.inclusive = "inclusive",
	.delta = "delta",
	.interval = "interval",
	.moved = "amount",
	.total_delta = "total_delta",
	.unattributed = "unattributed",
	.everything_else = "everything_else",
};

/* ---- metrics ---- */

static void exchange_outcome(const struct fg_exchange *with, enum fg_outcome *outcome)
{
	const char *name = fg_outcome_name(*outcome);

	fg_exchange_words(with, "verdict", &name);
	if (!with->w && !fg_outcome_parse(name, outcome))
		*outcome = FG_OUTCOME_ERROR;
}

static void exchange_exit_code(const struct fg_exchange *with, enum fg_exit *code)
{
	*code = (enum fg_exit)fg_exchange_count(with, "exit_code", (uint64_t)*code,
						FG_EXIT_INTERRUPTED);
}

static void exchange_notes(const struct fg_exchange *with, struct fg_notes *notes)
{
	fg_exchange_texts(with, "notes", &notes->items, &notes->count);
	if (!with->w)
		notes->capacity = notes->count;
}

/* Writes INT64_MAX, which means no expiry date, as null. */
static void exchange_until(const struct fg_exchange *with, int64_t *until_ns)
{
	char text[FG_TIME_TEXT_SIZE] = "";
	const char *until = *until_ns == INT64_MAX ? NULL : text;

	if (with->w && until)
		fg_time_format_utc(*until_ns, text);
	fg_exchange_text(with, "until", &until);
	if (!with->w && (!until || !fg_time_parse_utc(until, until_ns)))
		*until_ns = INT64_MAX;
}

static bool exchange_accept(const struct fg_exchange *with, void *at)
{
	struct fg_accept *accept = at;

	fg_exchange_number(with, "up_to", &accept->up_to);
	exchange_until(with, &accept->until_ns);
	fg_exchange_text(with, "reason", &accept->reason);
	fg_exchange_text(with, "source", &accept->source);
	return true;
}

static void exchange_better(const struct fg_exchange *with, enum fg_better *better)
{
	const char *name = *better == FG_BETTER_LOWER ? "lower" : "higher";

	fg_exchange_words(with, "better", &name);
	*better = strcmp(name, "higher") == 0 ? FG_BETTER_HIGHER : FG_BETTER_LOWER;
}

static bool exchange_metric(const struct fg_exchange *with, void *at)
{
	struct fg_metric_verdict *metric = at;

	fg_exchange_words(with, "name", &metric->name);
	fg_exchange_text(with, "label", &metric->label);
	if (!metric->label && !with->w)
		metric->label = metric->name;
	fg_exchange_words(with, "unit", &metric->unit);
	exchange_better(with, &metric->better);
	exchange_outcome(with, &metric->outcome);
	fg_exchange_flag(with, "gated", &metric->gated);
	fg_exchange_flag(with, "decided", &metric->decided);
	fg_exchange_flag(with, "exact", &metric->exact);
	fg_exchange_number(with, "baseline", &metric->baseline);
	fg_exchange_number(with, "candidate", &metric->candidate);
	fg_exchange_number(with, "ratio", &metric->ratio);
	fg_exchange_pair(with, "interval", &metric->low, &metric->high);
	fg_exchange_pair(with, "step", &metric->step, &metric->step_error);
	fg_exchange_number(with, "alpha", &metric->alpha);
	fg_exchange_number(with, "min_effect", &metric->min_effect);
	fg_exchange_number(with, "margin", &metric->margin);
	fg_exchange_number(with, "smallest_detectable", &metric->smallest_detectable);
	fg_exchange_number(with, "p_value", &metric->p_value);
	metric->pairs = (unsigned)fg_exchange_count(with, "pairs", metric->pairs, UINT32_MAX);
	metric->looks = (unsigned)fg_exchange_count(with, "looks", metric->looks, UINT32_MAX);
	FG_EXCHANGE_OBJECT(with, "accepted", metric->accepted, exchange_accept);
	exchange_notes(with, &metric->notes);
	return true;
}

/* ---- functions ---- */

static bool exchange_path(const struct fg_exchange *with, void *at)
{
	const struct keys *keys = with->context;
	struct fg_path_verdict *path = at;

	fg_exchange_texts(with, "frames", &path->frames, &path->frame_count);
	exchange_outcome(with, &path->outcome);
	fg_exchange_number(with, keys->delta, &path->delta);
	fg_exchange_pair(with, keys->interval, &path->low, &path->high);
	fg_exchange_number(with, "p_adjusted", &path->p_adjusted);
	return true;
}

static bool exchange_source_row(const struct fg_exchange *with, void *at)
{
	struct fg_source_row *row = at;
	double lines[2];

	for (size_t side = 0; side < 2; side++)
		lines[side] = row->line[side] > 0 ? row->line[side] : (double)NAN;
	fg_exchange_pair(with, "lines", &lines[0], &lines[1]);
	for (size_t side = 0; side < 2; side++)
		row->line[side] =
			lines[side] >= 1 && lines[side] <= UINT32_MAX ? (unsigned)lines[side] : 0;
	fg_exchange_pair(with, "cost_ms", &row->cost[0], &row->cost[1]);
	fg_exchange_words(with, "text", &row->text);
	return true;
}

static void exchange_known(const struct fg_exchange *with, bool known[2])
{
	const cJSON *item = NULL;

	if (with->w) {
		fg_json_begin_array(with->w, "known");
		fg_json_bool(with->w, NULL, known[0]);
		fg_json_bool(with->w, NULL, known[1]);
		fg_json_end(with->w);
		return;
	}
	item = fg_json_find(with->json, "known");
	for (int side = 0; side < 2; side++)
		known[side] = cJSON_IsTrue(cJSON_GetArrayItem(item, side));
}

static bool exchange_listing(const struct fg_exchange *with, void *at)
{
	struct fg_source_listing *source = at;

	fg_exchange_words(with, "file", &source->file);
	exchange_known(with, source->has_side);
	source->hottest =
		(size_t)fg_exchange_count(with, "hottest", source->hottest, FG_SOURCE_ROWS_MAX);
	FG_EXCHANGE_LIST(with, "rows", source->rows, &source->row_count, exchange_source_row);
	source->row_count = fg_min_size(source->row_count, FG_SOURCE_ROWS_MAX);
	if (source->hottest >= source->row_count)
		source->hottest = 0;
	return source->row_count > 0;
}

static void exchange_line(const struct fg_exchange *with, unsigned *line)
{
	if (with->w && *line == 0)
		fg_json_null(with->w, "line");
	else
		*line = (unsigned)fg_exchange_count(with, "line", *line, UINT32_MAX);
}

/* Moved cost is neither a failure nor an improvement, so it is written as "moved". */
static void exchange_standing(const struct fg_exchange *with, struct fg_node_verdict *node)
{
	const char *standing = fg_standing_name(node->standing);

	if (with->w && node->standing == FG_STANDING_MOVED)
		fg_json_text(with->w, "verdict", "moved");
	else
		exchange_outcome(with, &node->outcome);
	fg_exchange_words(with, "standing", &standing);
	if (!fg_standing_parse(standing, &node->standing))
		node->standing = FG_STANDING_NOT_SURE;
	if (!with->w && node->standing == FG_STANDING_MOVED)
		node->outcome = FG_OUTCOME_PASS;
}

static bool exchange_node(const struct fg_exchange *with, void *at)
{
	const struct keys *keys = with->context;
	struct fg_node_verdict *node = at;

	fg_exchange_words(with, "measure", &node->measure);
	fg_exchange_words(with, "name", &node->name);
	fg_exchange_text(with, "library", &node->library);
	fg_exchange_text(with, "file", &node->file);
	exchange_line(with, &node->line);
	exchange_standing(with, node);
	fg_exchange_pair(with, keys->self, &node->self[0], &node->self[1]);
	fg_exchange_pair(with, keys->inclusive, &node->inclusive[0], &node->inclusive[1]);
	fg_exchange_number(with, keys->delta, &node->delta);
	fg_exchange_pair(with, keys->interval, &node->low, &node->high);
	fg_exchange_number(with, "share_of_change", &node->share_of_change);
	fg_exchange_number(with, "p_adjusted", &node->p_adjusted);
	node->samples = fg_exchange_count(with, "samples", node->samples, UINT64_C(1) << 53);
	FG_EXCHANGE_LIST(with, "paths", node->paths, &node->path_count, exchange_path);
	FG_EXCHANGE_OBJECT(with, "source", node->source, exchange_listing);
	FG_EXCHANGE_OBJECT(with, "assembly", node->assembly, exchange_listing);
	FG_EXCHANGE_OBJECT(with, "mechanism", node->mechanism, fg_mechanism_exchange);
	return true;
}

static bool exchange_moved(const struct fg_exchange *with, void *at)
{
	const struct keys *keys = with->context;
	struct fg_moved *moved = at;

	fg_exchange_words(with, "measure", &moved->measure);
	fg_exchange_words(with, "kind", &moved->kind);
	fg_exchange_words(with, "from", &moved->from);
	fg_exchange_words(with, "to", &moved->to);
	fg_exchange_text(with, "from_library", &moved->from_library);
	fg_exchange_text(with, "to_library", &moved->to_library);
	fg_exchange_text(with, "ancestor", &moved->ancestor);
	fg_exchange_number(with, keys->moved, &moved->amount);
	return true;
}

static void exchange_nodes(const struct fg_exchange *with, const char *name, const char *unit,
			   struct fg_node_verdict **nodes, size_t *count)
{
	FG_EXCHANGE_LIST(with, name, *nodes, count, exchange_node);
	for (size_t i = 0; !with->w && i < *count; i++)
		(*nodes)[i].unit = unit;
}

static void exchange_blame(const struct fg_exchange *outer, const struct keys *keys,
			   struct fg_blame *blame)
{
	struct fg_exchange inner = *outer;
	const struct fg_exchange *with = &inner;

	inner.context = keys;
	exchange_nodes(with, "functions", blame->unit, &blame->functions, &blame->function_count);
	exchange_nodes(with, "libraries", blame->unit, &blame->libraries, &blame->library_count);
	exchange_nodes(with, "regions", blame->unit, &blame->regions, &blame->region_count);
	FG_EXCHANGE_LIST(with, "moved", blame->moved, &blame->moved_count, exchange_moved);
	for (size_t i = 0; !with->w && i < blame->moved_count; i++)
		blame->moved[i].unit = blame->unit;
	blame->functions_tested = (size_t)fg_exchange_count(with, "functions_tested",
							    blame->functions_tested, UINT32_MAX);
	fg_exchange_number(with, keys->total_delta, &blame->total_delta);
	fg_exchange_number(with, keys->unattributed, &blame->unattributed);
	fg_exchange_number(with, keys->everything_else, &blame->everything_else);
}

/* Takes the measure from the first function; without functions it is CPU time. */
static void exchange_time(const struct fg_exchange *with, struct fg_blame *blame)
{
	if (!with->w)
		blame->unit = "ms";
	exchange_blame(with, &time_keys, blame);
	if (with->w)
		return;
	blame->measure = blame->function_count > 0 && *blame->functions[0].measure
				 ? blame->functions[0].measure
				 : "cpu_time";
	blame->label = "CPU time";
}

static bool exchange_measure(const struct fg_exchange *with, void *at)
{
	struct fg_blame *blame = at;

	fg_exchange_words(with, "measure", &blame->measure);
	fg_exchange_text(with, "label", &blame->label);
	if (!blame->label && !with->w)
		blame->label = blame->measure;
	fg_exchange_words(with, "unit", &blame->unit);
	fg_exchange_flag(with, "exact", &blame->exact);
	exchange_blame(with, &measure_keys, blame);
	return true;
}

/* ---- benchmarks ---- */

static bool exchange_work(const struct fg_exchange *with, void *at)
{
	struct fg_work_verdict *work = at;
	const char *kind = fg_work_name(work->kind);

	fg_exchange_words(with, "kind", &kind);
	fg_exchange_pair(with, "instructions", &work->instructions[0], &work->instructions[1]);
	fg_exchange_pair(with, "calls", &work->calls[0], &work->calls[1]);
	fg_exchange_pair(with, "linker_instructions", &work->linker[0], &work->linker[1]);
	fg_exchange_text_if(with, "function", &work->function);
	if (work->function) {
		fg_exchange_text_if(with, "leaf", &work->leaf);
		(void)fg_exchange_part(with, "mechanism", &work->mechanism, fg_mechanism_exchange);
		fg_exchange_pair(with, "function_instructions", &work->function_instructions[0],
				 &work->function_instructions[1]);
		fg_exchange_pair(with, "function_calls", &work->function_calls[0],
				 &work->function_calls[1]);
	}
	return fg_work_parse(kind, &work->kind);
}

static bool exchange_creep_commit(const struct fg_exchange *with, void *at)
{
	struct fg_creep_commit *commit = at;

	fg_exchange_words(with, "commit", &commit->id);
	fg_exchange_number(with, "change", &commit->change);
	fg_exchange_number(with, "probability", &commit->probability);
	return true;
}

static bool exchange_creep_function(const struct fg_exchange *with, void *at)
{
	struct fg_creep_function *function = at;

	fg_exchange_words(with, "name", &function->name);
	fg_exchange_text(with, "library", &function->library);
	fg_exchange_number(with, "change", &function->change);
	return true;
}

static bool exchange_creep(const struct fg_exchange *with, void *at)
{
	struct fg_creep_verdict *creep = at;

	fg_exchange_words(with, "sentence", &creep->sentence);
	fg_exchange_words(with, "metric", &creep->metric);
	fg_exchange_words(with, "label", &creep->label);
	fg_exchange_flag(with, "is_creep", &creep->is_creep);
	fg_exchange_number(with, "change", &creep->change);
	fg_exchange_pair(with, "interval", &creep->low, &creep->high);
	fg_exchange_number(with, "largest_step", &creep->largest);
	creep->commits = (unsigned)fg_exchange_count(with, "commits", creep->commits, UINT32_MAX);
	fg_exchange_words(with, "since", &creep->since);
	FG_EXCHANGE_LIST(with, "by", creep->by, &creep->by_count, exchange_creep_commit);
	FG_EXCHANGE_LIST(with, "functions", creep->functions, &creep->function_count,
			 exchange_creep_function);
	return true;
}

static void exchange_schedule(const struct fg_exchange *with, enum fg_schedule *schedule)
{
	const char *name = fg_schedule_name(*schedule);

	fg_exchange_words(with, "schedule", &name);
	(void)fg_schedule_parse(name, schedule);
}

/* Reads the headline's probability. The other members of the answer are computed again. */
static void read_probability(const cJSON *json, struct fg_benchmark_verdict *benchmark)
{
	const struct fg_metric_verdict *headline = fg_report_headline(benchmark);
	const cJSON *probability = fg_json_find(json, "answer/probability");
	struct fg_metric_verdict *metric = NULL;

	if (!headline || !cJSON_IsObject(probability))
		return;
	metric = &benchmark->metrics[headline - benchmark->metrics];
	metric->probability.is_known = true;
	metric->probability.slower = fg_json_double_or(probability, "slower", (double)NAN);
	metric->probability.beyond =
		fg_json_double_or(probability, "beyond_min_effect", (double)NAN);
}

static void exchange_parts(const struct fg_exchange *with, struct fg_benchmark_verdict *benchmark)
{
	const struct fg_verdict_context *context = with->context;

	exchange_time(with, &benchmark->time);
	if (!with->w || benchmark->measure_count > 0)
		FG_EXCHANGE_LIST(with, "measures", benchmark->measures, &benchmark->measure_count,
				 exchange_measure);
	FG_EXCHANGE_OBJECT(with, "work", benchmark->work, exchange_work);
	FG_EXCHANGE_OBJECT(with, "creep", benchmark->creep, exchange_creep);
	if (with->w)
		fg_report_add_arguments(benchmark->arguments, with->w);
	else
		benchmark->arguments = fg_report_read_arguments(
			fg_json_find(with->json, "arguments"), context->room, with->arena);
	fg_exchange_number(with, "sampler_cost", &benchmark->sampler_cost);
	if (!with->w || benchmark->sampling.rate_hz > 0)
		(void)fg_exchange_part(with, "sampling", &benchmark->sampling,
				       fg_sampling_exchange);
	exchange_notes(with, &benchmark->notes);
}

static void exchange_head(const struct fg_exchange *with, struct fg_benchmark_verdict *benchmark)
{
	const struct fg_verdict_context *context = with->context;
	const char *reason = with->w ? fg_report_schedule_reason(context->report, benchmark) : NULL;

	fg_exchange_words(with, "name", &benchmark->name);
	exchange_outcome(with, &benchmark->outcome);
	exchange_exit_code(with, &benchmark->exit_code);
	if (with->w)
		fg_card_write_json(context->report, benchmark, with->w);
	exchange_schedule(with, &benchmark->schedule);
	if (reason)
		fg_json_text(with->w, "schedule_reason", reason);
	benchmark->pairs = (unsigned)fg_exchange_count(with, "pairs", benchmark->pairs, UINT32_MAX);
	benchmark->set_aside =
		(unsigned)fg_exchange_count(with, "set_aside", benchmark->set_aside, UINT32_MAX);
	fg_exchange_number(with, "seconds", &benchmark->seconds);
	fg_exchange_flag(with, "identical", &benchmark->identical);
	if (!with->w || benchmark->unaffected)
		fg_exchange_flag(with, "unaffected", &benchmark->unaffected);
	fg_exchange_text(with, "error", &benchmark->error);
	fg_exchange_text(with, "error_tail", &benchmark->error_tail);
	fg_exchange_text_if(with, "only_changed", &benchmark->only_changed);
}

static bool exchange_benchmark(const struct fg_exchange *with, void *at)
{
	const struct fg_verdict_context *context = with->context;
	struct fg_benchmark_verdict *benchmark = at;

	exchange_head(with, benchmark);
	if (with->w)
		fg_report_add_builds(context->report, benchmark, with->w);
	FG_EXCHANGE_LIST(with, "metrics", benchmark->metrics, &benchmark->metric_count,
			 exchange_metric);
	if (!with->w)
		read_probability(with->json, benchmark);
	exchange_parts(with, benchmark);
	if (context->for_page)
		fg_report_add_page_data(context->report,
					(size_t)(benchmark - context->report->verdict->benchmarks),
					with->w);
	return true;
}

static bool exchange_difference(const struct fg_exchange *with, void *at)
{
	struct fg_fact_difference *difference = at;

	fg_exchange_words(with, "key", &difference->key);
	fg_exchange_text(with, "baseline", &difference->baseline);
	fg_exchange_text(with, "candidate", &difference->candidate);
	fg_exchange_flag(with, "identity", &difference->identity);
	return true;
}

void fg_verdict_exchange(const struct fg_exchange *with, struct fg_verdict *verdict)
{
	const struct fg_verdict_context *context = with->context;

	exchange_outcome(with, &verdict->outcome);
	exchange_exit_code(with, &verdict->exit_code);
	if (with->w) {
		fg_card_write_json(context->report, NULL, with->w);
		fg_report_add_run(context->report, with->w);
	}
	FG_EXCHANGE_LIST(with, "benchmarks", verdict->benchmarks, &verdict->benchmark_count,
			 exchange_benchmark);
	FG_EXCHANGE_LIST(with, "environment_difference", verdict->environment_difference,
			 &verdict->environment_difference_count, exchange_difference);
	exchange_notes(with, &verdict->notes);
}
