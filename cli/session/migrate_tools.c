// SPDX-License-Identifier: Apache-2.0
/* Commands of scripts that measure: what they run, and how fastgate reads what that prints. */
#include "base/fs.h"
#include "base/text.h"
#include "cli/session/migrate_parts.h"

#include <math.h>

enum {
	MAX_COMMANDS = 32,
	MAX_VALUES = 64,
	MAX_TEXT_BYTES = 1 << 20,
};

/* ---- words ---- */

static const char *quoted(char *const *argv, struct fg_arena *arena)
{
	struct fg_strbuf text = {0};
	const char *kept = NULL;

	fg_text_quote_words(&text, argv);
	kept = fg_arena_strdup(arena, fg_strbuf_text(&text));
	fg_strbuf_release(&text);
	return kept;
}

/* Does an unquoted character in it mean something to a shell? */
static bool needs_shell(const char *command)
{
	char quote = '\0';

	for (; *command; command++) {
		if (*command == '\\' && quote != '\'' && command[1]) {
			command++;
		} else if (quote) {
			if (*command == quote)
				quote = '\0';
			else if (quote == '"' && strchr("$`", *command))
				return true;
		} else if (*command == '\'' || *command == '"') {
			quote = *command;
		} else if (strchr("|&;<>()$`*?[#~{}\n", *command)) {
			return true;
		}
	}
	return false;
}

/* What of the words from `first` on is not known, or NULL. */
static const char *unknown_among(const struct fg_script_command *command, size_t first)
{
	for (size_t i = first; i < command->argc; i++) {
		if (command->unknown[i])
			return command->unknown[i];
	}
	return NULL;
}

/* Only a shell that knows it can run this. */
static bool is_unknown(struct fg_migration *migration, const struct fg_script_command *command,
		       size_t first)
{
	const char *unknown = unknown_among(command, first);

	if (unknown)
		fg_migration_note(migration, command->line,
				  "the command of '%s' holds %s, which is not known here: left out",
				  command->argv[0], unknown);
	return unknown != NULL;
}

static bool says(const char *const *words, const char *word)
{
	while (*words && strcmp(*words, word) != 0)
		words++;
	return *words != NULL;
}

/* ---- hyperfine ---- */

struct parameter {
	const char *name;
	const char *values[MAX_VALUES];
	size_t count;
};

struct hyperfine {
	struct fg_migration *migration;
	const struct fg_script_command *command;
	struct fg_migrated item; /* what all its commands share */
	const char *commands[MAX_COMMANDS];
	size_t command_count;
	const char *names[MAX_COMMANDS];
	size_t name_count;
	const char *prepares[MAX_COMMANDS];
	size_t prepare_count;
	struct parameter parameters[2];
	size_t parameter_count;
	char *const *scan; /* its name, the first value and the last one */
	const char *step;
	bool no_shell;
};

enum value_kind {
	VALUE_DROPPED,
	VALUE_SETUP,
	VALUE_PREPARE,
	VALUE_CLEANUP,
	VALUE_NAME,
	VALUE_INPUT,
	VALUE_SHELL,
	VALUE_LIST,
	VALUE_SCAN,
	VALUE_STEP,
	VALUE_NO_SHELL,
	VALUE_REFERENCE,
};

/* Options of hyperfine that change what is run; those that only say how often have no effect. */
static const struct hyperfine_option {
	const char *name;
	char letter;
	unsigned values;
	enum value_kind kind;
} hyperfine_options[] = {
	{.name = "setup", .letter = 's', .values = 1, .kind = VALUE_SETUP},
	{.name = "prepare", .letter = 'p', .values = 1, .kind = VALUE_PREPARE},
	{.name = "cleanup", .letter = 'c', .values = 1, .kind = VALUE_CLEANUP},
	{.name = "command-name", .letter = 'n', .values = 1, .kind = VALUE_NAME},
	{.name = "input", .values = 1, .kind = VALUE_INPUT},
	{.name = "shell", .letter = 'S', .values = 1, .kind = VALUE_SHELL},
	{.name = "parameter-list", .letter = 'L', .values = 2, .kind = VALUE_LIST},
	{.name = "parameter-scan", .letter = 'P', .values = 3, .kind = VALUE_SCAN},
	{.name = "parameter-step-size", .letter = 'D', .values = 1, .kind = VALUE_STEP},
	{.name = "reference", .values = 1, .kind = VALUE_REFERENCE},
	{.letter = 'N', .kind = VALUE_NO_SHELL},
	{.name = "warmup", .letter = 'w', .values = 1},
	{.name = "min-runs", .letter = 'm', .values = 1},
	{.name = "max-runs", .letter = 'M', .values = 1},
	{.name = "runs", .letter = 'r', .values = 1},
	{.name = "conclude", .letter = 'C', .values = 1},
	{.name = "style", .values = 1},
	{.name = "sort", .values = 1},
	{.name = "time-unit", .letter = 'u', .values = 1},
	{.name = "output", .values = 1},
	{.name = "export-asciidoc", .values = 1},
	{.name = "export-csv", .values = 1},
	{.name = "export-json", .values = 1},
	{.name = "export-markdown", .values = 1},
	{.name = "export-orgmode", .values = 1},
};

static void take_list(struct hyperfine *h, const char *name, const char *list)
{
	char *rest = fg_arena_strdup(h->migration->arena, list);
	struct parameter *parameter = &h->parameters[h->parameter_count];

	if (h->parameter_count == FG_ARRAY_SIZE(h->parameters)) {
		fg_migration_note(h->migration, h->command->line,
				  "hyperfine: the parameter '%s' is one too many: left out", name);
		return;
	}
	*parameter = (struct parameter){.name = name};
	h->parameter_count++;
	for (char *one = strsep(&rest, ","); one && parameter->count < MAX_VALUES;
	     one = strsep(&rest, ","))
		parameter->values[parameter->count++] = one;
}

static void take_scan(struct hyperfine *h)
{
	const double from = strtod(h->scan[1], NULL);
	const double to = strtod(h->scan[2], NULL);
	const double step = h->step ? strtod(h->step, NULL) : 1;
	struct fg_strbuf list = {0};

	for (unsigned i = 0; step > 0 && from + i * step <= to && i < MAX_VALUES; i++)
		fg_strbuf_printf(&list, "%s%g", i ? "," : "", from + i * step);
	take_list(h, h->scan[0], fg_strbuf_text(&list));
	fg_strbuf_release(&list);
}

static void take_value(struct hyperfine *h, enum value_kind kind, char *const *values)
{
	switch (kind) {
	case VALUE_SETUP:
		h->item.setup = values[0];
		break;
	case VALUE_PREPARE:
		if (h->prepare_count < MAX_COMMANDS)
			h->prepares[h->prepare_count++] = values[0];
		break;
	case VALUE_CLEANUP:
		h->item.cleanup = values[0];
		break;
	case VALUE_NAME:
		if (h->name_count < MAX_COMMANDS)
			h->names[h->name_count++] = values[0];
		break;
	case VALUE_INPUT:
		h->item.stdin_path = strcmp(values[0], "null") == 0 ? NULL : values[0];
		break;
	case VALUE_SHELL:
		h->no_shell = strcmp(values[0], "none") == 0;
		break;
	case VALUE_NO_SHELL:
		h->no_shell = true;
		break;
	case VALUE_LIST:
		take_list(h, values[0], values[1]);
		break;
	case VALUE_SCAN:
		h->scan = values;
		break;
	case VALUE_STEP:
		h->step = values[0];
		break;
	case VALUE_REFERENCE:
		if (h->command_count < MAX_COMMANDS)
			h->commands[h->command_count++] = values[0];
		break;
	case VALUE_DROPPED:
		break;
	}
}

/* The option that this word is, and the value that stands in the word itself, if one does. */
static const struct hyperfine_option *find_option(const char *word, const char **value)
{
	const bool is_long = fg_text_starts_with(word, "--");
	const char *name = word + (is_long ? 2 : 1);
	const size_t length = strcspn(name, "=");

	*value = NULL;
	for (size_t i = 0; i < FG_ARRAY_SIZE(hyperfine_options); i++) {
		const struct hyperfine_option *option = &hyperfine_options[i];

		if (is_long && option->name && strlen(option->name) == length &&
		    strncmp(option->name, name, length) == 0) {
			*value = name[length] ? name + length + 1 : NULL;
			return option;
		}
		if (!is_long && option->letter && option->letter == *name) {
			*value = name[1] && option->values ? name + 1 : NULL;
			return option;
		}
	}
	return NULL;
}

static const char *replaced(const char *text, const char *from, const char *to,
			    struct fg_arena *arena)
{
	struct fg_strbuf out = {0};
	const char *kept = NULL;

	if (!text)
		return NULL;
	for (const char *at = strstr(text, from); at; at = strstr(text, from)) {
		fg_strbuf_add(&out, text, (size_t)(at - text));
		fg_strbuf_add_text(&out, to);
		text = at + strlen(from);
	}
	fg_strbuf_add_text(&out, text);
	kept = fg_arena_strdup(arena, fg_strbuf_text(&out));
	fg_strbuf_release(&out);
	return kept;
}

/* hyperfine gives these to a shell, which the command itself may not need. */
static const char *in_shell(const char *text, struct fg_arena *arena)
{
	char program[] = "sh";
	char option[] = "-c";
	char *argv[] = {program, option, NULL, NULL};

	if (!text || !needs_shell(text))
		return text;
	argv[2] = fg_arena_strdup(arena, text);
	return quoted(argv, arena);
}

/* One command, with a value for each parameter. */
static void add_hyperfine(struct hyperfine *h, size_t index, const char *const *values)
{
	struct fg_arena *arena = h->migration->arena;
	struct fg_migrated item = h->item;
	const char *name = index < h->name_count ? h->names[index] : NULL;
	const char *prepare = NULL;
	char **argv = NULL;
	size_t argc = 0;

	if (h->prepare_count)
		prepare =
			h->prepares[h->prepare_count == 1 || index >= h->prepare_count ? 0 : index];
	item.command = h->commands[index];
	item.prepare = prepare;
	for (size_t i = 0; i < h->parameter_count && i < FG_ARRAY_SIZE(h->parameters); i++) {
		const char *from = fg_arena_printf(arena, "{%s}", h->parameters[i].name);

		item.command = replaced(item.command, from, values[i], arena);
		item.setup = replaced(item.setup, from, values[i], arena);
		item.prepare = replaced(item.prepare, from, values[i], arena);
		item.cleanup = replaced(item.cleanup, from, values[i], arena);
		if (!name)
			name = fg_migration_name_of(item.command, arena);
		name = fg_arena_printf(arena, "%s %s=%s", name, h->parameters[i].name, values[i]);
	}
	item.shell = !h->no_shell && needs_shell(item.command);
	if (h->no_shell && fg_text_split_words(item.command, arena, &argv, &argc, NULL) == FG_OK)
		item.command = quoted(argv, arena);
	if (!item.shell) {
		item.setup = in_shell(item.setup, arena);
		item.prepare = in_shell(item.prepare, arena);
		item.cleanup = in_shell(item.cleanup, arena);
	}
	(void)fg_migration_add(h->migration, name, &item);
}

static void add_each(struct hyperfine *h)
{
	const struct parameter *a = &h->parameters[0];
	const struct parameter *b = &h->parameters[1];

	for (size_t i = 0; i < h->command_count; i++) {
		for (size_t x = 0; x < a->count + (a->count == 0); x++) {
			for (size_t y = 0; y < b->count + (b->count == 0); y++) {
				const char *values[2] = {"", ""};

				if (x < a->count)
					values[0] = a->values[x];
				if (y < b->count)
					values[1] = b->values[y];
				add_hyperfine(h, i, values);
			}
		}
	}
}

static bool take_hyperfine(struct fg_migration *migration, const struct fg_script_command *command)
{
	struct hyperfine h = {
		.migration = migration,
		.command = command,
		.item = {.working_directory = command->script->folder, .line = command->line},
	};

	for (size_t i = 1; i < command->argc; i++) {
		const char *word = command->argv[i];
		const char *value = NULL;
		const struct hyperfine_option *option = NULL;

		if (*word != '-' || !word[1]) {
			if (command->unknown[i])
				fg_migration_note(migration, command->line,
						  "hyperfine: '%s' holds %s, which is not known "
						  "here: left out",
						  word, command->unknown[i]);
			else if (h.command_count < MAX_COMMANDS)
				h.commands[h.command_count++] = word;
			continue;
		}
		option = find_option(word, &value);
		if (!option || (option->values == 0 && option->kind == VALUE_DROPPED))
			continue;
		if (value && option->values == 1) {
			char *one[] = {fg_arena_strdup(migration->arena, value), NULL};

			take_value(&h, option->kind, one);
		} else if (i + option->values < command->argc) {
			take_value(&h, option->kind, command->argv + i + 1);
			i += option->values;
		}
	}
	if (h.scan)
		take_scan(&h);
	add_each(&h);
	return h.command_count > 0;
}

/* ---- perf stat ---- */

static bool take_perf(struct fg_migration *migration, const struct fg_script_command *command)
{
	static const char *const with_value[] = {"-e",
						 "-r",
						 "-o",
						 "-x",
						 "-C",
						 "-I",
						 "-t",
						 "-p",
						 "-G",
						 "-M",
						 "-D",
						 "--event",
						 "--repeat",
						 "--output",
						 "--field-separator",
						 "--cpu",
						 "--interval-print",
						 "--pid",
						 "--tid",
						 "--delay",
						 "--timeout",
						 "--log-fd",
						 "--cgroup",
						 "--metrics",
						 NULL};
	size_t first = 2;
	bool is_system = false;

	if (command->argc < 3 || strcmp(command->argv[1], "stat") != 0)
		return false;
	for (; first < command->argc && *command->argv[first] == '-'; first++) {
		const char *word = command->argv[first];

		if (strcmp(word, "--") == 0) {
			first++;
			break;
		}
		is_system = is_system || strcmp(word, "-a") == 0 || strcmp(word, "-p") == 0 ||
			    strcmp(word, "--all-cpus") == 0 || fg_text_starts_with(word, "--pid");
		first += says(with_value, word);
	}
	if (is_system || first >= command->argc) {
		fg_migration_note(migration, command->line,
				  "perf stat measures the machine or a process that runs already, "
				  "and no command: left out");
		return false;
	}
	if (is_unknown(migration, command, first))
		return false;
	(void)fg_migration_add(migration, NULL,
			       &(struct fg_migrated){
				       .command = quoted(command->argv + first, migration->arena),
				       .stdin_path = command->input,
				       .working_directory = command->script->folder,
				       .line = command->line,
			       });
	return true;
}

/* ---- suites ---- */

static bool uses_criterion(const struct fg_script_command *command, struct fg_arena *arena)
{
	const char *folder = command->script->folder;
	const char *path = folder ? fg_arena_printf(arena, "%s/Cargo.toml", folder) : "Cargo.toml";
	char *text = NULL;
	bool found = false;

	if (fg_fs_read(path, MAX_TEXT_BYTES, &text, NULL, NULL) == FG_OK)
		found = strstr(text, "criterion") || strstr(text, "codspeed");
	free(text);
	return found;
}

static void add_suite(struct fg_migration *migration, const struct fg_script_command *command,
		      const char *name, const char *line, enum fg_harness harness)
{
	(void)fg_migration_add(migration, name,
			       &(struct fg_migrated){
				       .command = line,
				       .harness = harness,
				       .working_directory = command->script->folder,
				       .line = command->line,
			       });
}

/* Criterion prints a table for people unless it is asked for lines. */
static bool take_cargo(struct fg_migration *migration, const struct fg_script_command *command)
{
	struct fg_arena *arena = migration->arena;
	const size_t verb = command->argc > 1 && *command->argv[1] == '+' ? 2 : 1;
	const char *what = command->argc > verb ? command->argv[verb] : "";
	const bool is_codspeed = strcmp(what, "codspeed") == 0 && command->argc > verb + 1 &&
				 strcmp(command->argv[verb + 1], "run") == 0;
	const char *line = NULL;

	if (!is_codspeed && strcmp(what, "bench") != 0 && strcmp(what, "criterion") != 0)
		return false;
	if (is_unknown(migration, command, 1))
		return false;
	if (is_codspeed) {
		char **rest = command->argv + verb + 2;

		add_suite(migration, command, *rest ? *rest : "cargo",
			  fg_arena_printf(arena, "cargo bench%s%s -- --output-format bencher",
					  *rest ? " --bench " : "", *rest ? *rest : ""),
			  FG_HARNESS_CARGO_BENCH);
		return true;
	}
	line = quoted(command->argv, arena);
	if (strcmp(what, "criterion") == 0) {
		if (!strstr(line, "--message-format"))
			line = fg_arena_printf(arena, "%s --message-format=json", line);
		add_suite(migration, command, "cargo", line, FG_HARNESS_CRITERION);
		return true;
	}
	if (!strstr(line, "--output-format") && uses_criterion(command, arena))
		line = fg_arena_printf(arena, "%s%s --output-format bencher", line,
				       strstr(line, " -- ") ? "" : " --");
	add_suite(migration, command, "cargo", line, FG_HARNESS_CARGO_BENCH);
	return true;
}

static bool take_go(struct fg_migration *migration, const struct fg_script_command *command)
{
	bool is_bench = false;

	for (size_t i = 2; i < command->argc; i++)
		is_bench = is_bench || fg_text_starts_with(command->argv[i], "-bench") ||
			   fg_text_starts_with(command->argv[i], "--bench");
	if (command->argc < 3 || strcmp(command->argv[1], "test") != 0 || !is_bench ||
	    is_unknown(migration, command, 1))
		return false;
	add_suite(migration, command, "go", quoted(command->argv, migration->arena), FG_HARNESS_GO);
	return true;
}

/* Its report goes to standard output, and CodSpeed's plugin has the same fixture. */
static bool take_pytest(struct fg_migration *migration, const struct fg_script_command *command)
{
	char **argv = fg_arena_array(migration->arena, command->argc + 3, sizeof(argv[0]));
	bool is_bench = command->script->results_kind == FG_HARNESS_PYTEST;
	bool has_only = false;
	size_t argc = 0;

	for (size_t i = 0; i < command->argc; i++) {
		char *word = command->argv[i];

		is_bench = is_bench || fg_text_starts_with(word, "--benchmark") ||
			   fg_text_starts_with(word, "--codspeed");
		has_only = has_only || strcmp(word, "--benchmark-only") == 0;
		if (strcmp(word, "--benchmark-json") == 0)
			i++;
		else if (!fg_text_starts_with(word, "--benchmark-json=") &&
			 !fg_text_starts_with(word, "--codspeed"))
			argv[argc++] = word;
	}
	if (!is_bench || is_unknown(migration, command, 0))
		return false;
	if (!has_only)
		argv[argc++] = fg_arena_strdup(migration->arena, "--benchmark-only");
	argv[argc++] = fg_arena_strdup(migration->arena, "--benchmark-json=/dev/stdout");
	add_suite(migration, command, "pytest", quoted(argv, migration->arena), FG_HARNESS_PYTEST);
	return true;
}

/* ---- bencher ---- */

static const struct {
	const char *name;
	enum fg_harness harness;
} adapters[] = {
	{.name = "cpp_catch2", .harness = FG_HARNESS_CATCH2},
	{.name = "cpp_google", .harness = FG_HARNESS_GOOGLE_BENCHMARK},
	{.name = "go_bench", .harness = FG_HARNESS_GO},
	{.name = "java_jmh", .harness = FG_HARNESS_JMH},
	{.name = "js_benchmark", .harness = FG_HARNESS_BENCHMARK_JS},
	{.name = "python_pytest", .harness = FG_HARNESS_PYTEST},
	{.name = "rust_bench", .harness = FG_HARNESS_CARGO_BENCH},
	{.name = "rust_criterion", .harness = FG_HARNESS_CARGO_BENCH},
	{.name = "shell_hyperfine", .harness = FG_HARNESS_HYPERFINE},
	{.name = "c_sharp_dot_net", .harness = FG_HARNESS_BENCHMARK_DOTNET},
};

/* The text of a command may itself call a tool that is known better than its adapter. */
static void take_nested(struct fg_migration *migration, const struct fg_script_command *command,
			const char *line, const char *results, enum fg_harness harness)
{
	const size_t before = migration->count;
	const size_t notes = migration->note_count;
	struct fg_script inner = {
		.migration = migration,
		.take = command->script->take,
		.line = command->line,
		.folder = command->script->folder,
		.results_kind = harness,
	};
	const char *whole = line;

	fg_script_read(&inner, line);
	if (migration->count > before)
		return;
	migration->note_count = notes;
	if (results)
		whole = fg_arena_printf(migration->arena, "%s >&2 && cat %s", line, results);
	(void)fg_migration_add(migration, NULL,
			       &(struct fg_migrated){
				       .command = whole,
				       .shell = needs_shell(whole),
				       .harness = harness,
				       .working_directory = command->script->folder,
				       .line = command->line,
			       });
}

static bool take_bencher(struct fg_migration *migration, const struct fg_script_command *command)
{
	static const char *const without_value[] = {"--err",
						    "--html",
						    "--quiet",
						    "--dry-run",
						    "--allow-failure",
						    "--start-point-reset",
						    "--start-point-clone-thresholds",
						    "--thresholds-reset",
						    "--ci-only-thresholds",
						    "--ci-only-on-alert",
						    "--ci-public-links",
						    NULL};
	enum fg_harness harness = FG_HARNESS_NONE;
	const char *adapter = NULL;
	const char *results = NULL;
	size_t i = 2;

	if (command->argc < 3 || strcmp(command->argv[1], "run") != 0)
		return false;
	for (; i < command->argc && *command->argv[i] == '-'; i++) {
		const char *word = command->argv[i];

		if (strcmp(word, "--") == 0) {
			i++;
			break;
		}
		if (says(without_value, word) || strchr(word, '=') || i + 1 >= command->argc)
			continue;
		i++;
		if (strcmp(word, "--adapter") == 0)
			adapter = command->argv[i];
		else if (strcmp(word, "--file") == 0)
			results = command->argv[i];
	}
	if (i >= command->argc || is_unknown(migration, command, i))
		return false;
	for (size_t row = 0; adapter && row < FG_ARRAY_SIZE(adapters); row++) {
		if (strcmp(adapters[row].name, adapter) == 0)
			harness = adapters[row].harness;
	}
	if (adapter && harness == FG_HARNESS_NONE)
		fg_migration_note(
			migration, command->line,
			"bencher: there is no harness for the adapter '%s': only the whole "
			"command is measured",
			adapter);
	take_nested(migration, command,
		    command->argc == i + 1 ? command->argv[i]
					   : quoted(command->argv + i, migration->arena),
		    results, harness);
	return true;
}

/* ---- what a later step reads ---- */

/* A command that writes the file of results in its own way prints that file afterwards. */
static bool take_results(struct fg_migration *migration, const struct fg_script_command *command)
{
	const struct fg_script *script = command->script;
	const char *path = script->results_path;
	const bool is_output = path && command->output && strcmp(command->output, path) == 0;
	bool names_it = false;
	const char *line = NULL;

	for (size_t i = 1; path && i < command->argc; i++)
		names_it = names_it || strstr(command->argv[i], path);
	if ((!is_output && !names_it) || is_unknown(migration, command, 0))
		return false;
	line = quoted(command->argv, migration->arena);
	if (!is_output)
		line = fg_arena_printf(migration->arena, "%s >&2 && cat %s", line, path);
	else if (script->results_kind == FG_HARNESS_CATCH2 && !strstr(line, "-r"))
		line = fg_arena_printf(migration->arena, "%s --reporter xml", line);
	(void)fg_migration_add(migration, NULL,
			       &(struct fg_migrated){
				       .command = line,
				       .shell = !is_output,
				       .harness = script->results_kind,
				       .stdin_path = command->input,
				       .working_directory = script->folder,
				       .line = command->line,
			       });
	return true;
}

static bool calls_pytest(const struct fg_script_command *command)
{
	for (size_t i = 0; i < command->argc && i < 4; i++) {
		const char *base = fg_fs_base_name(command->argv[i]);

		if (strcmp(base, "pytest") == 0 || strcmp(base, "py.test") == 0)
			return true;
	}
	return false;
}

static const struct {
	const char *name;
	bool (*take)(struct fg_migration *migration, const struct fg_script_command *command);
} tools[] = {
	{.name = "hyperfine", .take = take_hyperfine},
	{.name = "perf", .take = take_perf},
	{.name = "bencher", .take = take_bencher},
	{.name = "cargo", .take = take_cargo},
	{.name = "go", .take = take_go},
};

bool fg_migrate_command(struct fg_migration *migration, const struct fg_script_command *command)
{
	const char *base = fg_fs_base_name(command->argv[0]);

	for (size_t i = 0; i < FG_ARRAY_SIZE(tools); i++) {
		if (strcmp(tools[i].name, base) == 0 && tools[i].take(migration, command))
			return true;
	}
	if (calls_pytest(command) && take_pytest(migration, command))
		return true;
	return take_results(migration, command);
}
