// SPDX-License-Identifier: Apache-2.0
#include "cli/mcp/tools.h"

#include "base/beneath.h"
#include "base/text.h"
#include "cli/session/plan.h"

#include <ctype.h>

enum {
	NAME_SIZE = 32
};

#define NAMES(...) ((const char *const[]){__VA_ARGS__, NULL})

/* ---- the table ---- */

const struct fg_mcp_tool fg_mcp_tools[] = {
	{.name = "run",
	 .title = "Gate the change",
	 .what = "Builds a git ref (`against`; `merge-base` for a branch, `HEAD` for uncommitted "
		 "changes) and a snapshot of the work tree, measures the benchmarks of "
		 "fastgate.yml in both, in pairs, and reports for each benchmark whether the "
		 "work tree is slower or faster, by how much, how sure that is, and which "
		 "functions explain it. Takes minutes; `quick` gives a first answer. Exit code 1 "
		 "is a regression.",
	 .command = "run",
	 .options = NAMES("against", "candidate", "staged", "quick", "affected", "exact",
			  "schedule", "pairs", "budget", "resume", "receipt"),
	 .fixed = NAMES("--no-post", "--receipt=.fastgate/receipt.json"),
	 .measures = true},
	{.name = "duel",
	 .title = "Compare two commands",
	 .what = "Executes two commands in pairs until it is clear whether B is slower than A. "
		 "Each command is the name of a benchmark of fastgate.yml, or, if the server "
		 "allows it, any command line. The verdict is not counted as an attempt, and "
		 "proves nothing about a change.",
	 .command = "duel",
	 .options = NAMES("pairs", "schedule", "budget", "no-sampling"),
	 .measures = true,
	 .takes_commands = true},
	{.name = "explain",
	 .title = "Explain a verdict",
	 .what = "Returns the evidence for a stored run's verdict as one JSON document: the rule, its "
		 "numbers, functions, lines and instructions with their costs before and after, "
		 "and the causes that were ruled out.",
	 .command = "explain",
	 .options = NAMES("bench"),
	 .is_json = true,
	 .only_reads = true},
	{.name = "profile",
	 .title = "Show a profile",
	 .what = "Shows where a stored run, or a recording, spent its time: functions and call "
		 "trees, and for a recording also lines and instructions. A run of the gate has "
		 "one profile per benchmark and side.",
	 .command = "view",
	 .options = NAMES("view", "bench", "side", "rows", "depth", "function", "measure", "by",
			  "focus", "ignore", "region", "inclusive"),
	 .only_reads = true},
	{.name = "history",
	 .title = "Show the trend",
	 .what = "Shows one metric of a benchmark over the stored runs, with the points at which "
		 "its level changed for good.",
	 .command = "history",
	 .options = NAMES("branch", "metric", "limit"),
	 .is_json = true,
	 .only_reads = true},
	{.name = "bisect",
	 .title = "Find the commit",
	 .what = "Finds the commit between GOOD and BAD that made a benchmark slower, and names "
		 "the function. Takes up to an hour, or minutes with `measure: instructions`.",
	 .command = "bisect",
	 .options = NAMES("bench", "metric", "function", "measure", "budget", "resume"),
	 .is_json = true,
	 .measures = true},
	{.name = "record",
	 .title = "Profile a command",
	 .what = "Executes a command under the call-stack sampler, or counts its events. "
		 "To see the result, call `profile` with `run` set to the output folder.",
	 .command = "record",
	 .options = NAMES("output", "rate", "clock", "duration", "measure", "exact", "calls"),
	 .measures = true,
	 .takes_commands = true,
	 .needs_commands = true},
	{.name = "accept",
	 .title = "Accept a cost",
	 .what = "Makes a commit that accepts a known cost of a benchmark's metric, with the "
		 "reason. Use it only if the user has agreed to that cost.",
	 .command = "accept",
	 .options = NAMES(NULL),
	 .needs_accept = true},
	{.name = NULL},
};

const struct fg_mcp_tool *fg_mcp_find_tool(const char *name, const struct fg_mcp_rights *rights)
{
	for (const struct fg_mcp_tool *tool = fg_mcp_tools; tool->name; tool++) {
		if (strcmp(tool->name, name) == 0)
			return (tool->needs_commands && !rights->commands) ||
					       (tool->needs_accept && !rights->accept)
				       ? NULL
				       : tool;
	}
	return NULL;
}

const struct fg_option *fg_mcp_option(const struct fg_mcp_tool *tool, const char *name)
{
	const struct fg_option *row = fg_cli_find_command(tool->command)->options;
	bool has = false;

	for (size_t i = 0; tool->options[i] && !has; i++)
		has = strcmp(tool->options[i], name) == 0;
	for (; has && row && row->name; row++) {
		if (strcmp(row->name, name) == 0)
			return row;
	}
	return NULL;
}

static const struct fg_cli_argument *arguments_of(const struct fg_mcp_tool *tool)
{
	static const struct fg_cli_argument none[] = {{.name = NULL}};
	const struct fg_cli_command *command = fg_cli_find_command(tool->command);

	return command->arguments ? command->arguments : none;
}

/* Sets `name` to a positional argument's name in the schema: BENCH becomes `bench`. */
static void name_argument(const struct fg_cli_argument *argument, char name[NAME_SIZE])
{
	size_t i = 0;

	for (; argument->name[i] && i + 1 < NAME_SIZE; i++)
		name[i] = (char)tolower((unsigned char)argument->name[i]);
	name[i] = '\0';
}

static bool is_named(const struct fg_cli_argument *argument, const char *wanted)
{
	char name[NAME_SIZE];

	name_argument(argument, name);
	return strcmp(name, wanted) == 0;
}

/* ---- the schema ---- */

static void add_text_type(struct fg_json_writer *w, const char *what)
{
	fg_json_text(w, "type", "string");
	fg_json_text(w, "description", what);
}

static void add_number_type(struct fg_json_writer *w, const struct fg_option *option)
{
	fg_json_text(w, "type", option->kind == FG_OPTION_DOUBLE ? "number" : "integer");
	fg_json_text(w, "description", option->help);
	if (option->minimum < option->maximum) {
		fg_json_double(w, "minimum", option->minimum);
		fg_json_double(w, "maximum", option->maximum);
	}
}

static void add_choices(struct fg_json_writer *w, const struct fg_option *option)
{
	add_text_type(w, option->help);
	fg_json_begin_array(w, "enum");
	for (size_t i = 0; option->choices[i]; i++)
		fg_json_text(w, NULL, option->choices[i]);
	fg_json_end(w);
}

static void add_list_type(struct fg_json_writer *w, const char *what)
{
	fg_json_text(w, "type", "array");
	fg_json_text(w, "description", what);
	fg_json_begin_object(w, "items");
	fg_json_text(w, "type", "string");
	fg_json_end(w);
}

static void add_option(struct fg_json_writer *w, const struct fg_option *option)
{
	struct fg_strbuf what = {0};

	fg_json_begin_object(w, option->name);
	switch (option->kind) {
	case FG_OPTION_FLAG:
		fg_json_text(w, "type", "boolean");
		fg_json_text(w, "description", option->help);
		break;
	case FG_OPTION_UNSIGNED:
	case FG_OPTION_INT64:
	case FG_OPTION_DOUBLE:
		add_number_type(w, option);
		break;
	case FG_OPTION_CHOICE:
		add_choices(w, option);
		break;
	case FG_OPTION_LIST:
		add_list_type(w, option->help);
		break;
	default:
		fg_strbuf_printf(&what, "%s (%s)", option->help, option->argument);
		add_text_type(w, fg_strbuf_text(&what));
		break;
	}
	if (option->initial)
		fg_json_text(w, "default", option->initial);
	fg_json_end(w);
	fg_strbuf_release(&what);
}

static void add_argument(struct fg_json_writer *w, const struct fg_cli_argument *argument)
{
	char name[NAME_SIZE];

	name_argument(argument, name);
	fg_json_begin_object(w, name);
	if (argument->max == 1)
		add_text_type(w, argument->help);
	else
		add_list_type(w, argument->help);
	fg_json_end(w);
}

static void add_required(struct fg_json_writer *w, const struct fg_mcp_tool *tool)
{
	fg_json_begin_array(w, "required");
	for (const struct fg_cli_argument *a = arguments_of(tool); a->name; a++) {
		char name[NAME_SIZE];

		name_argument(a, name);
		if (a->min > 0)
			fg_json_text(w, NULL, name);
	}
	fg_json_end(w);
}

static void add_input_schema(struct fg_json_writer *w, const struct fg_mcp_tool *tool)
{
	fg_json_begin_object(w, "inputSchema");
	fg_json_text(w, "type", "object");
	fg_json_begin_object(w, "properties");
	for (const struct fg_cli_argument *a = arguments_of(tool); a->name; a++)
		add_argument(w, a);
	for (size_t i = 0; tool->options[i]; i++)
		add_option(w, fg_mcp_option(tool, tool->options[i]));
	fg_json_end(w);
	add_required(w, tool);
	fg_json_bool(w, "additionalProperties", false);
	fg_json_end(w);
}

void fg_mcp_list_tools(struct fg_json_writer *w, const struct fg_mcp_rights *rights)
{
	fg_json_begin_array(w, "tools");
	for (const struct fg_mcp_tool *tool = fg_mcp_tools; tool->name; tool++) {
		if (!fg_mcp_find_tool(tool->name, rights))
			continue;
		fg_json_begin_object(w, NULL);
		fg_json_text(w, "name", tool->name);
		fg_json_text(w, "title", tool->title);
		fg_json_text(w, "description", tool->what);
		add_input_schema(w, tool);
		fg_json_begin_object(w, "annotations");
		fg_json_bool(w, "readOnlyHint", tool->only_reads);
		fg_json_bool(w, "destructiveHint", false);
		fg_json_bool(w, "openWorldHint", false);
		fg_json_end(w);
		fg_json_end(w);
	}
	fg_json_end(w);
}

/* ---- the command line ---- */

/* A call's command line under construction. */
struct line {
	const struct fg_mcp_tool *tool;
	const struct fg_mcp_rights *rights;
	struct fg_arena *arena;
	char **words;
	size_t count;
	size_t capacity;
};

static void add_word(struct line *line, char *word)
{
	line->words = fg_arena_grow(line->arena, line->words, &line->capacity, line->count + 2,
				    sizeof(line->words[0]));
	line->words[line->count++] = word;
	line->words[line->count] = NULL;
}

static int check_path(const struct line *line, const char *path, struct fg_error *err)
{
	if (*path == '/')
		return fg_error_set(err, FG_EINVAL, "'%.200s' is outside the served folder", path);
	return fg_beneath_check(line->rights->folder, path, err);
}

static int wrong_type(const char *name, const char *expected, struct fg_error *err)
{
	return fg_error_set(err, FG_EINVAL, "'%.100s' must be %s", name, expected);
}

static int add_text(struct line *line, const struct fg_option *option, const cJSON *value,
		    struct fg_error *err)
{
	if (!cJSON_IsString(value))
		return wrong_type(option->name, "a string", err);
	if (option->complete == FG_COMPLETE_FILE || option->complete == FG_COMPLETE_FOLDER)
		FG_TRY(check_path(line, value->valuestring, err));
	add_word(line, fg_arena_printf(line->arena, "--%s=%s", option->name, value->valuestring));
	return FG_OK;
}

static int add_number(struct line *line, const struct fg_option *option, const cJSON *value,
		      struct fg_error *err)
{
	if (!cJSON_IsNumber(value))
		return wrong_type(option->name, "a number", err);
	add_word(line,
		 fg_arena_printf(line->arena, "--%s=%.17g", option->name, value->valuedouble));
	return FG_OK;
}

static int add_value(struct line *line, const struct fg_option *option, const cJSON *value,
		     struct fg_error *err)
{
	const cJSON *item = NULL;

	switch (option->kind) {
	case FG_OPTION_FLAG:
		if (!cJSON_IsBool(value))
			return wrong_type(option->name, "true or false", err);
		if (cJSON_IsTrue(value))
			add_word(line, fg_arena_printf(line->arena, "--%s", option->name));
		return FG_OK;
	case FG_OPTION_LIST:
		if (!cJSON_IsArray(value))
			return wrong_type(option->name, "an array of strings", err);
		cJSON_ArrayForEach(item, value)
		{
			FG_TRY(add_text(line, option, item, err));
		}
		return FG_OK;
	case FG_OPTION_UNSIGNED:
	case FG_OPTION_INT64:
	case FG_OPTION_DOUBLE:
		return add_number(line, option, value, err);
	default:
		return add_text(line, option, value, err);
	}
}

/*
 * Sets `command` to the command line of the benchmark `word` in fastgate.yml, or to `word` itself
 * if any command is allowed.
 */
static int resolve_command(const struct line *line, const char *word, char **command,
			   struct fg_error *err)
{
	const struct fg_cli_config config = {0};
	const struct fg_benchmark *benchmark = NULL;
	struct fg_plan plan = {0};
	struct fg_strbuf text = {0};

	if (fg_cli_load_plan(line->rights->cli, &config, true, &plan) == FG_EXIT_PASS)
		benchmark = fg_plan_find(&plan, word);
	if (benchmark)
		fg_text_quote_words(&text, benchmark->command.argv);
	else if (line->rights->commands)
		fg_strbuf_add_text(&text, word);
	if (text.length > 0)
		*command = fg_arena_strdup(line->arena, fg_strbuf_text(&text));
	fg_plan_release(&plan);
	fg_strbuf_release(&text);
	if (*command)
		return FG_OK;
	return fg_error_set(err, FG_EINVAL,
			    "'%.100s' is not a benchmark of fastgate.yml; other commands need "
			    "`fastgate mcp --allow-commands`",
			    word);
}

static int add_positional(struct line *line, const struct fg_cli_argument *argument,
			  const cJSON *value, struct fg_error *err)
{
	char *word = NULL;
	int status = FG_OK;

	if (!cJSON_IsString(value))
		return wrong_type(argument->name,
				  argument->max == 1 ? "a string" : "an array of strings", err);
	/* RUN may be the path of a recording. */
	if (strcmp(argument->name, "RUN") == 0)
		status = check_path(line, value->valuestring, err);
	else if (line->tool->takes_commands && argument->max == 1)
		status = resolve_command(line, value->valuestring, &word, err);
	if (status != FG_OK)
		return status;
	add_word(line, word ? word : fg_arena_strdup(line->arena, value->valuestring));
	return FG_OK;
}

static int add_positionals(struct line *line, const cJSON *arguments, struct fg_error *err)
{
	add_word(line, fg_arena_strdup(line->arena, "--"));
	for (const struct fg_cli_argument *a = arguments_of(line->tool); a->name; a++) {
		const cJSON *value = NULL;
		const cJSON *item = NULL;

		cJSON_ArrayForEach(item, arguments)
		{
			if (is_named(a, item->string))
				value = item;
		}
		if (!value)
			continue;
		if (!cJSON_IsArray(value) || a->max == 1) {
			FG_TRY(add_positional(line, a, value, err));
			continue;
		}
		cJSON_ArrayForEach(item, value)
		{
			FG_TRY(add_positional(line, a, item, err));
		}
	}
	return FG_OK;
}

static int add_options(struct line *line, const cJSON *arguments, struct fg_error *err)
{
	const cJSON *value = NULL;

	cJSON_ArrayForEach(value, arguments)
	{
		const struct fg_option *option = fg_mcp_option(line->tool, value->string);
		const struct fg_cli_argument *a = arguments_of(line->tool);

		while (!option && a->name && !is_named(a, value->string))
			a++;
		if (!option && !a->name)
			return fg_error_set(err, FG_EINVAL, "%s has no argument '%.100s'",
					    line->tool->name, value->string);
		if (option)
			FG_TRY(add_value(line, option, value, err));
	}
	return FG_OK;
}

int fg_mcp_command_line(const struct fg_mcp_tool *tool, const cJSON *arguments,
			const struct fg_mcp_rights *rights, struct fg_arena *arena, char ***argv,
			struct fg_error *err)
{
	struct line line = {.tool = tool, .rights = rights, .arena = arena};

	add_word(&line, fg_arena_strdup(arena, "/proc/self/exe"));
	add_word(&line, fg_arena_strdup(arena, tool->command));
	add_word(&line, fg_arena_strdup(arena, "--color=never"));
	if (tool->is_json)
		add_word(&line, fg_arena_strdup(arena, "--json"));
	for (size_t i = 0; tool->fixed && tool->fixed[i]; i++)
		add_word(&line, fg_arena_strdup(arena, tool->fixed[i]));
	FG_TRY(add_options(&line, arguments, err));
	FG_TRY(add_positionals(&line, arguments, err));
	*argv = line.words;
	return FG_OK;
}
