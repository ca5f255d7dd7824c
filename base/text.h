/* SPDX-License-Identifier: Apache-2.0 */
/* Splitting commands into words, cleaning UTF-8, and finding the nearest name. */
#ifndef FG_BASE_TEXT_H
#define FG_BASE_TEXT_H

#include "base/arena.h"
#include "base/error.h"
#include "base/strbuf.h"

/*
 * Splits a command as a shell splits words: blanks, '…', "…" (with \" \\ \$ \`), backslash. Nothing
 * is expanded. argv ends with NULL and lives in the arena.
 */
int fg_text_split_words(const char *command, struct fg_arena *arena, char ***argv, size_t *argc,
			struct fg_error *err) FG_NODISCARD;
/* Returns the first word that only a shell understands, such as "|" or ">", or NULL. */
const char *fg_text_shell_word(char *const *argv);
/* Joins the words so that a shell reads them back unchanged. */
void fg_text_quote_words(struct fg_strbuf *text, char *const *argv);

/* Joins words with `between`. `words` ends with NULL. The caller frees the result. */
char *fg_text_join(const char *const *words, const char *between);

bool fg_text_is_utf8(const char *bytes, size_t length);
/* Is this suitable as a name: UTF-8 without anything that fg_text_add_clean() would replace? */
bool fg_text_is_clean(const char *bytes, size_t length);
/*
 * Appends `length` bytes as valid UTF-8, at most `limit` bytes of it: broken sequences, control
 * characters, and marks that change the direction of text become U+FFFD.
 */
void fg_text_add_clean(struct fg_strbuf *text, const char *bytes, size_t length, size_t limit);
/*
 * Appends the bytes as one line of valid UTF-8. Control characters, broken sequences, and marks
 * that change the direction of text are escaped (\n, \t, \x1b), so that readers can see the bytes.
 */
void fg_text_add_escaped(struct fg_strbuf *text, const char *bytes, size_t length);
/*
 * Appends lines for a log. GitHub's runner treats a line as a command if it begins with "::" (after
 * blanks) or contains "##["; an inserted blank prevents both.
 */
void fg_text_add_for_log(struct fg_strbuf *text, const char *lines, size_t length);
/* Returns the columns of the text on a terminal (wide and combining characters considered). */
size_t fg_text_width(const char *text);
/* Returns the number of bytes at the start that fit into `columns` columns. */
size_t fg_text_head(const char *text, size_t columns);
/*
 * Cuts the middle out of a name wider than `columns`: "reco::Fitter<…>::fit(Track&)"; 0: no limit.
 */
void fg_text_add_cut(struct fg_strbuf *text, const char *name, size_t columns);
/*
 * Appends text for HTML or Markdown: each of the `special` characters becomes a reference, "&#60;".
 */
void fg_text_add_references(struct fg_strbuf *text, const char *plain, size_t length,
			    const char *special);

/*
 * Returns the name nearest to `word` for "did you mean", at most three typing errors away (fewer
 * for a short word), or NULL. `names` ends with NULL.
 */
const char *fg_text_nearest(const char *word, const char *const *names);
bool fg_text_starts_with(const char *text, const char *start);
bool fg_text_ends_with(const char *text, const char *end);
bool fg_text_starts_with_any(const char *text, const char *const *starts, size_t count);
bool fg_text_ends_with_any(const char *text, const char *const *ends, size_t count);
#define FG_TEXT_STARTS_WITH_ANY(text, starts) \
 fg_text_starts_with_any(text, starts, FG_ARRAY_SIZE(starts))
#define FG_TEXT_ENDS_WITH_ANY(text, ends) fg_text_ends_with_any(text, ends, FG_ARRAY_SIZE(ends))

/* Cuts the next line that is not empty from `*rest` (which may be NULL); NULL: no more. */
char *fg_text_next_line(char **rest);

/* Does the list, which may be NULL, have this word? `between` lists all separating characters. */
bool fg_text_has_word(const char *list, const char *between, const char *word, size_t length);
/* Returns the index of the word, or `count` if it is not in the list. */
size_t fg_text_find(const char *word, const char *const *words, size_t count);
#define FG_TEXT_IS_AMONG(word, words) \
 (fg_text_find(word, words, FG_ARRAY_SIZE(words)) < FG_ARRAY_SIZE(words))

/* Defines the functions that turn an enum into a word and back; `words` has the enum's order. */
/* NOLINTBEGIN(bugprone-macro-parentheses): a type cannot be put into parentheses. */
#define FG_WORDS(words, type, name_of, parse)                           \
 const char *name_of(type value)                                        \
 {                                                                      \
  FG_ASSERT((size_t)value < FG_ARRAY_SIZE(words));                      \
  return (words)[value];                                                \
 }                                                                      \
 bool parse(const char *word, type *value)                              \
 {                                                                      \
  const size_t found = fg_text_find(word, words, FG_ARRAY_SIZE(words)); \
                                                                        \
  if (found == FG_ARRAY_SIZE(words))                                    \
   return false;                                                        \
  *value = (type)found;                                                 \
  return true;                                                          \
 }
/* NOLINTEND(bugprone-macro-parentheses) */

#endif
