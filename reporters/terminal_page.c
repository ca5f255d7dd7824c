// SPDX-License-Identifier: Apache-2.0
#include "reporters/terminal_page.h"

#include "base/text.h"
#include "reporters/names.h"
#include "reporters/verdict_queries.h"

#include <ctype.h>

enum {
	MAX_SENTENCE_BYTES = 2000,
	INDENT = 2, /* indent of lines below a benchmark */
};

const struct fg_terminal_outcome fg_terminal_outcomes[] = {
	[FG_OUTCOME_PASS] = {.word = "pass", .color = "\033[32m"},
	[FG_OUTCOME_NEW] = {.word = "new", .color = "\033[36m"},
	[FG_OUTCOME_MISSING] = {.word = "MISSING", .color = "\033[33m"},
	[FG_OUTCOME_IMPROVEMENT] = {.word = "improvement", .color = "\033[1;32m"},
	[FG_OUTCOME_PLACEMENT] = {.word = "placement", .color = "\033[36m"},
	[FG_OUTCOME_INCONCLUSIVE] = {.word = "INCONCLUSIVE", .color = "\033[1;33m"},
	[FG_OUTCOME_CREEP] = {.word = "CREEP", .color = "\033[1;33m"},
	[FG_OUTCOME_REGRESSION] = {.word = "REGRESSION", .color = "\033[1;31m"},
	[FG_OUTCOME_ERROR] = {.word = "ERROR", .color = "\033[1;35m"},
};

const char *fg_terminal_word(const struct fg_benchmark_verdict *benchmark)
{
	return fg_report_probably(benchmark) ? "PROBABLY SLOWER"
					     : fg_terminal_outcomes[benchmark->outcome].word;
}

void fg_terminal_add_styled(const struct fg_terminal_page *page, const char *style,
			    const char *text)
{
	if (page->options->color)
		fg_strbuf_add_text(page->text, style);
	fg_strbuf_add_text(page->text, text);
	if (page->options->color)
		fg_strbuf_add_text(page->text, FG_TERMINAL_RESET);
}

size_t fg_terminal_room(const struct fg_terminal_page *page, size_t used)
{
	const size_t width = page->options->width;

	if (width == 0)
		return 0;
	return width > used + 10 ? width - used : 10;
}

static void add_line_at(const struct fg_terminal_page *page, size_t indent, const char *style,
			const struct fg_strbuf *line)
{
	struct fg_strbuf fitted = {0};

	fg_report_add_name(&fitted, fg_strbuf_text(line), fg_terminal_room(page, indent));
	fg_strbuf_add_repeated(page->text, ' ', indent);
	if (style)
		fg_terminal_add_styled(page, style, fg_strbuf_text(&fitted));
	else
		fg_strbuf_add_text(page->text, fg_strbuf_text(&fitted));
	fg_strbuf_add_char(page->text, '\n');
	fg_strbuf_release(&fitted);
}

void fg_terminal_add_line(const struct fg_terminal_page *page, const char *style,
			  const struct fg_strbuf *line)
{
	add_line_at(page, INDENT, style, line);
}

static void add_wrapped(const struct fg_terminal_page *page, size_t indent, const char *style,
			const char *text)
{
	const size_t room = fg_terminal_room(page, indent);
	struct fg_strbuf line = {0};
	struct fg_strbuf clean = {0};
	const char *at = NULL;

	fg_text_add_clean(&clean, text, strlen(text), MAX_SENTENCE_BYTES);
	for (at = fg_strbuf_text(&clean); *at;) {
		const size_t length = strcspn(at, " ");
		char *word = fg_xstrndup(at, length);

		if (room > 0 && line.length > 0 &&
		    fg_text_width(fg_strbuf_text(&line)) + 1 + fg_text_width(word) > room) {
			add_line_at(page, indent, style, &line);
			fg_strbuf_clear(&line);
			fg_strbuf_add_char(&line, ' ');
		}
		fg_strbuf_printf(&line, "%s%s", line.length > 0 ? " " : "", word);
		free(word);
		at += length + strspn(at + length, " ");
	}
	add_line_at(page, indent, style, &line);
	fg_strbuf_release(&clean);
	fg_strbuf_release(&line);
}

void fg_terminal_add_sentence(const struct fg_terminal_page *page, const char *style,
			      const char *text)
{
	add_wrapped(page, INDENT, style, text);
}

void fg_terminal_add_paragraph(const struct fg_terminal_page *page, const char *style,
			       const char *text)
{
	add_wrapped(page, 0, style, text);
}

/*
 * For a locale without UTF-8: replaces the few non-ASCII characters that this reporter writes by
 * similar ASCII text, and any other by "?".
 */
static void add_as_ascii(struct fg_strbuf *text, const char *utf8)
{
	static const struct {
		const char *sign;
		const char *ascii;
	} signs[] = {{"→", "->"}, {"…", "..."}, {"µ", "u"}, {"±", "+-"},
		     {"×", "x"},  {"−", "-"},   {"–", "-"}};

	while (*utf8) {
		size_t i = 0;

		if (isascii((unsigned char)*utf8)) {
			fg_strbuf_add_char(text, *utf8++);
			continue;
		}
		while (i < FG_ARRAY_SIZE(signs) && !fg_text_starts_with(utf8, signs[i].sign))
			i++;
		fg_strbuf_add_text(text, i < FG_ARRAY_SIZE(signs) ? signs[i].ascii : "?");
		utf8++;
		while (((unsigned char)*utf8 & 0xC0U) == 0x80U)
			utf8++;
	}
}

static void trim_line_ends(struct fg_strbuf *to, const char *from)
{
	while (*from) {
		const size_t length = strcspn(from, "\n");
		size_t kept = length;

		while (kept > 0 && from[kept - 1] == ' ')
			kept--;
		fg_strbuf_add(to, from, kept);
		if (from[length] == '\n')
			fg_strbuf_add_char(to, '\n');
		from += length + (from[length] == '\n');
	}
}

void fg_terminal_finish(const struct fg_terminal_page *page, struct fg_strbuf *text)
{
	struct fg_strbuf ascii = {0};

	if (page->options->ascii)
		add_as_ascii(&ascii, fg_strbuf_text(page->text));
	trim_line_ends(text, fg_strbuf_text(page->options->ascii ? &ascii : page->text));
	fg_strbuf_release(&ascii);
}
