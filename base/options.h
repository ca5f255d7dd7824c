/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Options of a program, as rows of a table.  One row holds an option's spelling, the place of its
 * value, its bounds and its help; parsing, --help, man pages and completions all use it.
 *
 *	struct options {
 *		unsigned rate_hz;
 *	};
 *	static const struct fg_option options[] = {
 *		{.name = "rate",
 *		 .letter = 'r',
 *		 .kind = FG_OPTION_UNSIGNED,
 *		 .offset = offsetof(struct options, rate_hz),
 *		 .argument = "HZ",
 *		 .initial = "1000",
 *		 .minimum = 1,
 *		 .maximum = 20000,
 *		 .help = "samples per CPU second"},
 *		{0},
 *	};
 *
 * Accepted: --name VALUE, --name=VALUE, -n VALUE, -nVALUE, several flags in one word (-qv), and --
 * as the end of the options. Values stay borrowed from argv; lists live in the arena. After a
 * failure the values are incomplete: the caller prints the message and stops.
 */
#ifndef FG_BASE_OPTIONS_H
#define FG_BASE_OPTIONS_H

#include "base/arena.h"
#include "base/error.h"
#include "base/strbuf.h"

/* The type of an option's value. */
enum fg_option_kind {
	FG_OPTION_FLAG,     /* bool */
	FG_OPTION_TEXT,     /* const char * */
	FG_OPTION_LIST,     /* struct fg_option_list: may be given several times */
	FG_OPTION_UNSIGNED, /* unsigned */
	FG_OPTION_INT64,    /* int64_t */
	FG_OPTION_DOUBLE,   /* double */
	FG_OPTION_RATIO,    /* double: "2%" or "0.02" */
	FG_OPTION_DURATION, /* int64_t, nanoseconds: "5m" */
	FG_OPTION_SIZE,     /* uint64_t, bytes: "64K" */
	FG_OPTION_CHOICE,   /* int: index into `choices` */
	FG_OPTION_RANGE,    /* struct fg_option_range: "10:80", or "20" for both ends */
	FG_OPTION_KIND_COUNT,
};

/* Candidates that a shell completes. */
enum fg_complete {
	FG_COMPLETE_NOTHING,
	FG_COMPLETE_FILE,
	FG_COMPLETE_FOLDER,
	FG_COMPLETE_PROGRAM,
	FG_COMPLETE_BENCHMARK, /* names in fastgate.yml */
	FG_COMPLETE_KEY,       /* keys of fastgate.yml */
	FG_COMPLETE_COMMAND,   /* names of our commands */
	FG_COMPLETE_GIT_REF,
};

struct fg_option_list {
	const char **items; /* NULL-terminated; NULL: none */
	size_t count;
	size_t capacity;
};

struct fg_option_range {
	unsigned min;
	unsigned max;
};

struct fg_option {
	const char *name; /* the long form without its dashes; NULL ends a table */
	char letter;      /* the short form, or 0 */
	enum fg_option_kind kind;
	size_t offset; /* offset of the value in the struct */
	/* value if no word follows, or a word that begins with '-'; NULL: a value is required */
	const char *alone;
	const char *argument; /* placeholder for the value in the help: "FILE" */
	const char *help;     /* one phrase without a full stop */
	const char *heading;  /* heading above this option in the help; NULL: same group */
	const char *initial;  /* default, as a user would write it; NULL: zero, for "not given" */
	const char *const *choices; /* for FG_OPTION_CHOICE; NULL-terminated */
	double minimum;             /* bounds of a number; both 0: unbounded */
	double maximum;
	enum fg_complete complete;
};

/* A table of options and the struct that it fills. */
struct fg_option_set {
	const struct fg_option *options;
	void *values;
};

struct fg_option_words {
	char **items; /* positional arguments, in order; NULL-terminated; in the arena */
	size_t count;
	bool ended; /* "--" ended the options */
};

enum fg_option_style {
	FG_OPTIONS_ANYWHERE,    /* options and words may be mixed */
	FG_OPTIONS_BEFORE_WORD, /* the first word ends the options: for "record CMD -x" */
};

/* Writes every `initial` into the values. */
int fg_options_initialise(const struct fg_option_set *set, struct fg_error *err) FG_NODISCARD;
/* Accepted options. Rows of an earlier table hide rows of the same name in a later table. */
struct fg_option_grammar {
	const struct fg_option_set *sets;
	size_t set_count;
	enum fg_option_style style;
};

/* Parses `argv`, which does not include the program's name. */
int fg_options_parse(const struct fg_option_grammar *grammar, char *const *argv,
		     struct fg_arena *arena, struct fg_option_words *words, struct fg_error *err)
	FG_NODISCARD;

/* Appends the help text of an option with its choices and default. */
void fg_option_describe(const struct fg_option *option, struct fg_strbuf *text);
/* Appends the rows as two columns, wrapped. */
void fg_options_help(const struct fg_option *options, unsigned columns, struct fg_strbuf *text);
/*
 * Appends a name and its text in two columns. `left` is the width of the left column: 2 blanks, the
 * name, 2 blanks; a longer name gets a separate line.
 */
void fg_text_two_columns(struct fg_strbuf *text, const char *name, const char *what, unsigned left,
			 unsigned columns);
/* Wraps words at `columns`, each line but the first indented; a line feed in the text is kept. */
void fg_text_wrap(struct fg_strbuf *text, const char *words, unsigned indent, unsigned columns);

#endif
