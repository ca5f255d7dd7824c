/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Numbers and strings as bytes, and packed blocks of them. A packed block is
 *
 * 	1 byte   version of the block (1)
 * 	4 bytes  CRC-32C of the following bytes, little endian
 * 	4 bytes  size of the content when unpacked, little endian
 * 	...      the content as one zstd frame
 *
 * A reader never reads past its end: after the first failure `failed` is set and everything it
 * returns is 0, so a decoder checks only once. A count is checked against the remaining bytes
 * before anything is allocated for it.
 */
#ifndef FG_STORE_BYTES_H
#define FG_STORE_BYTES_H

#include "base/base.h"
#include "base/error.h"

struct fg_bytes {
	uint8_t *data;
	size_t size;
	size_t capacity;
};

/* Borrowed bytes. */
struct fg_blob {
	const void *data;
	size_t size;
};

static inline struct fg_blob fg_bytes_blob(const struct fg_bytes *bytes)
{
	return (struct fg_blob){bytes->data, bytes->size};
}

struct fg_byte_reader {
	const uint8_t *at;
	const uint8_t *end;
	bool failed;
};

enum {
	FG_SEAL_HEADER_SIZE = 9,
	FG_PACK_LEVEL = 7,
	FG_PACK_LEVEL_QUICK = 1,  /* totals, and chunks that will be rewritten */
	FG_PACK_LEVEL_TIGHT = 13, /* a local store: five times the CPU time for 2 % less space */
};

void fg_bytes_add(struct fg_bytes *bytes, const void *data, size_t size);
void fg_bytes_long_varint(struct fg_bytes *bytes, uint64_t value);

/* Adds a number with 7 bits per byte, lowest first. */
static inline void fg_bytes_varint(struct fg_bytes *bytes, uint64_t value)
{
	if (value < 0x80 && bytes->size < bytes->capacity)
		bytes->data[bytes->size++] = (uint8_t)value;
	else
		fg_bytes_long_varint(bytes, value);
}

/*
 * For long runs of numbers: fg_bytes_reserve() reserves space after the content. The caller writes
 * the numbers there and passes their end to fg_bytes_end().
 */
enum {
	FG_VARINT_MAX_BYTES = 10
};

uint8_t *fg_bytes_reserve(struct fg_bytes *bytes, size_t size);

static inline uint8_t *fg_put_varint(uint8_t *at, uint64_t value)
{
	while (value >= 0x80) {
		*at++ = (uint8_t)(value | 0x80);
		value >>= 7;
	}
	*at++ = (uint8_t)value;
	return at;
}

static inline uint64_t fg_zigzag(int64_t value)
{
	const uint64_t bits = (uint64_t)value;

	return value < 0 ? ~(bits << 1) : bits << 1;
}

static inline void fg_bytes_end(struct fg_bytes *bytes, const uint8_t *at)
{
	bytes->size = (size_t)(at - bytes->data);
}

void fg_bytes_signed(struct fg_bytes *bytes, int64_t value);  /* zigzag */
void fg_bytes_float(struct fg_bytes *bytes, float value);     /* 4 bytes, little endian */
void fg_bytes_double(struct fg_bytes *bytes, double value);   /* 8 bytes, little endian */
void fg_bytes_text(struct fg_bytes *bytes, const char *text); /* length + 1, bytes; 0: NULL */
void fg_bytes_release(struct fg_bytes *bytes);

uint64_t fg_read_long_varint(struct fg_byte_reader *reader);

static inline uint64_t fg_read_varint(struct fg_byte_reader *reader)
{
	const uint8_t *at = reader->at;

	/* A profile has tens of thousands of numbers, most of them one or two bytes long. */
	if (reader->failed || reader->end - at < 2)
		return fg_read_long_varint(reader);
	if (at[0] < 0x80) {
		reader->at = at + 1;
		return at[0];
	}
	if (at[1] >= 0x80)
		return fg_read_long_varint(reader);
	reader->at = at + 2;
	return (uint64_t)at[1] << 7 | (at[0] & 0x7f);
}

static inline int64_t fg_read_signed(struct fg_byte_reader *reader)
{
	const uint64_t bits = fg_read_varint(reader);

	return (int64_t)(bits & 1 ? ~(bits >> 1) : bits >> 1);
}

/* Reads many numbers at once; a number that does not fit becomes UINT32_MAX. */
void fg_read_varints(struct fg_byte_reader *reader, uint32_t *to, size_t count);
float fg_read_float(struct fg_byte_reader *reader);
double fg_read_double(struct fg_byte_reader *reader);
/*
 * Reads a string, which is not NUL-terminated; *text is NULL for a NULL. Fails if the string is
 * longer than `max`.
 */
size_t fg_read_text(struct fg_byte_reader *reader, size_t max, const char **text);
/*
 * Reads a count of items of at least `least` bytes each. Fails if the remaining bytes are too few.
 */
size_t fg_read_count(struct fg_byte_reader *reader, size_t least);

/* Packs `content` and appends it to `block`. */
int fg_pack(const void *content, size_t size, int level, struct fg_bytes *block,
	    struct fg_error *err) FG_NODISCARD;
int fg_pack_bytes(const struct fg_bytes *content, int level, struct fg_bytes *block,
		  struct fg_error *err) FG_NODISCARD;
/*
 * Checks and unpacks a block. The caller frees the content. FG_EPARSE: damaged; FG_ELIMIT: larger
 * than `max`.
 */
int fg_unpack(const void *block, size_t size, size_t max, struct fg_bytes *content,
	      struct fg_error *err) FG_NODISCARD;

#endif
