/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where values lie on PostgreSQL: chunks, reports and tiles are in partitions, by the
 * retention of their project (its class) and the month in which they were stored.  A partition has
 * the 2^40 ids of runs and series that begin at its number times 2^40, and tiles by the number of
 * their seal, which is a series' id.  Triggers of the database number runs and series.  Numbers
 * only grow, and a project changes its class only when a month begins, so that the ids of a
 * benchmark still follow the order in which its runs were stored.
 *
 * SQLite has one table of each kind: everything here does nothing there.
 */
#ifndef FG_STORE_PARTITIONS_H
#define FG_STORE_PARTITIONS_H

#include "base/base.h"
#include "base/error.h"

struct fg_store;

enum {
	FG_PARTITION_BITS = 40 /* of an id; those above them are the number */
};

/*
 * Make the partitions of the month of `at_ns`, unless there are some of this or a later month.  The
 * tables that were there before the first partitions are read once for that; `patient`: however
 * large they are, else only while that takes no more than moments.  Until it is done, runs are
 * stored in the newest partitions there are.
 */
int fg_store_make_partitions(struct fg_store *store, int64_t at_ns, bool patient,
			     struct fg_error *err) FG_NODISCARD;

/* A partition into which nothing is stored any more. */
struct fg_partition {
	int64_t number;
	size_t runs;
	/* not 0: an earlier removal left values in it that belong to no run */
	bool has_leftovers;
};

struct fg_partitions {
	struct fg_partition *items;
	size_t count;
	size_t capacity;
};

int fg_store_partitions(struct fg_store *store, struct fg_partitions *partitions,
			struct fg_error *err) FG_NODISCARD;
void fg_partitions_release(struct fg_partitions *partitions);

/*
 * To remove most runs of a partition: mark it; delete the runs in transactions that call
 * fg_store_leave_values() first, so that their values stay behind; then sweep.
 */
int fg_store_mark_partition(struct fg_store *store, int64_t number, struct fg_error *err)
	FG_NODISCARD;
int fg_store_leave_values(struct fg_store *store, int64_t number, struct fg_error *err)
	FG_NODISCARD;
/*
 * Drop marked partitions to which no run belongs any more, and replace the others by what still
 * belongs to runs.  Waits for those who read since before the runs were deleted; who reads for
 * longer than some seconds makes it fail (FG_EBUSY), and the next sweep finishes it.
 */
int fg_store_sweep_partitions(struct fg_store *store, size_t *dropped, struct fg_error *err)
	FG_NODISCARD;

#endif
