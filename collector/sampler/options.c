// SPDX-License-Identifier: Apache-2.0
#include "collector/sampler/collector_env.h"
#include "collector/sampler/state.h"
#include "trace/sample_cost.h"

#include <string.h>

enum {
	SECOND_NS = 1000000000
};

/* Decimal digits up to `end`; false if there is anything else. */
static bool parse_number(const char *text, const char *end, uint64_t *value)
{
	uint64_t result = 0;

	if (text == end)
		return false;
	for (; text < end; text++) {
		if (*text < '0' || *text > '9' || result > UINT64_MAX / 10 - 9)
			return false;
		result = result * 10 + (uint64_t)(*text - '0');
	}
	*value = result;
	return true;
}

static bool parse_whole(const char *text, uint64_t low, uint64_t high, uint64_t *value)
{
	uint64_t result;

	if (!parse_number(text, text + strlen(text), &result) || result < low || result > high)
		return false;
	*value = result;
	return true;
}

static bool copy_path(char *to, const char *text)
{
	size_t size = strlen(text);

	if (text[0] != '/' || size >= FG_OUTPUT_MAX)
		return false;
	memcpy(to, text, size + 1);
	return true;
}

static bool set_output(struct fg_options *options, const char *text)
{
	return copy_path(options->output, text);
}

static bool set_control(struct fg_options *options, const char *text)
{
	return copy_path(options->control, text);
}

static bool set_period(struct fg_options *options, const char *text)
{
	return parse_whole(text, SECOND_NS / FG_RATE_MAX_HZ, SECOND_NS, &options->period_ns);
}

static bool set_budget(struct fg_options *options, const char *text)
{
	return parse_whole(text, 1, FG_BUDGET_WHOLE, &options->budget);
}

static bool set_slowdown(struct fg_options *options, const char *text)
{
	return parse_whole(text, 0, SECOND_NS, &options->slowdown);
}

static bool set_clock(struct fg_options *options, const char *text)
{
	static const struct {
		const char *name;
		enum fg_trace_clock clock;
	} names[] = {
		{.name = "cpu", .clock = FG_CLOCK_PERF_USER},
		{.name = "jitter", .clock = FG_CLOCK_JITTER},
		{.name = "tick", .clock = FG_CLOCK_TICK},
		{.name = "wall", .clock = FG_CLOCK_WALL},
		{.name = "none", .clock = FG_CLOCK_NONE},
	};

	for (size_t i = 0; i < FG_ARRAY_SIZE(names); i++) {
		if (strcmp(text, names[i].name) == 0) {
			options->clock = names[i].clock;
			return true;
		}
	}
	return false;
}

static bool set_kernel(struct fg_options *options, const char *text)
{
	options->no_kernel = strcmp(text, "off") == 0;
	return options->no_kernel || strcmp(text, "auto") == 0;
}

static bool set_only(struct fg_options *options, const char *text)
{
	uint64_t value;

	if (!parse_whole(text, 1, INT32_MAX, &value))
		return false;
	options->only_parent = (pid_t)value;
	return true;
}

static bool set_milliseconds(uint64_t *ns, const char *text)
{
	uint64_t value;

	if (!parse_whole(text, 0, UINT64_MAX / 2000000, &value))
		return false;
	*ns = value * 1000000;
	return true;
}

static bool set_delay(struct fg_options *options, const char *text)
{
	return set_milliseconds(&options->delay_ns, text);
}

static bool set_duration(struct fg_options *options, const char *text)
{
	return set_milliseconds(&options->duration_ns, text);
}

static bool set_units(struct fg_options *options, const char *text)
{
	const char *dash = strchr(text, '-');
	uint64_t first;
	uint64_t last;

	if (!dash || !parse_number(text, dash, &first) ||
	    !parse_number(dash + 1, dash + strlen(dash), &last) || last < first)
		return false;
	options->unit_first = first;
	options->unit_last = last;
	options->has_units = true;
	return true;
}

static bool set_paused(struct fg_options *options, const char *text)
{
	options->paused = strcmp(text, "1") == 0;
	return options->paused || strcmp(text, "0") == 0;
}

static bool set_python(struct fg_options *options, const char *text)
{
	options->no_python = strcmp(text, "off") == 0;
	return options->no_python || strcmp(text, "auto") == 0;
}

static bool set_index(struct fg_options *options, const char *text)
{
	options->own_index = strcmp(text, "own") == 0;
	return options->own_index || strcmp(text, "auto") == 0;
}

static bool set_dump_signal(struct fg_options *options, const char *text)
{
	uint64_t value;

	if (!parse_whole(text, 1, NSIG - 1, &value))
		return false;
	options->dump_signal = (uint32_t)value;
	return true;
}

static bool set_max_bytes(struct fg_options *options, const char *text)
{
	return parse_whole(text, 1u << 20, UINT64_C(1) << 40, &options->max_bytes);
}

/* The heap includes its allocations; allocations alone are the heap without its blocks. */
static uint32_t with_heap(uint32_t counters)
{
	const uint32_t heap = 1u << FG_COUNTER_HEAP;
	const uint32_t allocations = 1u << FG_COUNTER_ALLOCATIONS;

	if (counters & heap)
		return counters & ~allocations;
	return counters & allocations ? counters | heap : counters;
}

static bool set_counters(struct fg_options *options, const char *text)
{
	static const char *const words[FG_COUNTER_COUNT] = FG_COUNTER_WORDS;
	uint32_t counters = 0;

	while (*text) {
		const size_t size = strcspn(text, ",");
		unsigned i = 0;

		while (i < FG_COUNTER_COUNT &&
		       (strlen(words[i]) != size || strncmp(words[i], text, size) != 0))
			i++;
		if (i == FG_COUNTER_COUNT)
			return false;
		counters |= 1u << i;
		text += size + (text[size] == ',');
	}
	options->counters = with_heap(counters);
	return true;
}

static const struct {
	const char *name;
	bool (*set)(struct fg_options *options, const char *text);
} settings[] = {
	{.name = FG_ENV_OUTPUT, .set = set_output},
	{.name = FG_ENV_PERIOD, .set = set_period},
	{.name = FG_ENV_BUDGET, .set = set_budget},
	{.name = FG_ENV_SLOWDOWN, .set = set_slowdown},
	{.name = FG_ENV_CLOCK, .set = set_clock},
	{.name = FG_ENV_KERNEL, .set = set_kernel},
	{.name = FG_ENV_ONLY, .set = set_only},
	{.name = FG_ENV_DELAY, .set = set_delay},
	{.name = FG_ENV_DURATION, .set = set_duration},
	{.name = FG_ENV_UNITS, .set = set_units},
	{.name = FG_ENV_CONTROL, .set = set_control},
	{.name = FG_ENV_PAUSED, .set = set_paused},
	{.name = FG_ENV_PYTHON, .set = set_python},
	{.name = FG_ENV_INDEX, .set = set_index},
	{.name = FG_ENV_COUNT, .set = set_counters},
	{.name = FG_ENV_DUMP_SIGNAL, .set = set_dump_signal},
	{.name = FG_ENV_MAX_BYTES, .set = set_max_bytes},
};

void fg_collector_options_parse(char *const *environment, struct fg_options *options)
{
	const struct fg_sample_cost unmeasured = {0};

	options->clock = FG_CLOCK_PERF_USER;
	options->max_bytes = FG_MAX_BYTES_DEFAULT;
	for (; environment && *environment; environment++) {
		const char *equals = strchr(*environment, '=');

		for (size_t i = 0; equals && i < FG_ARRAY_SIZE(settings); i++) {
			const size_t size = strlen(settings[i].name);

			if (size == (size_t)(equals - *environment) &&
			    strncmp(*environment, settings[i].name, size) == 0 &&
			    !settings[i].set(options, equals + 1))
				options->invalid_variable = settings[i].name;
		}
	}
	if (options->clock == FG_CLOCK_WALL || options->clock == FG_CLOCK_NONE)
		options->budget = 0; /* a budget is a share of CPU time */
	if (options->budget)
		options->period_ns = fg_sample_cost_period_ns(&unmeasured, options->budget);
	else if (options->period_ns == 0)
		options->period_ns = SECOND_NS / (options->clock == FG_CLOCK_WALL
							  ? (uint64_t)FG_RATE_WALL_DEFAULT_HZ
							  : (uint64_t)FG_RATE_DEFAULT_HZ);
}
