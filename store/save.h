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

/* A block with the totals of one measure; functions[i] is the row of the set's function i. */
typedef int fg_totals_maker(const struct fg_profile_set *set, uint16_t measure,
			    const int64_t *functions, struct fg_bytes *content,
			    struct fg_error *err);

struct fg_save {
	const struct fg_run *run;
	struct fg_profile_set *const *profiles; /* one per series, or NULL */
	fg_totals_maker *make_totals;           /* with profiles; NULL: keep none */
	const cJSON *report;
	const struct fg_bytes *report_block; /* empty: none */
	const char *digest;
};

/* As fg_store_save(); fills in save->report and save->report_block. */
int fg_store_save_made(struct fg_store *store, struct fg_save *save, const char *report,
		       struct fg_error *err) FG_NODISCARD;

#endif
