// SPDX-License-Identifier: Apache-2.0
/*
 * Adds values from the command line and the environment to the tree before it is bound. The binder
 * checks them like any other value, and messages name their origin.
 *
 * Nodes from the root to the value are copied before a change: an alias may share a node with
 * another place.
 */
#include "config/bind.h"
#include "config/config.h"
#include "config/messages.h"
#include "config/schema.h"
#include "config/yaml_tree.h"

#include <ctype.h>

struct override {
	struct fg_arena *arena;
	struct fg_config_report *report;
	struct fg_yaml_place place;
	const char *value;
};

/* ---- values ---- */

static struct fg_yaml_node *new_scalar(const struct override *o)
{
	struct fg_yaml_node *node = fg_arena_alloc(o->arena, sizeof(*node));

	node->kind = FG_YAML_SCALAR;
	node->place = o->place;
	node->text = fg_arena_strdup(o->arena, o->value);
	node->quoted = true;
	node->weight = 1;
	return node;
}

/*
 * Single values are taken literally; structured values are written as in the file: "[a, b]", "{min:
 * 5, max: 9}".
 */
static struct fg_yaml_node *new_value(const struct override *o, bool is_single)
{
	const struct fg_yaml_text text = {.origin = o->place.origin,
					  .is_override = true,
					  .data = o->value,
					  .size = strlen(o->value)};
	struct fg_yaml_node *node = NULL;

	if (is_single || !*o->value)
		return new_scalar(o);
	return fg_yaml_parse(&text, o->arena, o->report, &node) ? node : NULL;
}

static bool is_single(const struct fg_key *key, const char *value)
{
	return key->kind < FG_KEY_SCALAR_COUNT || (key->kind == FG_KEY_COMMAND && *value != '[');
}

/* ---- paths ---- */

static struct fg_yaml_node *copy_of(const struct override *o, const struct fg_yaml_node *node)
{
	struct fg_yaml_node *copy = fg_arena_memdup(o->arena, node, sizeof(*node));

	copy->keys = NULL;
	copy->items = NULL;
	if (node->count == 0)
		return copy;
	copy->keys = fg_arena_memdup(o->arena, node->keys, node->capacity * sizeof(void *));
	copy->items = fg_arena_memdup(o->arena, node->items, node->capacity * sizeof(void *));
	return copy;
}

/* Returns the mapping of a key, created or copied for a change. */
static struct fg_yaml_node *open_mapping(const struct override *o, struct fg_yaml_node *parent,
					 const char *name)
{
	const struct fg_yaml_node *old = fg_yaml_get(parent, name);
	struct fg_yaml_node *opened = old && old->kind == FG_YAML_MAPPING
					      ? copy_of(o, old)
					      : fg_yaml_new_mapping(o->arena, &o->place);

	fg_yaml_set(parent, name, opened, o->arena);
	return opened;
}

static const char *take_part(const struct override *o, const char **path)
{
	const size_t length = strcspn(*path, ".");
	const char *part = fg_arena_strndup(o->arena, *path, length);

	*path += length;
	if (**path == '.')
		(*path)++;
	return part;
}

static void put(const struct override *o, const struct fg_section *section,
		struct fg_yaml_node *mapping, const char *path);

/* Finds the element whose name begins the path. Names may contain dots; the longest match wins. */
static void put_into_list(const struct override *o, const struct fg_key *key,
			  struct fg_yaml_node *parent, const char *path)
{
	const struct fg_yaml_node *old = fg_yaml_get(parent, key->name);
	struct fg_yaml_node *list = NULL;
	size_t best = 0;
	size_t place = 0;

	for (size_t i = 0; old && old->kind == FG_YAML_LIST && i < old->count; i++) {
		const struct fg_yaml_node *name = fg_yaml_get(old->items[i], "name");
		const size_t length = name && name->kind == FG_YAML_SCALAR ? strlen(name->text) : 0;

		if (length > best && strncmp(path, name->text, length) == 0 &&
		    path[length] == '.') {
			best = length;
			place = i;
		}
	}
	if (best == 0) {
		fg_config_error(o->report, &o->place, "no element of '%s' has the name in '%.100s'",
				key->name, path);
		return;
	}
	list = copy_of(o, old);
	list->items[place] = copy_of(o, old->items[place]);
	fg_yaml_set(parent, key->name, list, o->arena);
	put(o, key->section, list->items[place], path + best + 1);
}

/*
 * Finds the entry whose name begins the path. Names may contain dots, keys do not; a path without a
 * key names the whole mapping.
 */
static void put_into_map(const struct override *o, const struct fg_key *key,
			 struct fg_yaml_node *parent, const char *path)
{
	const char *dot = strrchr(path, '.');
	struct fg_yaml_node *value = NULL;
	const char *name = NULL;

	if (dot && (*o->value != '{' || fg_section_find(key->section, dot + 1))) {
		name = fg_arena_strndup(o->arena, path, (size_t)(dot - path));
		parent = open_mapping(o, parent, key->name);
		put(o, key->section, open_mapping(o, parent, name), dot + 1);
		return;
	}
	value = new_value(o, false);
	if (value)
		fg_yaml_set(open_mapping(o, parent, key->name), path, value, o->arena);
}

static void put_below(const struct override *o, const struct fg_key *key,
		      struct fg_yaml_node *parent, const char *path)
{
	struct fg_yaml_node *value = NULL;

	switch (key->kind) {
	case FG_KEY_SECTION:
		parent = open_mapping(o, parent, key->name);
		/* A message about the whole section names the override as its origin. */
		if (!strchr(path, '.'))
			parent->place = o->place;
		put(o, key->section, parent, path);
		break;
	case FG_KEY_MAP:
		put_into_map(o, key, parent, path);
		break;
	case FG_KEY_VARIABLES:
	case FG_KEY_FACTS:
		value = new_value(o, key->kind == FG_KEY_VARIABLES || *o->value != '{');
		if (value)
			fg_yaml_set(open_mapping(o, parent, key->name), path, value, o->arena);
		break;
	case FG_KEY_LIST:
		put_into_list(o, key, parent, path);
		break;
	default:
		fg_config_error(o->report, &o->place, "'%s' is a single value: it has no '%.100s'",
				key->name, path);
		break;
	}
}

static void put(const struct override *o, const struct fg_section *section,
		struct fg_yaml_node *mapping, const char *path)
{
	const char *name = take_part(o, &path);
	const struct fg_key *key = fg_section_find(section, name);
	struct fg_yaml_node *value = NULL;

	if (key && *path) {
		put_below(o, key, mapping, path);
		return;
	}
	/* The binder reports an unknown key, at the place of its value. */
	value = new_value(o, !key || is_single(key, o->value));
	if (value)
		fg_yaml_set(mapping, name, value, o->arena);
}

static void put_setting(struct override *o, const char *setting, const char *written,
			struct fg_yaml_node *root)
{
	const char *equals = strchr(setting, '=');
	const char *path = NULL;

	o->place = (struct fg_yaml_place){.origin = written};
	if (!equals || equals == setting) {
		fg_config_error(o->report, &o->place,
				"expected KEY=VALUE, such as gate.alpha=0.001");
		return;
	}
	path = fg_arena_strndup(o->arena, setting, (size_t)(equals - setting));
	o->value = equals + 1;
	put(o, &fg_config_schema, root, path);
}

/* ---- environment ---- */

/*
 * If `rest` begins with the name in capitals, followed by '_' or the end, returns the remainder;
 * otherwise NULL.
 */
static const char *behind(const char *rest, const char *name)
{
	for (; *name; name++, rest++) {
		const int wanted = *name == '-' ? '_' : toupper((unsigned char)*name);

		if (*rest != wanted)
			return NULL;
	}
	if (*rest == '\0')
		return rest;
	return *rest == '_' ? rest + 1 : NULL;
}

static bool find_variable(const struct fg_section *section, const char *rest,
			  struct fg_strbuf *path);

/* In gate.metrics, variables can name only built-in metrics. */
static bool find_in_metrics(const struct fg_section *section, const char *rest,
			    struct fg_strbuf *path)
{
	for (int i = 0; i < FG_METRIC_BUILTIN_COUNT; i++) {
		const char *name = fg_metric_builtin((enum fg_metric_id)i)->name;
		const char *after = behind(rest, name);
		const size_t length = path->length;

		if (!after || !*after)
			continue;
		fg_strbuf_printf(path, ".%s", name);
		if (find_variable(section, after, path))
			return true;
		path->length = length;
	}
	return false;
}

static bool find_below(const struct fg_key *key, const char *rest, struct fg_strbuf *path)
{
	if (!*rest)
		return key->kind != FG_KEY_VERSION;
	if (key->kind == FG_KEY_SECTION)
		return find_variable(key->section, rest, path);
	if (key->kind == FG_KEY_MAP)
		return find_in_metrics(key->section, rest, path);
	if (key->kind != FG_KEY_FACTS)
		return false;
	fg_strbuf_add_char(path, '.');
	for (; *rest; rest++)
		fg_strbuf_add_char(path, (char)tolower((unsigned char)*rest));
	return true;
}

/* Finds the path that a variable names. Returns false if no path matches. */
static bool find_variable(const struct fg_section *section, const char *rest,
			  struct fg_strbuf *path)
{
	for (const struct fg_key *key = section->keys; key->name; key++) {
		const char *after = behind(rest, key->name);
		const size_t length = path->length;

		if (!after)
			continue;
		fg_strbuf_printf(path, "%s%s", length > 0 ? "." : "", key->name);
		if (find_below(key, after, path))
			return true;
		path->length = length;
		path->data[length] = '\0';
	}
	return false;
}

/*
 * True if the variable begins with the name of a section: FASTGATE_GATE_ALHPA is a mistyped key,
 * while FASTGATE_DEBUG is a variable for another purpose.
 */
static bool begins_like_a_key(const char *rest)
{
	for (const struct fg_key *key = fg_config_schema.keys; key->name; key++) {
		const char *after = key->section ? behind(rest, key->name) : NULL;

		if (after && *after)
			return true;
	}
	return false;
}

static void put_variable(struct override *o, const char *variable, struct fg_yaml_node *root)
{
	static const char start[] = "FASTGATE_";
	const char *equals = strchr(variable, '=');
	struct fg_strbuf path = {0};
	const char *rest = NULL;

	if (!equals || strncmp(variable, start, sizeof(start) - 1) != 0)
		return;
	rest = fg_arena_strndup(o->arena, variable + sizeof(start) - 1,
				(size_t)(equals - variable) - (sizeof(start) - 1));
	o->place = (struct fg_yaml_place){
		.origin = fg_arena_printf(o->arena, "environment variable FASTGATE_%.100s", rest)};
	o->value = equals + 1;
	if (find_variable(&fg_config_schema, rest, &path))
		put(o, &fg_config_schema, root, fg_strbuf_text(&path));
	else if (begins_like_a_key(rest))
		fg_config_warning(o->report, &o->place,
				  "this is not a key of fastgate.yml, and is ignored");
	fg_strbuf_release(&path);
}

void fg_override(const struct fg_config_source *source, struct fg_yaml_node *root,
		 struct fg_arena *arena, struct fg_config_report *report)
{
	struct override o = {.arena = arena, .report = report};

	for (char *const *variable = source->environment; variable && *variable; variable++)
		put_variable(&o, *variable, root);
	for (size_t i = 0; i < source->setting_count; i++)
		put_setting(&o, source->settings[i],
			    fg_arena_printf(arena, "--set %.200s", source->settings[i]), root);
	for (size_t i = 0; i < source->option_count; i++)
		put_setting(&o, source->options[i].setting,
			    fg_arena_printf(arena, "%.200s", source->options[i].written), root);
}
