// SPDX-License-Identifier: Apache-2.0
#include "store/bytes.h"

#include "base/hash.h"

#include <pthread.h>
#include <zstd.h>
#include <zstd_errors.h>

enum {
	SEAL_VERSION = 1,
	MATCH_MIN = 7,
	HASH_LOG_SMALL = 6,      /* zstd's minimum */
	KEPT_MAX = 16,           /* maximum number of kept contexts per kind */
	KEPT_MAX_BYTES = 2 << 20 /* larger contexts are not kept */
};

/*
 * Creating a zstd context takes longer than packing a small block, so this file keeps contexts for
 * the next use, in any thread.
 */
struct kept {
	void *items[KEPT_MAX];
	size_t count;
};

static pthread_mutex_t kept_lock = PTHREAD_MUTEX_INITIALIZER;
static struct kept kept_packers;
static struct kept kept_unpackers;

static void *take_kept(struct kept *kept)
{
	void *item = NULL;

	(void)pthread_mutex_lock(&kept_lock);
	if (kept->count)
		item = kept->items[--kept->count];
	(void)pthread_mutex_unlock(&kept_lock);
	return item;
}

/* Returns false if KEPT_MAX contexts are kept already. */
static bool keep(struct kept *kept, void *item)
{
	bool done = false;

	(void)pthread_mutex_lock(&kept_lock);
	done = kept->count < KEPT_MAX;
	if (done)
		kept->items[kept->count++] = item;
	(void)pthread_mutex_unlock(&kept_lock);
	return done;
}

static ZSTD_CCtx *take_packer(void)
{
	ZSTD_CCtx *zstd = take_kept(&kept_packers);

	return zstd ? zstd : ZSTD_createCCtx();
}

static void give_packer(ZSTD_CCtx *zstd)
{
	(void)ZSTD_CCtx_reset(zstd, ZSTD_reset_session_and_parameters);
	if (ZSTD_sizeof_CCtx(zstd) > KEPT_MAX_BYTES || !keep(&kept_packers, zstd))
		(void)ZSTD_freeCCtx(zstd);
}

static size_t unpack(void *to, size_t room_bytes, const void *from, size_t size)
{
	ZSTD_DCtx *zstd = take_kept(&kept_unpackers);
	size_t got = 0;

	if (!zstd)
		zstd = ZSTD_createDCtx();
	if (!zstd)
		return (size_t)0 - ZSTD_error_memory_allocation;
	got = ZSTD_decompressDCtx(zstd, to, room_bytes, from, size);
	if (ZSTD_isError(got) || !keep(&kept_unpackers, zstd))
		(void)ZSTD_freeDCtx(zstd);
	return got;
}

uint8_t *fg_bytes_reserve(struct fg_bytes *bytes, size_t size)
{
	if (bytes->capacity - bytes->size < size)
		bytes->data = fg_grow(bytes->data, &bytes->capacity, bytes->size + size, 1);
	return bytes->data + bytes->size;
}

void fg_bytes_add(struct fg_bytes *bytes, const void *data, size_t size)
{
	if (size == 0)
		return;
	memcpy(fg_bytes_reserve(bytes, size), data, size);
	bytes->size += size;
}

void fg_bytes_long_varint(struct fg_bytes *bytes, uint64_t value)
{
	fg_bytes_end(bytes, fg_put_varint(fg_bytes_reserve(bytes, FG_VARINT_MAX_BYTES), value));
}

void fg_bytes_signed(struct fg_bytes *bytes, int64_t value)
{
	fg_bytes_varint(bytes, fg_zigzag(value));
}

static void put_little(uint8_t *at, uint64_t value, size_t size)
{
	for (size_t i = 0; i < size; i++)
		at[i] = (uint8_t)(value >> (8 * i));
}

static uint64_t get_little(const uint8_t *at, size_t size)
{
	uint64_t value = 0;

	for (size_t i = 0; i < size; i++)
		value |= (uint64_t)at[i] << (8 * i);
	return value;
}

void fg_bytes_float(struct fg_bytes *bytes, float value)
{
	uint32_t bits = 0;
	uint8_t at[4];

	memcpy(&bits, &value, sizeof(bits));
	put_little(at, bits, sizeof(at));
	fg_bytes_add(bytes, at, sizeof(at));
}

void fg_bytes_double(struct fg_bytes *bytes, double value)
{
	uint64_t bits = 0;
	uint8_t at[8];

	memcpy(&bits, &value, sizeof(bits));
	put_little(at, bits, sizeof(at));
	fg_bytes_add(bytes, at, sizeof(at));
}

void fg_bytes_text(struct fg_bytes *bytes, const char *text)
{
	const size_t length = text ? strlen(text) : 0;

	fg_bytes_varint(bytes, text ? length + 1 : 0);
	fg_bytes_add(bytes, text, length);
}

void fg_bytes_release(struct fg_bytes *bytes)
{
	free(bytes->data);
	*bytes = (struct fg_bytes){0};
}

static size_t left(const struct fg_byte_reader *reader)
{
	return (size_t)(reader->end - reader->at);
}

uint64_t fg_read_long_varint(struct fg_byte_reader *reader)
{
	uint64_t value = 0;

	for (unsigned shift = 0; shift < 64; shift += 7) {
		uint8_t byte = 0;

		if (reader->failed || reader->at == reader->end)
			break;
		byte = *reader->at++;
		value |= (uint64_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80))
			return value;
	}
	reader->failed = true;
	return 0;
}

void fg_read_varints(struct fg_byte_reader *reader, uint32_t *to, size_t count)
{
	const uint8_t *end = reader->end;
	const uint8_t *at = reader->failed ? end : reader->at;

	for (size_t i = 0; i < count; i++) {
		if (at < end && *at < 0x80) {
			to[i] = *at++;
		} else {
			uint64_t value = 0;

			reader->at = at;
			value = fg_read_long_varint(reader);
			at = reader->at;
			to[i] = value < UINT32_MAX ? (uint32_t)value : UINT32_MAX;
			if (reader->failed)
				return;
		}
	}
	reader->at = at;
}

static uint64_t read_little(struct fg_byte_reader *reader, size_t size)
{
	uint64_t value = 0;

	if (reader->failed || left(reader) < size) {
		reader->failed = true;
		return 0;
	}
	value = get_little(reader->at, size);
	reader->at += size;
	return value;
}

float fg_read_float(struct fg_byte_reader *reader)
{
	const uint32_t bits = (uint32_t)read_little(reader, 4);
	float value = 0;

	memcpy(&value, &bits, sizeof(value));
	return value;
}

double fg_read_double(struct fg_byte_reader *reader)
{
	const uint64_t bits = read_little(reader, 8);
	double value = 0;

	memcpy(&value, &bits, sizeof(value));
	return value;
}

size_t fg_read_text(struct fg_byte_reader *reader, size_t max, const char **text)
{
	const uint64_t announced = fg_read_varint(reader);
	size_t length = 0;

	*text = NULL;
	if (announced == 0)
		return 0;
	if (announced - 1 > max || announced - 1 > left(reader)) {
		reader->failed = true;
		return 0;
	}
	length = (size_t)(announced - 1);
	*text = (const char *)reader->at;
	reader->at += length;
	return length;
}

size_t fg_read_count(struct fg_byte_reader *reader, size_t least)
{
	const uint64_t count = fg_read_varint(reader);

	if (reader->failed || count > left(reader) / (least ? least : 1)) {
		reader->failed = true;
		return 0;
	}
	return (size_t)count;
}

int fg_pack_bytes(const struct fg_bytes *content, int level, struct fg_bytes *block,
		  struct fg_error *err)
{
	static const uint8_t none[1];
	const size_t bound = ZSTD_compressBound(content->size);
	ZSTD_CCtx *zstd = NULL;
	uint8_t *at = NULL;
	size_t packed = 0;

	if (content->size > UINT32_MAX)
		return fg_error_set(err, FG_ELIMIT,
				    "a block of %zu bytes exceeds the store's limit (4 GiB)",
				    content->size);
	zstd = take_packer();
	if (!zstd)
		return fg_error_set(err, FG_EDB, "cannot pack a block: out of memory");
	at = fg_bytes_reserve(block, FG_SEAL_HEADER_SIZE + bound);
	packed = ZSTD_CCtx_setParameter(zstd, ZSTD_c_compressionLevel, level);
	/* Streams of numbers repeat little, so short matches would only worsen entropy coding. */
	if (!ZSTD_isError(packed) && level == FG_PACK_LEVEL_QUICK)
		packed = ZSTD_CCtx_setParameter(zstd, ZSTD_c_minMatch, MATCH_MIN);
	/* Clearing a larger table would cost more time than the table saves. */
	if (!ZSTD_isError(packed) && level == FG_PACK_LEVEL_QUICK)
		packed = ZSTD_CCtx_setParameter(zstd, ZSTD_c_hashLog, HASH_LOG_SMALL);
	if (!ZSTD_isError(packed))
		packed = ZSTD_compress2(zstd, at + FG_SEAL_HEADER_SIZE, bound,
					content->data ? content->data : none, content->size);
	give_packer(zstd);
	if (ZSTD_isError(packed))
		return fg_error_set(err, FG_EDB, "cannot pack a block: %s",
				    ZSTD_getErrorName(packed));
	at[0] = SEAL_VERSION;
	put_little(at + 5, content->size, 4);
	put_little(at + 1, fg_crc32c(0, at + 5, 4 + packed), 4);
	block->size += FG_SEAL_HEADER_SIZE + packed;
	return FG_OK;
}

int fg_pack(const void *content, size_t size, int level, struct fg_bytes *block,
	    struct fg_error *err)
{
	struct fg_bytes whole = {0};
	int status = FG_OK;

	fg_bytes_add(&whole, content, size);
	status = fg_pack_bytes(&whole, level, block, err);
	fg_bytes_release(&whole);
	return status;
}

int fg_unpack(const void *block, size_t size, size_t max, struct fg_bytes *content,
	      struct fg_error *err)
{
	const uint8_t *at = block;
	uint8_t *data = NULL;
	size_t unpacked = 0;
	size_t got = 0;

	if (size < FG_SEAL_HEADER_SIZE)
		return fg_error_set(err, FG_EPARSE, "a block of %zu bytes is cut short", size);
	if (at[0] != SEAL_VERSION)
		return fg_error_set(err, FG_EPARSE,
				    "a block has version %d; this fastgate reads version %d", at[0],
				    SEAL_VERSION);
	if (get_little(at + 1, 4) != fg_crc32c(0, at + 5, size - 5))
		return fg_error_set(err, FG_EPARSE,
				    "a block is damaged: its checksum does not match");
	unpacked = (size_t)get_little(at + 5, 4);
	if (unpacked > max)
		return fg_error_set(err, FG_ELIMIT,
				    "a block unpacks to %zu bytes; the limit is %zu", unpacked,
				    max);
	data = fg_xmalloc(unpacked + 1);
	got = unpack(data, unpacked, at + FG_SEAL_HEADER_SIZE, size - FG_SEAL_HEADER_SIZE);
	if (ZSTD_isError(got) || got != unpacked) {
		free(data);
		/* If memory ran out, the bytes may still be intact. */
		if (ZSTD_getErrorCode(got) == ZSTD_error_memory_allocation)
			return fg_error_set(err, FG_EDB, "cannot unpack a block: out of memory");
		return fg_error_set(err, FG_EPARSE, "a block is damaged: it does not unpack");
	}
	data[unpacked] = '\0';
	*content = (struct fg_bytes){.data = data, .size = unpacked, .capacity = unpacked + 1};
	return FG_OK;
}
