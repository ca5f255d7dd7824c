/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inside config/: the tree of a YAML text, the rows of the schema, and what carries values from one
 * to the other.
 */
#ifndef FG_CONFIG_INTERNAL_H
#define FG_CONFIG_INTERNAL_H

#include "config/config.h"

/* ---- yaml_tree.c: a YAML text as a tree with positions ---- */

enum fg_yaml_kind {
	FG_YAML_SCALAR,
	FG_YAML_LIST,
	FG_YAML_MAPPING,
	FG_YAML_KIND_COUNT,
};

/* Where a value stands: a place in the file, or the words of an override. */
struct fg_yaml_place {
	const char *origin; /* the file's name, or "--set gate.alpha=1" */
	unsigned line;      /* 0: an override */
	unsigned column;
};

struct fg_yaml_node {
	enum fg_yaml_kind kind;
	struct fg_yaml_place place;
	const char *text; /* of a scalar */
	bool quoted;
	struct fg_yaml_node **keys;  /* of a mapping: scalars */
	struct fg_yaml_node **items; /* values of a mapping, elements of a list */
	size_t count;
	size_t capacity;
	size_t weight; /* nodes in it, itself and repetitions through aliases included */
};

struct fg_yaml_text {
	const char *origin;
	bool is_override; /* positions inside mean nothing to the user */
	const char *data;
	size_t size;
};

/*
 * Errors go into the report.  Returns false after a syntax error; *root is NULL for an empty text.
 */
bool fg_yaml_parse(const struct fg_yaml_text *text, struct fg_arena *arena,
		   struct fg_config_report *report, struct fg_yaml_node **root);
/* The value of a key, or NULL. */
struct fg_yaml_node *fg_yaml_get(const struct fg_yaml_node *mapping, const char *key);
/* Set a key, replacing the value that is there. */
void fg_yaml_set(struct fg_yaml_node *mapping, const char *key, struct fg_yaml_node *value,
		 struct fg_arena *arena);
struct fg_yaml_node *fg_yaml_new_mapping(struct fg_arena *arena, const struct fg_yaml_place *place);
bool fg_yaml_is_null(const struct fg_yaml_node *node); /* "key:" without a value */
const char *fg_yaml_kind_name(
	const struct fg_yaml_node *node); /* "a list", "a mapping", "nothing" or "'text'" */

/* ---- report.c ---- */

void fg_report_error(struct fg_config_report *report, const struct fg_yaml_place *place,
		     const char *format, ...) FG_PRINTF(3, 4);
void fg_report_warning(struct fg_config_report *report, const struct fg_yaml_place *place,
		       const char *format, ...) FG_PRINTF(3, 4);
void fg_report_sort(struct fg_config_report *report);

/* ---- schema.c: one row a key ---- */

enum fg_key_kind {
	/* scalars: values.c has a row for each */
	FG_KEY_BOOL, /* bool; with `words` the second word is true */
	FG_KEY_TEXT, /* const char *; with `words` (also of a name) one of them */
	FG_KEY_PATH,
	FG_KEY_NAME, /* printable, without line feeds */
	FG_KEY_URL,
	FG_KEY_VARIABLE_NAME, /* of an environment variable that holds a secret */
	FG_KEY_REGEX,         /* with a group */
	FG_KEY_POINTER,       /* JSON pointer */
	FG_KEY_UNSIGNED,      /* unsigned */
	FG_KEY_INT,           /* int */
	FG_KEY_NUMBER,        /* double */
	FG_KEY_RATIO,         /* double, "2%" */
	FG_KEY_DURATION,      /* int64_t, nanoseconds */
	FG_KEY_DATE,          /* int64_t, wall clock */
	FG_KEY_WORD,          /* an enum: the index of the word */
	FG_KEY_VERSION,       /* checked and not kept */
	/* what needs more than a word: bind.c */
	FG_KEY_COMMAND,   /* struct fg_command */
	FG_KEY_TEXTS,     /* const char **, with a count */
	FG_KEY_VARIABLES, /* struct fg_variable *, with a count: a mapping of any names */
	/* struct fg_recorded_fact *, with a count: likewise, values literal or by command */
	FG_KEY_FACTS,
	FG_KEY_SECTION, /* a mapping with keys of its own */
	FG_KEY_LIST,    /* a list of such mappings, with a count */
	FG_KEY_MAP,     /* a mapping of any names to such mappings, with a count */
	FG_KEY_KIND_COUNT,
};

#define FG_KEY_SCALAR_COUNT FG_KEY_COMMAND

struct fg_binder;
struct fg_section;

struct fg_key {
	const char *name; /* NULL ends a table */
	enum fg_key_kind kind;
	bool required;
	size_t offset;       /* of the value in the section's struct */
	size_t count_offset; /* of the number of elements */
	const char *initial; /* the default as one would write it; NULL: none */
	double minimum;      /* of a number; both 0: no bounds */
	double maximum;
	const char *unit;
	const char *const *words;
	const struct fg_section *section; /* of SECTION, LIST, MAP */
	const char *any;                  /* what a name stands for in paths: "METRIC" */
	const char *help;                 /* one line, without a full stop */
	const char *more;                 /* paragraphs; may be NULL */
	const char *example;              /* a line or lines of YAML; may be NULL */
};

/*
 * The keys of a mapping and the struct that they fill.  `prepare` sets what is inherited before any
 * key is read, and `finish` looks at the whole.  With a scratch struct (scratch_size) keys fill
 * that, and `finish` makes the real value at `target` from it.
 */
struct fg_section {
	const struct fg_key *keys;
	size_t size;         /* of an element at `target`, for lists and maps */
	size_t scratch_size; /* 0: keys fill the target itself */
	/* absent keys keep what is there (from fg_plan_init, or the plan's for a benchmark) */
	bool inherits;
	void (*prepare)(struct fg_binder *binder, void *values, const char *name);
	void (*finish)(struct fg_binder *binder, const struct fg_yaml_node *node, void *values,
		       void *target);
};

extern const struct fg_section fg_config_schema; /* the whole file; fills a struct fg_plan */

/* ---- hooks.c: what a row cannot say ---- */

void fg_prepare_benchmark(struct fg_binder *binder, void *values, const char *name);
void fg_finish_benchmark(struct fg_binder *binder, const struct fg_yaml_node *node, void *values,
			 void *target);
void fg_finish_build(struct fg_binder *binder, const struct fg_yaml_node *node, void *values,
		     void *target);
void fg_prepare_metric_policy(struct fg_binder *binder, void *values, const char *name);
void fg_finish_user_metric(struct fg_binder *binder, const struct fg_yaml_node *node, void *values,
			   void *target);
void fg_finish_measure(struct fg_binder *binder, const struct fg_yaml_node *node, void *values,
		       void *target);
void fg_prepare_accept(struct fg_binder *binder, void *values, const char *name);
void fg_finish_accept(struct fg_binder *binder, const struct fg_yaml_node *node, void *values,
		      void *target);
void fg_finish_baseline(struct fg_binder *binder, const struct fg_yaml_node *node, void *values,
			void *target);
void fg_finish_report(struct fg_binder *binder, const struct fg_yaml_node *node, void *values,
		      void *target);
void fg_finish_post(struct fg_binder *binder, const struct fg_yaml_node *node, void *values,
		    void *target);
void fg_finish_plan(struct fg_binder *binder, const struct fg_yaml_node *node, void *values,
		    void *target);

/* What the keys of sections with a scratch struct fill. */
struct fg_benchmark_scratch {
	struct fg_benchmark benchmark;
	bool shell;
};

struct fg_build_scratch {
	struct fg_build build;
	bool shell;
};

struct fg_baseline_scratch {
	const char *against;
	const char *branch;
	const char *tag;
	const char *run;
	const char *file;
	bool required;
};

enum {
	FG_REPORT_FORMATS = 9
};

struct fg_report_scratch {
	const char *paths[FG_REPORT_FORMATS];
	struct fg_post_target *posts;
	size_t post_count;
};

struct fg_post_scratch {
	const char *github;
	const char *gitlab;
	const char *webhook;
	const char *token_env;
	bool required;
};

/* ---- values.c: scalars ---- */

struct fg_value_kind {
	const char *name;     /* "ratio", for the reference */
	const char *expected; /* "a ratio such as 2% or 0.02" */
	int (*parse)(const struct fg_key *key, const char *text, void *target,
		     struct fg_arena *arena, struct fg_error *err);
	const char *json_type;    /* of a bare value; NULL: string only */
	const char *json_pattern; /* of a value written as text; NULL: none */
};

const struct fg_value_kind *fg_value_kind(enum fg_key_kind kind); /* of a scalar */
/* "a number from 1 to 1000" */
void fg_value_expected(const struct fg_key *key, struct fg_strbuf *text);

/* ---- bind.c ---- */

struct fg_binder {
	struct fg_plan *plan;
	struct fg_arena *arena; /* the plan's */
	struct fg_config_report *report;
	struct fg_strbuf path; /* of the key at hand: "gate.metrics.cpu_time.margin" */
};

void fg_bind_section(struct fg_binder *binder, const struct fg_section *section,
		     const struct fg_yaml_node *node, void *target);
/* "fastgate.yml:3:5: KEY.name: text"; name may be NULL. */
void fg_bind_error(struct fg_binder *binder, const struct fg_yaml_node *node, const char *name,
		   const char *format, ...) FG_PRINTF(4, 5);
/* Split or wrap a command that was given as text; an impossible one is reported. */
void fg_bind_command(struct fg_binder *binder, const struct fg_yaml_node *node, bool shell,
		     struct fg_command *command);
/* The names of a section's keys, NULL at the end; in the arena. */
const char **fg_section_names(const struct fg_section *section, struct fg_arena *arena);
const struct fg_key *fg_section_find(const struct fg_section *section, const char *name);

/* ---- override.c ---- */

/* Put the environment's and the command line's values over the file's. */
void fg_override(const struct fg_config_source *source, struct fg_yaml_node *root,
		 struct fg_arena *arena, struct fg_config_report *report);

/* ---- walk.c: visiting all keys ---- */

struct fg_visit {
	const char *path; /* with the names of what can have any name in capitals */
	const struct fg_key *key;
	unsigned depth;
};

/*
 * Every key in the order of the tables, a section before what is in it.  Keys that repeat below a
 * benchmark come once.
 */
void fg_walk(void (*visitor)(const struct fg_visit *visit, void *ctx), void *ctx);
/* The environment variable of a path, "FASTGATE_GATE_ALPHA"; false: it has none (inside lists). */
bool fg_variable_of(const char *path, struct fg_strbuf *name);
/*
 * The key that a path means, be it written with real names or with capitals; NULL: none.  `where`
 * gets its visit path.
 */
const struct fg_key *fg_find_path(const char *path, struct fg_strbuf *where);

#endif
