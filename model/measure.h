/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Measures: the values that a profile counts over its call paths, such as time, bytes and calls. A
 * measure defines how its values add up, what they mean and how they are shown; the values
 * themselves are plain doubles.
 *
 * The built-in measures are rows of one table (measure.c), time first. A profile, such as an
 * imported one, may add its own. They are appended to the profile's list, so the id of a built-in
 * measure is the same everywhere and any other id is local to its list. Files keep names, never
 * ids.
 *
 * A family is a row whose name ends with a dot: "calls." describes "calls.fit".
 */
#ifndef FG_MODEL_MEASURE_H
#define FG_MODEL_MEASURE_H

#include "base/arena.h"
#include "base/number.h"
#include "model/metric.h"

/* The way in which values of samples, call paths or threads combine. */
enum fg_measure_fold {
	FG_FOLD_SUM,
	FG_FOLD_MAX,
	FG_FOLD_MIN,
	FG_FOLD_COUNT,
};

enum fg_measure_id {
	FG_MEASURE_CPU_TIME,
	FG_MEASURE_WALL_TIME,
	FG_MEASURE_INSTRUCTIONS,
	FG_MEASURE_CALLS,
	FG_MEASURE_CACHE_MISSES,       /* in the simulated last-level cache */
	FG_MEASURE_CACHE_FIRST_MISSES, /* in the simulated first-level caches */
	FG_MEASURE_BRANCH_MISSES,      /* of the simulated branch predictor */
	FG_MEASURE_CALLS_OF,
	FG_MEASURE_TIME_OF,
	FG_MEASURE_HEAP_ALLOCATIONS,
	FG_MEASURE_HEAP_BYTES,
	FG_MEASURE_HEAP_LARGEST,
	FG_MEASURE_HEAP_ROUNDING,
	FG_MEASURE_HEAP_FREES,
	FG_MEASURE_HEAP_LIVE,
	FG_MEASURE_HEAP_LIVE_BLOCKS,
	FG_MEASURE_HEAP_LIVE_DUMPED,        /* family, by dump number */
	FG_MEASURE_HEAP_LIVE_BLOCKS_DUMPED, /* family, by dump number */
	FG_MEASURE_HEAP_PEAK,
	FG_MEASURE_HEAP_OWN_PEAK,
	FG_MEASURE_HEAP_TEMPORARY,
	FG_MEASURE_HEAP_LEAKED,
	FG_MEASURE_HEAP_LEAKED_BLOCKS,
	FG_MEASURE_HEAP_UNTOUCHED,
	FG_MEASURE_FD_OPENED,
	FG_MEASURE_FD_LIVE,
	FG_MEASURE_FD_LIVE_DUMPED, /* family, by dump number */
	FG_MEASURE_FD_PEAK,
	FG_MEASURE_IO_CALLS,
	FG_MEASURE_IO_BYTES_READ,
	FG_MEASURE_IO_BYTES_WRITTEN,
	FG_MEASURE_THROWS,
	FG_MEASURE_THROWS_OF, /* family, by type */
	FG_MEASURE_LOCKS_WAITS,
	FG_MEASURE_LOCKS_WAIT_TIME,
	FG_MEASURE_BUILTIN_COUNT,
};

enum {
	FG_MEASURES_MAX = 1024, /* maximum number of measures in a list; readers refuse more */
};

struct fg_measure {
	const char *name;  /* "cpu_time": the name in options, configuration and files */
	const char *label; /* "CPU time": the name for people */
	const char *unit;  /* "ns", "bytes", "1", or an import's own */
	enum fg_measure_fold fold;
	enum fg_better better;
	bool exact;        /* every event was counted; false: estimated from samples */
	bool is_recorded;  /* only `record` measures it: runs cannot be gated on it */
	bool is_simulated; /* from a simulated CPU: explains a verdict, but is never judged */
	/* formats a value for people: "12.5 ms"; NULL: number and unit */
	const char *(*format)(double value, char text[FG_NUMBER_TEXT_SIZE]);
};

/* The measures of one profile: the built-in measures, then its own. A zeroed list is valid. */
struct fg_measure_list {
	const struct fg_measure **own;
	size_t count, capacity;
};

/*
 * Returns the row of a table for `name`: an exact match, or the row of its family; NULL: not found.
 */
const struct fg_measure *fg_measure_match(const struct fg_measure *table, size_t count,
					  const char *name);
/* True if the measure is built in, or of a built-in family, and can be gated. */
bool fg_measure_is_known(const char *name);
/*
 * Returns the measure of this name. A name outside the table gets `unit` (NULL: "1") and the
 * defaults: summed, estimated, less is better. Strings are not copied.
 */
struct fg_measure fg_measure_describe(const char *name, const char *unit);
/* True for CPU and wall time, which a sampling clock measures. */
bool fg_measure_is_time(uint16_t id);
bool fg_measure_has_time(const struct fg_measure *measure); /* the unit is nanoseconds */
/* Combines two values. 0 means "nothing seen" and is neutral in all three folds. */
static inline double fg_measure_join(enum fg_measure_fold fold, double a, double b)
{
	/* Nearly every measure is a sum: test that first. */
	if (fold == FG_FOLD_SUM || !(a < 0 || a > 0) || !(b < 0 || b > 0))
		return a + b;
	return (a > b) == (fold == FG_FOLD_MAX) ? a : b;
}

const char *fg_measure_text(const struct fg_measure *measure, double value,
			    char text[FG_NUMBER_TEXT_SIZE]);

const struct fg_measure *fg_measure_at(const struct fg_measure_list *list, uint16_t id);
size_t fg_measure_count(const struct fg_measure_list *list);
bool fg_measure_find(const struct fg_measure_list *list, const char *name, uint16_t *id);
/*
 * Finds a measure by name, or appends a copy in the arena that owns the list. At most
 * FG_MEASURES_MAX: check fg_measure_count() before adding measures from a file.
 */
uint16_t fg_measure_add(struct fg_measure_list *list, struct fg_arena *arena,
			const struct fg_measure *measure);

#endif
