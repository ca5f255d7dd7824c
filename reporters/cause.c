// SPDX-License-Identifier: Apache-2.0
#include "reporters/cause.h"

#include "base/number.h"
#include "reporters/figures.h"
#include "reporters/names.h"
#include "reporters/verdict_queries.h"

#include <math.h>

enum {
	NAME_COLUMNS = 80,
	ERROR_BYTES = 300,
};

static void add_plain(struct fg_strbuf *text, const char *plain)
{
	fg_report_add_clean(text, plain, ERROR_BYTES);
}

static void add_plain_name(struct fg_strbuf *text, const char *name)
{
	fg_report_add_name(text, name, NAME_COLUMNS);
}

static const struct fg_cause_style plain_style = {
	.add_text = add_plain,
	.add_code = add_plain_name,
};

/* The standing of the functions that explain this outcome. */
static enum fg_standing culprit_of(enum fg_outcome outcome)
{
	return outcome == FG_OUTCOME_IMPROVEMENT ? FG_STANDING_FASTER
	       : outcome == FG_OUTCOME_PLACEMENT ? FG_STANDING_SAME_CODE
						 : FG_STANDING_GUILTY;
}

static void add_function(struct fg_strbuf *text, const struct fg_node_verdict *node,
			 const struct fg_cause_style *style)
{
	struct fg_strbuf place = {0};

	style->add_code(text, node->name);
	fg_report_add_place(&place, node, false);
	if (place.length > 0) {
		fg_strbuf_add_char(text, ' ');
		style->add_text(text, fg_strbuf_text(&place));
	}
	fg_strbuf_add_text(text, " (");
	fg_report_add_delta(text, node->unit, node->delta);
	fg_strbuf_add_char(text, ')');
	fg_strbuf_release(&place);
}

/* ": find table.c:16 (+5.0 ms) and 2 more functions". */
static void add_culprits(struct fg_strbuf *text, const struct fg_benchmark_verdict *benchmark,
			 const struct fg_cause_style *style)
{
	const struct fg_blame *blame = fg_report_blame(benchmark, 0);
	const enum fg_standing wanted = culprit_of(benchmark->outcome);
	const struct fg_node_verdict *first = NULL;
	size_t more = 0;

	for (size_t i = 0; i < blame->function_count; i++) {
		const struct fg_node_verdict *node = &blame->functions[i];

		if (node->standing != wanted)
			continue;
		more += first != NULL;
		if (!first)
			first = node;
	}
	if (first) {
		fg_strbuf_add_text(text, ": ");
		add_function(text, first, style);
		if (more > 0)
			fg_strbuf_printf(text, " and %zu more function%s", more,
					 more == 1 ? "" : "s");
	} else if (benchmark->outcome == FG_OUTCOME_REGRESSION && blame->function_count > 0) {
		fg_strbuf_add_text(text, blame->functions[0].standing == FG_STANDING_SAME_CODE
						 ? "; the functions that took longer did not change"
						 : "; no single function is sure");
	}
	if (!first && benchmark->outcome == FG_OUTCOME_REGRESSION && benchmark->only_changed) {
		fg_strbuf_printf(text, "; the only hot %s that changed is ",
				 blame->function_count > 0 ? "one" : "function");
		style->add_code(text, benchmark->only_changed);
	}
}

/* "11.6 % slower" for a time, "max rss +12.0 %" for anything else. */
static void add_change(struct fg_strbuf *text, const struct fg_metric_verdict *metric,
		       const struct fg_cause_style *style)
{
	struct fg_strbuf change = {0};
	const bool is_time =
		strcmp(metric->name, "cpu_time") == 0 || strcmp(metric->name, "wall_time") == 0;

	fg_report_add_change(&change, metric);
	if (is_time) {
		fg_strbuf_printf(text, " %s %s", fg_format_without_sign(fg_strbuf_text(&change)),
				 metric->ratio > 1 ? "slower" : "faster");
	} else {
		fg_strbuf_add_text(text, ": ");
		style->add_text(text, metric->label);
		fg_strbuf_printf(text, " %s", fg_strbuf_text(&change));
	}
	fg_strbuf_release(&change);
}

static void add_undecided(struct fg_strbuf *text, const struct fg_benchmark_verdict *benchmark,
			  const struct fg_metric_verdict *metric,
			  const struct fg_cause_style *style)
{
	fg_strbuf_add_text(text,
			   benchmark->outcome == FG_OUTCOME_PASS ? " not slower" : " inconclusive");
	if (!metric)
		return;
	fg_strbuf_add_text(text, ": ");
	style->add_text(text, metric->label);
	fg_strbuf_add_char(text, ' ');
	fg_report_add_change(text, metric);
	fg_strbuf_add_char(text, ' ');
	fg_report_add_interval(text, metric);
}

static void add_creep(struct fg_strbuf *text, const struct fg_creep_verdict *creep,
		      const struct fg_cause_style *style)
{
	char change[FG_NUMBER_TEXT_SIZE];

	fg_strbuf_add_text(text, " crept up");
	if (!creep)
		return;
	fg_strbuf_add_text(text, ": ");
	style->add_text(text, creep->label);
	fg_strbuf_printf(text, " %s in %u commits since ", fg_format_change(creep->change, change),
			 creep->commits);
	style->add_text(text, creep->since);
}

static void add_error(struct fg_strbuf *text, const struct fg_benchmark_verdict *benchmark,
		      const struct fg_cause_style *style)
{
	fg_strbuf_add_text(text, " could not be measured");
	if (!benchmark->error)
		return;
	fg_strbuf_add_text(text, ": ");
	style->add_text(text, benchmark->error);
}

void fg_report_add_cause(struct fg_strbuf *text, const struct fg_benchmark_verdict *benchmark,
			 const struct fg_cause_style *style)
{
	const struct fg_metric_verdict *metric = fg_report_headline(benchmark);

	if (!style)
		style = &plain_style;
	if (metric && !fg_report_has_change(metric))
		metric = NULL;
	style->add_code(text, benchmark->name);
	switch (benchmark->outcome) {
	case FG_OUTCOME_ERROR:
		add_error(text, benchmark, style);
		return;
	case FG_OUTCOME_NEW:
		fg_strbuf_add_text(text, " is new: nothing to compare with yet");
		return;
	case FG_OUTCOME_MISSING:
		fg_strbuf_add_text(text, " is missing: in the baseline only");
		return;
	case FG_OUTCOME_CREEP:
		add_creep(text, benchmark->creep, style);
		return;
	case FG_OUTCOME_PASS:
	case FG_OUTCOME_INCONCLUSIVE:
		if (benchmark->unaffected)
			fg_strbuf_printf(text, ": %s", fg_report_unaffected);
		else if (benchmark->identical)
			fg_strbuf_add_text(text, ": same binaries on both sides");
		else
			add_undecided(text, benchmark, metric, style);
		return;
	case FG_OUTCOME_PLACEMENT:
	case FG_OUTCOME_IMPROVEMENT:
	case FG_OUTCOME_REGRESSION:
		break;
	}
	/* A function can be gated on its own; then no metric got worse. */
	if (metric && metric->outcome == benchmark->outcome)
		add_change(text, metric, style);
	else
		fg_strbuf_printf(text, " %s",
				 benchmark->outcome == FG_OUTCOME_REGRESSION ? "regressed"
									     : "improved");
	if (benchmark->outcome == FG_OUTCOME_PLACEMENT)
		fg_strbuf_add_text(text, ", the same code at other addresses");
	add_culprits(text, benchmark, style);
}

/*
 * A regression comes first, then the worst outcome. A sure improvement says more than undecided
 * benchmarks, unless these fail the run.
 */
static enum fg_outcome outcome_to_report(const struct fg_verdict *verdict)
{
	enum fg_outcome worst = FG_OUTCOME_PASS;
	bool improved = false;

	for (size_t i = 0; i < verdict->benchmark_count; i++) {
		if (verdict->benchmarks[i].outcome == FG_OUTCOME_REGRESSION)
			return FG_OUTCOME_REGRESSION;
		improved |= verdict->benchmarks[i].outcome == FG_OUTCOME_IMPROVEMENT;
		worst = fg_outcome_worse(worst, verdict->benchmarks[i].outcome);
	}
	return improved && verdict->exit_code != FG_EXIT_INCONCLUSIVE &&
			       worst != FG_OUTCOME_ERROR && worst != FG_OUTCOME_CREEP
		       ? FG_OUTCOME_IMPROVEMENT
		       : worst;
}

/* The benchmark with the largest change among those with this outcome; NULL: none. */
static const struct fg_benchmark_verdict *largest(const struct fg_verdict *verdict,
						  enum fg_outcome outcome, size_t *count)
{
	const struct fg_benchmark_verdict *found = NULL;

	*count = 0;
	for (size_t i = 0; i < verdict->benchmark_count; i++) {
		const struct fg_benchmark_verdict *benchmark = &verdict->benchmarks[i];

		if (benchmark->outcome != outcome)
			continue;
		(*count)++;
		if (!found || fg_report_change_size(benchmark) > fg_report_change_size(found))
			found = benchmark;
	}
	return found;
}

void fg_report_add_run_cause(struct fg_strbuf *text, const struct fg_verdict *verdict,
			     const struct fg_cause_style *style)
{
	const enum fg_outcome outcome = outcome_to_report(verdict);
	size_t count = 0;
	size_t open = 0;
	const struct fg_benchmark_verdict *first = largest(verdict, outcome, &count);

	if (!first)
		fg_strbuf_add_text(text, "no benchmark ran");
	else if (outcome == FG_OUTCOME_PASS && count > 1)
		fg_report_add_summary(text, verdict);
	else
		fg_report_add_cause(text, first, style);
	if (outcome != FG_OUTCOME_PASS && count > 1)
		fg_strbuf_printf(text, "; %zu more benchmark%s %s", count - 1,
				 count == 2 ? "" : "s", fg_report_outcome_words(outcome));
	if (outcome == FG_OUTCOME_IMPROVEMENT && largest(verdict, FG_OUTCOME_INCONCLUSIVE, &open))
		fg_strbuf_printf(text, "; %zu inconclusive", open);
}
