/* SPDX-License-Identifier: Apache-2.0 */
/* A whole run into the database. */
#ifndef FG_STORE_SAVE_H
#define FG_STORE_SAVE_H

#include "base/arena.h"
#include "base/base.h"
#include "base/error.h"
#include "base/json.h"
#include "model/measure.h"
#include "model/profile_set.h"
#include "model/run.h"
#include "store/bytes.h"
#include "store/chunks.h"
#include "store/levels.h"

struct fg_store;

/* The blocks of one measure other than CPU time; empty ones are not stored. */
struct fg_measure_part {
	struct fg_measure measure;
	struct fg_bytes rows;
	struct fg_bytes totals;
};

/* The blocks of one series, made before the database is touched. */
struct fg_series_parts {
	struct fg_bytes blocks[FG_CHUNK_KINDS]; /* an empty one is not stored */
	struct fg_arena arena;                  /* texts of the measures */
	struct fg_measure_part *measures;
	size_t measure_count;
	struct fg_level *levels;
};

/* A block with the totals of one measure; functions[i] is the row of the set's function i. */
typedef int fg_totals_maker(const struct fg_profile_set *set, uint16_t measure,
			    const int64_t *functions, struct fg_bytes *content,
			    struct fg_error *err);

struct fg_save {
	const struct fg_run *run;
	struct fg_profile_set *const *profiles; /* one per series, or NULL */
	const struct fg_series_parts *parts;    /* instead of profiles and repetitions; or NULL */
	fg_totals_maker *make_totals;           /* with profiles; NULL: keep none */
	const cJSON *report;
	const struct fg_bytes *report_block; /* empty: none */
	const char *digest;
	bool is_new;  /* there is no run of this id: nothing to clear */
	bool is_kept; /* lives until the batch ends: rows may be written then */
};

/* What the store will hold of a run that was made into parts. */
int64_t fg_parts_bytes(const struct fg_series_parts *parts, size_t count,
		       const struct fg_bytes *report_block);

/* A whole run in one transaction. */
int fg_store_write_run(struct fg_store *store, const struct fg_save *save, struct fg_error *err)
	FG_NODISCARD;

/*
 * Check that the run can be stored, then make its report as JSON and as a packed block; both stay
 * empty without a report.
 */
int fg_report_make(const struct fg_run *run, const char *report, cJSON **json,
		   struct fg_bytes *block, struct fg_error *err) FG_NODISCARD;
/* As fg_store_save(); fills in save->report and save->report_block. */
int fg_store_save_made(struct fg_store *store, struct fg_save *save, const char *report,
		       struct fg_error *err) FG_NODISCARD;

#endif
