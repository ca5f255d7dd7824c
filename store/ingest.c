// SPDX-License-Identifier: Apache-2.0
/*
 * From the values of a bundle to the blocks of the store without building a profile set in between: the weights stay a
 * matrix, only its ids change from the dictionary's numbers to the store's.  Those are mostly in the same order; where
 * they are not (a new function below old ones), the columns are written in the order of the new ids.
 */
#include "store/ingest.h"

#include "store/store_private.h"

/* The places of the matrix's columns in the store's order. */
static uint32_t *store_order(const struct fg_matrix *m, const struct fg_dictionary *d)
{
	uint32_t *columns = fg_xcalloc(d->node_count, sizeof(*columns));
	uint32_t *order = fg_xcalloc(m->id_count + 1, sizeof(*order));
	size_t count = 0;

	for (size_t i = 0; i < m->id_count; i++)
		columns[m->ids[i]] = (uint32_t)i + 1;
	/* Which path is there and which is not, no processor can guess: so each is written down, and some again over it. */
	for (size_t i = 0; i < d->node_count; i++) {
		const uint32_t column = columns[d->nodes_in_order[i]];

		order[count] = column - 1;
		count += column != 0;
	}
	free(columns);
	return order;
}

/* From the dictionary's numbers to the store's. */
static void rename_ids(struct fg_matrix *m, const struct fg_dictionary *d)
{
	bool in_order = true;

	for (size_t i = 1; i < m->id_count; i++)
		in_order = in_order && d->node_ids[m->ids[i]] > d->node_ids[m->ids[i - 1]];
	if (!in_order)
		m->order = store_order(m, d);
	for (size_t i = 0; i < m->id_count; i++)
		m->ids[i] = d->node_ids[m->ids[i]];
}

static int seal(struct fg_bytes *content, struct fg_bytes *block, struct fg_error *err)
{
	const int status = fg_seal_bytes(content, FG_SEAL_LEVEL_QUICK, block, err);

	fg_bytes_release(content);
	return status;
}

static int check_root(const struct fg_matrix *m, const struct fg_dictionary *d, uint64_t root,
		      struct fg_error *err)
{
	for (size_t i = 0; i < m->id_count; i++) {
		if (m->ids[i] == 0 || d->roots[m->ids[i]] != root)
			return fg_error_set(err, FG_EPARSE,
					    "values refer to call paths of another benchmark");
	}
	return FG_OK;
}

static void sum_up(const struct fg_matrix *m, struct fg_totals_source *source)
{
	uint8_t *columns = fg_xmalloc(m->row_count + 1);
	uint64_t samples = 0;

	for (size_t r = 0; r < m->row_count; r++)
		source->repetitions[m->rows[r].arm] += m->rows[r].aside == 0;
	source->self_ns = fg_xcalloc(source->node_count, sizeof(*source->self_ns));
	for (size_t r = 0; r < m->row_count; r++)
		columns[r] = m->rows[r].aside == 0 ? m->rows[r].arm : FG_ARM_COUNT;
	for (size_t i = 0; i < m->id_count; i++) {
		double sums[FG_ARM_COUNT + 1] = {0}; /* the last: what is set aside */

		for (size_t e = m->starts[i]; e < m->starts[i + 1]; e++) {
			sums[columns[m->entry_rows[e]]] += m->self_ns[e];
			samples += m->samples[e];
		}
		for (int arm = 0; arm < FG_ARM_COUNT; arm++)
			source->self_ns[m->ids[i]][arm] = sums[arm] > 0 ? sums[arm] : 0;
		source->time_ns += sums[0] + sums[1] + sums[FG_ARM_COUNT];
	}
	source->samples = (double)samples;
	free(columns);
}

/* Before the ids are renamed. */
static int make_functions(const struct fg_matrix *m, const struct fg_dictionary *d,
			  struct fg_bytes *block, struct fg_error *err)
{
	struct fg_totals_source source = {.nodes = d->nodes,
					  .node_count = d->node_count,
					  .first = 1,
					  .function_count = d->function_count,
					  .recursive = d->recursive,
					  .function_ids = d->function_ids,
					  .functions_in_order = d->functions_in_order};
	struct fg_totals totals = {0};
	struct fg_bytes content = {0};
	int status = FG_OK;

	sum_up(m, &source);
	fg_totals_from_tree(&totals, &source);
	status = fg_totals_write(&totals, &content, err);
	fg_totals_release(&totals);
	free(source.self_ns);
	if (status == FG_OK)
		return seal(&content, block, err);
	fg_bytes_release(&content);
	return status;
}

static int make_weights(struct fg_byte_reader *reader, const struct fg_dictionary *d, uint64_t root,
			struct fg_series_parts *parts, struct fg_error *err)
{
	struct fg_matrix m = {0};
	struct fg_bytes content = {0};
	int status = fg_matrix_read(reader, d->node_count - 1, &m, err);

	if (status == FG_OK)
		status = check_root(&m, d, root, err);
	if (status == FG_OK && m.row_count) {
		status = make_functions(&m, d, &parts->blocks[FG_CHUNK_TOTALS], err);
		rename_ids(&m, d);
		fg_matrix_write(&m, &content);
		if (status == FG_OK)
			status = seal(&content, &parts->blocks[FG_CHUNK_ROWS], err);
	}
	fg_bytes_release(&content);
	fg_matrix_release(&m);
	return status;
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
		status = seal(&content, &parts->blocks[FG_CHUNK_REGIONS], err);
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
	fg_bytes_text(&content, d->root_names[root]);
	status = seal(&content, &parts->blocks[FG_CHUNK_PROGRAM], err);
	if (status == FG_OK)
		status = make_weights(reader, d, root, parts, err);
	if (status == FG_OK)
		status = make_regions(reader, parts, err);
	return status;
}

static int make_series(struct fg_byte_reader *reader, const struct fg_dictionary *d,
		       const cJSON *report, struct fg_series *series, struct fg_series_parts *parts,
		       struct fg_error *err)
{
	struct fg_bytes content = {0};
	int status = fg_repetitions_read(reader, series, err);

	if (status == FG_OK && series->repetition_count) {
		fg_repetitions_write(series, 0, &content);
		status = seal(&content, &parts->blocks[FG_CHUNK_REPETITIONS], err);
	}
	if (status == FG_OK)
		status = make_profile(reader, d, series->name, parts, err);
	if (status == FG_OK)
		parts->levels = fg__levels_make(series, report);
	return status;
}

static int make_all(const void *values, size_t size, const struct fg_dictionary *d,
		    struct fg_arrival *a, struct fg_error *err)
{
	struct fg_run *run = &a->stored.run;
	struct fg_bytes content = {0};
	struct fg_byte_reader reader;
	int status = fg_unseal(values, size, fg_bundle_limits_default.values_bytes, &content, err);

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
	status = fg__report_make(&a.stored.run, a.stored.report, &a.report, &a.report_block, err);
	if (status == FG_OK)
		status = make_all(values, values_size, dictionary, &a, err);
	if (status == FG_OK)
		*arrival = a;
	else
		fg_arrival_release(&a);
	return status;
}

void fg_arrival_release(struct fg_arrival *arrival)
{
	for (size_t i = 0; arrival->parts && i < arrival->stored.run.series_count; i++) {
		for (size_t kind = 0; kind < FG_CHUNK_KINDS; kind++)
			fg_bytes_release(&arrival->parts[i].blocks[kind]);
		free(arrival->parts[i].levels);
	}
	free(arrival->parts);
	cJSON_Delete(arrival->report);
	fg_bytes_release(&arrival->report_block);
	fg_stored_run_release(&arrival->stored);
	*arrival = (struct fg_arrival){0};
}

int fg_store_put_arrival(struct fg_store *store, const struct fg_arrival *arrival, bool is_new,
			 struct fg_error *err)
{
	return fg__store_save(store,
			      &(struct fg_save){.run = &arrival->stored.run,
						.parts = arrival->parts,
						.report = arrival->report,
						.report_block = &arrival->report_block,
						.digest = arrival->digest,
						.is_new = is_new},
			      err);
}
