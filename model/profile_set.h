/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The profiles of all repetitions of one benchmark, folded over one call tree. gate/ tests them,
 * store/ keeps them, reporters/ draw them.
 *
 * Functions are named, not addressed: identity is demangled name + library base name, so that two
 * builds of a program share nodes. Nodes are call paths, each with its parent; a parent's index is
 * smaller than its children's, so one backward pass turns self values into inclusive ones. Node 0
 * is the root (the whole program, function 0). A row holds one measure of one repetition: its
 * non-zero self values, sorted by node. Rows of several measures may be mixed: readers select by
 * measure. All memory is the set's arena.
 */
#ifndef FG_MODEL_PROFILE_SET_H
#define FG_MODEL_PROFILE_SET_H

#include "base/arena.h"
#include "base/map.h"
#include "base/pair_index.h"
#include "model/arguments.h"
#include "model/line_costs.h"
#include "model/measure.h"

struct fg_profile_function {
	const char *name;    /* demangled, readable */
	const char *linkage; /* mangled; NULL: the same as name */
	const char *library; /* base name of the module */
	const char *file;    /* file of its definition; NULL: unknown */
	unsigned line;
	bool inlined; /* seen only as an inlined frame */
};

struct fg_profile_node {
	uint32_t parent;
	uint32_t function;
};

struct fg_profile_row {
	uint8_t arm; /* enum fg_arm of model/run.h */
	uint32_t pair;
	uint16_t aside;   /* enum fg_aside */
	uint16_t measure; /* id in the set's measures; 0: CPU time */
	uint32_t count;
	uint32_t *nodes;   /* ascending */
	double *values;    /* self value of each node, in the measure's unit */
	uint32_t *samples; /* number of samples or events in each value */
	double total;
	double lost;      /* samples due but not taken */
	double truncated; /* samples whose stack is incomplete */
};

/* CPU time inside a marked region or a unit of work, per repetition. */
struct fg_profile_region_row {
	uint8_t arm;
	uint32_t pair;
	uint16_t aside;
	uint32_t region; /* index into regions */
	uint64_t count;  /* times entered */
	double cpu_ns;   /* sampled */
	double wall_ns;
};

struct fg_profile_set {
	struct fg_arena arena;
	struct fg_profile_function *functions; /* [0] is the root's: the program */
	size_t function_count;
	size_t function_capacity;
	struct fg_profile_node *nodes; /* [0] is the root */
	size_t node_count;
	size_t node_capacity;
	struct fg_profile_row *rows;
	size_t row_count;
	size_t row_capacity;
	const char **regions; /* "outer/inner" */
	size_t region_count;
	size_t region_capacity;
	struct fg_profile_region_row *region_rows;
	size_t region_row_count;
	size_t region_row_capacity;
	struct fg_measure_list measures;
	/* only for repetitions sampled in this process; never stored */
	struct fg_line_costs lines;
	struct fg_line_costs instructions; /* file names are "BUILD_ID PATH" */
	/* both sides, for the verdict's table; stored only in the report */
	struct fg_argument_sums arguments;
	struct fg_map function_index;    /* name NUL library → index */
	struct fg_pair_index node_index; /* parent, function → index */
};

void fg_profile_set_init(struct fg_profile_set *set,
			 const char *program); /* creates function 0 and node 0 */
void fg_profile_set_release(struct fg_profile_set *set);
/* Finds or adds a function; text is copied. `file` and `line` fill gaps and never overwrite. */
uint32_t fg_profile_set_function(struct fg_profile_set *set,
				 const struct fg_profile_function *function);
/* Returns UINT32_MAX if the set lacks the function; `library` may be NULL. */
uint32_t fg_profile_set_find(const struct fg_profile_set *set, const char *name,
			     const char *library);
uint32_t fg_profile_set_node(struct fg_profile_set *set, uint32_t parent, uint32_t function);
uint32_t fg_profile_set_region(struct fg_profile_set *set, const char *path);
/* Finds or adds a measure by name. Returns the id that rows use. */
uint16_t fg_profile_set_measure(struct fg_profile_set *set, const struct fg_measure *measure);
/* Returns the id of CPU time, or of wall time if the sampler's clock measured wall time. */
uint16_t fg_profile_set_time(const struct fg_profile_set *set);
/* Adds a row of CPU time with room for `count` values in the arena. Valid until the next call. */
struct fg_profile_row *fg_profile_set_add_row(struct fg_profile_set *set, size_t count);
/* Adds a zeroed row for a region. Valid until the next call. */
struct fg_profile_region_row *fg_profile_set_add_region_row(struct fg_profile_set *set);
/* Sets `aside` on all rows of this pair, which must be complete and have the newest rows. */
void fg_profile_set_settle(struct fg_profile_set *set, uint32_t pair, uint16_t aside);
/* Adds FG_ASIDE_GIVEN_UP to all rows that were meant to count: the schedule was abandoned. */
void fg_profile_set_give_up(struct fg_profile_set *set);

/*
 * Computes the mean over the rows of one measure and arm that count (aside == 0), one value per
 * node. `self` and `inclusive` (may be NULL) have room for node_count values. Returns the number of
 * rows.
 */
size_t fg_profile_set_mean(const struct fg_profile_set *set, uint16_t measure, uint8_t arm,
			   double *self, double *inclusive);
/*
 * Returns the compiled function at the end of a call path: inlined functions are part of their
 * caller.
 */
uint32_t fg_profile_set_compiled(const struct fg_profile_set *set, uint32_t node);
/*
 * Counts samples of fg_profile_set_time() per function, including functions inlined into it, over
 * the rows that count. Returns function_count values, which the caller frees; `all` gets their sum.
 */
double *fg_profile_set_time_samples(const struct fg_profile_set *set, double *all);
/*
 * Marks each node whose function is among its ancestors. Inclusive sums per function skip these
 * nodes, so that recursion is not counted twice. The caller frees the array.
 */
bool *fg_profile_set_is_recursive(const struct fg_profile_set *set);

/* ---- profile_join.c ---- */

/*
 * Makes a new set: arm 0 gets the rows of `arm` in sets[0], and arm 1 gets the rows of `arm` in
 * sets[1]. Rows that do not count and rows of times are dropped, because pairs do not span
 * sessions.
 */
void fg_profile_join(struct fg_profile_set *joined, const struct fg_profile_set *const sets[2],
		     uint8_t arm);

#endif
