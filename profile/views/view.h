/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Views of a profile. A view turns a profile and a query into a table, which is then written as
 * text, JSON or CSV. A view is a row of the table in view.c and a file view_<name>.c.
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
	FG_CELL_TIME,  /* nanoseconds, with the unit that fits the column, for any measure */
	FG_CELL_COUNT,
};

struct fg_view_cell {
	enum fg_cell_kind kind;
	const char *text; /* shown instead of the number if both are set ("27/45") */
	double number;
	double error; /* standard error; 0: unknown */
};

struct fg_view_column {
	/*
	 * name in JSON and CSV: "self_ns", or "self" for a measure other than time; "self_ns_error"
	 * is its error
	 */
	const char *key;
	const char *title; /* heading in text; "%t" is replaced by the column's unit */
	enum fg_cell_kind kind;
	bool has_error;
	bool left;      /* aligned to the left: text */
	bool only_data; /* not in text: JSON and CSV only */
	/* text drops this column if the name lacks space, highest number first; 0: never */
	uint8_t optional;
	/* shares the unit of this column, counted from 1; 0: has its own */
	uint8_t unit_like;
};

enum fg_view_style {
	FG_VIEW_PLAIN,
	FG_VIEW_PRIMARY, /* the main row of a group */
	FG_VIEW_FAINT,   /* context rows */
};

struct fg_view_row {
	struct fg_view_cell *cells; /* one per column */
	const char *guide;          /* prefix of the last column's text: the lines of a tree */
	unsigned depth;             /* depth in a tree */
	uint8_t style;
	bool rule_before; /* a separator between groups */
	bool only_text;   /* not in JSON and CSV */
};

enum {
	FG_VIEW_MAX_COLUMNS = 24,
	FG_VIEW_AT_END = 1 << 30,
};

/* A table. Its last column holds the name and gets the remaining width. */
struct fg_view_table {
	struct fg_arena arena;
	const char *name;          /* name of the view */
	struct fg_measure measure; /* measure of FG_CELL_VALUE cells and shares */
	const char **head;         /* lines above the table that say what it shows */
	size_t head_count, head_capacity;
	struct fg_view_column columns[FG_VIEW_MAX_COLUMNS];
	size_t column_count;
	struct fg_view_row *rows;
	size_t row_count, row_capacity;
	const char **notes; /* lines below the table: omissions and hints */
	size_t note_count, note_capacity;
	/*
	 * the profile's own notes, for JSON; in text, commands print them after reading the profile
	 */
	const char **profile_notes;
	size_t profile_note_count, profile_note_capacity;
};

struct fg_view_options {
	struct fg_calltree_query query;
	size_t rows;       /* maximum number of rows; 0: the view's default */
	bool all;          /* no limits; also used for --json and --csv */
	double floor;      /* leave out rows below this share of the total */
	unsigned depth;    /* depth of trees; 0: no limit */
	bool by_inclusive; /* order lists by inclusive instead of self time */
	/* pattern of the functions, in the views that list functions; NULL: all */
	const char *function;
	unsigned trace; /* number of the call path for domains and times; 0: all */
	/* dumps to compare in growth; 0: the first and the last */
	unsigned dump_from;
	unsigned dump_to; /* FG_VIEW_AT_END: memory held at the end */
};

struct fg_view {
	const char *name;
	const char *description;
	int (*make)(const struct fg_profile *profile, const struct fg_view_options *options,
		    struct fg_view_table *table, struct fg_error *err);
	enum fg_group group; /* grouping of this view; FG_GROUP_FUNCTION: the query's grouping */
	const char *measure; /* default measure; NULL: the profile's first */
	bool needs_code;     /* uses the listings of the profile */
	bool has_no_measure; /* the view shows figures that are not measures of the profile */
};

/* The end of error messages about data that a stored run lacks. */
#define FG_VIEW_NEEDS_SAMPLES "use a trace (fastgate record): a stored run holds only sums"

extern const struct fg_view fg_views[]; /* the last row has no name */
const struct fg_view *fg_view_find(const char *name);

/*
 * FG_EUNSUPPORTED: the profile lacks the data for this view (units, times); the message says what
 * to do.
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
 * Writes one view of one profile, given as one table per measure. The rows come from the first
 * table; each row's `measures` has the figures of all tables.
 */
void fg_view_write_json(const struct fg_view_table *tables, size_t count, struct fg_strbuf *out);
/* Writes facts about the samples, one line each: clock, rate, cost, notes. */
void fg_view_write_facts(const struct fg_profile *profile, struct fg_strbuf *out);
void fg_view_write_csv(const struct fg_view_table *table, struct fg_strbuf *out);

/* ---- difference.c ---- */

/* `tree` comes from fg_calltree_difference(). Release the table with fg_view_table_release(). */
void fg_view_difference(const struct fg_calltree *tree, const char *const titles[2],
			const struct fg_view_options *options, struct fg_view_table *table);

#endif
