// SPDX-License-Identifier: Apache-2.0
#include "store/serving/sums.h"

#include "model/measure.h"
#include "store/bytes.h"
#include "store/db.h"
#include "store/measures.h"
#include "store/session.h"

/* A measure of a series. */
struct measure {
	int64_t id;
	bool exact;
	bool is_there;
};

static const char wall_time[] = "wall_time";

static int find_measure(struct fg_store *store, int64_t series, const char *name,
			struct measure *measure, struct fg_error *err)
{
	struct fg_series_measures all = {0};
	int status = FG_OK;

	*measure = (struct measure){.is_there = !name || strcmp(name, "cpu_time") == 0};
	if (measure->is_there)
		return FG_OK;
	status = fg_store_series_measures(store, series, &all, err);
	for (size_t i = 0; i < all.count && status == FG_OK; i++) {
		const struct fg_measure *m = &all.items[i].measure;

		if (strcmp(m->name, name) == 0)
			*measure = (struct measure){all.items[i].id, m->exact, true};
	}
	fg_series_measures_release(&all);
	return status;
}

static int take_part(const struct fg_query *q, struct fg_totals *totals, struct fg_error *err)
{
	struct fg_bytes content = {0};
	struct fg_byte_reader reader;
	size_t size = 0;
	const void *block = fg_column_bytes(q, 0, &size);
	int status = fg_unpack(block, size, FG_MAX_CHUNK_BYTES, &content, err);

	if (status != FG_OK)
		return status;
	reader = (struct fg_byte_reader){content.data, content.data + content.size, false};
	status = fg_totals_read(&reader, totals, err);
	fg_bytes_release(&content);
	return status;
}

static int read_totals(struct fg_store *store, int64_t series, const char *name,
		       struct fg_totals *totals, struct fg_error *err)
{
	struct measure measure;
	struct fg_query q;
	int status = find_measure(store, series, name, &measure, err);

	if (status != FG_OK || !measure.is_there)
		return status;
	totals->exact = measure.exact;
	fg_query_begin(&q, store->db, FG_SQL_TOTALS_OF_SERIES);
	fg_query_int(&q, series);
	fg_query_int(&q, measure.id);
	while ((status = fg_query_step(&q, err)) > 0) {
		status = take_part(&q, totals, err);
		if (status != FG_OK)
			break;
	}
	fg_query_end(&q);
	return status;
}

int fg_store_totals(struct fg_store *store, int64_t series, const char *measure,
		    struct fg_totals *totals, struct fg_error *err)
{
	const int status = read_totals(store, series, measure, totals, err);

	if (status != FG_OK || measure || totals->count)
		return status;
	return read_totals(store, series, wall_time, totals, err);
}
