/* SPDX-License-Identifier: Apache-2.0 */
/* Fills structs from the YAML tree, driven by the rows of the schema. */
#ifndef FG_CONFIG_BIND_H
#define FG_CONFIG_BIND_H

#include "config/config.h"
#include "config/messages.h"
#include "config/schema.h"
#include "config/yaml_tree.h"

struct fg_binder {
	const struct fg_section *schema; /* schema of the whole file */
	struct fg_plan *plan;
	struct fg_arena *arena; /* arena of the plan */
	struct fg_config_report *report;
	struct fg_strbuf path; /* path of the current key: "gate.metrics.cpu_time.margin" */
};

void fg_bind_section(struct fg_binder *binder, const struct fg_section *section,
		     const struct fg_yaml_node *node, void *target);
/* Adds an error, "fastgate.yml:3:5: KEY.name: text"; `name` may be NULL. */
void fg_bind_error(struct fg_binder *binder, const struct fg_yaml_node *node, const char *name,
		   const char *format, ...) FG_PRINTF(4, 5);
/*
 * Splits a command given as text into words, or wraps it for the shell. Adds an error if it cannot
 * be split.
 */
void fg_bind_command(struct fg_binder *binder, const struct fg_yaml_node *node, bool shell,
		     struct fg_command *command);

/* ---- override.c ---- */

/* Overrides values of the file with values from the environment and the command line. */
void fg_override(const struct fg_config_source *source, struct fg_yaml_node *root,
		 struct fg_arena *arena, struct fg_config_report *report);

/* ---- show.c ---- */

/*
 * Writes the configuration; `root` includes the overrides. Comments mark each default, and the
 * source of each override.
 */
void fg_config_write(const struct fg_yaml_node *root, struct fg_strbuf *text);

#endif
