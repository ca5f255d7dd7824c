/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A run that arrives as a bundle.  The receiving thread does everything that takes time (unpacking,
 * checking, packing); the single writer thread only inserts rows and blocks.
 */
#ifndef FG_STORE_SERVING_INGEST_H
#define FG_STORE_SERVING_INGEST_H

#include "base/base.h"
#include "base/error.h"
#include "base/hash.h"
#include "base/json.h"
#include "store/bytes.h"
#include "store/serving/dictionary.h"
#include "store/store.h"

struct fg_store;

struct fg_series_parts;

struct fg_arrival {
	struct fg_stored_run stored; /* without profiles */
	char digest[FG_SHA256_HEX_SIZE];
	struct fg_series_parts *parts; /* one per series */
	cJSON *report;
	struct fg_bytes report_block;
};

/*
 * `stored` is what fg_bundle_read_envelope() made; it becomes the arrival's, whatever the outcome.
 * The dictionary must be known to the database.  The same checks as fg_bundle_to_run() makes, with
 * its default limits.
 */
int fg_arrival_make(struct fg_stored_run *stored, const void *values, size_t values_size,
		    const struct fg_dictionary *dictionary, struct fg_arrival *arrival,
		    struct fg_error *err) FG_NODISCARD;
void fg_arrival_release(struct fg_arrival *arrival);
/* What the store will hold of it. */
int64_t fg_arrival_bytes(const struct fg_arrival *arrival);
/*
 * Store it; `is_new`: no run has this id.  In a batch, the arrival must live until the batch ends.
 */
int fg_store_put_arrival(struct fg_store *store, const struct fg_arrival *arrival, bool is_new,
			 struct fg_error *err) FG_NODISCARD;

#endif
