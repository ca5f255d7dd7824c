/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Loads fastgate.yml into a struct fg_plan, and describes its keys.
 *
 * The schema (schema.c, schema_measure.c) has a row for each key. Loading, checking, defaults,
 * overrides, explanations, the reference page and the JSON Schema for editors all come from the
 * schema. Sources of a value, weakest first: the default, the file, the environment
 * (FASTGATE_GATE_ALPHA=0.001), the command line (gate.alpha=0.001).
 *
 * Loading does not stop at the first error: the report has up to FG_CONFIG_MAX_MESSAGES messages in
 * the order of the file, each "fastgate.yml:LINE:COLUMN: KEY: found …, expected …".
 */
#ifndef FG_CONFIG_CONFIG_H
#define FG_CONFIG_CONFIG_H

#include "base/arena.h"
#include "base/error.h"
#include "base/strbuf.h"
#include "model/plan.h"

#define FG_CONFIG_FILE_NAME "fastgate.yml"

enum {
	FG_CONFIG_MAX_BYTES = 1 << 20,
	FG_CONFIG_MAX_DEPTH = 16,
	FG_CONFIG_MAX_NODES = 50000, /* values in the file; an alias counts each time it is used */
	FG_CONFIG_MAX_KEYS = 1000,   /* keys in one mapping */
	FG_CONFIG_MAX_MESSAGES = 100,
};

/* A command-line option that sets a key: --budget 5m. */
struct fg_config_option {
	const char *setting; /* "KEY=VALUE" */
	const char *written; /* as the user wrote it, for messages */
};

/*
 * Sources of values. A zeroed struct selects only fastgate.yml, in this folder or a parent folder.
 */
struct fg_config_source {
	const char *path; /* a given file; NULL: search for it */
	bool optional;    /* if no file is found, use the defaults; a named file must exist */
	const char *text; /* replaces the file's contents; messages call it `path` */
	size_t text_size;
	const char *const *settings; /* "KEY=VALUE" of the command line */
	size_t setting_count;
	const struct fg_config_option *options; /* take precedence over `settings` */
	size_t option_count;
	char *const *environment; /* "NAME=VALUE", NULL-terminated; NULL: no environment */
};

struct fg_config_message {
	bool is_warning;
	unsigned line; /* 0: not in the file */
	unsigned column;
	const char *text; /* begins with the position */
	const char *key;  /* a key for fg_config_explain(); NULL: none applies */
};

struct fg_config_report {
	struct fg_arena arena;
	struct fg_config_message *items; /* in the order of the file */
	size_t count;
	size_t capacity;
	size_t error_count; /* all errors, including those beyond the limit */
};

/*
 * Loads the plan, which the caller releases on success. On failure `err` has the number of errors
 * (or the only error), and the report has their messages. The caller always releases the report.
 */
int fg_config_load(const struct fg_config_source *source, struct fg_plan *plan,
		   struct fg_config_report *report, struct fg_error *err) FG_NODISCARD;
/* Writes the configuration in effect, including defaults, as YAML. */
int fg_config_show(const struct fg_config_source *source, struct fg_strbuf *text,
		   struct fg_error *err) FG_NODISCARD;
void fg_config_report_release(struct fg_config_report *report);

/*
 * Finds the fastgate.yml that applies to this folder. The caller frees the path. With FG_ENOENT,
 * the message suggests a next step.
 */
int fg_config_find(const char *folder, char **path, struct fg_error *err) FG_NODISCARD;

/*
 * Explains a key: its default, its range and every way to set it. With FG_EINVAL, the message
 * suggests the nearest key.
 */
int fg_config_explain(const char *key, unsigned columns, struct fg_strbuf *text,
		      struct fg_error *err) FG_NODISCARD;
/* Lists all paths, such as "gate.metrics.METRIC.margin"; NULL-terminated. */
const char *const *fg_config_keys(struct fg_arena *arena);
/* Generates docs/configuration.md and docs/schema/fastgate.schema.json. */
void fg_config_reference(struct fg_strbuf *text);
void fg_config_json_schema(struct fg_strbuf *text);

#endif
