// SPDX-License-Identifier: Apache-2.0
#include "binary/jit_dump.h"

enum {
	MAGIC = 0x4a695444, /* "JiTD", as this byte order has it */
	HEADER_BYTES = 40,
	HEADER_SIZE_AT = 8, /* how long the header is */
	RECORD_BYTES = 16,  /* number, size, time */
	RECORD_SIZE_AT = 4,
	CODE_LOAD = 0,
	CODE_MOVE = 1,
	/* in a record of code that was loaded */
	LOAD_ADDRESS_AT = 32,
	LOAD_SIZE_AT = 40,
	LOAD_NAME_AT = 56,
	/* in one of code that was moved */
	MOVE_FROM_AT = 32,
	MOVE_TO_AT = 40,
	MOVE_SIZE_AT = 48,
	MOVE_BYTES = 64,
};

static uint32_t word_at(const char *data)
{
	uint32_t value;

	memcpy(&value, data, sizeof(value));
	return value;
}

static uint64_t long_at(const char *data)
{
	uint64_t value;

	memcpy(&value, data, sizeof(value));
	return value;
}

bool fg_jit_dump_is(const char *data, size_t size)
{
	return size >= HEADER_BYTES && word_at(data) == MAGIC;
}

static bool read_load(const char *record, size_t size, struct fg_jit_code *code)
{
	if (size <= LOAD_NAME_AT ||
	    !memchr(record + LOAD_NAME_AT, '\0', size - (size_t)LOAD_NAME_AT))
		return false;
	*code = (struct fg_jit_code){.start = long_at(record + LOAD_ADDRESS_AT),
				     .size = long_at(record + LOAD_SIZE_AT),
				     .name = record + LOAD_NAME_AT};
	return true;
}

static bool read_move(const char *record, size_t size, struct fg_jit_code *code)
{
	if (size < MOVE_BYTES)
		return false;
	*code = (struct fg_jit_code){.start = long_at(record + MOVE_TO_AT),
				     .size = long_at(record + MOVE_SIZE_AT),
				     .moved_from = long_at(record + MOVE_FROM_AT)};
	return true;
}

void fg_jit_dump_read(const char *data, size_t size,
		      void (*take)(void *context, const struct fg_jit_code *code), void *context)
{
	size_t at = word_at(data + HEADER_SIZE_AT);

	if (at < HEADER_BYTES)
		return;
	while (at < size && size - at >= RECORD_BYTES) {
		const char *record = data + at;
		const uint32_t kind = word_at(record);
		const size_t length = word_at(record + RECORD_SIZE_AT);
		struct fg_jit_code code;

		if (length < RECORD_BYTES || length > size - at)
			return;
		if ((kind == CODE_LOAD && read_load(record, length, &code)) ||
		    (kind == CODE_MOVE && read_move(record, length, &code)))
			take(context, &code);
		at += length;
	}
}
