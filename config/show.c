// SPDX-License-Identifier: Apache-2.0
#include "config/bind.h"
#include "config/schema.h"

#include <string.h>

static void indent(struct fg_strbuf *text, unsigned depth)
{
	for (unsigned i = 0; i < depth; i++)
		fg_strbuf_add_text(text, "  ");
}

/* True if YAML reads the plain text back as the same text. */
static bool is_plain(const struct fg_yaml_node *node)
{
	static const char safe[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				   "0123456789_./%+-";

	/* overrides also set `quoted` */
	const bool was_quoted = node->quoted && node->place.line > 0;

	return !was_quoted && *node->text && node->text[strspn(node->text, safe)] == '\0' &&
	       node->text[0] != '-' && node->text[0] != '%';
}

static void add_scalar(const struct fg_yaml_node *node, struct fg_strbuf *text)
{
	if (is_plain(node) || fg_yaml_is_null(node)) {
		fg_strbuf_add_text(text, node->text);
		return;
	}
	fg_strbuf_add_char(text, '"');
	for (const char *at = node->text; *at; at++) {
		if (*at == '"' || *at == '\\')
			fg_strbuf_printf(text, "\\%c", *at);
		else if ((unsigned char)*at < ' ')
			fg_strbuf_printf(text, "\\x%02x", (unsigned)(unsigned char)*at);
		else
			fg_strbuf_add_char(text, *at);
	}
	fg_strbuf_add_char(text, '"');
}

static void add_node(const struct fg_yaml_node *node, unsigned depth, struct fg_strbuf *text);

static void add_value(const struct fg_yaml_node *node, unsigned depth, struct fg_strbuf *text)
{
	if (node->kind == FG_YAML_SCALAR) {
		fg_strbuf_add_char(text, ' ');
		add_scalar(node, text);
		if (node->place.line == 0)
			fg_strbuf_printf(text, "  # %s", node->place.origin);
		fg_strbuf_add_char(text, '\n');
	} else if (node->count == 0) {
		fg_strbuf_add_text(text, node->kind == FG_YAML_LIST ? " []\n" : " {}\n");
	} else {
		fg_strbuf_add_char(text, '\n');
		add_node(node, depth, text);
	}
}

static void add_node(const struct fg_yaml_node *node, unsigned depth, struct fg_strbuf *text)
{
	for (size_t i = 0; i < node->count; i++) {
		indent(text, depth);
		if (node->kind == FG_YAML_LIST) {
			fg_strbuf_add_char(text, '-');
		} else {
			add_scalar(node->keys[i], text);
			fg_strbuf_add_char(text, ':');
		}
		add_value(node->items[i], depth + 1, text);
	}
}

static void add_keys(const struct fg_section *section, const struct fg_yaml_node *given,
		     unsigned depth, struct fg_strbuf *text);

/* Adds a section, unless it has neither values nor defaults. */
static void add_section(const struct fg_key *key, const struct fg_yaml_node *given, unsigned depth,
			struct fg_strbuf *text)
{
	struct fg_strbuf keys = {0};

	add_keys(key->section, given, depth + 1, &keys);
	if (keys.length > 0) {
		indent(text, depth);
		fg_strbuf_printf(text, "%s:\n", key->name);
		fg_strbuf_add(text, keys.data, keys.length);
	}
	fg_strbuf_release(&keys);
}

static void add_key(const struct fg_key *key, const struct fg_yaml_node *given, unsigned depth,
		    struct fg_strbuf *text)
{
	if (key->kind == FG_KEY_SECTION && (!given || given->kind == FG_YAML_MAPPING)) {
		add_section(key, given, depth, text);
		return;
	}
	if (!given && !key->initial)
		return;
	indent(text, depth);
	fg_strbuf_printf(text, "%s:", key->name);
	if (given)
		add_value(given, depth + 1, text);
	else
		fg_strbuf_printf(text, " %s  # default\n", key->initial);
}

static void add_keys(const struct fg_section *section, const struct fg_yaml_node *given,
		     unsigned depth, struct fg_strbuf *text)
{
	for (const struct fg_key *key = section->keys; key->name; key++)
		add_key(key, given ? fg_yaml_get(given, key->name) : NULL, depth, text);
}

void fg_config_write(const struct fg_yaml_node *root, struct fg_strbuf *text)
{
	add_keys(&fg_config_schema, root, 0, text);
}
