/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Questions about profiles that are answered without loading runs: which functions differ between
 * two runs, which call paths, how one function fared over many runs.  All times are CPU time per
 * repetition.
 */
#ifndef FG_STORE_SERVING_COMPARE_H
#define FG_STORE_SERVING_COMPARE_H

#include "base/base.h"
#include "base/error.h"
#include "store/serving/side.h"

struct fg_store;

enum {
	FG_FUNCTION_ID_SIZE = 33
};

struct fg_function_delta {
	char *name;
	char *library;
	char *file; /* NULL: unknown */
	unsigned line;
	char id[FG_FUNCTION_ID_SIZE]; /* what a link names it by; the same in every store */
	double self[2];
	double inclusive[2];
	/*
	 * Half the width of a 95 % interval on the difference of self time that counting samples
	 * alone leaves open.
	 */
	double sampling_error;
};

struct fg_function_deltas {
	struct fg_function_delta *items; /* largest difference of self time first */
	size_t count;
	size_t total;   /* functions in either run */
	double sums[2]; /* over all functions */
	uint32_t repetitions[2];
};

/*
 * The `limit` functions that differ most.  FG_ENOENT: the benchmark has no profile in one of the
 * runs.
 */
int fg_store_compare_functions(struct fg_store *store, const struct fg_run_side sides[2],
			       const char *benchmark, size_t limit,
			       struct fg_function_deltas *deltas, struct fg_error *err)
	FG_NODISCARD;
void fg_function_deltas_release(struct fg_function_deltas *deltas);

/* fg_function_delta.id of the function of this name; `library` may be NULL. */
void fg_store_function_id(const char *name, const char *library, char id[FG_FUNCTION_ID_SIZE]);

#endif
