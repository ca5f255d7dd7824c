// SPDX-License-Identifier: Apache-2.0
/*
 * Parses YAML text into a tree of nodes with their positions.
 *
 * Untrusted input is bounded: bytes by the caller, depth and nodes here. An alias shares the node
 * of its anchor, but counts with all nodes below the anchor, so that nested aliases reach the limit
 * instead of filling memory. Tags are refused: the file must not choose types.
 */
#include "config/yaml_tree.h"

#include "config/config.h"
#include "config/messages.h"

#include <yaml.h>

struct anchor {
	const char *name;
	struct fg_yaml_node *node;
};

struct builder {
	const struct fg_yaml_text *text;
	struct fg_arena *arena;
	struct fg_config_report *report;
	struct fg_yaml_node *root;
	/* unfinished lists and mappings */
	struct fg_yaml_node *open[FG_CONFIG_MAX_DEPTH];
	/* a mapping's key; its value is next */
	struct fg_yaml_node *keys[FG_CONFIG_MAX_DEPTH];
	unsigned depth;
	struct anchor *anchors;
	size_t anchor_count;
	size_t anchor_capacity;
	size_t weight;
	bool failed;
};

/* ---- nodes ---- */

struct fg_yaml_node *fg_yaml_get(const struct fg_yaml_node *mapping, const char *key)
{
	if (mapping->kind != FG_YAML_MAPPING)
		return NULL;
	for (size_t i = 0; i < mapping->count; i++) {
		if (strcmp(mapping->keys[i]->text, key) == 0)
			return mapping->items[i];
	}
	return NULL;
}

static void append(struct fg_yaml_node *parent, struct fg_yaml_node *key, struct fg_yaml_node *item,
		   struct fg_arena *arena)
{
	if (parent->count == parent->capacity) {
		const size_t capacity = parent->capacity ? parent->capacity * 2 : 4;
		struct fg_yaml_node **keys =
			fg_arena_array(arena, capacity, sizeof(struct fg_yaml_node *));
		struct fg_yaml_node **items =
			fg_arena_array(arena, capacity, sizeof(struct fg_yaml_node *));

		for (size_t i = 0; i < parent->count; i++) {
			keys[i] = parent->keys[i];
			items[i] = parent->items[i];
		}
		parent->keys = keys;
		parent->items = items;
		parent->capacity = capacity;
	}
	parent->keys[parent->count] = key;
	parent->items[parent->count] = item;
	parent->count++;
}

struct fg_yaml_node *fg_yaml_new_mapping(struct fg_arena *arena, const struct fg_yaml_place *place)
{
	struct fg_yaml_node *node = fg_arena_alloc(arena, sizeof(*node));

	node->kind = FG_YAML_MAPPING;
	node->place = *place;
	node->weight = 1;
	return node;
}

void fg_yaml_set(struct fg_yaml_node *mapping, const char *key, struct fg_yaml_node *value,
		 struct fg_arena *arena)
{
	struct fg_yaml_node *name = NULL;

	for (size_t i = 0; i < mapping->count; i++) {
		if (strcmp(mapping->keys[i]->text, key) == 0) {
			mapping->items[i] = value;
			return;
		}
	}
	name = fg_arena_alloc(arena, sizeof(*name));
	name->kind = FG_YAML_SCALAR;
	name->place = value->place;
	name->text = fg_arena_strdup(arena, key);
	append(mapping, name, value, arena);
}

bool fg_yaml_is_null(const struct fg_yaml_node *node)
{
	return node->kind == FG_YAML_SCALAR && !node->quoted &&
	       (node->text[0] == '\0' || strcmp(node->text, "~") == 0 ||
		strcmp(node->text, "null") == 0);
}

const char *fg_yaml_kind_name(const struct fg_yaml_node *node)
{
	if (node->kind == FG_YAML_LIST)
		return "a list";
	if (node->kind == FG_YAML_MAPPING)
		return "a mapping";
	return fg_yaml_is_null(node) ? "nothing" : "a single value";
}

/* ---- building ---- */

static struct fg_yaml_place place_of(const struct builder *b, const yaml_mark_t *mark)
{
	struct fg_yaml_place place = {.origin = b->text->origin};

	if (!b->text->is_override) {
		place.line = (unsigned)mark->line + 1;
		place.column = (unsigned)mark->column + 1;
	}
	return place;
}

FG_PRINTF(3, 4)
static void refuse(struct builder *b, const yaml_mark_t *mark, const char *format, ...)
{
	const struct fg_yaml_place place = place_of(b, mark);
	struct fg_strbuf message = {0};
	va_list ap;

	va_start(ap, format);
	fg_strbuf_vprintf(&message, format, ap);
	va_end(ap);
	fg_config_error(b->report, &place, "%s", fg_strbuf_text(&message));
	fg_strbuf_release(&message);
	b->failed = true;
}

static bool room_for(struct builder *b, size_t weight, const yaml_mark_t *mark)
{
	if (weight > FG_CONFIG_MAX_NODES - b->weight) {
		refuse(b, mark, "the configuration has more than %d values, counting repeated ones",
		       FG_CONFIG_MAX_NODES);
		return false;
	}
	b->weight += weight;
	return true;
}

static void add_duplicate(struct builder *b, const struct fg_yaml_node *mapping,
			  const struct fg_yaml_node *key)
{
	for (size_t i = 0; i < mapping->count; i++) {
		if (strcmp(mapping->keys[i]->text, key->text) != 0)
			continue;
		fg_config_error(b->report, &key->place,
				"duplicate key '%s'; the first is on line %u", key->text,
				mapping->keys[i]->place.line);
		return;
	}
}

/* Adds a finished value to its parent: root, list, or key. */
static void place_value(struct builder *b, struct fg_yaml_node *node, const yaml_mark_t *mark)
{
	struct fg_yaml_node *parent = b->depth > 0 ? b->open[b->depth - 1] : NULL;
	struct fg_yaml_node **key = b->depth > 0 ? &b->keys[b->depth - 1] : NULL;

	if (!parent) {
		b->root = node;
	} else if (parent->kind == FG_YAML_LIST) {
		append(parent, NULL, node, b->arena);
	} else if (*key) {
		if (!fg_yaml_get(parent, (*key)->text))
			append(parent, *key, node, b->arena);
		*key = NULL;
	} else if (node->kind != FG_YAML_SCALAR) {
		refuse(b, mark, "a key must be a word, not %s", fg_yaml_kind_name(node));
	} else if (parent->count == FG_CONFIG_MAX_KEYS) {
		refuse(b, mark, "a mapping has more than %d keys", FG_CONFIG_MAX_KEYS);
	} else {
		add_duplicate(b, parent, node);
		*key = node;
	}
}

static void remember_anchor(struct builder *b, const yaml_char_t *name, struct fg_yaml_node *node)
{
	if (!name)
		return;
	FG_APPEND(b->anchors, b->anchor_count, b->anchor_capacity) =
		(struct anchor){fg_arena_strdup(b->arena, (const char *)name), node};
}

static struct fg_yaml_node *new_node(struct builder *b, enum fg_yaml_kind kind,
				     const yaml_event_t *event, const yaml_char_t *tag)
{
	struct fg_yaml_node *node = NULL;

	if (tag) {
		refuse(b, &event->start_mark, "tags are not supported: remove '%.40s'",
		       (const char *)tag);
		return NULL;
	}
	if (!room_for(b, 1, &event->start_mark))
		return NULL;
	node = fg_arena_alloc(b->arena, sizeof(*node));
	node->kind = kind;
	node->weight = 1;
	node->place = place_of(b, &event->start_mark);
	return node;
}

static void on_scalar(struct builder *b, const yaml_event_t *event)
{
	const char *text = (const char *)event->data.scalar.value;
	const size_t length = event->data.scalar.length;
	struct fg_yaml_node *node = new_node(b, FG_YAML_SCALAR, event, event->data.scalar.tag);

	if (!node)
		return;
	if (memchr(text, '\0', length)) {
		refuse(b, &event->start_mark, "a value must not contain a NUL byte");
		return;
	}
	node->text = fg_arena_strndup(b->arena, text, length);
	node->quoted = event->data.scalar.style != YAML_PLAIN_SCALAR_STYLE;
	remember_anchor(b, event->data.scalar.anchor, node);
	place_value(b, node, &event->start_mark);
}

static void on_open(struct builder *b, const yaml_event_t *event)
{
	const bool is_list = event->type == YAML_SEQUENCE_START_EVENT;
	struct fg_yaml_node *node =
		new_node(b, is_list ? FG_YAML_LIST : FG_YAML_MAPPING, event,
			 is_list ? event->data.sequence_start.tag : event->data.mapping_start.tag);

	if (!node)
		return;
	if (b->depth == FG_CONFIG_MAX_DEPTH) {
		refuse(b, &event->start_mark, "values are nested deeper than %d levels",
		       FG_CONFIG_MAX_DEPTH);
		return;
	}
	remember_anchor(
		b, is_list ? event->data.sequence_start.anchor : event->data.mapping_start.anchor,
		node);
	place_value(b, node, &event->start_mark);
	b->open[b->depth] = node;
	b->keys[b->depth] = NULL;
	b->depth++;
}

static void on_close(struct builder *b)
{
	struct fg_yaml_node *node = NULL;

	FG_ASSERT(b->depth > 0);
	node = b->open[--b->depth];
	for (size_t i = 0; i < node->count; i++)
		node->weight += node->items[i]->weight + 1;
}

static bool is_open(const struct builder *b, const struct fg_yaml_node *node)
{
	for (unsigned i = 0; i < b->depth; i++) {
		if (b->open[i] == node)
			return true;
	}
	return false;
}

static void on_alias(struct builder *b, const yaml_event_t *event)
{
	const char *name = (const char *)event->data.alias.anchor;

	for (size_t i = b->anchor_count; i-- > 0;) {
		struct fg_yaml_node *node = b->anchors[i].node;

		if (strcmp(b->anchors[i].name, name) != 0)
			continue;
		if (is_open(b, node))
			refuse(b, &event->start_mark, "'*%s' is inside the value that it repeats",
			       name);
		else if (room_for(b, node->weight, &event->start_mark))
			place_value(b, node, &event->start_mark);
		return;
	}
	refuse(b, &event->start_mark, "there is no anchor '&%s' above this '*%s'", name, name);
}

static void take(struct builder *b, const yaml_event_t *event)
{
	switch (event->type) {
	case YAML_SCALAR_EVENT:
		on_scalar(b, event);
		break;
	case YAML_SEQUENCE_START_EVENT:
	case YAML_MAPPING_START_EVENT:
		on_open(b, event);
		break;
	case YAML_SEQUENCE_END_EVENT:
	case YAML_MAPPING_END_EVENT:
		on_close(b);
		break;
	case YAML_ALIAS_EVENT:
		on_alias(b, event);
		break;
	case YAML_DOCUMENT_START_EVENT:
		if (b->root)
			refuse(b, &event->start_mark,
			       "a second document begins here: only one is allowed");
		break;
	default:
		break;
	}
}

/* ---- syntax errors ---- */

/*
 * True if the marked line is indented with a tab. This is a common mistake, and libyaml's message
 * about it is unclear.
 */
static bool is_tabbed(const struct fg_yaml_text *text, const yaml_mark_t *mark)
{
	const char *const end = text->data + text->size;
	const char *at = text->data;

	for (size_t line = 0; line < mark->line && at < end; line++) {
		const char *feed = memchr(at, '\n', (size_t)(end - at));

		at = feed ? feed + 1 : end;
	}
	while (at < end && *at == ' ')
		at++;
	return at < end && *at == '\t';
}

/* Converts a byte offset to a position, which reader errors lack. */
static yaml_mark_t mark_of_offset(const struct fg_yaml_text *text, size_t offset)
{
	yaml_mark_t mark = {.index = fg_min_size(offset, text->size)};

	for (size_t i = 0; i < mark.index; i++) {
		mark.column++;
		if (text->data[i] == '\n') {
			mark.line++;
			mark.column = 0;
		}
	}
	return mark;
}

static void on_syntax_error(struct builder *b, const yaml_parser_t *parser)
{
	const char *problem = parser->problem ? parser->problem : "syntax error";
	yaml_mark_t mark = parser->problem_mark;

	if (parser->error == YAML_READER_ERROR) {
		mark = mark_of_offset(b->text, parser->problem_offset);
		refuse(b, &mark, "not valid YAML: %s (expected UTF-8 text)", problem);
	} else if (is_tabbed(b->text, &mark)) {
		refuse(b, &mark, "the line begins with a tab: YAML requires spaces");
	} else if (parser->context && !b->text->is_override) {
		refuse(b, &mark, "not valid YAML: %s, %s that begins on line %zu", problem,
		       parser->context, parser->context_mark.line + 1);
	} else {
		refuse(b, &mark, "not valid YAML: %s", problem);
	}
}

bool fg_yaml_parse(const struct fg_yaml_text *text, struct fg_arena *arena,
		   struct fg_config_report *report, struct fg_yaml_node **root)
{
	struct builder b = {.text = text, .arena = arena, .report = report};
	yaml_parser_t parser;
	size_t mark_size = 0;
	bool at_end = false;

	if (!yaml_parser_initialize(&parser)) {
		const yaml_mark_t start = {0};

		refuse(&b, &start, "no memory for a YAML parser");
		return false;
	}
	yaml_parser_set_encoding(&parser, YAML_UTF8_ENCODING);
	/*
	 * If the encoding is set, libyaml treats a byte order mark, which editors on Windows write,
	 * as text.
	 */
	mark_size = text->size >= 3 && memcmp(text->data, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
	yaml_parser_set_input_string(&parser, (const unsigned char *)text->data + mark_size,
				     text->size - mark_size);
	while (!at_end && !b.failed) {
		yaml_event_t event;

		if (!yaml_parser_parse(&parser, &event)) {
			on_syntax_error(&b, &parser);
			break;
		}
		at_end = event.type == YAML_STREAM_END_EVENT;
		take(&b, &event);
		yaml_event_delete(&event);
	}
	yaml_parser_delete(&parser);
	free(b.anchors);
	*root = b.failed ? NULL : b.root;
	return !b.failed;
}
