// SPDX-License-Identifier: Apache-2.0
#include "collector/sampler/collector_env.h"
#include "collector/sampler/state.h"
#include "trace/sample_cost.h"

#include <string.h>

enum {
	SECOND_NS = 1000000000
};

/* Parses decimal digits up to `end`; false: there is anything else, or the number is too large. */
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

static bool copy_path(char *to, const char *text)
{
	size_t size = strlen(text);

	if (text[0] != '/' || size >= FG_OUTPUT_MAX)
		return false;
	memcpy(to, text, size + 1);
	return true;
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

/* "allocations" alone counts the heap without live blocks; "heap" includes "allocations". */
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

struct setting {
	const char *name;
	/* Reads the value. NULL: the next members describe the option at `offset`. */
	bool (*set)(struct fg_options *options, const char *text);
	size_t offset;
	const char *on, *off;     /* words of a flag; NULL: a number or a path */
	uint64_t low, high, unit; /* range and unit of a whole number; `high` 0: a path */
};

#define MEMBER(member)            .offset = offsetof(struct fg_options, member)
#define FLAG(member, word, other) MEMBER(member), .on = (word), .off = (other)
#define WHOLE(member, from, to)   MEMBER(member), .low = (from), .high = (to), .unit = 1
#define MILLISECONDS(member)      MEMBER(member), .high = UINT64_MAX / 2000000, .unit = 1000000

static const struct setting settings[] = {
	{.name = FG_ENV_OUTPUT, MEMBER(output)},
	{.name = FG_ENV_PERIOD, WHOLE(period_ns, SECOND_NS / FG_RATE_MAX_HZ, SECOND_NS)},
	{.name = FG_ENV_BUDGET, WHOLE(budget, 1, FG_BUDGET_WHOLE)},
	{.name = FG_ENV_SLOWDOWN, WHOLE(slowdown, 0, SECOND_NS)},
	{.name = FG_ENV_CLOCK, .set = set_clock},
	{.name = FG_ENV_KERNEL, FLAG(no_kernel, "off", "auto")},
	{.name = FG_ENV_ONLY, WHOLE(only_parent, 1, INT32_MAX)},
	{.name = FG_ENV_DELAY, MILLISECONDS(delay_ns)},
	{.name = FG_ENV_DURATION, MILLISECONDS(duration_ns)},
	{.name = FG_ENV_UNITS, .set = set_units},
	{.name = FG_ENV_CONTROL, MEMBER(control)},
	{.name = FG_ENV_PAUSED, FLAG(paused, "1", "0")},
	{.name = FG_ENV_PYTHON, FLAG(no_python, "off", "auto")},
	{.name = FG_ENV_INDEX, FLAG(own_index, "own", "auto")},
	{.name = FG_ENV_COUNT, .set = set_counters},
	{.name = FG_ENV_DUMP_SIGNAL, WHOLE(dump_signal, 1, NSIG - 1)},
	{.name = FG_ENV_MAX_BYTES, WHOLE(max_bytes, 1u << 20, UINT64_C(1) << 40)},
};

static bool set_option(const struct setting *setting, struct fg_options *options, const char *text)
{
	void *member = (char *)options + setting->offset;
	uint64_t value;

	if (setting->set)
		return setting->set(options, text);
	if (setting->on) {
		*(bool *)member = strcmp(text, setting->on) == 0;
		return *(bool *)member || strcmp(text, setting->off) == 0;
	}
	if (setting->high == 0)
		return copy_path(member, text);
	if (!parse_number(text, text + strlen(text), &value) || value < setting->low ||
	    value > setting->high)
		return false;
	*(uint64_t *)member = value * setting->unit;
	return true;
}

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
			    !set_option(&settings[i], options, equals + 1))
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
