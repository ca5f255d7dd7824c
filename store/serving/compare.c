// SPDX-License-Identifier: Apache-2.0
#include "store/serving/compare.h"

#include "base/hash.h"
#include "model/profile_set.h"
#include "store/functions.h"
#include "store/names.h"
#include "store/serving/side.h"
#include "store/serving/sums.h"
#include "store/session.h"
#include "store/totals.h"
#include "store/transaction.h"

#include <math.h>

enum {
	DIGEST_BYTES = 16,
	SIZES_A_NS = 1024
};

static int read_totals(struct fg_store *store, const struct fg_run_side *side,
		       const char *benchmark, struct fg_totals *totals, struct fg_error *err)
{
	int64_t series = 0;
	int status = fg_store_find_series(store, side->run, benchmark, &series, err);

	if (status != FG_OK)
		return status;
	status = fg_store_totals(store, series, side->measure, totals, err);
	if (status != FG_OK)
		return status;
	if (!totals->repetitions[side->arm])
		return fg_error_set(
			err, FG_ENOENT,
			"benchmark '%s' of run '%s' has no profile of its %s, or the run is "
			"not complete",
			benchmark, side->run,
			side->arm == FG_ARM_CANDIDATE ? "candidate" : "baseline");
	return FG_OK;
}

struct difference {
	uint64_t id;
	struct fg_function_row row;
	double self[2];
	double inclusive[2];
	double error;
	/*
	 * of the difference of self, in a step coarse enough for the last bits of a mean not to
	 * show
	 */
	double size;
};

/*
 * Counts of samples are close to Poisson's law: the variance of a sum of weights is the sum of
 * their squares.
 */
static double variance(const struct fg_totals *totals, int arm, double self)
{
	const double period = totals->unit * FG_TOTALS_FRACTIONS;

	return totals->exact ? 0 : self * period / totals->repetitions[arm];
}

static int by_size(const void *a, const void *b)
{
	const struct difference *x = a;
	const struct difference *y = b;

	if (x->size > y->size || x->size < y->size)
		return x->size > y->size ? -1 : 1;
	/* Ids differ from store to store; digests do not. */
	return memcmp(x->row.digest, y->row.digest, sizeof(x->row.digest));
}

static void add_side(struct difference *d, const struct fg_totals *totals,
		     const struct fg_function_total *item, int side, int arm)
{
	d->id = item->id;
	d->self[side] = item->self[arm];
	d->inclusive[side] = item->inclusive[arm];
	d->error += variance(totals, arm, item->self[arm]);
}

/* Merge two sorted lists. */
static struct difference *merge(const struct fg_totals totals[2], const struct fg_run_side sides[2],
				size_t *count)
{
	struct difference *all = fg_xcalloc(totals[0].count + totals[1].count, sizeof(*all));
	size_t at[2] = {0, 0};

	*count = 0;
	while (at[0] < totals[0].count || at[1] < totals[1].count) {
		const uint64_t a = at[0] < totals[0].count ? totals[0].items[at[0]].id : UINT64_MAX;
		const uint64_t b = at[1] < totals[1].count ? totals[1].items[at[1]].id : UINT64_MAX;
		struct difference *d = &all[(*count)++];

		if (a <= b)
			add_side(d, &totals[0], &totals[0].items[at[0]++], 0, sides[0].arm);
		if (b <= a)
			add_side(d, &totals[1], &totals[1].items[at[1]++], 1, sides[1].arm);
		d->size = round(fabs(d->self[1] - d->self[0]) * SIZES_A_NS);
	}
	return all;
}

static int name_all(struct fg_store *store, struct difference *all, size_t count,
		    struct fg_error *err)
{
	int status = FG_OK;

	for (size_t i = 0; i < count && status == FG_OK; i++)
		status = fg_store_function(store, all[i].id, &all[i].row, err);
	return status;
}

static void take_largest(const struct difference *all, size_t limit,
			 struct fg_function_deltas *deltas)
{
	const double sure = 1.96; /* standard errors in half a 95 % interval */

	deltas->items = fg_xcalloc(limit, sizeof(*deltas->items));
	for (size_t i = 0; i < limit; i++) {
		struct fg_function_delta *delta = &deltas->items[deltas->count++];
		const struct fg_profile_function *function = &all[i].row.function;

		memcpy(delta->self, all[i].self, sizeof(delta->self));
		memcpy(delta->inclusive, all[i].inclusive, sizeof(delta->inclusive));
		delta->sampling_error = sure * sqrt(all[i].error);
		delta->name = fg_xstrdup(function->name);
		delta->library = fg_xstrdup(function->library);
		delta->file = fg_xstrdup(function->file);
		delta->line = function->line;
		fg_hex(all[i].row.digest, DIGEST_BYTES, delta->id);
	}
}

void fg_store_function_id(const char *name, const char *library, char id[FG_FUNCTION_ID_SIZE])
{
	uint8_t digest[DIGEST_BYTES];

	fg_digest(name, library ? library : "", NULL, digest);
	fg_hex(digest, sizeof(digest), id);
}

int fg_store_compare_functions(struct fg_store *store, const struct fg_run_side sides[2],
			       const char *benchmark, size_t limit,
			       struct fg_function_deltas *deltas, struct fg_error *err)
{
	struct fg_function_deltas found = {0};
	struct fg_totals totals[2] = {{0}};
	struct difference *all = NULL;
	bool mine = false;
	int status = fg_store_view(store, &mine, err);

	for (int i = 0; i < 2 && status == FG_OK; i++)
		status = read_totals(store, &sides[i], benchmark, &totals[i], err);
	if (status != FG_OK)
		goto out;
	all = merge(totals, sides, &found.total);
	for (int i = 0; i < 2; i++)
		found.repetitions[i] = totals[i].repetitions[sides[i].arm];
	status = name_all(store, all, found.total, err);
	if (status != FG_OK)
		goto out;
	if (found.total) {
		qsort(all, found.total, sizeof(*all), by_size);
		/* Sum in an order that is the same in every store, so that rounding is too. */
		for (size_t i = 0; i < found.total; i++) {
			found.sums[0] += all[i].self[0];
			found.sums[1] += all[i].self[1];
		}
		take_largest(all, fg_min_size(limit, found.total), &found);
	}
out:
	fg_store_view_end(store, mine);
	free(all);
	fg_totals_release(&totals[0]);
	fg_totals_release(&totals[1]);
	if (status == FG_OK)
		*deltas = found;
	else
		fg_function_deltas_release(&found);
	return status;
}

void fg_function_deltas_release(struct fg_function_deltas *deltas)
{
	for (size_t i = 0; i < deltas->count; i++) {
		free(deltas->items[i].name);
		free(deltas->items[i].library);
		free(deltas->items[i].file);
	}
	free(deltas->items);
	*deltas = (struct fg_function_deltas){0};
}
