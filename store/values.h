/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Encodes repetitions and regions as bytes, and structs of model/ as JSON, for the store's chunks
 * and the envelope of an upload.
 */
#ifndef FG_STORE_VALUES_H
#define FG_STORE_VALUES_H

#include "base/base.h"
#include "base/error.h"
#include "base/json.h"
#include "base/json_write.h"
#include "model/profile_set.h"
#include "model/run.h"
#include "store/bytes.h"

enum {
	FG_MAX_NAME_BYTES = 512,       /* names of projects, benchmarks, metrics, branches */
	FG_MAX_FUNCTION_BYTES = 65535, /* names of functions */
	FG_MAX_METRICS = 1024,
	FG_MAX_SERIES = 10000,
	FG_MAX_FACTS = 4096,
	FG_MAX_TEXT_BYTES = 1 << 20, /* a fact, a command, a program's last output */
};

/* Writes repetitions [first, repetition_count), column by column. */
void fg_repetitions_write(const struct fg_series *series, size_t first, struct fg_bytes *bytes);
/* Appends repetitions to the series, whose metrics must be known. */
int fg_repetitions_read(struct fg_byte_reader *reader, struct fg_series *series,
			struct fg_error *err) FG_NODISCARD;

/* FG_EPARSE if unread bytes remain. */
int fg_values_end(const struct fg_byte_reader *reader, struct fg_error *err) FG_NODISCARD;

/* Writes region rows [first, region_row_count) with the names of the regions. */
void fg_regions_write(const struct fg_profile_set *set, size_t first, struct fg_bytes *bytes);
int fg_regions_read(struct fg_byte_reader *reader, struct fg_profile_set *set, struct fg_error *err)
	FG_NODISCARD;

/* The next two functions write and read metrics as JSON: [{"name": ..., "unit": ...}, ...] */
void fg_metrics_write(const struct fg_series *series, struct fg_json_writer *w, const char *name);
int fg_metrics_read(const cJSON *json, struct fg_series *series, struct fg_error *err) FG_NODISCARD;
/* Writes a series as a JSON object, without its name, command, metrics, facts and values. */
void fg_details_write(const struct fg_series *series, struct fg_json_writer *w, const char *name);
int fg_details_read(const cJSON *json, struct fg_series *series, struct fg_error *err) FG_NODISCARD;

#endif
