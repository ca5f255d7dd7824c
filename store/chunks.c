// SPDX-License-Identifier: Apache-2.0
#include "store/chunks.h"

#include "store/bytes.h"
#include "store/db.h"
#include "store/session.h"

int fg_store_chunks(struct fg_store *store, int64_t series, int64_t kind, fg_chunk_taker *take,
		    void *context, struct fg_error *err)
{
	struct fg_bytes *contents = NULL;
	size_t count = 0;
	size_t capacity = 0;
	struct fg_query q;
	int status = FG_OK;

	FG_QUERY_WITH(&q, store->db, FG_SQL_CHUNKS, FG_BIND(series), FG_BIND(kind));
	while ((status = fg_query_step(&q, err)) > 0) {
		size_t size = 0;
		const void *data = fg_column_bytes(&q, 1, &size);
		struct fg_bytes content = {0};

		status = fg_unpack(data, size, FG_MAX_CHUNK_BYTES, &content, err);
		if (status != FG_OK)
			break;
		FG_APPEND(contents, count, capacity) = content;
	}
	fg_query_end(&q);
	/* The query is finished before the callbacks, which may query the database. */
	for (size_t i = 0; i < count; i++) {
		struct fg_byte_reader reader = {contents[i].data,
						contents[i].data + contents[i].size, false};

		if (status == FG_OK)
			status = take(&reader, context, err);
		fg_bytes_release(&contents[i]);
	}
	free(contents);
	return status;
}
