// SPDX-License-Identifier: Apache-2.0
/* The report that every parser fills. */
#include "base/text.h"
#include "runner/harness/harness_parsers.h"

#include <math.h>

enum {
	CASES_MAX = 20000,
	VALUES_MAX = 64,
	NAME_MAX_BYTES = 512
};

struct fg_harness_case *fg_harness_add(struct fg_harness_report *report, const char *name,
				       size_t length)
{
	struct fg_strbuf clean = {0};
	struct fg_harness_case *added = NULL;

	if (report->case_count == CASES_MAX)
		return NULL;
	added = &FG_APPEND(report->cases, report->case_count, report->case_capacity);
	fg_text_add_clean(&clean, name, length, NAME_MAX_BYTES);
	added->name = fg_strbuf_keep(&clean, &report->arena);
	return added;
}

void fg_harness_add_value(struct fg_harness_report *report, struct fg_harness_case *to,
			  struct fg_harness_value value)
{
	if (to->value_count == VALUES_MAX || !isfinite(value.value))
		return;
	value.metric = fg_arena_strdup(&report->arena, value.metric);
	FG_APPEND(to->values, to->value_count, to->value_capacity) = value;
}

void fg_harness_add_time(struct fg_harness_report *report, struct fg_harness_case *to,
			 const char *metric, double value_ns)
{
	fg_harness_add_value(
		report, to,
		(struct fg_harness_value){.metric = metric, .unit = "ns", .value = value_ns});
}

void fg_harness_report_release(struct fg_harness_report *report)
{
	for (size_t i = 0; i < report->case_count; i++)
		free(report->cases[i].values);
	free(report->cases);
	fg_arena_release(&report->arena);
	*report = (struct fg_harness_report){0};
}

double fg_harness_unit_ns(const char *unit)
{
	static const struct {
		const char *unit;
		double ns;
	} units[] = {
		{"ns", 1},  {"us", 1e3},  {"\u00b5s", 1e3}, {"\u03bcs", 1e3}, {"ms", 1e6},
		{"s", 1e9}, {"sec", 1e9}, {"second", 1e9},  {"seconds", 1e9},
	};

	for (size_t i = 0; i < FG_ARRAY_SIZE(units); i++) {
		if (strcmp(units[i].unit, unit) == 0)
			return units[i].ns;
	}
	return (double)NAN;
}

struct fg_harness_case *fg_harness_find_or_add(struct fg_harness_report *report, const char *name,
					       size_t length)
{
	struct fg_strbuf clean = {0};
	struct fg_harness_case *found = NULL;

	if (report->case_count == CASES_MAX)
		return NULL;
	fg_text_add_clean(&clean, name, length, NAME_MAX_BYTES);
	for (size_t i = report->case_count; i > 0 && !found; i--) {
		if (strcmp(report->cases[i - 1].name, fg_strbuf_text(&clean)) == 0)
			found = &report->cases[i - 1];
	}
	fg_strbuf_release(&clean);
	return found ? found : fg_harness_add(report, name, length);
}

static struct fg_harness_value *find_value(struct fg_harness_case *in, const char *metric)
{
	for (size_t i = 0; i < in->value_count; i++) {
		if (strcmp(in->values[i].metric, metric) == 0)
			return &in->values[i];
	}
	return NULL;
}

/* Accepts "ns/op" as well as "ns". */
static double time_unit_ns(const char *unit)
{
	static const char *const per[] = {"/op", "/iter", "/iteration"};
	char *plain = fg_xstrdup(unit);
	double ns = 0;

	for (size_t i = 0; i < FG_ARRAY_SIZE(per); i++) {
		if (fg_text_ends_with(plain, per[i]))
			plain[strlen(plain) - strlen(per[i])] = '\0';
	}
	ns = fg_harness_unit_ns(plain);
	free(plain);
	return ns;
}

/* Turns "B/op" into "B_per_op", a name that is valid in gate.metrics. */
static const char *metric_of(const char *unit, struct fg_arena *arena)
{
	const char *slash = strchr(unit, '/');

	return slash ? fg_arena_printf(arena, "%.*s_per_%s", (int)(slash - unit), unit, slash + 1)
		     : fg_arena_strdup(arena, unit);
}

void fg_harness_add_measured(struct fg_harness_report *report, struct fg_harness_case *to,
			     double value, const char *unit)
{
	static const char *const rates[] = {"/s", "/sec", "/us", "/ms", "/ns", "/min"};
	struct fg_harness_value added = {.value = value, .unit = "ns", .metric = "wall_time"};
	struct fg_harness_value *same = NULL;
	const double ns = time_unit_ns(unit);

	if (isfinite(ns)) {
		added.value *= ns;
	} else {
		added.metric = metric_of(unit, &report->arena);
		added.unit = fg_arena_strdup(&report->arena, unit);
		if (FG_TEXT_ENDS_WITH_ANY(unit, rates))
			added.better = FG_BETTER_HIGHER;
	}
	if (!isfinite(added.value))
		return;
	added.repeated = 1;
	same = find_value(to, added.metric);
	if (same) {
		same->repeated++;
		same->value += (added.value - same->value) / same->repeated;
	} else {
		fg_harness_add_value(report, to, added);
	}
}
