/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The arguments that functions were called with, by function and call path, on both sides.
 *
 * Sums take in whatever was seen. A table is what is kept of them with a verdict: the functions and
 * call paths that are called most, within the room that a run has for it; what is left out is
 * counted.
 */
#ifndef FG_MODEL_ARGUMENTS_H
#define FG_MODEL_ARGUMENTS_H

#include "base/arena.h"
#include "base/map.h"
#include "base/number.h"
#include "base/strbuf.h"

enum {
	FG_ARGUMENT_BINS = 64,
	FG_ARGUMENT_BIN_OF_ONE = 32, /* holds [1, 2) */
	/* of a benchmark */
	FG_ARGUMENT_FUNCTIONS_MAX = 64,
	FG_ARGUMENT_PATHS_MAX = 32, /* to each of them */
	FG_ARGUMENT_FRAMES_MAX = 128,
	FG_ARGUMENT_FRAMES_OUTER = 32, /* of a path that is cut: the rest are the innermost */
	FG_ARGUMENT_NAME_MAX = 400,    /* bytes of one name */
};

/* What was seen of one argument. */
struct fg_argument_figures {
	double values, zeros, negatives, denormals, infinities, nans;
	double repeats;          /* the same as the one before */
	double least, most, sum; /* of those that are finite; NaN: not known */
	double bins[FG_ARGUMENT_BINS];
};

/* How many values are finite: those that have a least, a most and a mean. */
double fg_argument_finite(const struct fg_argument_figures *figures);
void fg_argument_join(struct fg_argument_figures *figures, const struct fg_argument_figures *more);
/* The range of a bin, for people: "2^-3 to 2^-2". */
const char *fg_argument_bin_text(unsigned bin, char text[FG_NUMBER_TEXT_SIZE]);
/*
 * Appends what there is to say of an argument of this function, one hint a line: a range that a
 * polynomial would do for, an argument that hardly changes, values that are no numbers.  Appends
 * nothing where nothing is true.
 */
void fg_argument_hint(const char *function, const struct fg_argument_figures *figures,
		      struct fg_strbuf *text);

/* ---- tables ---- */

struct fg_argument_path {
	uint32_t *frames; /* names of the table, outermost first */
	size_t frame_count;
	size_t frames_left_out; /* after the first FG_ARGUMENT_FRAMES_OUTER */
	/* baseline, candidate; NULL: never called from here */
	const struct fg_argument_figures *sides[2];
};

struct fg_argument_function {
	const char *name; /* "pow #2": the second argument that is a number */
	const char *signature;
	/* over all call paths, those that are left out too; NULL: not called, or not looked at */
	const struct fg_argument_figures *sides[2];
	size_t traces[2];               /* how many call paths there are */
	struct fg_argument_path *paths; /* most calls first */
	size_t path_count;
	size_t paths_left_out;
};

struct fg_argument_table {
	const char **names; /* of functions on call paths */
	size_t name_count;
	struct fg_argument_function *functions; /* most calls first */
	size_t function_count;
	size_t functions_left_out;
};

/* What is left of the room for the tables of one run. */
struct fg_argument_room {
	size_t functions;
	size_t paths;
	size_t bytes; /* of names and frames */
};

extern const struct fg_argument_room fg_argument_room_of_run;

/* As it is kept: clean, of at most FG_ARGUMENT_NAME_MAX bytes, equal ones at equal addresses. */
const char *fg_argument_name(struct fg_map *names, const char *name);
/* Takes as much as a name, or a path of so many frames, needs; false: there is not enough. */
bool fg_argument_room_for_name(struct fg_argument_room *room, const char *name);
bool fg_argument_room_for_path(struct fg_argument_room *room, size_t frames);
/* The side that hints are about: the candidate, or what there is. */
const struct fg_argument_figures *
fg_argument_newest(const struct fg_argument_figures *const sides[2]);

/* ---- sums ---- */

struct fg_argument_sum {
	const char *name;
	const char *signature;
	struct fg_argument_figures *sides[2];
	size_t traces[2];
	size_t path_count;
	size_t paths_left_out; /* of a table that was added */
};

struct fg_argument_path_sum {
	uint32_t function; /* of the sums */
	const char **frames;
	size_t frame_count;
	size_t frames_left_out;
	struct fg_argument_figures *sides[2];
};

/* All zero is an empty one. */
struct fg_argument_sums {
	struct fg_arena arena;
	struct fg_argument_sum *functions;
	size_t function_count, function_capacity;
	struct fg_argument_path_sum *paths;
	size_t path_count, path_capacity;
	size_t functions_left_out; /* of a table that was added */
	struct fg_map names;
	struct fg_map function_index; /* name → function */
	struct fg_map path_index;     /* function and frames → path */
};

/* What one side calls a function with on one call path. */
struct fg_argument_call {
	const char *name;
	const char *signature;
	unsigned side; /* enum fg_arm */
	/* outermost first; of many, FG_ARGUMENT_FRAMES_MAX are kept */
	const char *const *frames;
	size_t frame_count;
	const struct fg_argument_figures *figures;
};

void fg_argument_sums_add(struct fg_argument_sums *sums, const struct fg_argument_call *call);
/* One side of a table as a side of the sums, which has nothing of these functions yet. */
void fg_argument_sums_add_table(struct fg_argument_sums *sums,
				const struct fg_argument_table *table, unsigned from, unsigned to);
/* Most calls on this side first, without those that it never calls; the list is yours to free. */
const struct fg_argument_sum **fg_argument_sums_by_calls(const struct fg_argument_sums *sums,
							 unsigned side, size_t *count);
const struct fg_argument_path_sum **fg_argument_paths_by_calls(const struct fg_argument_sums *sums,
							       unsigned side, size_t *count);
/* What fits; NULL: there is nothing.  Lives in the arena. */
const struct fg_argument_table *fg_argument_table_make(const struct fg_argument_sums *sums,
						       struct fg_argument_room room,
						       struct fg_arena *arena);
void fg_argument_sums_release(struct fg_argument_sums *sums);

/* ---- notes of a verdict ---- */

/*
 * For people: "log: 3 of 100 arguments are NaN, none in the baseline; exp: in [0, 5], in the
 * baseline in [0, 1]"; NULL if nothing is worth reporting. To be freed.
 */
char *fg_argument_change_text(const struct fg_argument_sums *sums);
/*
 * The functions that the candidate calls most: "exp: 1000 arguments in [-1000, -1], from 1 call
 * path; ..."; NULL: there are none. To be freed.
 */
char *fg_argument_sums_text(const struct fg_argument_sums *sums);
/* The hints of `view -V domains` for the candidate's most frequent call paths; NULL: none. */
char *fg_argument_hints_text(const struct fg_argument_sums *sums);

#endif
