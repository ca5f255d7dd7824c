// SPDX-License-Identifier: Apache-2.0
#include "base/strbuf.h"

void fg_strbuf_set_limit(struct fg_strbuf *text, size_t limit_bytes)
{
	text->limit = limit_bytes;
}

void fg_strbuf_add(struct fg_strbuf *text, const void *data, size_t length)
{
	if (text->limit && length > text->limit - fg_min_size(text->length, text->limit)) {
		length = text->limit - fg_min_size(text->length, text->limit);
		text->cut = true;
	}
	FG_ASSERT(length < SIZE_MAX - text->length - 1);
	text->data = fg_grow(text->data, &text->capacity, text->length + length + 1, 1);
	if (length)
		memcpy(text->data + text->length, data, length);
	text->length += length;
	text->data[text->length] = '\0';
}

void fg_strbuf_add_text(struct fg_strbuf *text, const char *more)
{
	fg_strbuf_add(text, more, strlen(more));
}

void fg_strbuf_add_char(struct fg_strbuf *text, char c)
{
	fg_strbuf_add(text, &c, 1);
}

void fg_strbuf_add_repeated(struct fg_strbuf *text, char c, size_t count)
{
	while (count-- > 0)
		fg_strbuf_add(text, &c, 1);
}

void fg_strbuf_vprintf(struct fg_strbuf *text, const char *format, va_list ap)
{
	char small[256];
	va_list again;
	char *big = NULL;
	int length = 0;

	va_copy(again, ap);
	length = vsnprintf(small, sizeof(small), format, ap);
	FG_ASSERT(length >= 0);
	if ((size_t)length < sizeof(small)) {
		fg_strbuf_add(text, small, (size_t)length);
	} else {
		big = fg_xmalloc((size_t)length + 1);
		(void)vsnprintf(big, (size_t)length + 1, format, again);
		fg_strbuf_add(text, big, (size_t)length);
		free(big);
	}
	va_end(again);
}

void fg_strbuf_printf(struct fg_strbuf *text, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	fg_strbuf_vprintf(text, format, ap);
	va_end(ap);
}

const char *fg_strbuf_text(const struct fg_strbuf *text)
{
	return text->data ? text->data : "";
}

char *fg_strbuf_detach(struct fg_strbuf *text)
{
	char *data = text->data ? text->data : fg_xstrdup("");

	text->data = NULL;
	text->length = 0;
	text->capacity = 0;
	text->cut = false;
	return data;
}

char *fg_strbuf_keep(struct fg_strbuf *text, struct fg_arena *arena)
{
	char *kept = fg_arena_strdup(arena, fg_strbuf_text(text));

	fg_strbuf_release(text);
	return kept;
}

void fg_strbuf_clear(struct fg_strbuf *text)
{
	text->length = 0;
	text->cut = false;
	if (text->data)
		text->data[0] = '\0';
}

void fg_strbuf_release(struct fg_strbuf *text)
{
	free(text->data);
	text->data = NULL;
	text->length = 0;
	text->capacity = 0;
	text->cut = false;
}
