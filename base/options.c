// SPDX-License-Identifier: Apache-2.0
#include "base/options.h"

#include "base/number.h"
#include "base/text.h"

enum {
	MAX_NAMES = 256
};

/* One option on the command line: its row, the address of its value, and its spelling. */
struct found {
	const struct fg_option *option;
	void *target;
	char spelling[64];
};

static void *target_of(const struct fg_option_set *set, const struct fg_option *option)
{
	return (char *)set->values + option->offset;
}

/* ---- values ---- */

static int check_bounds(const struct fg_option *option, double value, struct fg_error *err)
{
	if (option->minimum >= option->maximum ||
	    (value >= option->minimum && value <= option->maximum))
		return FG_OK;
	return fg_error_set(err, FG_EINVAL, "%.9g is out of range: expected %.9g to %.9g", value,
			    option->minimum, option->maximum);
}

static int set_flag(const struct fg_option *option, const char *text, void *target,
		    struct fg_error *err)
{
	(void)option;
	return fg_parse_bool(text, target, err);
}

static int set_text(const struct fg_option *option, const char *text, void *target,
		    struct fg_error *err)
{
	(void)option;
	(void)err;
	*(const char **)target = text;
	return FG_OK;
}

static int parse_unsigned(const char *text, unsigned *value, struct fg_error *err)
{
	uint64_t wide = 0;

	FG_TRY(fg_parse_uint64(text, &wide, err));
	if (wide > UINT32_MAX)
		return fg_error_set(err, FG_EINVAL, "%s is too large", text);
	*value = (unsigned)wide;
	return FG_OK;
}

static int set_unsigned(const struct fg_option *option, const char *text, void *target,
			struct fg_error *err)
{
	unsigned value = 0;

	FG_TRY(parse_unsigned(text, &value, err));
	FG_TRY(check_bounds(option, value, err));
	*(unsigned *)target = value;
	return FG_OK;
}

static int set_int64(const struct fg_option *option, const char *text, void *target,
		     struct fg_error *err)
{
	int64_t value = 0;

	FG_TRY(fg_parse_int64(text, &value, err));
	FG_TRY(check_bounds(option, (double)value, err));
	*(int64_t *)target = value;
	return FG_OK;
}

static int set_double(const struct fg_option *option, const char *text, void *target,
		      struct fg_error *err)
{
	double value = 0.0;

	FG_TRY(option->kind == FG_OPTION_RATIO ? fg_parse_ratio(text, &value, err)
					       : fg_parse_double(text, &value, err));
	FG_TRY(check_bounds(option, value, err));
	*(double *)target = value;
	return FG_OK;
}

static int set_duration(const struct fg_option *option, const char *text, void *target,
			struct fg_error *err)
{
	int64_t value_ns = 0;
	const int status = fg_parse_duration_ns(text, &value_ns, err);

	(void)option;
	if (status != FG_OK)
		return status;
	*(int64_t *)target = value_ns;
	return status;
}

static int set_size(const struct fg_option *option, const char *text, void *target,
		    struct fg_error *err)
{
	(void)option;
	return fg_parse_size_bytes(text, target, err);
}

static void add_choices(const struct fg_option *option, struct fg_strbuf *text)
{
	for (size_t i = 0; option->choices[i]; i++)
		fg_strbuf_printf(text, "%s%s", i == 0 ? "" : ", ", option->choices[i]);
}

static int set_choice(const struct fg_option *option, const char *text, void *target,
		      struct fg_error *err)
{
	struct fg_strbuf known = {0};
	const char *nearest = NULL;
	int status = FG_OK;

	for (int i = 0; option->choices[i]; i++) {
		if (strcmp(option->choices[i], text) == 0) {
			*(int *)target = i;
			return FG_OK;
		}
	}
	nearest = fg_text_nearest(text, option->choices);
	add_choices(option, &known);
	if (nearest)
		status = fg_error_set(err, FG_EINVAL,
				      "unknown value '%s'; did you mean '%s'? (one of: %s)", text,
				      nearest, fg_strbuf_text(&known));
	else
		status = fg_error_set(err, FG_EINVAL, "unknown value '%s'; expected one of: %s",
				      text, fg_strbuf_text(&known));
	fg_strbuf_release(&known);
	return status;
}

static int set_range(const struct fg_option *option, const char *text, void *target,
		     struct fg_error *err)
{
	const char *colon = strchr(text, ':');
	char *first = fg_xstrndup(text, colon ? (size_t)(colon - text) : strlen(text));
	struct fg_option_range range = {0};
	int status = FG_OK;

	FG_TRY_OUT(parse_unsigned(first, &range.min, err));
	FG_TRY_OUT(parse_unsigned(colon ? colon + 1 : first, &range.max, err));
	FG_TRY_OUT(check_bounds(option, range.min, err));
	FG_TRY_OUT(check_bounds(option, range.max, err));
	if (range.min > range.max)
		FG_TRY_OUT(fg_error_set(err, FG_EINVAL,
					"'%s' is not a range: the smaller number comes first",
					text));
	*(struct fg_option_range *)target = range;
out:
	free(first);
	return status;
}

typedef int (*set_fn)(const struct fg_option *option, const char *text, void *target,
		      struct fg_error *err);

/* A list has no setter here, because it needs the arena. */
static const set_fn setters[FG_OPTION_KIND_COUNT] = {
	[FG_OPTION_FLAG] = set_flag,         [FG_OPTION_TEXT] = set_text,
	[FG_OPTION_UNSIGNED] = set_unsigned, [FG_OPTION_INT64] = set_int64,
	[FG_OPTION_DOUBLE] = set_double,     [FG_OPTION_RATIO] = set_double,
	[FG_OPTION_DURATION] = set_duration, [FG_OPTION_SIZE] = set_size,
	[FG_OPTION_CHOICE] = set_choice,     [FG_OPTION_RANGE] = set_range,
};

/* Makes room for two more items, the string and the NULL that ends the list. */
static void add_to_list(struct fg_option_list *list, const char *text, struct fg_arena *arena)
{
	list->items = fg_arena_grow(arena, list->items, &list->capacity, list->count + 1,
				    sizeof(list->items[0]));
	list->items[list->count++] = text;
}

static int store(const struct found *found, const char *text, struct fg_arena *arena,
		 struct fg_error *err)
{
	int status = FG_OK;

	if (found->option->kind == FG_OPTION_LIST) {
		add_to_list(found->target, text, arena);
		return FG_OK;
	}
	status = setters[found->option->kind](found->option, text, found->target, err);
	if (status != FG_OK)
		fg_error_prefix(err, "option %s", found->spelling);
	return status;
}

int fg_options_initialise(const struct fg_option_set *set, struct fg_error *err)
{
	for (const struct fg_option *option = set->options; option && option->name; option++) {
		struct found found = {.option = option, .target = target_of(set, option)};

		if (!option->initial)
			continue;
		(void)snprintf(found.spelling, sizeof(found.spelling), "--%s", option->name);
		FG_ASSERT(option->kind != FG_OPTION_LIST);
		FG_TRY(store(&found, option->initial, NULL, err));
	}
	return FG_OK;
}

/* ---- finding rows ---- */

struct parser {
	const struct fg_option_grammar *grammar;
	char *const *next; /* the next word to read */
	struct fg_arena *arena;
	struct fg_error *err;
};

static int unknown_option(const struct parser *parser, const char *name)
{
	const char *names[MAX_NAMES + 1] = {NULL};
	const char *nearest = NULL;
	size_t count = 0;

	for (size_t s = 0; s < parser->grammar->set_count; s++) {
		for (const struct fg_option *o = parser->grammar->sets[s].options;
		     o && o->name && count < MAX_NAMES; o++)
			names[count++] = o->name;
	}
	nearest = fg_text_nearest(name, names);
	if (nearest)
		return fg_error_set(parser->err, FG_EINVAL,
				    "unknown option '--%s'; did you mean '--%s'?", name, nearest);
	return fg_error_set(parser->err, FG_EINVAL, "unknown option '--%s'", name);
}

static bool find_row(const struct parser *parser, const char *name, char letter,
		     struct found *found)
{
	for (size_t s = 0; s < parser->grammar->set_count; s++) {
		for (const struct fg_option *o = parser->grammar->sets[s].options; o && o->name;
		     o++) {
			if (name ? strcmp(o->name, name) != 0 : o->letter != letter)
				continue;
			found->option = o;
			found->target = target_of(&parser->grammar->sets[s], o);
			return true;
		}
	}
	return false;
}

/* Takes the value after `=`, the remainder of the word, the option's `alone`, or the next word. */
static int take_value(struct parser *parser, const struct found *found, const char *inside,
		      const char **value)
{
	if (inside) {
		*value = inside;
		return FG_OK;
	}
	if (found->option->alone && (!*parser->next || **parser->next == '-')) {
		*value = found->option->alone;
		return FG_OK;
	}
	if (!*parser->next)
		return fg_error_set(parser->err, FG_EINVAL, "option %s needs a value: %s %s",
				    found->spelling, found->spelling, found->option->argument);
	*value = *parser->next++;
	return FG_OK;
}

static int read_long(struct parser *parser, const char *word)
{
	const char *equals = strchr(word, '=');
	char *name = fg_arena_strndup(parser->arena, word + 2,
				      equals ? (size_t)(equals - word) - 2 : strlen(word) - 2);
	struct found found = {0};
	const char *value = NULL;

	if (!find_row(parser, name, 0, &found))
		return unknown_option(parser, name);
	(void)snprintf(found.spelling, sizeof(found.spelling), "--%s", name);
	if (found.option->kind == FG_OPTION_FLAG)
		return store(&found, equals ? equals + 1 : "true", parser->arena, parser->err);
	FG_TRY(take_value(parser, &found, equals ? equals + 1 : NULL, &value));
	return store(&found, value, parser->arena, parser->err);
}

static int read_short(struct parser *parser, const char *word)
{
	for (const char *letter = word + 1; *letter; letter++) {
		struct found found = {0};
		const char *value = "true";
		bool is_flag = false;
		int status = FG_OK;

		if (!find_row(parser, NULL, *letter, &found))
			return fg_error_set(parser->err, FG_EINVAL, "unknown option '-%c'",
					    *letter);
		(void)snprintf(found.spelling, sizeof(found.spelling), "-%c", *letter);
		is_flag = found.option->kind == FG_OPTION_FLAG;
		if (!is_flag)
			status = take_value(parser, &found, letter[1] ? letter + 1 : NULL, &value);
		if (status == FG_OK)
			status = store(&found, value, parser->arena, parser->err);
		if (status != FG_OK || !is_flag)
			return status;
	}
	return FG_OK;
}

/*
 * Reads one word: an option with its value, the end of options, or an argument. Sets *done if the
 * argument ends the options.
 */
static int read_word(struct parser *parser, struct fg_option_words *found, bool *done)
{
	char *word = *parser->next++;

	if (found->ended || word[0] != '-' || word[1] == '\0') {
		found->items[found->count++] = word;
		*done = parser->grammar->style == FG_OPTIONS_BEFORE_WORD;
		return FG_OK;
	}
	if (strcmp(word, "--") == 0) {
		found->ended = true;
		return FG_OK;
	}
	return word[1] == '-' ? read_long(parser, word) : read_short(parser, word);
}

int fg_options_parse(const struct fg_option_grammar *grammar, char *const *argv,
		     struct fg_arena *arena, struct fg_option_words *words, struct fg_error *err)
{
	struct parser parser = {.grammar = grammar, .next = argv, .arena = arena, .err = err};
	struct fg_option_words found = {0};
	size_t argc = 0;
	bool done = false;

	while (argv[argc])
		argc++;
	found.items = fg_arena_array(arena, argc + 1, sizeof(found.items[0]));
	while (*parser.next && !done) {
		FG_TRY(read_word(&parser, &found, &done));
	}
	while (*parser.next)
		found.items[found.count++] = *parser.next++;
	*words = found;
	return FG_OK;
}
