/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of `init --from` among each other.  Internal to migrate*.c. */
#ifndef FG_CLI_SESSION_MIGRATE_PARTS_H
#define FG_CLI_SESSION_MIGRATE_PARTS_H

#include "cli/session/migrate.h"

/* ---- the list  (migrate_list.c) ---- */

/* A new benchmark; its name is made from `name`, or from its command where that is NULL. */
struct fg_migrated *fg_migration_add(struct fg_migration *migration, const char *name,
				     const struct fg_migrated *item);
/* "bench" of "../build/bench --size 3". */
const char *fg_migration_name_of(const char *command, struct fg_arena *arena);
void fg_migration_note(struct fg_migration *migration, unsigned line, const char *format, ...)
	FG_PRINTF(3, 4);

/* ---- shell text  (migrate_script.c) ---- */

struct fg_script_variable {
	const char *name;
	const char *value;
};

enum {
	FG_SCRIPT_MAX_VARIABLES = 64
};

struct fg_script_command;

/* Where a command of a script stands. */
struct fg_script {
	struct fg_migration *migration;
	/* Is given each command; false: it measures nothing. */
	bool (*take)(struct fg_migration *migration, const struct fg_script_command *command);
	unsigned line;                /* of the file, where its first line is */
	const char *folder;           /* NULL: the root */
	const char *results_path;     /* the file that a later step reads; NULL: none */
	enum fg_harness results_kind; /* how that step reads it */
	struct fg_script_variable variables[FG_SCRIPT_MAX_VARIABLES];
	size_t variable_count;
};

void fg_script_read(struct fg_script *script, const char *text);

/* ---- the tools that scripts call  (migrate_tools.c) ---- */

/* A simple command: its words without quotes, variables put in, and without redirections. */
struct fg_script_command {
	const struct fg_script *script;
	unsigned line;
	char **argv; /* ends with NULL */
	size_t argc;
	const char *const *unknown; /* per word: the "$X" in it that is not known, or NULL */
	const char *input;          /* of "<FILE" */
	const char *output;         /* of ">FILE", or of "| tee FILE" after it */
};

/* For fg_script.take. */
bool fg_migrate_command(struct fg_migration *migration, const struct fg_script_command *command);

/* ---- workflows  (migrate_workflow.c) ---- */

int fg_migrate_workflow(struct fg_migration *migration, const char *text, size_t size,
			struct fg_error *err) FG_NODISCARD;

#endif
