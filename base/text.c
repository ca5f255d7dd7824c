// SPDX-License-Identifier: Apache-2.0
#include "base/text.h"

/* ---- words of a command ---- */

enum {
	MAX_WORDS = 4096
};

struct splitter {
	const char *at;
	struct fg_strbuf word;
	bool has_word;
};

/* Reads the inside of "…", where a backslash escapes only ", \, $ and `. */
static int take_double_quoted(struct splitter *s, struct fg_error *err)
{
	for (s->at++; *s->at != '"'; s->at++) {
		if (*s->at == '\0')
			return fg_error_set(err, FG_EPARSE, "a double quote is never closed");
		if (*s->at == '\\' && s->at[1] != '\0' && strchr("\"\\$`", s->at[1]))
			s->at++;
		fg_strbuf_add_char(&s->word, *s->at);
	}
	s->at++;
	return FG_OK;
}

static int take_single_quoted(struct splitter *s, struct fg_error *err)
{
	const char *end = strchr(s->at + 1, '\'');

	if (!end)
		return fg_error_set(err, FG_EPARSE, "a single quote is never closed");
	fg_strbuf_add(&s->word, s->at + 1, (size_t)(end - s->at - 1));
	s->at = end + 1;
	return FG_OK;
}

static int take_piece(struct splitter *s, struct fg_error *err)
{
	s->has_word = true;
	if (*s->at == '"')
		return take_double_quoted(s, err);
	if (*s->at == '\'')
		return take_single_quoted(s, err);
	if (*s->at == '\\') {
		s->at++;
		if (*s->at == '\0')
			return fg_error_set(err, FG_EPARSE, "nothing follows the last backslash");
	}
	fg_strbuf_add_char(&s->word, *s->at++);
	return FG_OK;
}

int fg_text_split_words(const char *command, struct fg_arena *arena, char ***argv, size_t *argc,
			struct fg_error *err)
{
	struct splitter s = {.at = command};
	char **words = NULL;
	size_t room = 0;
	size_t count = 0;
	int status = FG_OK;

	for (;;) {
		const bool gap = strchr(" \t\n\r", *s.at) != NULL; /* also true at the final NUL */

		if (!gap) {
			FG_TRY_OUT(take_piece(&s, err));
			continue;
		}
		if (s.has_word) {
			if (count == MAX_WORDS) {
				status =
					fg_error_set(err, FG_ELIMIT,
						     "a command has more than %d words", MAX_WORDS);
				goto out;
			}
			FG_APPEND(words, count, room) =
				fg_arena_strdup(arena, fg_strbuf_text(&s.word));
			fg_strbuf_clear(&s.word);
			s.has_word = false;
		}
		if (*s.at == '\0')
			break;
		s.at++;
	}
	*argv = fg_arena_array(arena, count + 1, sizeof(words[0]));
	if (count)
		memcpy(*argv, words, count * sizeof(words[0]));
	*argc = count;
out:
	free(words);
	fg_strbuf_release(&s.word);
	return status;
}

char *fg_text_join(const char *const *words, const char *between)
{
	struct fg_strbuf text = {0};

	for (size_t i = 0; words[i]; i++) {
		fg_strbuf_add_text(&text, i > 0 ? between : "");
		fg_strbuf_add_text(&text, words[i]);
	}
	return fg_strbuf_detach(&text);
}

void fg_text_quote_words(struct fg_strbuf *text, char *const *argv)
{
	static const char safe[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=:,./@%";

	for (size_t i = 0; argv[i]; i++) {
		const char *word = argv[i];

		if (i > 0)
			fg_strbuf_add_char(text, ' ');
		if (*word && word[strspn(word, safe)] == '\0') {
			fg_strbuf_add_text(text, word);
			continue;
		}
		fg_strbuf_add_char(text, '\'');
		for (; *word; word++) {
			if (*word == '\'')
				fg_strbuf_add_text(text, "'\\''");
			else
				fg_strbuf_add_char(text, *word);
		}
		fg_strbuf_add_char(text, '\'');
	}
}

/* ---- UTF-8 ---- */

/* Returns the length of the valid sequence at the start (Unicode 15, table 3-7), or 0. */
static size_t utf8_length(const unsigned char *p, size_t left, uint32_t *code)
{
	static const uint32_t smallest[5] = {0, 0, 0x80, 0x800, 0x10000};
	size_t length = 0;
	uint32_t c = 0;

	if (p[0] < 0x80) {
		*code = p[0];
		return 1;
	}
	length = p[0] >= 0xf0 ? 4 : p[0] >= 0xe0 ? 3 : 2;
	if (p[0] < 0xc2 || p[0] > 0xf4 || left < length)
		return 0;
	c = p[0] & (0xffU >> (length + 1));
	for (size_t i = 1; i < length; i++) {
		if ((p[i] & 0xc0) != 0x80)
			return 0;
		c = c << 6 | (p[i] & 0x3f);
	}
	if (c < smallest[length] || c > 0x10ffff || (c >= 0xd800 && c <= 0xdfff))
		return 0;
	*code = c;
	return length;
}

/*
 * Is this C0, DEL, C1, or a mark that changes the direction of text? Such marks can make a line
 * look different from its bytes.
 */
static bool is_control(uint32_t code)
{
	return code < 0x20 || (code >= 0x7f && code < 0xa0) || (code >= 0x202a && code <= 0x202e) ||
	       (code >= 0x2066 && code <= 0x2069) || code == 0x200e || code == 0x200f ||
	       code == 0x61c;
}

static bool is_valid(const char *bytes, size_t length, bool may_control)
{
	const unsigned char *p = (const unsigned char *)bytes;

	while (length > 0) {
		uint32_t code = 0;
		const size_t valid = utf8_length(p, length, &code);

		if (valid == 0 || (!may_control && is_control(code)))
			return false;
		p += valid;
		length -= valid;
	}
	return true;
}

bool fg_text_is_utf8(const char *bytes, size_t length)
{
	return is_valid(bytes, length, true);
}

bool fg_text_is_clean(const char *bytes, size_t length)
{
	return is_valid(bytes, length, false);
}

void fg_text_add_clean(struct fg_strbuf *text, const char *bytes, size_t length, size_t limit)
{
	static const char replacement[] = "\xef\xbf\xbd";
	const unsigned char *p = (const unsigned char *)bytes;
	size_t used = 0;

	while (length > 0) {
		uint32_t code = 0;
		const size_t valid = utf8_length(p, length, &code);
		const bool bad = valid == 0 || is_control(code);
		const size_t size = bad ? sizeof(replacement) - 1 : valid;
		const size_t step = valid ? valid : 1;

		if (used + size > limit)
			break;
		fg_strbuf_add(text, bad ? replacement : (const char *)p, size);
		used += size;
		p += step;
		length -= step;
	}
}

void fg_text_add_escaped(struct fg_strbuf *text, const char *bytes, size_t length)
{
	const unsigned char *p = (const unsigned char *)bytes;

	while (length > 0) {
		uint32_t code = 0;
		const size_t valid = utf8_length(p, length, &code);
		const size_t step = valid ? valid : 1;

		if (valid && !is_control(code))
			fg_strbuf_add(text, (const char *)p, step);
		else if (*p == '\n' || *p == '\t')
			fg_strbuf_add_text(text, *p == '\n' ? "\\n" : "\\t");
		else
			for (size_t i = 0; i < step; i++)
				fg_strbuf_printf(text, "\\x%02x", (unsigned)p[i]);
		p += step;
		length -= step;
	}
}

void fg_text_add_for_log(struct fg_strbuf *text, const char *lines, size_t length)
{
	bool is_blank = true; /* only blanks so far in this line */

	for (size_t i = 0; i < length; i++) {
		const char *at = lines + i;
		const bool doubled = i + 1 < length && at[0] == at[1];

		fg_strbuf_add_char(text, *at);
		if (doubled &&
		    ((*at == ':' && is_blank) || (*at == '#' && i + 2 < length && at[2] == '[')))
			fg_strbuf_add_char(text, ' ');
		is_blank = *at == '\n' || (is_blank && strchr(" \t\r", *at));
	}
}

static size_t code_width(uint32_t code)
{
	if ((code >= 0x300 && code <= 0x36f) || code == 0x200b ||
	    (code >= 0xfe00 && code <= 0xfe0f))
		return 0;
	if ((code >= 0x1100 && code <= 0x115f) || (code >= 0x2e80 && code <= 0xa4cf) ||
	    (code >= 0xac00 && code <= 0xd7a3) || (code >= 0xf900 && code <= 0xfaff) ||
	    (code >= 0xfe30 && code <= 0xfe6f) || (code >= 0xff00 && code <= 0xff60) ||
	    (code >= 0xffe0 && code <= 0xffe6) || (code >= 0x1f300 && code <= 0x1faff) ||
	    (code >= 0x20000 && code <= 0x3fffd))
		return 2;
	return 1;
}

/*
 * Returns the number of bytes at the start that fit into `columns` columns; *used gets the columns
 * that these bytes occupy.
 */
static size_t head_of(const char *text, size_t columns, size_t *used)
{
	const unsigned char *p = (const unsigned char *)text;
	const size_t length = strlen(text);
	size_t at = 0;

	*used = 0;
	while (at < length) {
		uint32_t code = 0xfffd;
		const size_t valid = utf8_length(p + at, length - at, &code);

		if (*used + code_width(code) > columns)
			break;
		*used += code_width(code);
		at += valid ? valid : 1;
	}
	return at;
}

size_t fg_text_head(const char *text, size_t columns)
{
	size_t used = 0;

	return head_of(text, columns, &used);
}

size_t fg_text_width(const char *text)
{
	size_t width = 0;

	(void)head_of(text, SIZE_MAX, &width);
	return width;
}

void fg_text_add_cut(struct fg_strbuf *text, const char *name, size_t columns)
{
	const size_t all = fg_text_width(name);
	const size_t tail = columns > 1 ? (columns - 1) / 3 : 0;
	size_t used = 0;
	size_t start = 0;

	if (columns == 0 || all <= columns) {
		fg_strbuf_add_text(text, name);
		return;
	}
	start = head_of(name, all - tail, &used);
	if (used < all - tail) /* a wide character straddles the cut */
		start = head_of(name, all - tail + 1, &used);
	fg_strbuf_add(text, name, fg_text_head(name, columns - 1 - tail));
	fg_strbuf_add_text(text, "…");
	fg_strbuf_add_text(text, name + start);
}

void fg_text_add_references(struct fg_strbuf *text, const char *plain, size_t length,
			    const char *special)
{
	for (size_t i = 0; i < length; i++) {
		if (strchr(special, plain[i]))
			fg_strbuf_printf(text, "&#%d;", plain[i]);
		else
			fg_strbuf_add_char(text, plain[i]);
	}
}

/* ---- the nearest name ---- */

enum {
	LONGEST_NAME = 64
};

/*
 * Returns the edit distance between two short words: insert, delete, replace, swap of neighbours
 * (optimal string alignment).
 */
static size_t distance(const char *a, const char *b)
{
	size_t rows[3][LONGEST_NAME + 1];
	size_t *before = rows[0];
	size_t *above = rows[1];
	size_t *row = rows[2];
	const size_t na = strlen(a);
	const size_t nb = strlen(b);

	if (na > LONGEST_NAME || nb > LONGEST_NAME)
		return SIZE_MAX;
	for (size_t j = 0; j <= nb; j++)
		above[j] = j;
	memset(before, 0, sizeof(rows[0]));
	for (size_t i = 1; i <= na; i++) {
		size_t *oldest = before;

		row[0] = i;
		for (size_t j = 1; j <= nb; j++) {
			const size_t replaced = above[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);

			row[j] = fg_min_size(replaced, fg_min_size(above[j], row[j - 1]) + 1);
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
				row[j] = fg_min_size(row[j], before[j - 2] + 1);
		}
		before = above;
		above = row;
		row = oldest;
	}
	return above[nb];
}

const char *fg_text_nearest(const char *word, const char *const *names)
{
	const size_t length = strlen(word);
	size_t best = length <= 3 ? 1 : length <= 7 ? 2 : 3;
	const char *nearest = NULL;

	for (size_t i = 0; names[i]; i++) {
		const size_t d = distance(word, names[i]);

		if (d < best || (d == best && !nearest)) {
			best = d;
			nearest = names[i];
		}
	}
	return nearest;
}

bool fg_text_starts_with(const char *text, const char *start)
{
	return strncmp(text, start, strlen(start)) == 0;
}

bool fg_text_ends_with(const char *text, const char *end)
{
	const size_t a = strlen(text);
	const size_t b = strlen(end);

	return a >= b && memcmp(text + a - b, end, b) == 0;
}

char *fg_text_next_line(char **rest)
{
	char *line = strsep(rest, "\n");

	while (line && !*line)
		line = strsep(rest, "\n");
	return line;
}

bool fg_text_starts_with_any(const char *text, const char *const *starts, size_t count)
{
	size_t i = 0;

	while (i < count && !fg_text_starts_with(text, starts[i]))
		i++;
	return i < count;
}

bool fg_text_ends_with_any(const char *text, const char *const *ends, size_t count)
{
	size_t i = 0;

	while (i < count && !fg_text_ends_with(text, ends[i]))
		i++;
	return i < count;
}

const char *fg_text_shell_word(char *const *argv)
{
	static const char *const operators[] = {"&&", "||", "|",  ";",    "&", ">",
						">>", "<",  "2>", "2>&1", "&>"};

	for (; *argv; argv++) {
		for (size_t i = 0; i < FG_ARRAY_SIZE(operators); i++) {
			if (strcmp(*argv, operators[i]) == 0)
				return *argv;
		}
	}
	return NULL;
}

bool fg_text_has_word(const char *list, const char *between, const char *word, size_t length)
{
	while (list && *list) {
		const size_t found = strcspn(list, between);

		if (found == length && found > 0 && strncmp(list, word, found) == 0)
			return true;
		list += found;
		list += strspn(list, between);
	}
	return false;
}

size_t fg_text_find(const char *word, const char *const *words, size_t count)
{
	size_t i = 0;

	while (i < count && strcmp(words[i], word) != 0)
		i++;
	return i;
}
