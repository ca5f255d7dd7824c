/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The tools that an assistant may call. A tool is a command of fastgate with some of its options;
 * its schema and the command line of a call both come from that command's tables. Private to
 * cli/mcp/.
 *
 * A call may name files only below the served folder. If the server allows commands, a command may
 * be any command line; otherwise it must be the name of a benchmark in fastgate.yml.
 */
#ifndef FG_CLI_MCP_TOOLS_H
#define FG_CLI_MCP_TOOLS_H

#include "base/json.h"
#include "base/json_write.h"
#include "cli/framework/command.h"

struct fg_mcp_tool {
	const char *name; /* NULL ends the table */
	const char *title;
	const char *what;
	const char *command;
	const char *const *options; /* names of options in the command's table */
	/* always on the command line, before the call's own words; may be NULL */
	const char *const *fixed;
	bool is_json;  /* called with --json */
	bool measures; /* one at a time, because measurements disturb each other */
	bool only_reads;
	bool takes_commands; /* the tool's arguments are commands */
	bool needs_commands; /* not offered without --allow-commands */
	bool needs_accept;   /* not offered without --allow-accept */
};

extern const struct fg_mcp_tool fg_mcp_tools[];

struct fg_mcp_rights {
	const struct fg_cli *cli; /* to load fastgate.yml */
	const char *folder;       /* files must be below this folder */
	bool commands;            /* --allow-commands */
	bool accept;              /* --allow-accept */
};

/* Returns NULL if the tool is unknown or not allowed. */
const struct fg_mcp_tool *fg_mcp_find_tool(const char *name, const struct fg_mcp_rights *rights);
/* Returns the option's row in the command's table; NULL if the tool does not have the option. */
const struct fg_option *fg_mcp_option(const struct fg_mcp_tool *tool, const char *name);
/* Writes the array `tools`. */
void fg_mcp_list_tools(struct fg_json_writer *w, const struct fg_mcp_rights *rights);
/*
 * Makes the command line, this program first: NULL-terminated, in the arena. FG_EINVAL: an
 * argument is not in the schema, has another type, or is not allowed. The command itself checks
 * values.
 */
int fg_mcp_command_line(const struct fg_mcp_tool *tool, const cJSON *arguments,
			const struct fg_mcp_rights *rights, struct fg_arena *arena, char ***argv,
			struct fg_error *err) FG_NODISCARD;

/* ---- server.c ---- */

/* FG_EIO: standard input or output failed. */
int fg_mcp_serve(const struct fg_mcp_rights *rights, struct fg_error *err) FG_NODISCARD;

#endif
