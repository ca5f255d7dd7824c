/* SPDX-License-Identifier: Apache-2.0 */
/* The model of fastgate.yml: sections, and one row for each key. */
#ifndef FG_CONFIG_SCHEMA_H
#define FG_CONFIG_SCHEMA_H

#include "config/yaml_tree.h"

enum fg_key_kind {
	/* scalars: values.c has one row for each */
	FG_KEY_BOOL, /* bool; with `words` the second word is true */
	FG_KEY_TEXT, /* const char *; with `words`, one of the words, as for NAME */
	FG_KEY_PATH,
	FG_KEY_NAME, /* printable, without line feeds */
	FG_KEY_URL,
	FG_KEY_VARIABLE_NAME, /* names an environment variable that holds a secret */
	FG_KEY_REGEX,         /* regular expression with at least one group */
	FG_KEY_POINTER,       /* JSON pointer */
	FG_KEY_UNSIGNED,      /* unsigned */
	FG_KEY_INT,           /* int */
	FG_KEY_NUMBER,        /* double */
	FG_KEY_RATIO,         /* double, "2%" */
	FG_KEY_DURATION,      /* int64_t, nanoseconds */
	FG_KEY_DATE,          /* int64_t, wall clock */
	FG_KEY_WORD,          /* an enum: the index of the word */
	FG_KEY_VERSION,       /* checked, not kept */
	/* structured values, which bind.c reads */
	FG_KEY_COMMAND,   /* struct fg_command */
	FG_KEY_TEXTS,     /* const char **, with a count */
	FG_KEY_VARIABLES, /* struct fg_variable *, with a count: a mapping with arbitrary names */
	/* struct fg_recorded_fact *, with a count: arbitrary names and a literal or command each */
	FG_KEY_FACTS,
	FG_KEY_SECTION, /* a mapping with its own keys */
	FG_KEY_LIST,    /* a list of mappings, each with the keys of a section; with a count */
	FG_KEY_MAP,     /* arbitrary names, each with the keys of a section; with a count */
	FG_KEY_KIND_COUNT,
};

#define FG_KEY_SCALAR_COUNT FG_KEY_COMMAND

struct fg_binder;

struct fg_key {
	const char *name; /* NULL ends a table */
	enum fg_key_kind kind;
	bool required;
	size_t offset;       /* offset of the value in the section's struct */
	size_t count_offset; /* offset of the number of elements */
	const char *initial; /* the default as written in the file; NULL: none */
	double minimum;      /* bounds of a number; both 0: no bounds */
	double maximum;
	const char *unit;
	const char *const *words;
	const char *word_of_zero; /* for UNSIGNED: the word that sets 0; the number 0 is refused */
	const struct fg_section *section; /* for SECTION, LIST, MAP */
	const char *any;                  /* placeholder for any name in paths: "METRIC" */
	const char *help;                 /* one line, without a full stop */
	const char *more;                 /* paragraphs; may be NULL */
	const char *example;              /* one or more lines of YAML; may be NULL */
};

/* The members that every row sets; `offset_` is 0 for a key without its own value. */
#define FG_KEY(name_, kind_, offset_, help_) \
 .name = (name_), .kind = FG_KEY_##kind_, .offset = (offset_), .help = (help_)
#define FG_BOUNDS(from, to) .minimum = (from), .maximum = (to)

/*
 * The keys of a mapping and the struct that they fill. `prepare` sets inherited values before any
 * key is read; `finish` checks the section. If scratch_size is set, the keys fill a scratch struct,
 * from which `finish` builds the value at `target`.
 */
struct fg_section {
	const struct fg_key *keys;
	size_t size;         /* size of an element at `target`, for lists and maps */
	size_t scratch_size; /* 0: keys fill the target directly */
	/* absent keys keep the existing value (fg_plan_init's, or the plan's for a benchmark) */
	bool inherits;
	void (*prepare)(struct fg_binder *binder, void *values, const char *name);
	void (*finish)(struct fg_binder *binder, const struct fg_yaml_node *node, void *values,
		       void *target);
};

extern const struct fg_section fg_config_schema;  /* the whole file; fills a struct fg_plan */
extern const struct fg_section fg_config_measure; /* `measure`, at the top or in a benchmark */

/* Lists the names of a section's keys in the arena, NULL-terminated. */
const char **fg_section_names(const struct fg_section *section, struct fg_arena *arena);
const struct fg_key *fg_section_find(const struct fg_section *section, const char *name);
/*
 * Finds the key of a path, which may have real names, placeholders or neither:
 * "benchmarks.reco.timeout" and "benchmarks.timeout" mean the same key. `where` gets the key's path
 * with placeholders. Returns NULL if no key has this path.
 */
const struct fg_key *fg_schema_find(const struct fg_section *section, const char *path,
				    struct fg_strbuf *where);

/* ---- schema_paths.c ---- */

/* Returns the top-level key with this section; NULL: only nested keys have the section. */
const struct fg_key *fg_schema_top(const struct fg_section *section);

struct fg_schema_visit {
	const char *path; /* with placeholders in capitals for user-defined names */
	const struct fg_key *key;
	unsigned depth;
};

/*
 * Visits every key in table order, a section before its keys. Keys that recur below a benchmark are
 * visited once.
 */
void fg_schema_walk(void (*visitor)(const struct fg_schema_visit *visit, void *ctx), void *ctx);
/*
 * Writes the environment variable of a path, "FASTGATE_GATE_ALPHA". Returns false for a path inside
 * a list, which has no variable.
 */
bool fg_schema_variable(const char *path, struct fg_strbuf *name);

#endif
