// SPDX-License-Identifier: Apache-2.0
#include "store/postgres_rows.h"

#include "base/strbuf.h"
#include "base/text.h"
#include "store/bytes.h"
#include "store/db.h"

#include <ctype.h>
#include <endian.h>
#include <math.h>

enum {
	TYPE_BYTEA = 17,
	TYPE_BIGINT = 20,
	TYPE_TEXT = 25,
	TYPE_DOUBLE = 701
};

static uint32_t type_of(const struct fg_column *column)
{
	if (column->numbers)
		return TYPE_BIGINT;
	if (column->doubles)
		return TYPE_DOUBLE;
	return column->texts ? TYPE_TEXT : TYPE_BYTEA;
}

static const char *type_name(const struct fg_column *column)
{
	switch (type_of(column)) {
	case TYPE_BIGINT:
		return "BIGINT";
	case TYPE_DOUBLE:
		return "DOUBLE PRECISION";
	case TYPE_TEXT:
		return "TEXT";
	default:
		return "BYTEA";
	}
}

/* Adds the statement with r.c1 instead of $1, and so on. */
static void add_expressions(struct fg_strbuf *to, const char *text, size_t length)
{
	for (size_t i = 0; i < length; i++) {
		if (text[i] == '$' && i + 1 < length && isdigit((unsigned char)text[i + 1]))
			fg_strbuf_add_text(to, "r.c");
		else
			fg_strbuf_add_char(to, text[i]);
	}
}

/*
 * Adds the rows as a table. `in_order`: results come in the order of the rows, which makes the
 * server sort them.
 */
static void add_source(struct fg_strbuf *to, const struct fg_rows *rows, bool in_order)
{
	fg_strbuf_add_text(to, " FROM unnest(");
	for (size_t c = 0; c < rows->column_count; c++)
		fg_strbuf_printf(to, "%s$%zu::%s[]", c ? ", " : "", c + 1,
				 type_name(&rows->columns[c]));
	fg_strbuf_add_text(to, in_order ? ") WITH ORDINALITY AS r (" : ") AS r (");
	for (size_t c = 0; c < rows->column_count; c++)
		fg_strbuf_printf(to, "%sc%zu", c ? ", " : "", c + 1);
	fg_strbuf_add_text(to, in_order ? ", n) ORDER BY r.n" : ")");
}

char *fg_postgres_rows_text(const char *text, const struct fg_rows *rows)
{
	static const char values[] = "VALUES (";
	const char *first = strstr(text, values);
	struct fg_strbuf made = {0};

	if (first && fg_text_starts_with(text, "INSERT ")) {
		const size_t length = strcspn(first + sizeof(values) - 1, ")");

		fg_strbuf_add(&made, text, (size_t)(first - text));
		fg_strbuf_add_text(&made, "SELECT ");
		first += sizeof(values) - 1;
		add_expressions(&made, first, length);
		add_source(&made, rows, strstr(first, " RETURNING "));
		fg_strbuf_add_text(&made, first + length + 1);
	} else {
		fg_strbuf_add_text(&made, "SELECT (");
		add_expressions(&made, text, strlen(text));
		fg_strbuf_add_char(&made, ')');
		add_source(&made, rows, true);
	}
	return fg_strbuf_detach(&made);
}

static void put_big32(struct fg_bytes *bytes, uint32_t value)
{
	const uint32_t big = htobe32(value);

	fg_bytes_add(bytes, &big, sizeof(big));
}

static void put_null(struct fg_bytes *array)
{
	put_big32(array, UINT32_MAX);
}

static void put_data(struct fg_bytes *array, const void *data, size_t size)
{
	put_big32(array, (uint32_t)size);
	fg_bytes_add(array, data, size);
}

static void put_text(struct fg_bytes *array, const char *text)
{
	const size_t length = strlen(text);
	struct fg_strbuf clean = {0};

	if (fg_text_is_utf8(text, length)) {
		put_data(array, text, length);
		return;
	}
	fg_text_add_clean(&clean, text, length, SIZE_MAX);
	put_data(array, fg_strbuf_text(&clean), clean.length);
	fg_strbuf_release(&clean);
}

static void put_number(struct fg_bytes *array, uint64_t bits)
{
	const struct {
		uint32_t size;
		uint64_t bits;
	} __attribute__((packed)) item = {htobe32(sizeof(bits)), htobe64(bits)};

	fg_bytes_add(array, &item, sizeof(item));
}

static void put_double(struct fg_bytes *array, double value)
{
	uint64_t bits = 0;

	memcpy(&bits, &value, sizeof(bits));
	put_number(array, bits);
}

static void put_item(const struct fg_column *column, size_t row, struct fg_bytes *array)
{
	if (column->numbers && column->numbers[row] != FG_NO_NUMBER)
		put_number(array, (uint64_t)column->numbers[row]);
	else if (column->doubles && !isnan(column->doubles[row]))
		put_double(array, column->doubles[row]);
	else if (column->texts && column->texts[row])
		put_text(array, column->texts[row]);
	else if (column->blobs)
		put_data(array, column->blobs[row].data, column->blobs[row].size);
	else
		put_null(array);
}

/* The size of an array without its texts. */
static size_t array_bytes(const struct fg_column *column, size_t first, size_t count)
{
	enum {
		HEAD_BYTES = 20,
		ITEM_BYTES = 12
	};
	size_t bytes = HEAD_BYTES + count * ITEM_BYTES;

	for (size_t i = first; i < first + count && column->blobs; i++)
		bytes += column->blobs[i].size;
	return bytes;
}

void fg_postgres_array(const struct fg_column *column, size_t first, size_t count,
		       struct fg_bytes *array)
{
	(void)fg_bytes_reserve(array, array_bytes(column, first, count));
	put_big32(array, 1); /* one dimension */
	put_big32(array, 1); /* there may be NULLs */
	put_big32(array, type_of(column));
	put_big32(array, (uint32_t)count);
	put_big32(array, 1); /* index of the first item */
	for (size_t i = 0; i < count; i++)
		put_item(column, first + i, array);
}
