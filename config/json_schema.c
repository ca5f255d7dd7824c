// SPDX-License-Identifier: Apache-2.0
/*
 * Writes the schema as a JSON Schema (draft 7), with which editors complete keys, show help and
 * mark mistakes.
 */
#include "base/json_write.h"
#include "config/config.h"
#include "config/schema.h"
#include "config/values.h"

static void write_section(struct fg_json_writer *w, const struct fg_section *section,
			  unsigned depth);

/* YAML numbers and booleans are accepted as text. */
#define JSON_TEXT_TYPE "[\"string\", \"number\", \"boolean\"]"
#define JSON_TEXT      "{\"type\": " JSON_TEXT_TYPE "}"
#define JSON_COMMAND                           \
 "[{\"type\": \"string\", \"minLength\": 1}, " \
 "{\"type\": \"array\", \"minItems\": 1, \"items\": " JSON_TEXT "}]"
#define JSON_FACT                                                                   \
 "{\"anyOf\": [" JSON_TEXT                                                          \
 ", {\"type\": \"object\", \"properties\": {\"command\": {\"anyOf\": " JSON_COMMAND \
 "}}, \"required\": [\"command\"], \"additionalProperties\": false}]}"

static void write_bounds(struct fg_json_writer *w, const struct fg_key *key)
{
	if (key->minimum >= key->maximum)
		return;
	fg_json_double(w, "minimum", key->minimum);
	fg_json_double(w, "maximum", key->maximum);
}

static void write_words(struct fg_json_writer *w, const struct fg_key *key)
{
	fg_json_begin_array(w, "enum");
	for (size_t i = 0; key->words[i]; i++) {
		if (key->kind == FG_KEY_VERSION)
			fg_json_raw(w, NULL, key->words[i]);
		else
			fg_json_text(w, NULL, key->words[i]);
	}
	fg_json_end(w);
}

static void write_scalar(struct fg_json_writer *w, const struct fg_key *key)
{
	const struct fg_value_kind *kind = fg_value_kind(key->kind);

	if (key->words) {
		write_words(w, key);
		return;
	}
	if (key->word_of_zero || (kind->json_type && kind->json_pattern)) {
		fg_json_begin_array(w, "anyOf");
		fg_json_begin_object(w, NULL);
		fg_json_text(w, "type", kind->json_type);
		write_bounds(w, key);
		fg_json_end(w);
		fg_json_begin_object(w, NULL);
		if (key->word_of_zero) {
			fg_json_text(w, "const", key->word_of_zero);
		} else {
			fg_json_text(w, "type", "string");
			fg_json_text(w, "pattern", kind->json_pattern);
		}
		fg_json_end(w);
		fg_json_end(w);
		return;
	}
	if (kind->json_type) {
		fg_json_text(w, "type", kind->json_type);
		write_bounds(w, key);
	} else if (kind->json_pattern) {
		fg_json_text(w, "type", "string");
		fg_json_text(w, "pattern", kind->json_pattern);
	} else {
		fg_json_raw(w, "type", JSON_TEXT_TYPE);
	}
}

static void write_structure(struct fg_json_writer *w, const struct fg_key *key, unsigned depth)
{
	const bool is_list = key->kind == FG_KEY_LIST || key->kind == FG_KEY_TEXTS;
	const char *each = is_list ? "items" : "additionalProperties";

	if (key->kind == FG_KEY_COMMAND) {
		fg_json_raw(w, "anyOf", JSON_COMMAND);
		return;
	}
	if (key->kind == FG_KEY_SECTION) {
		write_section(w, key->section, depth + 1);
		return;
	}
	fg_json_text(w, "type", is_list ? "array" : "object");
	if (key->section) {
		fg_json_begin_object(w, each);
		write_section(w, key->section, depth + 1);
		fg_json_end(w);
	} else {
		fg_json_raw(w, each, key->kind == FG_KEY_FACTS ? JSON_FACT : JSON_TEXT);
	}
}

static void write_key(struct fg_json_writer *w, const struct fg_key *key, unsigned depth)
{
	const struct fg_key *top = depth > 0 ? fg_schema_top(key->section) : NULL;
	struct fg_strbuf ref = {0};

	fg_json_begin_object(w, key->name);
	fg_json_text(w, "description", key->help);
	if (top) {
		fg_strbuf_printf(&ref, "#/properties/%s", top->name);
		fg_json_begin_array(w, "allOf"); /* draft 7 ignores everything next to $ref */
		fg_json_begin_object(w, NULL);
		fg_json_text(w, "$ref", fg_strbuf_text(&ref));
		fg_json_end(w);
		fg_json_end(w);
	} else if (key->kind < FG_KEY_SCALAR_COUNT) {
		write_scalar(w, key);
	} else {
		write_structure(w, key, depth);
	}
	if (key->initial && fg_value_kind(key->kind)->json_type &&
	    !fg_value_kind(key->kind)->json_pattern && !key->words && !key->word_of_zero)
		fg_json_raw(w, "default", key->initial);
	else if (key->initial)
		fg_json_text(w, "default", key->initial);
	fg_json_end(w);
	fg_strbuf_release(&ref);
}

static void write_section(struct fg_json_writer *w, const struct fg_section *section,
			  unsigned depth)
{
	bool any_required = false;

	fg_json_text(w, "type", "object");
	fg_json_bool(w, "additionalProperties", false);
	for (const struct fg_key *key = section->keys; key->name; key++) {
		if (key->required && !any_required)
			fg_json_begin_array(w, "required");
		any_required = any_required || key->required;
		if (key->required)
			fg_json_text(w, NULL, key->name);
	}
	if (any_required)
		fg_json_end(w);
	fg_json_begin_object(w, "properties");
	for (const struct fg_key *key = section->keys; key->name; key++)
		write_key(w, key, depth);
	fg_json_end(w);
}

void fg_config_json_schema(struct fg_strbuf *text)
{
	struct fg_json_writer w;

	fg_json_writer_init(&w, text, 2);
	fg_json_begin_object(&w, NULL);
	fg_json_text(&w, "$schema", "http://json-schema.org/draft-07/schema#");
	fg_json_text(&w, "title", "fastgate.yml");
	fg_json_text(&w, "description",
		     "Configuration of fastgate, the performance regression gate");
	write_section(&w, &fg_config_schema, 0);
	fg_json_end(&w);
	fg_strbuf_add_char(text, '\n');
}
