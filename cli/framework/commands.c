// SPDX-License-Identifier: Apache-2.0
#include "base/text.h"
#include "cli/framework/command.h"
#include "cli/framework/output.h"

#define FG_COMMAND(name) extern const struct fg_cli_command fg_cmd_##name;
#include "cli/framework/commands.def"
#undef FG_COMMAND

#define FG_COMMAND(name) &fg_cmd_##name,
const struct fg_cli_command *const fg_cli_commands[] = {
#include "cli/framework/commands.def"
	NULL,
};
#undef FG_COMMAND

static const char *const color_words[] = {"auto", "always", "never", NULL};

const struct fg_option fg_cli_global_options[] = {
	FG_ROW_FLAG(struct fg_cli_globals, help, "help", 'h', "show this help and exit"),
	FG_ROW_FLAG(struct fg_cli_globals, version, "version", 0, "show the version and exit"),
	FG_ROW_CHOICE(struct fg_cli_globals, color, "color", 0, "WHEN", color_words, "auto",
		      "when to use colours"),
	FG_ROW_FLAG(struct fg_cli_globals, quiet, "quiet", 'q', "print only the result and errors"),
	FG_ROW_FLAG(struct fg_cli_globals, verbose, "verbose", 'v', "print more"),
	{.name = NULL},
};

const struct fg_option fg_cli_json_option[] = {
	FG_ROW_FLAG(struct fg_cli_globals, json, "json", 0,
		    "write the result as JSON to standard output"),
	{.name = NULL},
};

const struct fg_cli_command *fg_cli_find_command(const char *name)
{
	for (size_t i = 0; fg_cli_commands[i]; i++) {
		if (strcmp(fg_cli_commands[i]->name, name) == 0)
			return fg_cli_commands[i];
	}
	return NULL;
}

int fg_cli_unknown_command(const char *name, struct fg_error *err)
{
	const char *names[FG_ARRAY_SIZE(fg_cli_commands)] = {NULL};
	const char *nearest = NULL;

	for (size_t i = 0; fg_cli_commands[i]; i++)
		names[i] = fg_cli_commands[i]->name;
	nearest = fg_text_nearest(name, names);
	if (nearest)
		return fg_error_set(err, FG_EINVAL, "unknown command '%s'; did you mean '%s'?",
				    name, nearest);
	return fg_error_set(err, FG_EINVAL,
			    "unknown command '%s'; 'fastgate help' lists all commands", name);
}
