// SPDX-License-Identifier: Apache-2.0
#include "model/build_difference.h"

#include "base/strbuf.h"
#include "base/text.h"

#include <string.h>

enum {
	NAMES_MAX = 6, /* per list */
};

static const char library_key[] = "build.library.";

char *fg_build_library_key(const char *name)
{
	return fg_xasprintf("%s%s", library_key, name);
}

const char *fg_build_library_name(const char *key)
{
	return fg_text_starts_with(key, library_key) ? key + strlen(library_key) : NULL;
}

const char *fg_build_library(const struct fg_environment *build, const char *name)
{
	char *key = fg_build_library_key(name);
	const char *found = fg_environment_get(build, key);

	free(key);
	return found;
}

struct comparison {
	const struct fg_environment *sides[2]; /* baseline, candidate */
	struct fg_strbuf text;
	bool is_grave;
};

static const char *const side_names[2] = {"baseline", "candidate"};

static void add(struct comparison *c, bool is_grave, const struct fg_strbuf *text)
{
	if (c->text.length)
		fg_strbuf_add_text(&c->text, "; ");
	fg_strbuf_add_text(&c->text, fg_strbuf_text(text));
	c->is_grave |= is_grave;
}

/* ---- words: flags, names ---- */

/* The next word of a list separated by blanks; false at its end. */
static bool next_word(const char **at, size_t *length)
{
	*at += *length;
	*at += strspn(*at, " ");
	*length = strcspn(*at, " ");
	return *length > 0;
}

static bool has_word(const char *list, const char *word, size_t length)
{
	const char *at = list;
	size_t found = 0;

	while (list && next_word(&at, &found)) {
		if (found == length && strncmp(at, word, length) == 0)
			return true;
	}
	return false;
}

/* Source locations and the amount of debug information do not change code. */
static bool is_idle_flag(const char *word, size_t length)
{
	return memchr(word, '/', length) || strncmp(word, "-g", 2) == 0 ||
	       strncmp(word, "-O", 2) == 0;
}

/* "-fno-inline only in the baseline": the words of one list that the other lacks. */
static void add_only(struct fg_strbuf *text, const char *list, const char *other,
		     const char *side_name, bool are_flags)
{
	const char *at = list;
	size_t length = 0;
	size_t count = 0;

	while (list && next_word(&at, &length)) {
		if ((are_flags && is_idle_flag(at, length)) || has_word(other, at, length))
			continue;
		count++;
		if (count > NAMES_MAX)
			continue;
		fg_strbuf_printf(text, "%s%.*s",
				 count > 1      ? " "
				 : text->length ? ", "
						: "",
				 (int)length, at);
	}
	if (count > NAMES_MAX)
		fg_strbuf_printf(text, " and %zu more", count - NAMES_MAX);
	if (count)
		fg_strbuf_printf(text, " only in the %s", side_name);
}

static void compare_lists(struct comparison *c, const char *what, const char *const lists[2],
			  bool are_flags)
{
	struct fg_strbuf only = {0};
	struct fg_strbuf text = {0};

	for (size_t i = 0; i < 2; i++)
		add_only(&only, lists[i], lists[1 - i], side_names[i], are_flags);
	if (only.length) {
		fg_strbuf_printf(&text, "%s: %s", what, fg_strbuf_text(&only));
		add(c, false, &text);
	}
	fg_strbuf_release(&text);
	fg_strbuf_release(&only);
}

/* ---- facts ---- */

static const char *fact(const struct comparison *c, size_t side, const char *key)
{
	return fg_environment_get(c->sides[side], key);
}

/* A fact that one side lacks proves nothing: without debug information there is no producer. */
static bool compare_fact(struct comparison *c, const char *key, const char *what)
{
	const char *values[2] = {fact(c, 0, key), fact(c, 1, key)};
	struct fg_strbuf text = {0};

	if (!values[0] || !values[1] || strcmp(values[0], values[1]) == 0)
		return false;
	fg_strbuf_printf(&text, "%s %s in the baseline, %s in the candidate", what, values[0],
			 values[1]);
	add(c, true, &text);
	fg_strbuf_release(&text);
	return true;
}

/* Compares the compilers named in the debug information or, failing that, in .comment. */
static void compare_compilers(struct comparison *c)
{
	if (!compare_fact(c, "build.compiler", "compiler"))
		(void)compare_fact(c, "build.comment", "compiler");
}

static void compare_flags(struct comparison *c)
{
	const char *flags[2] = {fact(c, 0, "build.flags"), fact(c, 1, "build.flags")};

	if (flags[0] && flags[1])
		compare_lists(c, "flags", flags, true);
}

/* ---- libraries ---- */

static bool has_libraries(const struct fg_environment *side)
{
	for (size_t i = 0; i < side->count; i++) {
		if (fg_build_library_name(side->facts[i].key))
			return true;
	}
	return false;
}

static void list_libraries(const struct fg_environment *side, struct fg_strbuf *list)
{
	for (size_t i = 0; i < side->count; i++) {
		const char *name = fg_build_library_name(side->facts[i].key);

		if (name)
			fg_strbuf_printf(list, "%s ", name);
	}
}

/*
 * Libraries that the loader maps before main(). A static program has none, which is reported
 * already.
 */
static void compare_libraries(struct comparison *c)
{
	struct fg_strbuf lists[2] = {{0}, {0}};

	if (!has_libraries(c->sides[0]) || !has_libraries(c->sides[1]))
		return;
	for (size_t i = 0; i < 2; i++)
		list_libraries(c->sides[i], &lists[i]);
	compare_lists(c, "libraries",
		      (const char *const[2]){fg_strbuf_text(&lists[0]), fg_strbuf_text(&lists[1])},
		      false);
	for (size_t i = 0; i < 2; i++)
		fg_strbuf_release(&lists[i]);
}

static void compare_modules(struct comparison *c)
{
	const char *modules[2] = {fact(c, 0, FG_FACT_MODULES), fact(c, 1, FG_FACT_MODULES)};

	if (modules[0] && modules[1])
		compare_lists(c, "loaded while it ran", modules, false);
}

/* One side's own library against a library of the same name from elsewhere. */
static void compare_origins(struct comparison *c)
{
	for (size_t i = 0; i < 2; i++) {
		const char *at = fact(c, i, FG_FACT_OWN_LIBRARIES);
		size_t length = 0;

		while (at && next_word(&at, &length)) {
			char *key = fg_xasprintf("%s%.*s", library_key, (int)length, at);
			struct fg_strbuf text = {0};

			if (fact(c, 1 - i, key) &&
			    !has_word(fact(c, 1 - i, FG_FACT_OWN_LIBRARIES), at, length)) {
				fg_strbuf_printf(&text,
						 "%.*s is the project's own in the %s and comes "
						 "from elsewhere in the %s",
						 (int)length, at, side_names[i], side_names[1 - i]);
				add(c, true, &text);
			}
			fg_strbuf_release(&text);
			free(key);
		}
	}
}

struct fg_build_difference fg_build_difference_of(const struct fg_environment *baseline,
						  const struct fg_environment *candidate)
{
	struct comparison c = {.sides = {baseline, candidate}};

	compare_compilers(&c);
	(void)compare_fact(&c, "build.optimisation", "optimisation");
	(void)compare_fact(&c, "build.linking", "linking");
	compare_origins(&c);
	compare_libraries(&c);
	compare_modules(&c);
	compare_flags(&c);
	return (struct fg_build_difference){
		.text = c.text.length ? fg_strbuf_detach(&c.text) : NULL, .is_grave = c.is_grave};
}
