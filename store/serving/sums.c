// SPDX-License-Identifier: Apache-2.0
#include "store/serving/sums.h"

#include "model/measure.h"
#include "store/bytes.h"
#include "store/db.h"
#include "store/measures.h"
#include "store/session.h"

#include <math.h>

static int find_wall_time(struct fg_store *store, int64_t series, int64_t *measure,
			  struct fg_error *err)
{
	struct fg_series_measures all = {0};
	const int status = fg_store_series_measures(store, series, &all, err);

	*measure = -1; /* no measure has this number */
	for (size_t i = 0; i < all.count && status == FG_OK; i++) {
		if (strcmp(all.items[i].measure.name, "wall_time") == 0)
			*measure = all.items[i].id;
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
	int status = FG_OK;

	FG_TRY(fg_unpack(block, size, FG_MAX_CHUNK_BYTES, &content, err));
	reader = (struct fg_byte_reader){content.data, content.data + content.size, false};
	status = fg_totals_read(&reader, totals, err);
	fg_bytes_release(&content);
	return status;
}

static int read_totals(struct fg_store *store, int64_t series, int64_t measure,
		       struct fg_totals *totals, struct fg_error *err)
{
	struct fg_query q;
	int status = FG_OK;

	FG_QUERY_WITH(&q, store->db, FG_SQL_TOTALS_OF_SERIES, FG_BIND(series), FG_BIND(measure));
	while ((status = fg_query_step(&q, err)) > 0) {
		status = take_part(&q, totals, err);
		if (status != FG_OK)
			break;
	}
	fg_query_end(&q);
	return status;
}

int fg_store_totals(struct fg_store *store, int64_t series, struct fg_totals *totals,
		    struct fg_error *err)
{
	int64_t measure = 0;
	int status = read_totals(store, series, FG_MEASURE_CPU_TIME, totals, err);

	if (status != FG_OK || totals->count)
		return status;
	status = find_wall_time(store, series, &measure, err);
	return status == FG_OK ? read_totals(store, series, measure, totals, err) : status;
}

void fg_store_edge_totals(struct fg_store *store, const struct fg_chain_edge *edges, size_t count,
			  struct fg_totals *totals)
{
	for (size_t i = 0; i < count; i++) {
		const bool is_same = !(edges[i].error > 0) && !(fabs(edges[i].change) > 0);

		if (!is_same && fg_store_totals(store, edges[i].series, &totals[i], NULL) != FG_OK)
			fg_totals_release(&totals[i]);
	}
}
