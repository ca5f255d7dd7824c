// SPDX-License-Identifier: Apache-2.0
#include "cli/record/options.h"

#include "runner/execute/preload.h"

bool fg_record_counts_calls(const struct fg_recording *given)
{
	return given->count.calls || given->count.domains;
}

bool fg_record_counts_events(const struct fg_recording *given)
{
	return given->count.measures || fg_record_counts_calls(given);
}

const char *fg_record_only_inside(const struct fg_recording *given)
{
	if (given->sample.clock != 0 && given->attach.system)
		return "--clock";
	if (given->sample.kernel != 0)
		return "--kernel";
	if (given->sample.delay_ns > 0)
		return "--delay";
	if (given->units)
		return "--units";
	if (given->control)
		return "--control";
	if (given->count.dump_signal)
		return "--dump-signal";
	if (given->count.measures)
		return "--measure";
	if (given->count.calls)
		return "--calls";
	if (given->count.domains)
		return "--domains";
	if (given->count.entries)
		return "--entries";
	if (given->sample.python)
		return "--python";
	return given->paused ? "--paused" : NULL;
}

/* Requires exactly one of a command, --pid and --system. */
static const char *contradiction(const struct fg_recording *given, size_t words)
{
	if (given->attach.pid && given->attach.system)
		return "--pid and --system cannot be combined";
	if (given->attach.pid && words > 0)
		return "--pid cannot be combined with a command";
	if (given->attach.system && words > 0)
		return "--system cannot be combined with a command";
	return given->attach.pid || given->attach.system || words > 0
		       ? NULL
		       : "the command to record is missing";
}

static const char *counting_contradiction(const struct fg_recording *given)
{
	if (given->count.entries && !fg_record_counts_calls(given))
		return "--entries needs --calls or --domains, which name the functions to count";
	if (given->count.entries && given->count.times)
		return "--entries cannot see the end of a call, which --times needs: make two "
		       "recordings";
	if (given->count.times && !fg_record_counts_calls(given))
		return "--times needs --calls or --domains, which name the functions to time";
	if (given->count.values > 0 && !given->count.domains)
		return "--values needs --domains, which names the functions whose arguments are "
		       "kept";
	if (given->count.value_bits > 0 && given->count.values == 0)
		return "--precision needs --values";
	if (given->count.measures && fg_record_counts_calls(given))
		return "--measure cannot be combined with --calls or --domains: make separate "
		       "recordings";
	if (given->count.dump_signal && !given->count.measures)
		return "--dump-signal needs --measure heap or fd, which count held memory and "
		       "descriptors";
	return NULL;
}

char *fg_record_mistake(const struct fg_recording *given, size_t words)
{
	const char *wrong = contradiction(given, words);

	if (given->units && !fg_preload_units_valid(given->units))
		return fg_xasprintf(
			"--units: expected FIRST-LAST, two numbers, the second not smaller; got '%s'",
			given->units);
	return wrong ? fg_xstrdup(wrong) : NULL;
}

char *fg_record_mistake_exact(const struct fg_recording *given)
{
	const char *other = fg_record_only_inside(given);

	if (!other && (given->attach.pid || given->attach.system))
		other = given->attach.pid ? "--pid" : "--system";
	if (!other && given->sample.clock)
		other = "--clock";
	if (!other && given->sample.rate_hz)
		other = "--rate";
	if (!other && given->sample.duration_ns > 0)
		other = "--duration";
	if (!other && (given->append || given->archive))
		other = given->append ? "--append" : "--archive";
	return other ? fg_xasprintf("--exact runs the command under callgrind, which counts "
				    "everything: %s does not apply",
				    other)
		     : NULL;
}

char *fg_record_mistake_within(const struct fg_recording *given)
{
	const char *wrong = counting_contradiction(given);

	if (!wrong && fg_record_counts_events(given) &&
	    (given->sample.clock || given->sample.delay_ns || given->sample.duration_ns ||
	     given->sample.rate_hz))
		return fg_xasprintf("%s counts every event: --rate, --clock, --delay and "
				    "--duration do not apply",
				    given->count.calls     ? "--calls"
				    : given->count.domains ? "--domains"
							   : "--measure");
	return wrong ? fg_xstrdup(wrong) : NULL;
}
