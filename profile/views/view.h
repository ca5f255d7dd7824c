/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Views of a profile, for people.  A view turns a profile and a query into a table; the table is
 * then written as text, JSON or CSV.  A view is a row of the table in view.c and a file
 * view_<name>.c.
 */
#ifndef FG_VIEWS_VIEW_H
#define FG_VIEWS_VIEW_H

#include "base/error.h"
#include "base/strbuf.h"
#include "profile/calltree.h"

enum fg_cell_kind {
	FG_CELL_EMPTY,
	FG_CELL_TEXT,
	FG_CELL_SHARE, /* 0.25: shown as 25.0 under a heading with "%" */
	FG_CELL_VALUE, /* in the table's measure, with the unit that fits the whole column */
	FG_CELL_TIME,  /* nanoseconds, likewise, whatever the measure is */
	FG_CELL_COUNT,
};

struct fg_view_cell {
	enum fg_cell_kind kind;
	const char *text; /* if set with a number, shown instead of it ("27/45") */
	double number;
	double error; /* standard error; 0: none is known */
};

struct fg_view_column {
	/*
	 * in JSON and CSV: "self_ns", or "self" for a measure other than time; its error:
	 * "self_ns_error"
	 */
	const char *key;
	const char *title; /* heading in text; "%t" is replaced by the column's unit */
	enum fg_cell_kind kind;
	bool has_error;
	bool left;      /* aligned to the left: text */
	bool only_data; /* not in text: JSON and CSV only */
	/* dropped first in text, highest number first, if the name lacks room */
	uint8_t optional;
	/* shares the unit of this column, counted from 1; 0: has its own */
	uint8_t unit_like;
};

enum fg_view_style {
	FG_VIEW_PLAIN,
	FG_VIEW_PRIMARY, /* the row that a group is about */
	FG_VIEW_FAINT,   /* context rows */
};

struct fg_view_row {
	struct fg_view_cell *cells; /* one per column */
	const char *guide; /* put in front of the last column's text: the lines of a tree */
	unsigned depth;    /* of a tree */
	uint8_t style;
	bool rule_before; /* a separator between groups */
	bool only_text;   /* not in JSON and CSV */
};

enum {
	FG_VIEW_MAX_COLUMNS = 24,
	FG_VIEW_AT_END = 1 << 30,
};

/* The last column holds the name and gets the rest of the width. */
struct fg_view_table {
	struct fg_arena arena;
	const char *name;          /* the view's */
	struct fg_measure measure; /* measure of FG_CELL_VALUE cells and shares */
	const char **head;         /* lines above it: what is shown */
	size_t head_count, head_capacity;
	struct fg_view_column columns[FG_VIEW_MAX_COLUMNS];
	size_t column_count;
	struct fg_view_row *rows;
	size_t row_count, row_capacity;
	const char **notes; /* lines below it: what was left out, what to know */
	size_t note_count, note_capacity;
	/* the profile's own notes, for JSON: commands print them when they read the profile */
	const char **profile_notes;
	size_t profile_note_count, profile_note_capacity;
};

struct fg_view_options {
	struct fg_calltree_query query;
	size_t rows;       /* limit; 0: the view's own default */
	bool all;          /* no limits; also used for --json and --csv */
	double floor;      /* leave out what is below this share of the total */
	unsigned depth;    /* of trees; 0: no limit */
	bool by_inclusive; /* order lists by inclusive instead of self time */
	const char
		/* pattern of the functions for callgraph, paths, domains; NULL: everything */
		*function;
	unsigned trace; /* the call path that domains is about; 0: all */
	/* the dumps that growth compares; 0: the first and the last */
	unsigned dump_from;
	unsigned dump_to; /* FG_VIEW_AT_END: what is held at the end */
};

struct fg_view {
	const char *name;
	const char *description;
	int (*make)(const struct fg_profile *profile, const struct fg_view_options *options,
		    struct fg_view_table *table, struct fg_error *err);
	const char *measure; /* shown unless the query names another; NULL: the profile's first */
	bool needs_code;     /* shows more with the listings of the profile */
	bool has_no_measure; /* its figures are not measures of the profile */
};

/* The end of error messages about what a profile of sums lacks. */
#define FG_VIEW_NEEDS_SAMPLES "use a trace (fastgate record): a stored run has sums"

extern const struct fg_view fg_views[]; /* the last one has no name */
const struct fg_view *fg_view_find(const char *name);

/*
 * FG_EUNSUPPORTED: the profile lacks what the view shows (units, times); the message says what to
 * do.
 */
int fg_view_make(const struct fg_view *view, const struct fg_profile *profile,
		 const struct fg_view_options *options, struct fg_view_table *table,
		 struct fg_error *err) FG_NODISCARD;
void fg_view_table_release(struct fg_view_table *table);

struct fg_view_text_options {
	unsigned columns; /* width; 0: as wide as the names need */
	bool color;
	bool errors; /* show the standard errors */
};

void fg_view_write_text(const struct fg_view_table *table,
			const struct fg_view_text_options *options, struct fg_strbuf *out);
/*
 * One view of one profile, one table per measure. Rows are those of the first table; each row's
 * `measures` has the figures of all.
 */
void fg_view_write_json(const struct fg_view_table *tables, size_t count, struct fg_strbuf *out);
/* Facts about the samples, one line each: clock, rate, cost, notes. */
void fg_view_write_facts(const struct fg_profile *profile, struct fg_strbuf *out);
void fg_view_write_csv(const struct fg_view_table *table, struct fg_strbuf *out);

/* ---- difference.c ---- */

/* `tree` is of fg_calltree_difference(). Release the table with fg_view_table_release(). */
void fg_view_difference(const struct fg_calltree *tree, const char *const titles[2],
			const struct fg_view_options *options, struct fg_view_table *table);

#endif
