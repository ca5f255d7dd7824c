// SPDX-License-Identifier: Apache-2.0
#include "store/postgres_rows.h"

#include "base/strbuf.h"
#include "base/text.h"
#include "store/bytes.h"
#include "store/db.h"

#include <ctype.h>
#include <endian.h>

/* PostgreSQL's types for our kinds of parameters. */
static const struct {
	uint32_t number;
	const char *name;
} types[] = {
	[FG_BIND_NUMBER] = {20, "BIGINT"},
	[FG_BIND_REAL] = {701, "DOUBLE PRECISION"},
	[FG_BIND_TEXT] = {25, "TEXT"},
	[FG_BIND_BYTES] = {17, "BYTEA"},
};

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
	for (size_t c = 0; c < rows->columns; c++)
		fg_strbuf_printf(to, "%s$%zu::%s[]", c ? ", " : "", c + 1,
				 types[rows->binds[c].kind].name);
	fg_strbuf_add_text(to, in_order ? ") WITH ORDINALITY AS r (" : ") AS r (");
	for (size_t c = 0; c < rows->columns; c++)
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

static void put_item(const struct fg_bind *bind, struct fg_bytes *array)
{
	if (fg_bind_is_null(bind))
		put_big32(array, UINT32_MAX);
	else if (bind->kind == FG_BIND_NUMBER)
		put_number(array, (uint64_t)bind->number);
	else if (bind->kind == FG_BIND_REAL)
		put_double(array, bind->real);
	else if (bind->kind == FG_BIND_TEXT)
		put_text(array, bind->text);
	else
		put_data(array, bind->bytes.data, bind->bytes.size);
}

void fg_postgres_array(const struct fg_rows *rows, size_t column, size_t first, size_t count,
		       struct fg_bytes *array)
{
	const struct fg_bind *binds = rows->binds + first * rows->columns + column;

	put_big32(array, 1); /* one dimension */
	put_big32(array, 1); /* there may be NULLs */
	put_big32(array, types[binds->kind].number);
	put_big32(array, (uint32_t)count);
	put_big32(array, 1); /* index of the first item */
	for (size_t i = 0; i < count; i++)
		put_item(&binds[i * rows->columns], array);
}
