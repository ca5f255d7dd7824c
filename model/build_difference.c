// SPDX-License-Identifier: Apache-2.0
#include "model/build_difference.h"

#include "base/strbuf.h"
#include "base/text.h"

#include <string.h>

enum {
	NAMES_MAX = 6, /* names per list */
};

struct comparison {
	const struct fg_build_facts *sides[2]; /* baseline, candidate */
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

/* Finds the next word of a list separated by blanks; false at its end. */
static bool next_word(const char **at, size_t *length)
{
	*at += *length;
	*at += strspn(*at, " ");
	*length = strcspn(*at, " ");
	return *length > 0;
}

/*
 * Source locations and the amount of debug information do not change code. The level (-O) does, but
 * it is compared separately.
 */
static bool is_idle_flag(const char *word, size_t length)
{
	return memchr(word, '/', length) || strncmp(word, "-g", 2) == 0 ||
	       strncmp(word, "-O", 2) == 0;
}

/* Adds the words of one list that the other lacks: "-fno-inline only in the baseline". */
static void add_only(struct fg_strbuf *text, const char *list, const char *other,
		     const char *side_name, bool are_flags)
{
	const char *at = list;
	size_t length = 0;
	size_t count = 0;

	while (list && next_word(&at, &length)) {
		if ((are_flags && is_idle_flag(at, length)) ||
		    fg_text_has_word(other, " ", at, length))
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

/* A fact that one side lacks proves nothing: without debug information there is no producer. */
static bool compare_fact(struct comparison *c, const char *what, const char *baseline,
			 const char *candidate)
{
	struct fg_strbuf text = {0};

	if (!baseline || !candidate || strcmp(baseline, candidate) == 0)
		return false;
	fg_strbuf_printf(&text, "%s %s in the baseline, %s in the candidate", what, baseline,
			 candidate);
	add(c, true, &text);
	fg_strbuf_release(&text);
	return true;
}

/* Compares the compilers named in the debug information or, failing that, in .comment. */
static void compare_compilers(struct comparison *c)
{
	const struct fg_build_facts *const *sides = c->sides;

	if (!compare_fact(c, "compiler", sides[0]->compiler, sides[1]->compiler))
		(void)compare_fact(c, "compiler", sides[0]->comment, sides[1]->comment);
}

/* ---- libraries ---- */

/*
 * Compares the libraries that the loader maps before main(). A static program has no such
 * libraries, and static linking is already reported.
 */
static void compare_libraries(struct comparison *c)
{
	struct fg_library_pair pair = {.builds = {c->sides[0], c->sides[1]}};
	struct fg_strbuf lists[2] = {{0}, {0}};

	if (!c->sides[0]->library_count || !c->sides[1]->library_count)
		return;
	while (fg_library_pair_next(&pair)) {
		for (size_t i = 0; i < 2; i++) {
			if (pair.sides[i])
				fg_strbuf_printf(&lists[i], "%s ", pair.sides[i]->name);
		}
	}
	compare_lists(c, "libraries",
		      (const char *const[]){fg_strbuf_text(&lists[0]), fg_strbuf_text(&lists[1])},
		      false);
	for (size_t i = 0; i < 2; i++)
		fg_strbuf_release(&lists[i]);
}

/* Reports a library that is the project's own on one side and comes from elsewhere on the other. */
static void compare_origins(struct comparison *c)
{
	struct fg_library_pair pair = {.builds = {c->sides[0], c->sides[1]}};

	while (fg_library_pair_next(&pair)) {
		struct fg_strbuf text = {0};
		size_t own = 0;

		if (!pair.sides[0] || !pair.sides[1] ||
		    pair.sides[0]->is_own == pair.sides[1]->is_own)
			continue;
		own = pair.sides[1]->is_own;
		fg_strbuf_printf(&text,
				 "%s is the project's own in the %s and comes from elsewhere in "
				 "the %s",
				 pair.sides[0]->name, side_names[own], side_names[1 - own]);
		add(c, true, &text);
		fg_strbuf_release(&text);
	}
}

struct fg_build_difference fg_build_difference_of(const struct fg_build_facts *baseline,
						  const struct fg_build_facts *candidate)
{
	struct comparison c = {.sides = {baseline, candidate}};
	const char *const modules[2] = {baseline->modules, candidate->modules};
	const char *const flags[2] = {baseline->flags, candidate->flags};

	compare_compilers(&c);
	(void)compare_fact(&c, "optimisation", baseline->optimisation, candidate->optimisation);
	(void)compare_fact(&c, "linking", baseline->linking, candidate->linking);
	compare_origins(&c);
	compare_libraries(&c);
	if (modules[0] && modules[1])
		compare_lists(&c, "loaded at run time", modules, false);
	if (flags[0] && flags[1])
		compare_lists(&c, "flags", flags, true);
	return (struct fg_build_difference){
		.text = c.text.length ? fg_strbuf_detach(&c.text) : NULL, .is_grave = c.is_grave};
}
