// SPDX-License-Identifier: Apache-2.0
/*
 * Fills structs from the YAML tree, driven by the rows of the schema.
 *
 * Binding iterates over the rows, not over the file: a row takes its value from the mapping, or its
 * default. Keys of the mapping without a row are reported as unknown. A wrong value is reported and
 * its default stays, so that one mistake does not hide the next.
 */
#include "config/bind.h"

#include "base/text.h"
#include "config/config.h"
#include "config/messages.h"
#include "config/schema.h"
#include "config/values.h"
#include "config/yaml_tree.h"

/* ---- messages ---- */

static size_t push(struct fg_binder *binder, const char *name)
{
	const size_t length = binder->path.length;

	fg_strbuf_printf(&binder->path, "%s%s", length > 0 && *name != '[' ? "." : "", name);
	return length;
}

static void pop(struct fg_binder *binder, size_t length)
{
	binder->path.length = length;
	binder->path.data[length] = '\0';
}

/* Adds the key to the last message, in the form that --explain accepts. */
static void name_key(struct fg_binder *binder)
{
	struct fg_config_report *report = binder->report;
	struct fg_strbuf where = {0};

	if (report->count > 0 &&
	    fg_schema_find(binder->schema, fg_strbuf_text(&binder->path), &where))
		report->items[report->count - 1].key =
			fg_arena_strdup(&report->arena, fg_strbuf_text(&where));
	fg_strbuf_release(&where);
}

void fg_bind_error(struct fg_binder *binder, const struct fg_yaml_node *node, const char *name,
		   const char *format, ...)
{
	const size_t length = name ? push(binder, name) : binder->path.length;
	struct fg_strbuf text = {0};
	va_list ap;

	va_start(ap, format);
	fg_strbuf_vprintf(&text, format, ap);
	va_end(ap);
	if (binder->path.length > 0) {
		fg_config_error(binder->report, &node->place, "%s: %s",
				fg_strbuf_text(&binder->path), fg_strbuf_text(&text));
		name_key(binder);
	} else {
		fg_config_error(binder->report, &node->place, "%s", fg_strbuf_text(&text));
	}
	fg_strbuf_release(&text);
	if (name)
		pop(binder, length);
}

/* Reports a message such as "found 'abc', expected a ratio such as 2% or 0.02". */
static void wrong_value(struct fg_binder *binder, const struct fg_key *key,
			const struct fg_yaml_node *node, const char *reason)
{
	struct fg_strbuf expected = {0};
	const bool has_words = key->words && key->words[1];
	const char *nearest = has_words ? fg_text_nearest(node->text, key->words) : NULL;

	fg_value_expected(key, &expected);
	if (nearest)
		fg_bind_error(binder, node, NULL, "found '%.100s'; did you mean '%s'? Expected %s",
			      node->text, nearest, fg_strbuf_text(&expected));
	else
		fg_bind_error(binder, node, NULL, "found '%.100s'%s%s, expected %s", node->text,
			      reason ? ": " : "", reason ? reason : "", fg_strbuf_text(&expected));
	fg_strbuf_release(&expected);
}

static bool expect_kind(struct fg_binder *binder, const struct fg_yaml_node *node,
			enum fg_yaml_kind kind, const char *expected)
{
	if (node->kind == kind)
		return true;
	if (node->kind == FG_YAML_SCALAR && !fg_yaml_is_null(node))
		fg_bind_error(binder, node, NULL, "found '%.100s', expected %s", node->text,
			      expected);
	else
		fg_bind_error(binder, node, NULL, "found %s, expected %s", fg_yaml_kind_name(node),
			      expected);
	return false;
}

static void report_unknown(struct fg_binder *binder, const struct fg_section *section,
			   const struct fg_yaml_node *key)
{
	struct fg_arena scratch = {0};
	const char **names = fg_section_names(section, &scratch);
	const char *nearest = fg_text_nearest(key->text, names);
	struct fg_strbuf known = {0};

	for (size_t i = 0; names[i]; i++)
		fg_strbuf_printf(&known, "%s%s", i == 0 ? "" : ", ", names[i]);
	if (nearest)
		fg_bind_error(binder, key, NULL, "unknown key '%.100s'; did you mean '%s'?",
			      key->text, nearest);
	else if (strstr(key->text, "token") || strstr(key->text, "password") ||
		 strstr(key->text, "secret"))
		fg_bind_error(binder, key, NULL,
			      "unknown key '%.100s': a secret stays in an environment variable, "
			      "whose name goes into 'token_env'",
			      key->text);
	else
		fg_bind_error(binder, key, NULL, "unknown key '%.100s'; known keys: %s", key->text,
			      fg_strbuf_text(&known));
	fg_strbuf_release(&known);
	fg_arena_release(&scratch);
}

/* ---- values ---- */

static void *at(void *values, size_t offset)
{
	return (char *)values + offset;
}

static void bind_scalar(struct fg_binder *binder, const struct fg_key *key,
			const struct fg_yaml_node *node, void *values)
{
	struct fg_error err = {0};
	struct fg_strbuf expected = {0};

	fg_value_expected(key, &expected);
	if (!fg_yaml_is_null(node) &&
	    expect_kind(binder, node, FG_YAML_SCALAR, fg_strbuf_text(&expected))) {
		if (fg_value_kind(key->kind)->parse(key, node->text, at(values, key->offset),
						    binder->arena, &err) != FG_OK)
			wrong_value(binder, key, node,
				    key->kind == FG_KEY_REGEX || err.code == FG_ELIMIT ? err.message
										       : NULL);
	} else if (fg_yaml_is_null(node)) {
		fg_bind_error(binder, node, NULL, "found nothing, expected %s",
			      fg_strbuf_text(&expected));
	}
	fg_strbuf_release(&expected);
}

static bool all_scalars(struct fg_binder *binder, const struct fg_yaml_node *node,
			const char *expected)
{
	bool fine = true;

	for (size_t i = 0; i < node->count; i++) {
		if (fg_yaml_is_null(node->items[i]) || node->items[i]->kind != FG_YAML_SCALAR)
			fine = expect_kind(binder, node->items[i], FG_YAML_KIND_COUNT, expected) &&
			       fine;
	}
	return fine;
}

static void bind_command(struct fg_binder *binder, const struct fg_yaml_node *node,
			 struct fg_command *command)
{
	struct fg_command made = {0};
	struct fg_strbuf text = {0};

	if (fg_yaml_is_null(node) || node->kind == FG_YAML_MAPPING) {
		(void)expect_kind(binder, node, FG_YAML_KIND_COUNT,
				  "a command: a string, or a list of words");
		return;
	}
	if (node->kind == FG_YAML_SCALAR) {
		/*
		 * The section's hook splits the text, because the section's `shell` key decides
		 * how.
		 */
		command->text = node->text;
		command->argc = 0;
		return;
	}
	if (!all_scalars(binder, node, "a single word of the command"))
		return;
	if (node->count == 0) {
		fg_bind_error(binder, node, NULL, "found an empty list, expected a command");
		return;
	}
	made.argv = fg_arena_array(binder->arena, node->count + 1, sizeof(made.argv[0]));
	made.argc = node->count;
	for (size_t i = 0; i < node->count; i++)
		made.argv[i] = fg_arena_strdup(binder->arena, node->items[i]->text);
	fg_text_quote_words(&text, made.argv);
	made.text = fg_arena_strdup(binder->arena, fg_strbuf_text(&text));
	fg_strbuf_release(&text);
	*command = made;
}

void fg_bind_command(struct fg_binder *binder, const struct fg_yaml_node *node, bool shell,
		     struct fg_command *command)
{
	static const char *const shell_start[] = {"/bin/sh", "-c"};
	struct fg_error err = {0};
	char **argv = NULL;
	size_t argc = 0;

	if (command->argc > 0 || !command->text)
		return;
	if (shell) {
		argv = fg_arena_array(binder->arena, 4, sizeof(argv[0]));
		for (; argc < FG_ARRAY_SIZE(shell_start); argc++)
			argv[argc] = fg_arena_strdup(binder->arena, shell_start[argc]);
		argv[argc++] = fg_arena_strdup(binder->arena, command->text);
	} else if (fg_text_split_words(command->text, binder->arena, &argv, &argc, &err) != FG_OK) {
		fg_bind_error(binder, node, NULL, "%s", err.message);
		return;
	} else if (argc == 0) {
		fg_bind_error(binder, node, NULL, "found an empty string, expected a command");
		return;
	} else if (fg_text_shell_word(argv)) {
		fg_bind_error(binder, node, NULL,
			      "'%s' needs a shell, but the command runs without one: set 'shell: "
			      "true', or write the command as a list of words",
			      fg_text_shell_word(argv));
		return;
	}
	command->argv = argv;
	command->argc = argc;
}

static bool is_among(const char *word, const char *const *words)
{
	while (*words && strcmp(*words, word) != 0)
		words++;
	return *words;
}

static void bind_texts(struct fg_binder *binder, const struct fg_key *key,
		       const struct fg_yaml_node *node, void *values)
{
	const char **texts = NULL;

	if (!expect_kind(binder, node, FG_YAML_LIST, "a list of words") ||
	    !all_scalars(binder, node, "a single word"))
		return;
	texts = fg_arena_array(binder->arena, node->count + 1, sizeof(texts[0]));
	for (size_t i = 0; i < node->count; i++) {
		texts[i] = node->items[i]->text;
		if (key->words && !is_among(texts[i], key->words))
			wrong_value(binder, key, node->items[i], NULL);
	}
	*(const char ***)at(values, key->offset) = texts;
	*(size_t *)at(values, key->count_offset) = node->count;
}

typedef bool bind_entry(struct fg_binder *binder, const struct fg_yaml_node *name,
			const struct fg_yaml_node *item, void *entry);

static bool bind_variable(struct fg_binder *binder, const struct fg_yaml_node *name,
			  const struct fg_yaml_node *item, void *entry)
{
	struct fg_variable *variable = entry;

	if (strchr(name->text, '=') || name->text[0] == '\0') {
		fg_bind_error(binder, name, NULL, "expected the name of an environment variable");
		return false;
	}
	*variable = (struct fg_variable){name->text, fg_yaml_is_null(item) ? "" : item->text};
	return expect_kind(binder, item, FG_YAML_SCALAR, "a value");
}

static bool bind_fact(struct fg_binder *binder, const struct fg_yaml_node *name,
		      const struct fg_yaml_node *item, void *entry)
{
	const struct fg_yaml_node *command = fg_yaml_get(item, "command");
	struct fg_recorded_fact *fact = entry;

	fact->name = name->text;
	if (item->kind == FG_YAML_SCALAR && !fg_yaml_is_null(item)) {
		fact->literal = item->text;
		return true;
	}
	if (!command || item->count != 1)
		return expect_kind(binder, item, FG_YAML_KIND_COUNT,
				   "a value, or { command: \"…\" }");
	bind_command(binder, command, &fact->command);
	fg_bind_command(binder, command, false, &fact->command);
	return fact->command.argc > 0;
}

/* Binds a mapping whose names the user chooses. */
static void bind_names(struct fg_binder *binder, const struct fg_key *key,
		       const struct fg_yaml_node *node, void *values, size_t size, bind_entry *one)
{
	char *entries = NULL;
	size_t count = 0;

	if (!expect_kind(binder, node, FG_YAML_MAPPING, "a mapping of names to values"))
		return;
	entries = fg_arena_array(binder->arena, node->count + 1, size);
	for (size_t i = 0; i < node->count; i++) {
		const size_t length = push(binder, node->keys[i]->text);

		count += one(binder, node->keys[i], node->items[i], entries + count * size);
		pop(binder, length);
	}
	*(void **)at(values, key->offset) = entries;
	*(size_t *)at(values, key->count_offset) = count;
}

/* ---- sections ---- */

static void bind_element(struct fg_binder *binder, const struct fg_section *section,
			 const struct fg_yaml_node *node, const char *name, void *target)
{
	void *values = target;

	if (section->scratch_size > 0)
		values = fg_arena_alloc(binder->arena, section->scratch_size);
	if (section->prepare)
		section->prepare(binder, values, name);
	fg_bind_section(binder, section, node, values);
	if (section->finish)
		section->finish(binder, node, values, target);
}

/* An element is identified by its name, or by its number if it has no name. */
static size_t push_element(struct fg_binder *binder, const struct fg_yaml_node *node, size_t number)
{
	const struct fg_yaml_node *name = fg_yaml_get(node, "name");
	char index[32] = "";

	if (name && name->kind == FG_YAML_SCALAR && name->text[0] != '\0')
		return push(binder, name->text);
	(void)snprintf(index, sizeof(index), "[%zu]", number + 1);
	return push(binder, index);
}

static void bind_list(struct fg_binder *binder, const struct fg_key *key,
		      const struct fg_yaml_node *node, void *values)
{
	const size_t size = key->section->size;
	char *elements = NULL;

	if (!expect_kind(binder, node, FG_YAML_LIST, "a list: each element begins with '- '"))
		return;
	elements = fg_arena_array(binder->arena, node->count + 1, size);
	for (size_t i = 0; i < node->count; i++) {
		const size_t length = push_element(binder, node->items[i], i);

		if (expect_kind(binder, node->items[i], FG_YAML_MAPPING, "a mapping"))
			bind_element(binder, key->section, node->items[i], NULL,
				     elements + i * size);
		pop(binder, length);
	}
	*(void **)at(values, key->offset) = elements;
	*(size_t *)at(values, key->count_offset) = node->count;
}

/* Binds elements by name: an inherited element is copied and changed, a new element is appended. */
static void bind_map(struct fg_binder *binder, const struct fg_key *key,
		     const struct fg_yaml_node *node, void *values)
{
	const size_t size = key->section->size;
	char *const old = *(char **)at(values, key->offset);
	size_t count = *(size_t *)at(values, key->count_offset);
	char *elements = NULL;

	if (!expect_kind(binder, node, FG_YAML_MAPPING, "a mapping of names to settings"))
		return;
	elements = fg_arena_array(binder->arena, count + node->count + 1, size);
	if (count > 0)
		memcpy(elements, old, count * size);
	for (size_t i = 0; i < node->count; i++) {
		const char *name = node->keys[i]->text;
		const size_t length = push(binder, name);
		size_t place = 0;

		/* The first member of an element is its name. */
		while (place < count &&
		       strcmp(*(const char **)(void *)(elements + place * size), name) != 0)
			place++;
		if (expect_kind(binder, node->items[i], FG_YAML_MAPPING, "a mapping")) {
			bind_element(binder, key->section, node->items[i], name,
				     elements + place * size);
			count += place == count;
		}
		pop(binder, length);
	}
	*(void **)at(values, key->offset) = elements;
	*(size_t *)at(values, key->count_offset) = count;
}

static void bind_default(struct fg_binder *binder, const struct fg_key *key, void *values)
{
	struct fg_error err = {0};
	int status = FG_OK;

	if (!key->initial || key->kind >= FG_KEY_SCALAR_COUNT)
		return;
	status = fg_value_kind(key->kind)->parse(key, key->initial, at(values, key->offset),
						 binder->arena, &err);
	FG_ASSERT(status == FG_OK);
}

/* Fills in the defaults of an absent mapping. */
static void bind_default_section(struct fg_binder *binder, const struct fg_key *key, void *values)
{
	static const struct fg_yaml_node empty = {.kind = FG_YAML_MAPPING,
						  .place = {.origin = "the defaults"}};

	if (key->kind == FG_KEY_SECTION && key->section->scratch_size == 0 && !key->section->finish)
		fg_bind_section(binder, key->section, &empty, at(values, key->offset));
}

static void bind_value(struct fg_binder *binder, const struct fg_key *key,
		       const struct fg_yaml_node *node, void *values)
{
	switch (key->kind) {
	case FG_KEY_COMMAND:
		bind_command(binder, node, at(values, key->offset));
		break;
	case FG_KEY_TEXTS:
		bind_texts(binder, key, node, values);
		break;
	case FG_KEY_VARIABLES:
		bind_names(binder, key, node, values, sizeof(struct fg_variable), bind_variable);
		break;
	case FG_KEY_FACTS:
		bind_names(binder, key, node, values, sizeof(struct fg_recorded_fact), bind_fact);
		break;
	case FG_KEY_SECTION:
		if (expect_kind(binder, node, FG_YAML_MAPPING, "a mapping"))
			bind_element(binder, key->section, node, NULL, at(values, key->offset));
		break;
	case FG_KEY_LIST:
		bind_list(binder, key, node, values);
		break;
	case FG_KEY_MAP:
		bind_map(binder, key, node, values);
		break;
	default:
		bind_scalar(binder, key, node, values);
		break;
	}
}

/* Does an unknown key look like this key? If so, the user gets one error instead of two. */
static bool is_misspelled(const struct fg_section *section, const struct fg_yaml_node *node,
			  const char *name)
{
	struct fg_arena scratch = {0};
	const char **names = fg_section_names(section, &scratch);
	bool found = false;

	for (size_t i = 0; i < node->count && !found; i++) {
		const char *nearest = fg_section_find(section, node->keys[i]->text)
					      ? NULL
					      : fg_text_nearest(node->keys[i]->text, names);

		found = nearest && strcmp(nearest, name) == 0;
	}
	fg_arena_release(&scratch);
	return found;
}

void fg_bind_section(struct fg_binder *binder, const struct fg_section *section,
		     const struct fg_yaml_node *node, void *target)
{
	for (const struct fg_key *key = section->keys; key->name; key++) {
		const struct fg_yaml_node *value = fg_yaml_get(node, key->name);
		size_t length = 0;

		if (!section->inherits)
			bind_default(binder, key, target);
		if (!value && key->required && !is_misspelled(section, node, key->name))
			fg_bind_error(binder, node, NULL, "the key '%s' is missing", key->name);
		if (!value && !section->inherits)
			bind_default_section(binder, key, target);
		if (!value)
			continue;
		length = push(binder, key->name);
		bind_value(binder, key, value, target);
		pop(binder, length);
	}
	for (size_t i = 0; i < node->count; i++) {
		if (!fg_section_find(section, node->keys[i]->text))
			report_unknown(binder, section, node->keys[i]);
	}
}
