// SPDX-License-Identifier: Apache-2.0
#include "store/serving/seals.h"

#include "store/chunks.h"
#include "store/db.h"
#include "store/session.h"

int fg_seals_list(struct fg_store *store, int64_t benchmark, struct fg_seals *seals,
		  struct fg_error *err)
{
	int64_t after = 0;
	struct fg_query q;
	int status = FG_OK;

	fg_query_begin(&q, store->db, FG_SQL_SEAL_LIST);
	fg_query_int(&q, benchmark);
	while ((status = fg_query_step(&q, err)) > 0) {
		struct fg_seal *seal = NULL;

		seals->items = fg_grow(seals->items, &seals->capacity, seals->count + 1,
				       sizeof(*seals->items));
		seal = &seals->items[seals->count++];
		*seal = (struct fg_seal){.number = fg_column_int(&q, 0),
					 .after = after,
					 .last = fg_column_int(&q, 1),
					 .has_metrics = fg_column_int(&q, 2) > 0,
					 .newest_ns = fg_column_int(&q, 3)};
		if (!seal->has_metrics)
			seal->newest_ns = INT64_MAX;
		after = seal->last;
	}
	fg_query_end(&q);
	return status;
}

static void forget_blocks(struct fg_seal *seal)
{
	fg_bytes_release(&seal->members);
	fg_bytes_release(&seal->values);
}

void fg_seals_release(struct fg_seals *seals)
{
	for (size_t i = 0; i < seals->count; i++)
		forget_blocks(&seals->items[i]);
	free(seals->items);
	*seals = (struct fg_seals){0};
}

static int read_block(const struct fg_query *q, int column, struct fg_bytes *content,
		      struct fg_error *err)
{
	size_t size = 0;
	const void *data = fg_column_bytes(q, column, &size);

	return fg_unpack(data, size, FG_MAX_CHUNK_BYTES, content, err);
}

/* Seals [first, end) of all. */
struct span {
	struct fg_seal *items;
	size_t first;
	size_t end;
};

static int read_members(struct fg_store *store, int64_t benchmark, const struct span *span,
			struct fg_error *err)
{
	size_t at = span->first;
	struct fg_query q;
	int status = FG_OK;

	fg_query_begin(&q, store->db, FG_SQL_SEALS);
	fg_query_int(&q, benchmark);
	fg_query_int(&q, span->items[span->first].number);
	fg_query_int(&q, span->items[span->end - 1].number);
	while (at < span->end && (status = fg_query_step(&q, err)) > 0) {
		struct fg_seal *seal = &span->items[at++];

		FG_ASSERT(seal->number == fg_column_int(&q, 0)); /* both are of one view */
		seal->alive = (size_t)fg_column_int(&q, 3);
		status = read_block(&q, 2, &seal->members, err);
		if (status != FG_OK)
			break;
	}
	fg_query_end(&q);
	return status > 0 ? FG_OK : status;
}

/* Both are sorted by number; what was in none of a seal's members has no tile there. */
static int read_tiles(struct fg_store *store, const struct fg_seal_walk *walk,
		      const struct span *span, struct fg_error *err)
{
	size_t at = span->first;
	struct fg_query q;
	int status = FG_OK;

	fg_query_begin(&q, store->db, FG_SQL_TILES);
	fg_query_int(&q, walk->benchmark);
	fg_query_int(&q, walk->key);
	fg_query_int(&q, span->items[span->first].number);
	fg_query_int(&q, span->items[span->end - 1].number);
	while ((status = fg_query_step(&q, err)) > 0) {
		const int64_t number = fg_column_int(&q, 0);

		while (at < span->end && span->items[at].number < number)
			at++;
		if (at == span->end || span->items[at].number > number)
			continue;
		status = read_block(&q, 1, &span->items[at].values, err);
		if (status != FG_OK)
			break;
	}
	fg_query_end(&q);
	return status;
}

static int take_span(struct fg_store *store, const struct fg_seal_walk *walk,
		     const struct span *span, struct fg_error *err)
{
	int status = read_members(store, walk->benchmark, span, err);

	if (status == FG_OK)
		status = read_tiles(store, walk, span, err);
	for (size_t i = span->first; i < span->end && status == FG_OK; i++) {
		if (span->items[i].alive)
			status = walk->take(walk->context, &span->items[i], err);
		forget_blocks(&span->items[i]);
	}
	return status;
}

/* The first one to be read next, of those before `end`; `end`: none. */
static size_t next_wanted(const struct fg_seal_walk *walk, const struct fg_seals *seals, size_t end)
{
	int64_t since_ns = INT64_MIN;
	size_t known = 0;
	size_t first = end;

	if (!walk->limit)
		return 0;
	known = walk->count(walk->context, walk->limit, &since_ns);
	if (known < walk->limit) {
		const size_t more = (walk->limit - known + FG_TILE_MEMBERS - 1) / FG_TILE_MEMBERS;

		return end > more ? end - more : 0;
	}
	for (size_t i = 0; i < end && first == end; i++) {
		if (seals->items[i].newest_ns >= since_ns)
			first = i;
	}
	return first;
}

int fg_seals_walk(struct fg_store *store, const struct fg_seal_walk *walk, struct fg_seals *seals,
		  struct fg_error *err)
{
	size_t end = seals->count;
	int status = FG_OK;

	while (end > 0 && status == FG_OK) {
		const size_t first = next_wanted(walk, seals, end);

		if (first == end)
			break;
		status = take_span(store, walk, &(struct span){seals->items, first, end}, err);
		end = first;
	}
	return status;
}

static int by_value(const void *a, const void *b)
{
	const int64_t *x = a;
	const int64_t *y = b;

	return (*x > *y) - (*x < *y);
}

int64_t fg_newest_since(int64_t *starts_ns, size_t count, size_t limit)
{
	FG_ASSERT(limit > 0 && count >= limit);
	qsort(starts_ns, count, sizeof(*starts_ns), by_value);
	return starts_ns[count - limit];
}

void fg_put_head_last(void *items, size_t size, size_t head, size_t count)
{
	char *all = items;
	char *kept = NULL;

	if (head == 0 || head == count)
		return;
	kept = fg_xmalloc(head * size);
	memcpy(kept, all, head * size);
	memmove(all, all + head * size, (count - head) * size);
	memcpy(all + (count - head) * size, kept, head * size);
	free(kept);
}

static void read_texts(struct fg_byte_reader *reader, struct fg_member *members, size_t offset)
{
	for (size_t i = 0; i < FG_TILE_MEMBERS; i++) {
		struct fg_member_text *text = (void *)((char *)&members[i] + offset);

		text->length = fg_read_text(reader, FG_MAX_CHUNK_BYTES, &text->at);
	}
}

static void read_flags(struct fg_byte_reader *reader, struct fg_member *members)
{
	for (size_t i = 0; i < FG_TILE_MEMBERS; i++) {
		const uint64_t flags = fg_read_varint(reader);

		members[i].dirty = flags & FG_MEMBER_DIRTY;
		members[i].complete = flags & FG_MEMBER_COMPLETE;
	}
}

int fg_seal_members(const struct fg_seal *seal, struct fg_member members[FG_TILE_MEMBERS],
		    enum fg_seal_heads *heads, struct fg_error *err)
{
	struct fg_byte_reader reader = {seal->members.data, seal->members.data + seal->members.size,
					false};
	int64_t number = 0;

	memset(members, 0, FG_TILE_MEMBERS * sizeof(*members));
	for (size_t i = 0; i < FG_TILE_MEMBERS; i++)
		members[i].series = number += fg_read_signed(&reader);
	*heads = reader.at < reader.end ? FG_SEAL_RUNS : FG_SEAL_NUMBERS;
	if (*heads == FG_SEAL_NUMBERS)
		goto out;
	number = 0;
	for (size_t i = 0; i < FG_TILE_MEMBERS; i++)
		members[i].started_ns = number += fg_read_signed(&reader);
	read_texts(&reader, members, offsetof(struct fg_member, run));
	read_texts(&reader, members, offsetof(struct fg_member, commit));
	read_texts(&reader, members, offsetof(struct fg_member, branch));
	/* The first servers that listed runs did not note which members have a profile. */
	for (size_t i = 0; i < FG_TILE_MEMBERS; i++)
		members[i].is_profiled = reader.at == reader.end || fg_read_varint(&reader) != 0;
	if (reader.at == reader.end)
		goto out;
	*heads = FG_SEAL_ALL;
	read_texts(&reader, members, offsetof(struct fg_member, fingerprint));
	read_texts(&reader, members, offsetof(struct fg_member, tag));
	read_flags(&reader, members);
out:
	return reader.failed ? fg_error_set(err, FG_EPARSE, "a seal is damaged") : FG_OK;
}

const char *fg_member_copy(struct fg_arena *arena, const struct fg_member_text *text,
			   const char *last)
{
	if (!text->at)
		return NULL;
	if (last && strncmp(last, text->at, text->length) == 0 && last[text->length] == '\0')
		return last;
	return fg_arena_strndup(arena, text->at, text->length);
}
