// SPDX-License-Identifier: Apache-2.0
/*
 * The complete verdict for programs: fastgate-report/1, described in docs/formats/report.md and its
 * JSON Schema.
 */
#include "base/clock.h"
#include "reporters/arguments.h"
#include "reporters/blame_keys.h"
#include "reporters/card.h"
#include "reporters/formats.h"
#include "reporters/page_data.h"
#include "reporters/verdict_queries.h"

#include <math.h>

static void add_range(struct fg_json_writer *w, const char *name, double low, double high)
{
	fg_json_begin_array(w, name);
	fg_json_double(w, NULL, low);
	fg_json_double(w, NULL, high);
	fg_json_end(w);
}

static void add_notes(struct fg_json_writer *w, const struct fg_notes *notes)
{
	fg_json_begin_array(w, "notes");
	for (size_t i = 0; i < notes->count; i++)
		fg_json_text(w, NULL, notes->items[i]);
	fg_json_end(w);
}

static void add_time(struct fg_json_writer *w, const char *name, int64_t wall_ns)
{
	char text[FG_TIME_TEXT_SIZE] = "";

	fg_time_format_utc(wall_ns, text);
	fg_json_text(w, name, text);
}

static void add_facts(struct fg_json_writer *w, const char *name,
		      const struct fg_environment *environment)
{
	fg_json_begin_object(w, name);
	for (size_t i = 0; i < environment->count; i++)
		fg_json_text(w, environment->facts[i].key, environment->facts[i].value);
	fg_json_end(w);
}

static void add_build(struct fg_json_writer *w, const char *name,
		      const struct fg_build_facts *build)
{
	struct fg_environment facts = {0};

	fg_build_facts_list(build, &facts);
	add_facts(w, name, &facts);
	fg_environment_release(&facts);
}

static void add_side(struct fg_json_writer *w, const char *name, const struct fg_side *side)
{
	fg_json_begin_object(w, name);
	fg_json_text(w, "commit", side->commit);
	fg_json_text(w, "branch", side->branch);
	fg_json_text(w, "describe", side->describe);
	fg_json_bool(w, "dirty", side->dirty);
	add_facts(w, "build", &side->build);
	fg_json_end(w);
}

static void add_run(struct fg_json_writer *w, const struct fg_report *report)
{
	const struct fg_run *run = report->run;
	char fingerprint[17] = "";

	fg_environment_fingerprint(&run->host, fingerprint);
	fg_json_begin_object(w, "run");
	fg_json_text(w, "id", run->id);
	fg_json_text(w, "project", run->project);
	add_time(w, "started_at", run->started_ns);
	add_time(w, "ended_at", run->ended_ns);
	fg_json_bool(w, "complete", run->complete);
	fg_json_text(w, "schedule", fg_report_schedule(report->verdict));
	fg_json_text(w, "fastgate_version", run->tool_version);
	add_side(w, "baseline", &run->sides[FG_ARM_BASELINE]);
	add_side(w, "candidate", &run->sides[FG_ARM_CANDIDATE]);
	add_facts(w, "host", &run->host);
	fg_json_text(w, "host_fingerprint", fingerprint);
	fg_json_end(w);
}

static void add_accept(struct fg_json_writer *w, const struct fg_accept *accept)
{
	fg_json_begin_object(w, "accepted");
	fg_json_double(w, "up_to", accept->up_to);
	if (accept->until_ns == INT64_MAX)
		fg_json_null(w, "until");
	else
		add_time(w, "until", accept->until_ns);
	fg_json_text(w, "reason", accept->reason);
	fg_json_text(w, "source", accept->source);
	fg_json_end(w);
}

static void add_metric(struct fg_json_writer *w, const struct fg_metric_verdict *metric)
{
	fg_json_begin_object(w, NULL);
	fg_json_text(w, "name", metric->name);
	fg_json_text(w, "label", metric->label);
	fg_json_text(w, "unit", metric->unit);
	fg_json_text(w, "better", metric->better == FG_BETTER_LOWER ? "lower" : "higher");
	fg_json_text(w, "verdict", fg_outcome_name(metric->outcome));
	fg_json_bool(w, "gated", metric->gated);
	fg_json_bool(w, "decided", metric->decided);
	fg_json_bool(w, "exact", metric->exact);
	fg_json_double(w, "baseline", metric->baseline);
	fg_json_double(w, "candidate", metric->candidate);
	fg_json_double(w, "ratio", metric->ratio);
	add_range(w, "interval", metric->low, metric->high);
	add_range(w, "step", metric->step, metric->step_error);
	fg_json_double(w, "alpha", metric->alpha);
	fg_json_double(w, "min_effect", metric->min_effect);
	fg_json_double(w, "margin", metric->margin);
	fg_json_double(w, "smallest_detectable", metric->smallest_detectable);
	fg_json_double(w, "p_value", metric->p_value);
	fg_json_int(w, "pairs", (int64_t)metric->pairs);
	fg_json_int(w, "looks", (int64_t)metric->looks);
	if (metric->accepted)
		add_accept(w, metric->accepted);
	add_notes(w, &metric->notes);
	fg_json_end(w);
}

static void add_path(struct fg_json_writer *w, const struct fg_blame_keys *keys,
		     const struct fg_path_verdict *path)
{
	fg_json_begin_object(w, NULL);
	fg_json_begin_array(w, "frames");
	for (size_t i = 0; i < path->frame_count; i++)
		fg_json_text(w, NULL, path->frames[i]);
	fg_json_end(w);
	fg_json_text(w, "verdict", fg_outcome_name(path->outcome));
	fg_json_double(w, keys->delta, path->delta);
	add_range(w, keys->interval, path->low, path->high);
	fg_json_double(w, "p_adjusted", path->p_adjusted);
	fg_json_end(w);
}

static void add_line(struct fg_json_writer *w, unsigned line)
{
	if (line > 0)
		fg_json_int(w, NULL, (int64_t)line);
	else
		fg_json_null(w, NULL);
}

static void add_listing(struct fg_json_writer *w, const char *name,
			const struct fg_source_listing *source)
{
	fg_json_begin_object(w, name);
	fg_json_text(w, "file", source->file);
	fg_json_begin_array(w, "known");
	for (size_t side = 0; side < 2; side++)
		fg_json_bool(w, NULL, source->has_side[side]);
	fg_json_end(w);
	fg_json_int(w, "hottest", (int64_t)source->hottest);
	fg_json_begin_array(w, "rows");
	for (size_t i = 0; i < source->row_count; i++) {
		const struct fg_source_row *row = &source->rows[i];

		fg_json_begin_object(w, NULL);
		fg_json_begin_array(w, "lines");
		add_line(w, row->line[0]);
		add_line(w, row->line[1]);
		fg_json_end(w);
		add_range(w, "cost_ms", row->cost[0], row->cost[1]);
		fg_json_text(w, "text", row->text);
		fg_json_end(w);
	}
	fg_json_end(w);
	fg_json_end(w);
}

static void add_node(struct fg_json_writer *w, const struct fg_blame_keys *keys,
		     const struct fg_node_verdict *node)
{
	fg_json_begin_object(w, NULL);
	fg_json_text(w, "measure", node->measure);
	fg_json_text(w, "name", node->name);
	fg_json_text(w, "library", node->library);
	fg_json_text(w, "file", node->file);
	if (node->line > 0)
		fg_json_int(w, "line", (int64_t)node->line);
	else
		fg_json_null(w, "line");
	/* Moved cost is not an outcome: it is neither a failure nor simply a pass. */
	fg_json_text(w, "verdict",
		     node->standing == FG_STANDING_MOVED ? "moved"
							 : fg_outcome_name(node->outcome));
	fg_json_text(w, "standing", fg_standing_name(node->standing));
	add_range(w, keys->self, node->self[0], node->self[1]);
	add_range(w, keys->inclusive, node->inclusive[0], node->inclusive[1]);
	fg_json_double(w, keys->delta, node->delta);
	add_range(w, keys->interval, node->low, node->high);
	fg_json_double(w, "share_of_change", node->share_of_change);
	fg_json_double(w, "p_adjusted", node->p_adjusted);
	fg_json_int(w, "samples", (int64_t)node->samples);
	fg_json_begin_array(w, "paths");
	for (size_t i = 0; i < node->path_count; i++)
		add_path(w, keys, &node->paths[i]);
	fg_json_end(w);
	if (node->source)
		add_listing(w, "source", node->source);
	if (node->assembly)
		add_listing(w, "assembly", node->assembly);
	fg_card_write_mechanism(node->mechanism, w);
	fg_json_end(w);
}

static void add_nodes(struct fg_json_writer *w, const char *name, const struct fg_blame_keys *keys,
		      const struct fg_node_verdict *nodes, size_t count)
{
	fg_json_begin_array(w, name);
	for (size_t i = 0; i < count; i++)
		add_node(w, keys, &nodes[i]);
	fg_json_end(w);
}

static void add_sampling(const struct fg_sampling *sampling, struct fg_json_writer *w)
{
	fg_json_begin_object(w, "sampling");
	fg_json_double(w, "rate_hz", sampling->rate_hz);
	fg_json_double(w, "budget", sampling->budget > 0 ? sampling->budget : (double)NAN);
	fg_json_double(w, "signal_ns", sampling->signal_ns > 0 ? sampling->signal_ns : (double)NAN);
	fg_json_double(w, "handler_ns",
		       sampling->handler_ns > 0 ? sampling->handler_ns : (double)NAN);
	fg_json_double(w, "switch_ns", sampling->switch_ns > 0 ? sampling->switch_ns : (double)NAN);
	fg_json_double(w, "switches_hz",
		       sampling->switches_hz > 0 ? sampling->switches_hz : (double)NAN);
	fg_json_double(w, "expected_cost", sampling->expected_cost);
	fg_json_text(w, "clock", *sampling->clock ? sampling->clock : NULL);
	fg_json_text(w, "unseen", *sampling->unseen ? sampling->unseen : NULL);
	fg_json_end(w);
}

static void add_moved(struct fg_json_writer *w, const struct fg_blame_keys *keys,
		      const struct fg_blame *blame)
{
	fg_json_begin_array(w, "moved");
	for (size_t i = 0; i < blame->moved_count; i++) {
		const struct fg_moved *moved = &blame->moved[i];

		fg_json_begin_object(w, NULL);
		fg_json_text(w, "measure", moved->measure);
		fg_json_text(w, "kind", moved->kind);
		fg_json_text(w, "from", moved->from);
		fg_json_text(w, "to", moved->to);
		fg_json_text(w, "from_library", moved->from_library);
		fg_json_text(w, "to_library", moved->to_library);
		fg_json_text(w, "ancestor", moved->ancestor);
		fg_json_double(w, keys->moved, moved->amount);
		fg_json_end(w);
	}
	fg_json_end(w);
}

static void add_blame(struct fg_json_writer *w, const struct fg_blame_keys *keys,
		      const struct fg_blame *blame)
{
	add_nodes(w, "functions", keys, blame->functions, blame->function_count);
	add_nodes(w, "libraries", keys, blame->libraries, blame->library_count);
	add_nodes(w, "regions", keys, blame->regions, blame->region_count);
	add_moved(w, keys, blame);
	fg_json_int(w, "functions_tested", (int64_t)blame->functions_tested);
	fg_json_double(w, keys->total_delta, blame->total_delta);
	fg_json_double(w, keys->unattributed, blame->unattributed);
	fg_json_double(w, keys->everything_else, blame->everything_else);
}

static void add_measures(struct fg_json_writer *w, const struct fg_benchmark_verdict *benchmark)
{
	if (benchmark->measure_count == 0)
		return;
	fg_json_begin_array(w, "measures");
	for (size_t i = 0; i < benchmark->measure_count; i++) {
		const struct fg_blame *blame = &benchmark->measures[i];

		fg_json_begin_object(w, NULL);
		fg_json_text(w, "measure", blame->measure);
		fg_json_text(w, "label", blame->label);
		fg_json_text(w, "unit", blame->unit);
		fg_json_bool(w, "exact", blame->exact);
		add_blame(w, &fg_measure_keys, blame);
		fg_json_end(w);
	}
	fg_json_end(w);
}

static void add_both(struct fg_json_writer *w, const char *name, const double values[2])
{
	fg_json_begin_array(w, name);
	fg_json_double(w, NULL, values[0]);
	fg_json_double(w, NULL, values[1]);
	fg_json_end(w);
}

static void add_work(struct fg_json_writer *w, const struct fg_work_verdict *work)
{
	if (!work)
		return;
	fg_json_begin_object(w, "work");
	fg_json_text(w, "kind", fg_work_name(work->kind));
	add_both(w, "instructions", work->instructions);
	add_both(w, "calls", work->calls);
	add_both(w, "linker_instructions", work->linker);
	if (work->function) {
		fg_json_text(w, "function", work->function);
		if (work->leaf)
			fg_json_text(w, "leaf", work->leaf);
		fg_card_write_mechanism(&work->mechanism, w);
		add_both(w, "function_instructions", work->function_instructions);
		add_both(w, "function_calls", work->function_calls);
	}
	fg_json_end(w);
}

static void add_creep(struct fg_json_writer *w, const struct fg_creep_verdict *creep)
{
	if (!creep)
		return;
	fg_json_begin_object(w, "creep");
	fg_json_text(w, "sentence", creep->sentence);
	fg_json_text(w, "metric", creep->metric);
	fg_json_text(w, "label", creep->label);
	fg_json_bool(w, "is_creep", creep->is_creep);
	fg_json_double(w, "change", creep->change);
	add_range(w, "interval", creep->low, creep->high);
	fg_json_double(w, "largest_step", creep->largest);
	fg_json_int(w, "commits", (int64_t)creep->commits);
	fg_json_text(w, "since", creep->since);
	fg_json_begin_array(w, "by");
	for (size_t i = 0; i < creep->by_count; i++) {
		fg_json_begin_object(w, NULL);
		fg_json_text(w, "commit", creep->by[i].id);
		fg_json_double(w, "change", creep->by[i].change);
		fg_json_double(w, "probability", creep->by[i].probability);
		fg_json_end(w);
	}
	fg_json_end(w);
	fg_json_begin_array(w, "functions");
	for (size_t i = 0; i < creep->function_count; i++) {
		fg_json_begin_object(w, NULL);
		fg_json_text(w, "name", creep->functions[i].name);
		fg_json_text(w, "library", creep->functions[i].library);
		fg_json_double(w, "change", creep->functions[i].change);
		fg_json_end(w);
	}
	fg_json_end(w);
	fg_json_end(w);
}

static void add_builds(struct fg_json_writer *w, const struct fg_series *series)
{
	if (!series)
		return;
	fg_json_text(w, "command", series->command);
	fg_json_begin_object(w, "build");
	add_build(w, "baseline", &series->build[FG_ARM_BASELINE]);
	add_build(w, "candidate", &series->build[FG_ARM_CANDIDATE]);
	fg_json_end(w);
}

static void add_benchmark(struct fg_json_writer *w, const struct fg_report *report, size_t index,
			  bool for_page)
{
	const struct fg_benchmark_verdict *benchmark = &report->verdict->benchmarks[index];

	fg_json_begin_object(w, NULL);
	fg_json_text(w, "name", benchmark->name);
	fg_json_text(w, "verdict", fg_outcome_name(benchmark->outcome));
	fg_card_write_json(report, benchmark, w);
	fg_json_text(w, "schedule", fg_schedule_name(benchmark->schedule));
	if (fg_report_schedule_reason(report, benchmark))
		fg_json_text(w, "schedule_reason", fg_report_schedule_reason(report, benchmark));
	fg_json_int(w, "pairs", (int64_t)benchmark->pairs);
	fg_json_int(w, "set_aside", (int64_t)benchmark->set_aside);
	fg_json_double(w, "seconds", benchmark->seconds);
	fg_json_bool(w, "identical", benchmark->identical);
	if (benchmark->unaffected)
		fg_json_bool(w, "unaffected", true);
	fg_json_text(w, "error", benchmark->error);
	fg_json_text(w, "error_tail", benchmark->error_tail);
	if (benchmark->only_changed)
		fg_json_text(w, "only_changed", benchmark->only_changed);
	add_builds(w, fg_report_series(report, benchmark));
	fg_json_begin_array(w, "metrics");
	for (size_t i = 0; i < benchmark->metric_count; i++)
		add_metric(w, &benchmark->metrics[i]);
	fg_json_end(w);
	add_blame(w, &fg_time_keys, &benchmark->time);
	add_measures(w, benchmark);
	add_work(w, benchmark->work);
	add_creep(w, benchmark->creep);
	fg_report_add_arguments(benchmark->arguments, w);
	fg_json_double(w, "sampler_cost", benchmark->sampler_cost);
	if (benchmark->sampling.rate_hz > 0)
		add_sampling(&benchmark->sampling, w);
	add_notes(w, &benchmark->notes);
	if (for_page)
		fg_report_add_page_data(report, index, w);
	fg_json_end(w);
}

static void add_differences(struct fg_json_writer *w, const struct fg_verdict *verdict)
{
	fg_json_begin_array(w, "environment_difference");
	for (size_t i = 0; i < verdict->environment_difference_count; i++) {
		const struct fg_fact_difference *difference = &verdict->environment_difference[i];

		fg_json_begin_object(w, NULL);
		fg_json_text(w, "key", difference->key);
		fg_json_text(w, "baseline", difference->baseline);
		fg_json_text(w, "candidate", difference->candidate);
		fg_json_bool(w, "identity", difference->identity);
		fg_json_end(w);
	}
	fg_json_end(w);
}

void fg_report_add_json(const struct fg_report *report, bool for_page, struct fg_json_writer *w)
{
	const struct fg_verdict *verdict = report->verdict;

	fg_json_begin_object(w, NULL);
	fg_json_text(w, "schema", FG_REPORT_SCHEMA);
	fg_json_text(w, "verdict", fg_outcome_name(verdict->outcome));
	fg_json_int(w, "exit_code", (int64_t)verdict->exit_code);
	fg_card_write_json(report, NULL, w);
	add_run(w, report);
	fg_json_begin_array(w, "benchmarks");
	for (size_t i = 0; i < verdict->benchmark_count; i++)
		add_benchmark(w, report, i, for_page);
	fg_json_end(w);
	add_differences(w, verdict);
	add_notes(w, &verdict->notes);
	fg_json_end(w);
}

int fg_report_json(const struct fg_report *report, const struct fg_report_options *options,
		   struct fg_strbuf *text, struct fg_error *err)
{
	struct fg_json_writer w = {0};

	(void)options;
	(void)err;
	fg_json_writer_init(&w, text, 2);
	fg_report_add_json(report, false, &w);
	fg_strbuf_add_char(text, '\n');
	return FG_OK;
}
