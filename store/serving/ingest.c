// SPDX-License-Identifier: Apache-2.0
/*
 * Turns the values of a bundle into blocks of the store without building a profile set: weights are
 * renumbered from the dictionary's ids to the store's and otherwise unchanged (recode.c).
 */
#include "store/serving/ingest.h"

#include "base/arena.h"
#include "base/json.h"
#include "model/measure.h"
#include "model/profile_set.h"
#include "model/run.h"
#include "store/bundle.h"
#include "store/bytes.h"
#include "store/chunks.h"
#include "store/levels.h"
#include "store/measures.h"
#include "store/save.h"
#include "store/serving/dictionary.h"
#include "store/serving/recode.h"
#include "store/serving/totals.h"
#include "store/session.h"
#include "store/store.h"
#include "store/values.h"

static int pack(struct fg_bytes *content, int level, struct fg_bytes *block, struct fg_error *err)
{
	const int status = fg_pack_bytes(content, level, block, err);

	fg_bytes_release(content);
	return status;
}

static int check_root(const struct fg_recoding *r, const struct fg_dictionary *d, uint64_t root,
		      struct fg_error *err)
{
	for (size_t i = 0; i < r->heads.id_count; i++) {
		if (r->paths.ids[i] == 0 || d->roots[r->paths.ids[i]] != root)
			return fg_error_set(err, FG_EPARSE,
					    "values refer to call paths of another benchmark");
	}
	return FG_OK;
}

static int make_totals(const struct fg_recoding_sums *sums, const struct fg_dictionary *d,
		       const struct fg_measure *measure, struct fg_bytes *block,
		       struct fg_error *err)
{
	struct fg_totals_source source = {.nodes = d->nodes,
					  .node_count = d->node_count,
					  .first = 1,
					  .function_count = d->function_count,
					  .recursive = d->recursive,
					  .function_ids = d->ids.functions,
					  .functions_in_order = d->order.functions,
					  .self = sums->self,
					  .fold = measure->fold,
					  .exact = measure->exact,
					  .sum = sums->sum,
					  .samples = sums->samples};
	struct fg_totals totals = {0};
	struct fg_bytes content = {0};
	int status = FG_OK;

	memcpy(source.repetitions, sums->repetitions, sizeof(source.repetitions));
	fg_totals_from_tree(&totals, &source);
	status = fg_totals_write(&totals, &content, err);
	fg_totals_release(&totals);
	if (status == FG_OK)
		return pack(&content, FG_PACK_LEVEL_NONE, block, err);
	fg_bytes_release(&content);
	return status;
}

/* The blocks of one measure; none without repetitions. */
static int make_weights(struct fg_byte_reader *reader, const struct fg_dictionary *d, uint64_t root,
			struct fg_measure_part *part, struct fg_error *err)
{
	const struct fg_renumbering to = {d->ids.nodes, d->order.nodes, d->node_count};
	struct fg_recoding_sums sums = {.self = fg_xcalloc(d->node_count, sizeof(*sums.self))};
	struct fg_recoding r = {0};
	struct fg_bytes content = {0};
	int status = fg_recoding_read(reader, d->node_count - 1, &r, &sums, err);

	if (status != FG_OK)
		goto out;
	status = check_root(&r, d, root, err);
	if (status != FG_OK || r.heads.row_count == 0)
		goto out;
	status = make_totals(&sums, d, &part->measure, &part->totals, err);
	if (status != FG_OK)
		goto out;
	fg_recoding_write(&r, &to, &content);
	status = pack(&content, FG_PACK_LEVEL_QUICK, &part->rows, err);
out:
	fg_recoding_release(&r);
	free(sums.self);
	return status;
}

/* CPU time has chunks of its own. */
static void take_time(struct fg_series_parts *parts, struct fg_measure_part *part)
{
	parts->blocks[FG_CHUNK_ROWS] = part->rows;
	parts->blocks[FG_CHUNK_TOTALS] = part->totals;
	*part = (struct fg_measure_part){0};
}

static bool is_there_twice(const struct fg_series_parts *parts, const char *name)
{
	size_t found = 0;

	for (size_t i = 0; i < parts->measure_count; i++)
		found += strcmp(parts->measures[i].measure.name, name) == 0;
	return found > 1;
}

static int make_measure(struct fg_byte_reader *reader, const struct fg_dictionary *d, uint64_t root,
			struct fg_series_parts *parts, struct fg_error *err)
{
	struct fg_measure_part *part = &parts->measures[parts->measure_count++];

	part->measure = fg_measure_read(reader, &parts->arena);
	if (reader->failed)
		return fg_error_set(err, FG_EPARSE, "a measure of a profile is damaged");
	if (is_there_twice(parts, part->measure.name))
		return fg_error_set(err, FG_EPARSE, "measure '%s' is there twice",
				    part->measure.name);
	return make_weights(reader, d, root, part, err);
}

static int make_measures(struct fg_byte_reader *reader, const struct fg_dictionary *d,
			 uint64_t root, struct fg_series_parts *parts, struct fg_error *err)
{
	size_t count = 0;

	fg_measures_read_count(reader, &count);
	if (count == 0) {
		struct fg_measure_part time = {.measure = fg_measure_describe("cpu_time", NULL)};
		const int status = make_weights(reader, d, root, &time, err);

		take_time(parts, &time);
		return status;
	}
	parts->measures = fg_xcalloc(count, sizeof(*parts->measures));
	for (size_t i = 0; i < count; i++) {
		const int status = make_measure(reader, d, root, parts, err);

		if (status != FG_OK)
			return status;
	}
	return FG_OK;
}

static int make_regions(struct fg_byte_reader *reader, struct fg_series_parts *parts,
			struct fg_error *err)
{
	struct fg_profile_set set = {0};
	struct fg_bytes content = {0};
	int status = FG_OK;

	fg_profile_set_init(&set, "");
	status = fg_regions_read(reader, &set, err);
	if (status == FG_OK && set.region_row_count) {
		fg_regions_write(&set, 0, &content);
		status = pack(&content, FG_PACK_LEVEL_QUICK, &parts->blocks[FG_CHUNK_REGIONS], err);
	}
	fg_profile_set_release(&set);
	return status;
}

static int make_profile(struct fg_byte_reader *reader, const struct fg_dictionary *d,
			const char *benchmark, struct fg_series_parts *parts, struct fg_error *err)
{
	const uint64_t root = fg_read_varint(reader);
	struct fg_bytes content = {0};
	int status = FG_OK;

	if (reader->failed || root >= d->node_count || (root && d->nodes[root].parent != 0))
		return fg_error_set(err, FG_EPARSE, "the values of benchmark '%s' name no root",
				    benchmark);
	if (root == 0)
		return FG_OK;
	fg_bytes_text(&content, fg_dictionary_root_name(d, (uint32_t)root));
	status = pack(&content, FG_PACK_LEVEL_QUICK, &parts->blocks[FG_CHUNK_PROGRAM], err);
	if (status != FG_OK)
		return status;
	status = make_measures(reader, d, root, parts, err);
	if (status != FG_OK)
		return status;
	return make_regions(reader, parts, err);
}

static int make_series(struct fg_byte_reader *reader, const struct fg_dictionary *d,
		       const cJSON *report, struct fg_series *series, struct fg_series_parts *parts,
		       struct fg_error *err)
{
	struct fg_bytes content = {0};
	int status = fg_repetitions_read(reader, series, err);

	if (status != FG_OK)
		return status;
	if (series->repetition_count) {
		fg_repetitions_write(series, 0, &content);
		status = pack(&content, FG_PACK_LEVEL_QUICK, &parts->blocks[FG_CHUNK_REPETITIONS],
			      err);
	}
	if (status != FG_OK)
		return status;
	status = make_profile(reader, d, series->name, parts, err);
	if (status != FG_OK)
		return status;
	parts->levels = fg_levels_make(series, report);
	return FG_OK;
}

static int make_all(const void *values, size_t size, const struct fg_dictionary *d,
		    struct fg_arrival *a, struct fg_error *err)
{
	struct fg_run *run = &a->stored.run;
	struct fg_bytes content = {0};
	struct fg_byte_reader reader;
	int status = fg_unpack(values, size, fg_bundle_limits_default.values_bytes, &content, err);

	if (status != FG_OK) {
		fg_error_prefix(err, "values");
		return status;
	}
	reader = (struct fg_byte_reader){content.data, content.data + content.size, false};
	a->parts = fg_xcalloc(run->series_count, sizeof(*a->parts));
	for (size_t i = 0; i < run->series_count && status == FG_OK; i++)
		status = make_series(&reader, d, a->report, &run->series[i], &a->parts[i], err);
	if (status == FG_OK)
		status = fg_values_end(&reader, err);
	fg_bytes_release(&content);
	return status;
}

int fg_arrival_make(struct fg_stored_run *stored, const void *values, size_t values_size,
		    const struct fg_dictionary *dictionary, struct fg_arrival *arrival,
		    struct fg_error *err)
{
	struct fg_arrival a = {.stored = *stored};
	int status = FG_OK;

	*stored = (struct fg_stored_run){0};
	status = fg_report_make(&a.stored.run, a.stored.report, &a.report, &a.report_block, err);
	if (status == FG_OK)
		status = make_all(values, values_size, dictionary, &a, err);
	if (status == FG_OK)
		*arrival = a;
	else
		fg_arrival_release(&a);
	return status;
}

static void release_parts(struct fg_series_parts *parts)
{
	for (size_t kind = 0; kind < FG_CHUNK_KINDS; kind++)
		fg_bytes_release(&parts->blocks[kind]);
	for (size_t i = 0; i < parts->measure_count; i++) {
		fg_bytes_release(&parts->measures[i].rows);
		fg_bytes_release(&parts->measures[i].totals);
	}
	free(parts->measures);
	fg_arena_release(&parts->arena);
	free(parts->levels);
}

void fg_arrival_release(struct fg_arrival *arrival)
{
	for (size_t i = 0; arrival->parts && i < arrival->stored.run.series_count; i++)
		release_parts(&arrival->parts[i]);
	free(arrival->parts);
	cJSON_Delete(arrival->report);
	fg_bytes_release(&arrival->report_block);
	fg_stored_run_release(&arrival->stored);
	*arrival = (struct fg_arrival){0};
}

int64_t fg_arrival_bytes(const struct fg_arrival *arrival)
{
	return fg_parts_bytes(arrival->parts, arrival->stored.run.series_count,
			      &arrival->report_block);
}

int fg_store_put_arrival(struct fg_store *store, const struct fg_arrival *arrival, bool is_new,
			 struct fg_error *err)
{
	return fg_store_write_run(store,
				  &(struct fg_save){.run = &arrival->stored.run,
						    .parts = arrival->parts,
						    .report = arrival->report,
						    .report_block = &arrival->report_block,
						    .digest = arrival->digest,
						    .is_new = is_new,
						    .is_kept = true},
				  err);
}
