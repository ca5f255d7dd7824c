// SPDX-License-Identifier: Apache-2.0
#include "base/fs.h"
#include "base/map.h"
#include "base/number.h"
#include "cli/record/outcome.h"
#include "profile/call_patterns.h"

#include <stdlib.h>

enum {
	SHOWN = 10 /* maximum number of functions listed */
};

struct function {
	const char *name;
	double calls;
	uint32_t ways; /* bits of enum fg_call_way */
};

struct counted {
	const struct fg_cli *cli;
	struct fg_arena arena;
	struct fg_map index; /* name → function */
	struct function *functions;
	size_t count, capacity;
	bool is_timed;
	struct fg_call_patterns patterns;
	struct fg_map notes; /* notes already printed */
};

/*
 * Returns the function whose calls the measure counts; NULL if the measure counts something else.
 */
static const char *function_of(const struct fg_trace *trace, uint32_t measure)
{
	static const char family[] = "calls.";
	const char *name = measure < trace->measure_count ? trace->measures[measure] : NULL;

	return name && strncmp(name, family, sizeof(family) - 1) == 0 ? name + sizeof(family) - 1
								      : NULL;
}

static struct function *add(struct counted *counted, const char *name, double calls)
{
	bool is_new = false;
	const uint64_t *at = fg_map_add_text(&counted->index, name, counted->count, &is_new);
	const size_t index = (size_t)*at;

	if (is_new) {
		FG_APPEND(counted->functions, counted->count, counted->capacity) =
			(struct function){.name = fg_arena_strdup(&counted->arena, name)};
	}
	counted->functions[index].calls += calls;
	return &counted->functions[index];
}

/* Prints the collector's notes about a process, each note once. */
static void say_notes(struct counted *counted, const struct fg_trace *trace)
{
	for (size_t i = 0; i < trace->note_count; i++) {
		bool is_new = false;

		(void)fg_map_add_text(&counted->notes, trace->notes[i], i, &is_new);
		if (is_new)
			fg_cli_say(counted->cli, "note: %s", trace->notes[i]);
	}
}

static void add_trace(struct counted *counted, const struct fg_trace *trace)
{
	for (size_t i = 1; i < trace->measure_count; i++)
		if (function_of(trace, (uint32_t)i))
			add(counted, function_of(trace, (uint32_t)i), 0)->ways |=
				i < trace->way_count ? trace->ways[i] : 0;
	for (size_t i = 0; i < trace->value_count; i++) {
		const struct fg_trace_value *value = &trace->values[i];
		const char *name = function_of(trace, value->measure);

		if (name)
			(void)add(counted, name, (double)value->value);
	}
	counted->is_timed |= trace->call_time_count > 0;
	fg_call_patterns_add(&counted->patterns, trace);
}

static void read_trace(void *context, const char *path)
{
	struct counted *counted = context;
	struct fg_trace trace;

	if (!fg_trace_is_trace(path) || fg_trace_read(path, &trace, NULL) != FG_OK)
		return;
	add_trace(counted, &trace);
	say_notes(counted, &trace);
	fg_trace_release(&trace);
}

static int by_calls(const void *a, const void *b)
{
	const struct function *one = a;
	const struct function *other = b;

	if (one->calls < other->calls || one->calls > other->calls)
		return one->calls < other->calls ? 1 : -1;
	return strcmp(one->name, other->name);
}

/* Adds how a function's calls are counted, unless only imports are counted. */
static void add_ways(struct fg_strbuf *text, uint32_t ways)
{
	static const struct {
		uint32_t way;
		const char *name;
	} names[] = {
		{.way = FG_CALL_WAY_HOOKS, .name = "-finstrument-functions"},
		{.way = FG_CALL_WAY_FENTRY, .name = "-mfentry"},
		{.way = FG_CALL_WAY_ENTRY, .name = "a jump at its entry"},
	};
	const char *before = "  (";

	for (size_t i = 0; i < FG_ARRAY_SIZE(names); i++) {
		if (!(ways & names[i].way))
			continue;
		fg_strbuf_printf(text, "%s%s", before, names[i].name);
		before = ", ";
	}
	if (text->length > 0)
		fg_strbuf_add_text(text, ")");
}

static void say_function(const struct fg_cli *cli, const struct function *function)
{
	char calls[FG_NUMBER_TEXT_SIZE];
	struct fg_strbuf ways = {0};

	add_ways(&ways, function->ways);
	fg_cli_say(cli, "%12s  %s%s", fg_format_count(function->calls, calls), function->name,
		   ways.length > 0 ? ways.data : "");
	fg_strbuf_release(&ways);
}

static void say_functions(const struct fg_cli *cli, const struct counted *counted,
			  const char *folder)
{
	if (counted->count == 0)
		return;
	fg_cli_say(cli, "calls of %zu function%s: fastgate view %s --measure calls.%s",
		   counted->count, counted->count == 1 ? "" : "s", folder,
		   counted->functions[0].name);
	for (size_t i = 0; i < counted->count && i < SHOWN; i++)
		say_function(cli, &counted->functions[i]);
	if (counted->count > SHOWN)
		fg_cli_say(cli, "%12s  and %zu more", "", counted->count - SHOWN);
	if (counted->is_timed)
		fg_cli_say(cli, "durations of the calls: fastgate view %s -V times", folder);
}

/* Reports which function entries could be counted and which could not. */
static void say_entries(const struct fg_cli *cli, const struct fg_call_patterns *patterns)
{
	for (unsigned reason = 0; reason < FG_ENTRY_REFUSALS; reason++) {
		struct fg_strbuf text = {0};

		if (fg_call_patterns_explain_entries(patterns, reason, &text))
			fg_cli_say(cli, "%s", text.data);
		fg_strbuf_release(&text);
	}
}

void fg_record_say_calls(const struct fg_cli *cli, const char *folder)
{
	struct counted counted = {.cli = cli};

	(void)fg_fs_each(folder, read_trace, &counted, NULL);
	if (counted.count > 0)
		qsort(counted.functions, counted.count, sizeof(counted.functions[0]), by_calls);
	say_functions(cli, &counted, folder);
	say_entries(cli, &counted.patterns);
	for (size_t i = 0; i < counted.patterns.count; i++) {
		struct fg_strbuf text = {0};

		if (fg_call_patterns_explain(&counted.patterns, i, &text))
			fg_cli_warn(cli, "%s", text.data);
		fg_strbuf_release(&text);
	}
	fg_call_patterns_release(&counted.patterns);
	fg_map_release(&counted.index);
	fg_map_release(&counted.notes);
	free(counted.functions);
	fg_arena_release(&counted.arena);
}
