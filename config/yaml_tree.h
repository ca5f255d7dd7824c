/* SPDX-License-Identifier: Apache-2.0 */
/* YAML text as a tree of nodes with their positions. */
#ifndef FG_CONFIG_YAML_TREE_H
#define FG_CONFIG_YAML_TREE_H

#include "config/config.h"

enum fg_yaml_kind {
	FG_YAML_SCALAR,
	FG_YAML_LIST,
	FG_YAML_MAPPING,
	FG_YAML_KIND_COUNT,
};

/* The origin of a value: a place in the file, or an override. */
struct fg_yaml_place {
	const char *origin; /* the file's name, or "--set gate.alpha=1" */
	unsigned line;      /* 0: an override */
	unsigned column;
};

struct fg_yaml_node {
	enum fg_yaml_kind kind;
	struct fg_yaml_place place;
	const char *text; /* for scalars */
	bool quoted;
	struct fg_yaml_node **keys;  /* for mappings: scalar nodes */
	struct fg_yaml_node **items; /* values of a mapping, elements of a list */
	size_t count;
	size_t capacity;
	size_t weight; /* number of nodes in the subtree, counting each use of an alias */
};

struct fg_yaml_text {
	const char *origin;
	bool is_override; /* its lines and columns mean nothing to the user */
	const char *data;
	size_t size;
};

/*
 * Errors go into the report. Returns false after a syntax error; *root is NULL for an empty text.
 */
bool fg_yaml_parse(const struct fg_yaml_text *text, struct fg_arena *arena,
		   struct fg_config_report *report, struct fg_yaml_node **root);
/* Returns the value of a key, or NULL. */
struct fg_yaml_node *fg_yaml_get(const struct fg_yaml_node *mapping, const char *key);
/* Sets a key, replacing an existing value. */
void fg_yaml_set(struct fg_yaml_node *mapping, const char *key, struct fg_yaml_node *value,
		 struct fg_arena *arena);
struct fg_yaml_node *fg_yaml_new_mapping(struct fg_arena *arena, const struct fg_yaml_place *place);
bool fg_yaml_is_null(const struct fg_yaml_node *node); /* "key:" without a value */
const char *fg_yaml_kind_name(
	const struct fg_yaml_node *node); /* "a list", "a mapping", "nothing" or "'text'" */

#endif
