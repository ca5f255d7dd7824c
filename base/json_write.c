// SPDX-License-Identifier: Apache-2.0
#include "base/json_write.h"

#include "base/clock.h"
#include "base/number.h"
#include "base/text.h"

#include <math.h>

void fg_json_writer_init(struct fg_json_writer *w, struct fg_strbuf *text, unsigned indent)
{
	*w = (struct fg_json_writer){.text = text, .indent = indent};
}

/* Fast path: most pieces are short and fit. */
static inline void put(struct fg_json_writer *w, const char *data, size_t length)
{
	struct fg_strbuf *text = w->text;

	if (text->limit || text->capacity - text->length <= length) {
		fg_strbuf_add(text, data, length);
		return;
	}
	memcpy(text->data + text->length, data, length);
	text->length += length;
	text->data[text->length] = '\0';
}

static void put_char(struct fg_json_writer *w, char c)
{
	put(w, &c, 1);
}

static void new_line(struct fg_json_writer *w)
{
	if (w->indent == 0)
		return;
	fg_strbuf_add_char(w->text, '\n');
	fg_strbuf_add_repeated(w->text, ' ', (size_t)w->indent * w->depth);
}

static void add_escaped(struct fg_json_writer *w, const char *clean, size_t length)
{
	for (size_t i = 0; i < length; i++) {
		const char c = clean[i];

		if (c == '"' || c == '\\')
			fg_strbuf_printf(w->text, "\\%c", c);
		else if (w->for_html && (c == '<' || c == '>' || c == '&'))
			fg_strbuf_printf(w->text, "\\u%04x", (unsigned)c);
		else
			fg_strbuf_add_char(w->text, c);
	}
}

/* Nearly all characters need no escape. */
static inline bool is_plain(const struct fg_json_writer *w, char c)
{
	if ((unsigned char)(c - ' ') > '~' - ' ' || c == '"' || c == '\\')
		return false;
	return !w->for_html || (c != '<' && c != '>' && c != '&');
}

#define EACH(byte) (0x0101010101010101U * (byte))
#define HIGH       EACH(0x80U)

/*
 * Returns a mask with the high bit of each byte of `word` that equals `byte`, and perhaps of bytes
 * above the first match.
 */
static inline uint64_t equal(uint64_t word, unsigned char byte)
{
	const uint64_t difference = word ^ EACH((uint64_t)byte);

	return (difference - EACH(1U)) & ~difference & HIGH;
}

/* Are the next eight bytes plain? */
static inline bool are_plain(const struct fg_json_writer *w, const char *value)
{
	uint64_t word = 0;
	uint64_t found = 0;

	memcpy(&word, value, sizeof(word));
	found = (word | (word - EACH(' ')) | (word + EACH(1U))) & HIGH;
	found |= equal(word, '"') | equal(word, '\\');
	if (w->for_html)
		found |= equal(word, '<') | equal(word, '>') | equal(word, '&');
	return found == 0;
}

/* Counts the plain bytes at the start: most strings are plain throughout. */
static size_t count_plain(const struct fg_json_writer *w, const char *value, size_t length)
{
	size_t count = 0;

	while (length - count >= sizeof(uint64_t) && are_plain(w, value + count))
		count += sizeof(uint64_t);
	while (count < length && is_plain(w, value[count]))
		count++;
	return count;
}

/*
 * Escapes line breaks and tabs. Other control characters, marks that change the direction of text,
 * and invalid UTF-8 become U+FFFD.
 */
static void add_special(struct fg_json_writer *w, const char *value, size_t length)
{
	size_t from = 0;

	while (from < length) {
		struct fg_strbuf clean = {0};
		size_t to = from;

		while (to < length && !strchr("\n\t\r", value[to]))
			to++;
		/* strchr() also finds the terminating NUL, which is a control character here. */
		if (to < length && value[to] == '\0') {
			to++;
			fg_text_add_clean(&clean, value + from, to - from, SIZE_MAX);
			add_escaped(w, fg_strbuf_text(&clean), clean.length);
		} else {
			fg_text_add_clean(&clean, value + from, to - from, SIZE_MAX);
			add_escaped(w, fg_strbuf_text(&clean), clean.length);
			if (to < length)
				fg_strbuf_add_text(w->text, value[to] == '\n'   ? "\\n"
							    : value[to] == '\t' ? "\\t"
										: "\\r");
			to++;
		}
		fg_strbuf_release(&clean);
		from = to;
	}
}

static void add_string(struct fg_json_writer *w, const char *value, size_t length)
{
	size_t from = 0;

	put_char(w, '"');
	while (from < length) {
		const size_t plain = count_plain(w, value + from, length - from);
		size_t to = from + plain;

		put(w, value + from, plain);
		from = to;
		while (to < length && !is_plain(w, value[to]))
			to++;
		if (to > from)
			add_special(w, value + from, to - from);
		from = to;
	}
	put_char(w, '"');
}

/* Writes the comma, the line break and the name before a value. */
static void begin_value(struct fg_json_writer *w, const char *name)
{
	if (w->depth == 0) {
		FG_ASSERT(!name);
		return;
	}
	FG_ASSERT(w->is_array[w->depth - 1] == !name);
	if (w->has_member[w->depth - 1])
		put_char(w, ',');
	w->has_member[w->depth - 1] = true;
	new_line(w);
	if (name) {
		add_string(w, name, strlen(name));
		put(w, ": ", w->indent ? 2 : 1);
	}
}

static void begin_container(struct fg_json_writer *w, const char *name, bool is_array)
{
	begin_value(w, name);
	FG_ASSERT(w->depth < FG_JSON_MAX_DEPTH);
	put_char(w, is_array ? '[' : '{');
	w->is_array[w->depth] = is_array;
	w->has_member[w->depth] = false;
	w->depth++;
}

void fg_json_begin_object(struct fg_json_writer *w, const char *name)
{
	begin_container(w, name, false);
}

void fg_json_begin_array(struct fg_json_writer *w, const char *name)
{
	begin_container(w, name, true);
}

void fg_json_end(struct fg_json_writer *w)
{
	FG_ASSERT(w->depth > 0);
	w->depth--;
	if (w->has_member[w->depth])
		new_line(w);
	put_char(w, w->is_array[w->depth] ? ']' : '}');
}

void fg_json_text_sized(struct fg_json_writer *w, const char *name, const char *value,
			size_t length)
{
	begin_value(w, name);
	add_string(w, value, length);
}

void fg_json_text(struct fg_json_writer *w, const char *name, const char *value)
{
	if (value)
		fg_json_text_sized(w, name, value, strlen(value));
	else
		fg_json_null(w, name);
}

void fg_json_int(struct fg_json_writer *w, const char *name, int64_t value)
{
	char digits[24];
	char *at = digits + sizeof(digits);
	uint64_t left = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;

	begin_value(w, name);
	do {
		*--at = (char)('0' + left % 10);
		left /= 10;
	} while (left);
	if (value < 0)
		*--at = '-';
	put(w, at, (size_t)(digits + sizeof(digits) - at));
}

void fg_json_double(struct fg_json_writer *w, const char *name, double value)
{
	char text[FG_NUMBER_TEXT_SIZE];

	begin_value(w, name);
	if (isfinite(value)) {
		const char *shown = fg_format_double(value, text);

		put(w, shown, strlen(shown));
	} else {
		put(w, "null", 4);
	}
}

void fg_json_bool(struct fg_json_writer *w, const char *name, bool value)
{
	begin_value(w, name);
	fg_strbuf_add_text(w->text, value ? "true" : "false");
}

void fg_json_null(struct fg_json_writer *w, const char *name)
{
	begin_value(w, name);
	put(w, "null", 4);
}

void fg_json_pair(struct fg_json_writer *w, const char *name, double a, double b)
{
	fg_json_begin_array(w, name);
	fg_json_double(w, NULL, a);
	fg_json_double(w, NULL, b);
	fg_json_end(w);
}

void fg_json_time(struct fg_json_writer *w, const char *name, int64_t wall_ns)
{
	char text[FG_TIME_TEXT_SIZE] = "";

	fg_time_format_utc(wall_ns, text);
	fg_json_text(w, name, text);
}

void fg_json_raw(struct fg_json_writer *w, const char *name, const char *json)
{
	begin_value(w, name);
	fg_strbuf_add_text(w->text, json);
}
