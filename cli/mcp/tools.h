/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The tools that an assistant may call. A tool is a command of fastgate with some of its options;
 * its schema and the command line of a call both come from that command's tables. Private to
 * cli/mcp/.
 *
 * A call may name files only below the served folder. Where the server allows it, a command is any
 * command line; otherwise it is the name of a benchmark of fastgate.yml.
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
	const char *const *options; /* names of rows of the command's table */
	const char *const *fixed; /* always on the command line, or NULL; a call's own come later */
	bool is_json;             /* called with --json */
	bool measures;            /* one at a time: two would disturb each other */
	bool only_reads;
	bool takes_commands; /* its arguments are commands */
	bool needs_commands; /* not offered without --allow-commands */
	bool needs_accept;   /* not offered without --allow-accept */
};

extern const struct fg_mcp_tool fg_mcp_tools[];

struct fg_mcp_rights {
	const struct fg_cli *cli; /* to load fastgate.yml with */
	const char *folder;       /* files lie below it */
	bool commands;            /* --allow-commands */
	bool accept;              /* --allow-accept */
};

/* NULL: unknown, or not allowed. */
const struct fg_mcp_tool *fg_mcp_find_tool(const char *name, const struct fg_mcp_rights *rights);
/* The row of the command's table for an option that the tool has, or NULL. */
const struct fg_option *fg_mcp_option(const struct fg_mcp_tool *tool, const char *name);
/* The array `tools`. */
void fg_mcp_list_tools(struct fg_json_writer *w, const struct fg_mcp_rights *rights);
/*
 * The command line, without the program: NULL-terminated, in the arena. FG_EINVAL: an argument that
 * the schema does not have, of another type, or not allowed. Values are checked by the command.
 */
int fg_mcp_command_line(const struct fg_mcp_tool *tool, const cJSON *arguments,
			const struct fg_mcp_rights *rights, struct fg_arena *arena, char ***argv,
			struct fg_error *err) FG_NODISCARD;

/* ---- server.c ---- */

/* FG_EIO: standard input or output failed. */
int fg_mcp_serve(const struct fg_mcp_rights *rights, struct fg_error *err) FG_NODISCARD;

#endif
