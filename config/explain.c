// SPDX-License-Identifier: Apache-2.0
/* Writes the schema as text: for a terminal, and as the reference page. */
#include "base/options.h"
#include "base/text.h"
#include "config/config.h"
#include "config/schema.h"
#include "config/values.h"

#include <ctype.h>

enum {
	LABEL_COLUMN = 16,
	NAME_COLUMN = 22,
	PAGE_COLUMNS = 118
};

/* Adds the default as an example of the key in the file. */
static void add_default(const struct fg_key *key, struct fg_strbuf *text)
{
	const char *quote = *key->initial == '*' ? "\"" : "";

	fg_strbuf_printf(text, "%s: %s%s%s", key->name, quote, key->initial, quote);
}

/* Adds the values that a key accepts. */
static void add_value(const struct fg_key *key,
		      void (*scalar)(const struct fg_key *key, struct fg_strbuf *text),
		      struct fg_strbuf *text)
{
	static const char *const structured[FG_KEY_KIND_COUNT] = {
		[FG_KEY_COMMAND] = "command: a string, or a list of words",
		[FG_KEY_TEXTS] = "list of words",
		[FG_KEY_VARIABLES] = "names with values",
		[FG_KEY_FACTS] = "names with values, or with { command: \"…\" }",
		[FG_KEY_SECTION] = "nested keys",
		[FG_KEY_LIST] = "list of mappings",
		[FG_KEY_MAP] = "names with nested keys",
	};

	if (key->kind < FG_KEY_SCALAR_COUNT)
		scalar(key, text);
	else
		fg_strbuf_add_text(text, structured[key->kind]);
	if (key->unit)
		fg_strbuf_printf(text, ", %s", key->unit);
}

/* ---- for a terminal ---- */

static void add_field(struct fg_strbuf *text, const char *label, const char *value,
		      unsigned columns)
{
	fg_text_two_columns(text, label, value, LABEL_COLUMN, columns);
}

static void add_indented(struct fg_strbuf *text, const char *lines)
{
	while (*lines) {
		const size_t length = strcspn(lines, "\n");

		fg_strbuf_add_text(text, "    ");
		fg_strbuf_add(text, lines, length);
		fg_strbuf_add_char(text, '\n');
		lines += length + (lines[length] == '\n');
	}
}

static void add_fields(const struct fg_key *key, const char *path, struct fg_strbuf *text,
		       unsigned columns)
{
	struct fg_strbuf value = {0};
	struct fg_strbuf name = {0};
	const char *shown = key->initial ? key->initial : "…";

	add_value(key, fg_value_expected, &value);
	add_field(text, "value", fg_strbuf_text(&value), columns);
	if (key->initial)
		add_field(text, "default", key->initial, columns);
	else if (key->required)
		add_field(text, "default", "none: the key is required", columns);
	fg_strbuf_clear(&value);
	fg_strbuf_printf(&value, "--set %s=%s", path, shown);
	add_field(text, "command line", fg_strbuf_text(&value), columns);
	fg_strbuf_clear(&value);
	if (!key->section && fg_schema_variable(path, &name)) {
		fg_strbuf_printf(&value, "%s=%s", fg_strbuf_text(&name), shown);
		add_field(text, "environment", fg_strbuf_text(&value), columns);
	}
	fg_strbuf_release(&name);
	fg_strbuf_release(&value);
}

static void add_keys(const struct fg_section *section, struct fg_strbuf *text, unsigned columns)
{
	for (const struct fg_key *key = section->keys; key->name; key++) {
		struct fg_strbuf what = {0};

		fg_strbuf_add_text(&what, key->help);
		if (key->initial && *key->initial)
			fg_strbuf_printf(&what, " [default: %s]", key->initial);
		fg_text_two_columns(text, key->name, fg_strbuf_text(&what), NAME_COLUMN, columns);
		fg_strbuf_release(&what);
	}
}

static int unknown(const char *path, struct fg_error *err)
{
	struct fg_arena arena = {0};
	const char *const *keys = fg_config_keys(&arena);
	const char *nearest = fg_text_nearest(path, keys);

	/* A user may give only the last part of a path: find the full path. */
	for (size_t i = 0; !nearest && keys[i]; i++) {
		const char *dot = strrchr(keys[i], '.');

		if (dot && strcmp(dot + 1, path) == 0)
			nearest = keys[i];
	}
	if (nearest)
		(void)fg_error_set(err, FG_EINVAL, "unknown key '%.100s'; did you mean '%s'?", path,
				   nearest);
	else
		(void)fg_error_set(
			err, FG_EINVAL,
			"unknown key '%.100s'; 'fastgate config --explain' lists all keys", path);
	fg_arena_release(&arena);
	return FG_EINVAL;
}

static void list_key(const struct fg_schema_visit *visit, void *ctx)
{
	struct fg_strbuf *text = ctx;
	const size_t indent = (size_t)visit->depth * 2;
	const size_t used = indent + strlen(visit->key->name);

	fg_strbuf_add_repeated(text, ' ', indent);
	fg_strbuf_add_text(text, visit->key->name);
	fg_strbuf_add_repeated(text, ' ', used < NAME_COLUMN ? NAME_COLUMN - used : 1);
	fg_strbuf_printf(text, "%s\n", visit->key->help);
}

int fg_config_explain(const char *key, unsigned columns, struct fg_strbuf *text,
		      struct fg_error *err)
{
	struct fg_strbuf where = {0};
	const struct fg_key *found = NULL;

	if (*key == '\0') {
		fg_schema_walk(list_key, text);
		return FG_OK;
	}
	found = fg_schema_find(&fg_config_schema, key, &where);
	if (!found) {
		fg_strbuf_release(&where);
		return unknown(key, err);
	}
	fg_strbuf_printf(text, "%s: ", fg_strbuf_text(&where));
	fg_text_wrap(text, found->help, 0, columns);
	fg_strbuf_add_text(text, "\n\n");
	if (found->more) {
		fg_text_wrap(text, found->more, 0, columns);
		fg_strbuf_add_text(text, "\n\n");
	}
	add_fields(found, fg_strbuf_text(&where), text, columns);
	if (found->example || found->initial) {
		struct fg_strbuf line = {0};

		if (!found->example)
			add_default(found, &line);
		fg_strbuf_add_text(text, "\nExample:\n");
		add_indented(text, found->example ? found->example : fg_strbuf_text(&line));
		fg_strbuf_release(&line);
	}
	if (found->section) {
		fg_strbuf_add_text(text, "\nKeys:\n");
		add_keys(found->section, text, columns);
	}
	fg_strbuf_release(&where);
	return FG_OK;
}

/* ---- the reference page ---- */

/* Adds text on one line: the end of a paragraph becomes a break. */
static void add_cell(struct fg_strbuf *text, const char *cell)
{
	for (; *cell; cell++) {
		if (fg_text_starts_with(cell, "\n\n")) {
			fg_strbuf_add_text(text, "<br>");
			cell++;
			continue;
		}
		if (*cell == '|')
			fg_strbuf_add_char(text, '\\');
		if (*cell == '\n')
			fg_strbuf_add_char(text, ' ');
		else
			fg_strbuf_add_char(text, *cell);
	}
}

static bool is_one_line(const char *text)
{
	return text && !strchr(text, '\n');
}

/*
 * True for a benchmark's `measure` and `gate`: the rows of the top-level sections cover their keys.
 */
static bool is_as_at_top(const struct fg_key *key)
{
	const struct fg_key *top = fg_schema_top(key->section);

	return top && top != key;
}

/* Adds the help of a key, its notes and an example. */
static void add_meaning(const struct fg_key *key, struct fg_strbuf *text)
{
	add_cell(text, key->help);
	if (key->section)
		return;
	if (key->more) {
		fg_strbuf_add_text(text, ". ");
		add_cell(text, key->more);
	}
	if (is_one_line(key->example)) {
		fg_strbuf_add_text(text, key->more ? " `" : ": `");
		add_cell(text, key->example);
		fg_strbuf_add_char(text, '`');
	}
}

/* Adds the anchor of a heading: the path's letters, digits and underscores. */
static void add_slug(struct fg_strbuf *text, const char *path)
{
	for (; *path; path++) {
		if (isalnum((unsigned char)*path) || *path == '_')
			fg_strbuf_add_char(text, (char)tolower((unsigned char)*path));
	}
}

static void add_row(const struct fg_key *key, const char *prefix, struct fg_strbuf *text)
{
	struct fg_strbuf value = {0};

	add_value(key, fg_value_kind_and_range, &value);
	if (key->section) {
		fg_strbuf_printf(text, "| [`%s`](#", key->name);
		if (!is_as_at_top(key))
			add_slug(text, prefix);
		add_slug(text, key->name);
		fg_strbuf_add_text(text, ") | ");
	} else {
		fg_strbuf_printf(text, "| `%s` | ", key->name);
	}
	add_meaning(key, text);
	fg_strbuf_add_text(text, " | ");
	add_cell(text, fg_strbuf_text(&value));
	if (key->initial) {
		fg_strbuf_add_text(text, " | `");
		add_default(key, text);
		fg_strbuf_add_text(text, "` |\n");
	} else {
		fg_strbuf_printf(text, " | %s |\n", key->required ? "required" : "");
	}
	fg_strbuf_release(&value);
}

static void add_table(const struct fg_section *section, const char *prefix, struct fg_strbuf *text)
{
	fg_strbuf_add_text(text, "\n| key | meaning | value | default |\n|---|---|---|---|\n");
	for (const struct fg_key *key = section->keys; key->name; key++) {
		/* The map at the top of the page links to the sections. */
		if (!key->section || *prefix)
			add_row(key, prefix, text);
	}
	for (const struct fg_key *key = section->keys; key->name; key++) {
		if (!key->section && key->example && !is_one_line(key->example))
			fg_strbuf_printf(text, "\n```yaml\n%s\n```\n", key->example);
	}
}

static void add_section(const struct fg_schema_visit *visit, void *ctx)
{
	struct fg_strbuf *text = ctx;
	const struct fg_key *key = visit->key;
	struct fg_strbuf words = {0};

	if (!key->section || is_as_at_top(key))
		return;
	fg_strbuf_printf(text, "\n%s `%s`\n", visit->depth == 0 ? "##" : "###", visit->path);
	fg_strbuf_printf(&words, "%c%s.", toupper((unsigned char)key->help[0]), key->help + 1);
	if (key->more)
		fg_strbuf_printf(&words, " %s", key->more);
	if (is_one_line(key->example))
		fg_strbuf_printf(&words, " For example: `%s`", key->example);
	fg_strbuf_add_char(text, '\n');
	fg_text_wrap(text, fg_strbuf_text(&words), 0, PAGE_COLUMNS);
	fg_strbuf_add_char(text, '\n');
	if (key->example && !is_one_line(key->example))
		fg_strbuf_printf(text, "\n```yaml\n%s\n```\n", key->example);
	fg_strbuf_clear(&words);
	fg_strbuf_printf(&words, "%s%s", visit->path, key->any ? key->any : "");
	add_table(key->section, fg_strbuf_text(&words), text);
	fg_strbuf_release(&words);
}

void fg_config_reference(struct fg_strbuf *text)
{
	fg_strbuf_add_text(text, "\n## Top-level keys\n");
	add_table(&fg_config_schema, "", text);
	fg_schema_walk(add_section, text);
}
