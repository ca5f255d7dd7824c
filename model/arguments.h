/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The arguments with which both sides called functions, by function and call path.
 *
 * Sums hold everything that was recorded. A table is the excerpt kept with a verdict: the most
 * frequently called functions and call paths that fit into a run's size limit, and the number of
 * omitted ones.
 */
#ifndef FG_MODEL_ARGUMENTS_H
#define FG_MODEL_ARGUMENTS_H

#include "base/arena.h"
#include "base/map.h"
#include "base/number.h"
#include "base/strbuf.h"

enum {
	FG_ARGUMENT_BINS = 64,
	FG_ARGUMENT_BIN_OF_ONE = 32, /* the bin of [1, 2) */
	/* per benchmark */
	FG_ARGUMENT_FUNCTIONS_MAX = 64,
	FG_ARGUMENT_PATHS_MAX = 32, /* per function */
	FG_ARGUMENT_FRAMES_MAX = 128,
	/* outermost frames kept of a long path; the other kept frames are the innermost */
	FG_ARGUMENT_FRAMES_OUTER = 32,
	FG_ARGUMENT_NAME_MAX = 400, /* bytes of one name */
};

/* The figures of one argument. */
struct fg_argument_figures {
	double values, zeros, negatives, denormals, infinities, nans;
	double repeats;          /* calls with the same value as the previous call */
	double least, most, sum; /* finite values only; NaN: unknown */
	double bins[FG_ARGUMENT_BINS];
};

/* Returns the number of finite values: `least`, `most` and the mean describe only these values. */
double fg_argument_finite(const struct fg_argument_figures *figures);
void fg_argument_join(struct fg_argument_figures *figures, const struct fg_argument_figures *more);
/* Writes the range of a bin, for people: "2^-3 to 2^-2". */
const char *fg_argument_bin_text(unsigned bin, char text[FG_NUMBER_TEXT_SIZE]);
/*
 * Appends hints about an argument of this function, one per line: NaN or denormal values, an
 * argument that hardly changes, a range that a polynomial would cover. Appends nothing if no hint
 * applies.
 */
void fg_argument_hint(const char *function, const struct fg_argument_figures *figures,
		      struct fg_strbuf *text);

/* ---- tables ---- */

struct fg_argument_path {
	uint32_t *frames; /* names of the table, outermost first */
	size_t frame_count;
	size_t frames_left_out; /* frames omitted after the first FG_ARGUMENT_FRAMES_OUTER */
	/* baseline, candidate; NULL: never called from here */
	const struct fg_argument_figures *sides[2];
};

struct fg_argument_function {
	const char *name; /* "pow #2": the second numeric argument */
	const char *signature;
	/* over all call paths, including omitted ones; NULL: not called, or not recorded */
	const struct fg_argument_figures *sides[2];
	size_t traces[2];               /* number of call paths on each side */
	struct fg_argument_path *paths; /* most calls first */
	size_t path_count;
	size_t paths_left_out;
};

struct fg_argument_table {
	const char **names; /* names of functions on call paths */
	size_t name_count;
	struct fg_argument_function *functions; /* sorted by calls, descending */
	size_t function_count;
	size_t functions_left_out;
};

/* Space left for the tables of one run. */
struct fg_argument_room {
	size_t functions;
	size_t paths;
	size_t bytes; /* for names and frames */
};

extern const struct fg_argument_room fg_argument_room_of_run;

/* Cleans a name and cuts it to FG_ARGUMENT_NAME_MAX bytes. Equal names get equal addresses. */
const char *fg_argument_name(struct fg_map *names, const char *name);
/*
 * Reserves space for a name, or for a path with this number of frames. Returns false if there is
 * too little.
 */
bool fg_argument_room_for_name(struct fg_argument_room *room, const char *name);
bool fg_argument_room_for_path(struct fg_argument_room *room, size_t frames);
/* Returns the side that hints describe: the candidate, or the only side. */
const struct fg_argument_figures *
fg_argument_newest(const struct fg_argument_figures *const sides[2]);

/* ---- sums ---- */

struct fg_argument_sum {
	const char *name;
	const char *signature;
	struct fg_argument_figures *sides[2];
	size_t traces[2];
	size_t path_count;
	size_t paths_left_out; /* omitted by an added table */
};

struct fg_argument_path_sum {
	uint32_t function; /* index in the sums */
	const char **frames;
	size_t frame_count;
	size_t frames_left_out;
	struct fg_argument_figures *sides[2];
};

/* Empty when zero-initialised. */
struct fg_argument_sums {
	struct fg_arena arena;
	struct fg_argument_sum *functions;
	size_t function_count, function_capacity;
	struct fg_argument_path_sum *paths;
	size_t path_count, path_capacity;
	size_t functions_left_out; /* omitted by an added table */
	struct fg_map names;
	struct fg_map function_index; /* name → function */
	struct fg_map path_index;     /* function and frames → path */
};

/* One side's calls of a function on one call path. */
struct fg_argument_call {
	const char *name;
	const char *signature;
	unsigned side; /* enum fg_arm */
	/* outermost first; a longer path is cut to FG_ARGUMENT_FRAMES_MAX frames */
	const char *const *frames;
	size_t frame_count;
	const struct fg_argument_figures *figures;
};

void fg_argument_sums_add(struct fg_argument_sums *sums, const struct fg_argument_call *call);
/* Adds one side of a table to a side of the sums, which must not have these functions yet. */
void fg_argument_sums_add_table(struct fg_argument_sums *sums,
				const struct fg_argument_table *table, unsigned from, unsigned to);
/*
 * Returns the functions that this side calls, sorted by calls, descending. The caller frees the
 * list.
 */
const struct fg_argument_sum **fg_argument_sums_by_calls(const struct fg_argument_sums *sums,
							 unsigned side, size_t *count);
const struct fg_argument_path_sum **fg_argument_paths_by_calls(const struct fg_argument_sums *sums,
							       unsigned side, size_t *count);
/* Makes a table that fits into `room`, in the arena. Returns NULL if there is nothing to keep. */
const struct fg_argument_table *fg_argument_table_make(const struct fg_argument_sums *sums,
						       struct fg_argument_room room,
						       struct fg_arena *arena);
void fg_argument_sums_release(struct fg_argument_sums *sums);

/* ---- notes of a verdict ---- */

/*
 * Returns text for people: "log: 3 of 100 arguments are NaN, but none in the baseline; exp: range
 * [0, 5], in the baseline [0, 1]"; NULL if nothing is worth reporting. The caller frees the text.
 */
char *fg_argument_change_text(const struct fg_argument_sums *sums);
/*
 * Describes the functions that the candidate calls most: "exp: 1000 arguments in [-1000, -1], from
 * 1 call path; ..."; NULL: none. The caller frees the text.
 */
char *fg_argument_sums_text(const struct fg_argument_sums *sums);
/*
 * Returns the hints of `view -V domains` for the candidate's most frequent call paths; NULL: none.
 */
char *fg_argument_hints_text(const struct fg_argument_sums *sums);

#endif
