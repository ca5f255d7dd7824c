// SPDX-License-Identifier: Apache-2.0
#include "store/serving/search.h"

#include "model/run.h"
#include "store/bytes.h"
#include "store/chunks.h"
#include "store/db.h"
#include "store/session.h"
#include "store/totals.h"

enum {
	PARTS_MAX = 2000, /* maximum number of parts to read; each needs tens of microseconds */
};

int fg_store_search_functions(struct fg_store *store, const char *words,
			      struct fg_function_search *search, struct fg_error *err)
{
	struct fg_query q;
	int status = FG_OK;

	*search = (struct fg_function_search){.parts_left = PARTS_MAX};
	FG_QUERY_WITH(&q, store->db, FG_SQL_FUNCTION_SEARCH, FG_BIND(words),
		      FG_BIND(FG_SEARCH_NAMED));
	while ((status = fg_query_step(&q, err)) > 0)
		search->items[search->count++] = (struct fg_named_function){
			.id = (uint64_t)fg_column_int(&q, 0),
			.name = fg_arena_strdup(&search->arena, fg_column_text(&q, 1)),
			.library = fg_arena_strdup(&search->arena, fg_column_text(&q, 2))};
	fg_query_end(&q);
	return status;
}

/* Looks for functions [first, last) in one part of a benchmark's totals. */
static int match(const struct fg_query *q, struct fg_function_search *search, size_t first,
		 size_t last, struct fg_error *err)
{
	const char *benchmark = fg_arena_strdup(&search->arena, fg_column_text(q, 0));
	struct fg_bytes content = {0};
	size_t size = 0;
	const void *block = fg_column_bytes(q, 1, &size);
	int status = fg_unpack(block, size, FG_MAX_CHUNK_BYTES, &content, err);

	for (size_t i = first; i < last && status == FG_OK; i++) {
		struct fg_named_function *f = &search->items[i];

		for (int arm = 0; arm < FG_ARM_COUNT && !f->benchmark && status == FG_OK; arm++) {
			struct fg_byte_reader reader = {content.data, content.data + content.size,
							false};
			double self = 0;
			double inclusive = 0;

			status = fg_totals_pick(&reader, f->id, arm, &self, &inclusive, err);
			if (status == FG_OK && inclusive > 0)
				f->benchmark = benchmark;
		}
	}
	fg_bytes_release(&content);
	return status;
}

static int search_part(struct fg_store *store, const char *project,
		       struct fg_function_search *search, size_t first, size_t last,
		       struct fg_error *err)
{
	struct fg_query q;
	int status = FG_OK;

	FG_QUERY_WITH(&q, store->db, FG_SQL_TOTALS_NEWEST, FG_BIND(project),
		      FG_BIND((int64_t)(search->items[first].id / fg_totals_part_size(store))),
		      FG_BIND((int64_t)search->parts_left));
	while ((status = fg_query_step(&q, err)) > 0) {
		search->parts_left--;
		status = match(&q, search, first, last, err);
		if (status != FG_OK)
			break;
	}
	fg_query_end(&q);
	return status;
}

int fg_store_search_in(struct fg_store *store, const char *project,
		       struct fg_function_search *search, struct fg_error *err)
{
	const uint64_t size = fg_totals_part_size(store);
	int status = FG_OK;

	for (size_t i = 0; i < search->count; i++)
		search->items[i].benchmark = NULL;
	for (size_t first = 0, last = 0; first < search->count && status == FG_OK; first = last) {
		while (last < search->count &&
		       search->items[last].id / size == search->items[first].id / size)
			last++;
		status = search_part(store, project, search, first, last, err);
	}
	return status;
}

void fg_function_search_release(struct fg_function_search *search)
{
	fg_arena_release(&search->arena);
}
