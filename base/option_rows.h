/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rows of the commands' option tables, one option each: the member of the options struct, the long
 * name, the letter (or 0), and the help text. Rarer kinds of options are written out as a struct
 * fg_option.
 */
#ifndef FG_BASE_OPTION_ROWS_H
#define FG_BASE_OPTION_ROWS_H

#include "base/options.h"

/* NOLINTBEGIN(bugprone-macro-parentheses): a member's name cannot be put into parentheses. */
#define FG_ROW_FLAG(type, member, word, short_form, text)         \
 {                                                                \
  .name = (word), .letter = (short_form), .kind = FG_OPTION_FLAG, \
  .offset = offsetof(type, member), .help = (text)                \
 }
#define FG_ROW_TEXT(type, member, word, short_form, value, text)        \
 {                                                                      \
  .name = (word), .letter = (short_form), .kind = FG_OPTION_TEXT,       \
  .offset = offsetof(type, member), .argument = (value), .help = (text) \
 }
/* Like FG_ROW_TEXT, with shell completion; `completion` is an enum fg_complete. */
#define FG_ROW_NAME(type, member, word, short_form, value, completion, text)                      \
 {                                                                                                \
  .name = (word), .letter = (short_form), .kind = FG_OPTION_TEXT,                                 \
  .offset = offsetof(type, member), .argument = (value), .complete = (completion), .help = (text) \
 }
#define FG_ROW_FILE(type, member, word, short_form, text)                             \
 {                                                                                    \
  .name = (word), .letter = (short_form), .kind = FG_OPTION_TEXT,                     \
  .offset = offsetof(type, member), .argument = "FILE", .complete = FG_COMPLETE_FILE, \
  .help = (text)                                                                      \
 }
/* The option may be given several times. */
#define FG_ROW_LIST(type, member, word, short_form, value, text)        \
 {                                                                      \
  .name = (word), .letter = (short_form), .kind = FG_OPTION_LIST,       \
  .offset = offsetof(type, member), .argument = (value), .help = (text) \
 }
/* A number from 1 to `most`; `first` is the default, NULL: none. */
#define FG_ROW_COUNT(type, member, word, short_form, most, first, text)               \
 {                                                                                    \
  .name = (word), .letter = (short_form), .kind = FG_OPTION_UNSIGNED,                 \
  .offset = offsetof(type, member), .argument = "N", .minimum = 1, .maximum = (most), \
  .initial = (first), .help = (text)                                                  \
 }
/* A number from 0, which may mean "none", to `most`. */
#define FG_ROW_NUMBER(type, member, word, most, first, text)                                     \
 {                                                                                               \
  .name = (word), .kind = FG_OPTION_UNSIGNED, .offset = offsetof(type, member), .argument = "N", \
  .maximum = (most), .initial = (first), .help = (text)                                          \
 }
#define FG_ROW_SHARE(type, member, word, first, text)                                             \
 {                                                                                                \
  .name = (word), .kind = FG_OPTION_RATIO, .offset = offsetof(type, member), .argument = "SHARE", \
  .initial = (first), .minimum = 0, .maximum = 1, .help = (text)                                  \
 }
/* A time such as "90d"; `first` is the default. */
#define FG_ROW_DURATION(type, member, word, first, text)                        \
 {                                                                              \
  .name = (word), .kind = FG_OPTION_DURATION, .offset = offsetof(type, member), \
  .argument = "TIME", .initial = (first), .help = (text)                        \
 }
/* The time that a command may take. */
#define FG_ROW_BUDGET(type, member, first, text)                                                 \
 {                                                                                               \
  .name = "budget", .letter = 'b', .kind = FG_OPTION_DURATION, .offset = offsetof(type, member), \
  .argument = "T", .initial = (first), .minimum = 1e9, .maximum = 8.64e14, .help = (text)        \
 }
/* A string with a default. */
#define FG_ROW_WORD(type, member, word, short_form, value, first, text)                     \
 {                                                                                          \
  .name = (word), .letter = (short_form), .kind = FG_OPTION_TEXT,                           \
  .offset = offsetof(type, member), .argument = (value), .initial = (first), .help = (text) \
 }
/* One of `words`; `first` is the default. */
#define FG_ROW_CHOICE(type, member, word, short_form, value, words, first, text)                 \
 {                                                                                               \
  .name = (word), .letter = (short_form), .kind = FG_OPTION_CHOICE,                              \
  .offset = offsetof(type, member), .argument = (value), .choices = (words), .initial = (first), \
  .help = (text)                                                                                 \
 }
/* NOLINTEND(bugprone-macro-parentheses) */

#endif
