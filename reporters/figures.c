// SPDX-License-Identifier: Apache-2.0
#include "reporters/figures.h"

#include "base/clock.h"
#include "base/number.h"
#include "model/measure.h"
#include "model/run.h"
#include "reporters/names.h"

#include <math.h>

#define ELLIPSIS  "…"
#define ARROW     " → "
#define NS_PER_MS 1e6

double fg_report_four_digits(double value)
{
	char number[64] = "";

	(void)snprintf(number, sizeof(number), "%.4g", value);
	return strtod(number, NULL);
}

/* An exact change must not read "+0.0 %", even if it is one allocation in a million. */
static bool is_tiny_but_sure(const struct fg_metric_verdict *metric)
{
	const double change = fabs(metric->ratio - 1);

	return metric->exact && change > 0 && change < 0.00005;
}

void fg_report_add_change(struct fg_strbuf *text, const struct fg_metric_verdict *metric)
{
	char number[FG_NUMBER_TEXT_SIZE] = "";

	if (is_tiny_but_sure(metric))
		fg_strbuf_printf(text, "%s %%",
				 fg_format_signed(100 * (metric->ratio - 1), 1, number));
	else if (isfinite(metric->ratio))
		fg_strbuf_add_text(text, fg_format_change(metric->ratio - 1, number));
}

static void add_bound(struct fg_strbuf *text, double ratio)
{
	char number[FG_NUMBER_TEXT_SIZE] = "";
	const char *change = NULL;

	if (!isfinite(ratio)) {
		fg_strbuf_add_text(text, ELLIPSIS);
		return;
	}
	change = fg_format_change(ratio - 1, number);
	fg_strbuf_add(text, change, strcspn(change, " "));
}

void fg_report_add_interval(struct fg_strbuf *text, const struct fg_metric_verdict *metric)
{
	if (isnan(metric->low) && isnan(metric->high))
		return;
	fg_strbuf_add_char(text, '[');
	add_bound(text, metric->low);
	fg_strbuf_add_text(text, ", ");
	add_bound(text, metric->high);
	fg_strbuf_add_char(text, ']');
}

/*
 * The levels are medians over the repetitions; the change comes from the pairs. If the levels rise
 * while the pairs fall, or vice versa, the levels differ by chance: show one level.
 */
static bool levels_contradict(const struct fg_metric_verdict *metric)
{
	return isfinite(metric->ratio) &&
	       (metric->ratio - 1) * (metric->candidate - metric->baseline) < 0;
}

void fg_report_add_levels(struct fg_strbuf *text, const struct fg_metric_verdict *metric)
{
	char number[FG_NUMBER_TEXT_SIZE] = "";
	const bool both = isfinite(metric->baseline) && isfinite(metric->candidate);

	if (both && levels_contradict(metric)) {
		fg_strbuf_add_text(text, "about ");
		fg_report_add_clean(text,
				    fg_format_value((metric->baseline + metric->candidate) / 2,
						    metric->unit, number),
				    FG_NUMBER_TEXT_SIZE);
		return;
	}
	if (isfinite(metric->baseline))
		fg_report_add_clean(text, fg_format_value(metric->baseline, metric->unit, number),
				    FG_NUMBER_TEXT_SIZE);
	if (both)
		fg_strbuf_add_text(text, ARROW);
	if (isfinite(metric->candidate))
		fg_report_add_clean(text, fg_format_value(metric->candidate, metric->unit, number),
				    FG_NUMBER_TEXT_SIZE);
}

bool fg_report_add_detectable(struct fg_strbuf *text, const struct fg_metric_verdict *metric)
{
	char percent[FG_NUMBER_TEXT_SIZE] = "";

	if (!metric || !isfinite(metric->smallest_detectable))
		return false;
	fg_strbuf_printf(
		text, "this run could have detected a change of %s or more",
		fg_format_without_sign(fg_format_change(metric->smallest_detectable, percent)));
	return true;
}

/* Was the metric counted in separate repetitions after the pairs? */
static bool is_counted(const struct fg_metric_verdict *metric)
{
	return metric->pairs > 0 && fg_measure_is_known(metric->name) &&
	       !fg_metric_find_builtin(metric->name);
}

static void add_number_of(struct fg_strbuf *text, unsigned number, const char *what)
{
	fg_strbuf_printf(text, "%u %s%s", number, what, number == 1 ? "" : "s");
}

void fg_report_add_effort(struct fg_strbuf *text, const struct fg_benchmark_verdict *benchmark,
			  const struct fg_metric_verdict *headline)
{
	char number[FG_NUMBER_TEXT_SIZE] = "";

	if (headline && is_counted(headline))
		add_number_of(text, headline->pairs, "count");
	else if (benchmark->pairs > 0)
		add_number_of(text, benchmark->pairs, "pair");
	else
		return;
	if (benchmark->seconds >= 1 && benchmark->seconds < 120)
		fg_strbuf_printf(text, ", %.0f s", benchmark->seconds);
	else if (benchmark->seconds > 0)
		fg_strbuf_printf(text, ", %s",
				 fg_format_duration(benchmark->seconds * 1e9, number));
}

bool fg_report_is_time(const char *unit)
{
	return strcmp(unit, "ms") == 0;
}

void fg_report_add_amount(struct fg_strbuf *text, const char *unit, double amount)
{
	char number[FG_NUMBER_TEXT_SIZE] = "";

	if (fg_report_is_time(unit))
		fg_strbuf_add_text(text, fg_format_duration(amount * NS_PER_MS, number));
	else
		fg_report_add_clean(text, fg_format_value(amount, unit, number),
				    FG_NUMBER_TEXT_SIZE);
}

void fg_report_add_delta(struct fg_strbuf *text, const char *unit, double delta)
{
	if (!isfinite(delta))
		return;
	if (fg_report_is_time(unit) && fabs(delta) >= 0.1 && fabs(delta) < 1000) {
		fg_strbuf_printf(text, "%s%.*f ms", fg_format_sign(delta),
				 fabs(delta) < 99.95 ? 1 : 0, fabs(delta));
		return;
	}
	fg_strbuf_add_text(text, fg_format_sign(delta));
	fg_report_add_amount(text, unit, fabs(delta));
}

void fg_report_add_not_sure(struct fg_strbuf *text, const struct fg_blame *blame, size_t columns)
{
	const char *separator = "";

	for (size_t i = 0; i < blame->function_count; i++) {
		const struct fg_node_verdict *node = &blame->functions[i];

		if (node->standing != FG_STANDING_NOT_SURE)
			continue;
		fg_strbuf_add_text(text, separator);
		fg_report_add_function_name(text, blame, node, columns, true);
		fg_strbuf_add_char(text, ' ');
		fg_report_add_delta(text, node->unit, node->delta);
		separator = ", ";
	}
}

void fg_report_add_accept(struct fg_strbuf *text, const struct fg_accept *accept)
{
	char number[FG_NUMBER_TEXT_SIZE] = "";
	char when[FG_TIME_TEXT_SIZE] = "";

	fg_strbuf_add_text(text, "accepted");
	if (isfinite(accept->up_to))
		fg_strbuf_printf(text, " up to %s", fg_format_change(accept->up_to, number));
	if (accept->until_ns != INT64_MAX) {
		fg_time_format_utc(accept->until_ns, when);
		fg_strbuf_printf(text, " until %.10s", when);
	}
	if (accept->reason && *accept->reason) {
		fg_strbuf_add_text(text, ": ");
		fg_report_add_clean(text, accept->reason, 400);
	}
	if (accept->source && *accept->source) {
		fg_strbuf_add_text(text, " (");
		fg_report_add_clean(text, accept->source, 200);
		fg_strbuf_add_char(text, ')');
	}
}

void fg_report_add_aside(struct fg_strbuf *text, unsigned aside)
{
	static const struct {
		unsigned bit;
		const char *word;
	} reasons[] = {
		{.bit = FG_ASIDE_WARMUP, .word = "warmup"},
		{.bit = FG_ASIDE_OVERLAP, .word = "overlap"},
		{.bit = FG_ASIDE_STEAL, .word = "steal"},
		{.bit = FG_ASIDE_SOLO, .word = "solo"},
		{.bit = FG_ASIDE_TRIAL, .word = "trial"},
		{.bit = FG_ASIDE_UNPAIRED, .word = "unpaired"},
		{.bit = FG_ASIDE_UNSAMPLED, .word = "unsampled"},
		{.bit = FG_ASIDE_GIVEN_UP, .word = "given_up"},
		{.bit = FG_ASIDE_ONE_LAYOUT, .word = "one_layout"},
		{.bit = FG_ASIDE_STRAY, .word = "stray"},
	};
	bool first = true;

	for (size_t i = 0; i < FG_ARRAY_SIZE(reasons); i++) {
		if (!(aside & reasons[i].bit))
			continue;
		fg_strbuf_printf(text, "%s%s", first ? "" : "+", reasons[i].word);
		first = false;
	}
}

void fg_report_add_sampling(struct fg_strbuf *text, const struct fg_sampling *sampling)
{
	char duration[FG_NUMBER_TEXT_SIZE];

	fg_strbuf_printf(text, "%.0f samples a second", sampling->rate_hz);
	if (isfinite(sampling->expected_cost))
		fg_strbuf_printf(text, ", about %.1f %% of the CPU time of both sides",
				 100 * sampling->expected_cost);
	if (sampling->signal_ns > 0 && sampling->handler_ns > 0) {
		fg_strbuf_printf(text, "; on this host, delivering a signal costs %s",
				 fg_format_duration(sampling->signal_ns, duration));
		fg_strbuf_printf(text, " and running the collector %s",
				 fg_format_duration(sampling->handler_ns, duration));
	}
	if (sampling->switch_ns > 0 && sampling->switches_hz >= 1)
		fg_strbuf_printf(text, "; each context switch (%.0f a second) costs up to %s more",
				 sampling->switches_hz,
				 fg_format_duration(sampling->switch_ns, duration));
	if (*sampling->clock)
		fg_strbuf_printf(text, "; %s", sampling->clock);
	if (*sampling->unseen)
		fg_strbuf_printf(text, "; not seen: %s", sampling->unseen);
}
