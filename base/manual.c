// SPDX-License-Identifier: Apache-2.0
#include "base/manual.h"

#include "base/version.h"

#include <ctype.h>

/* ---- escaping ---- */

static size_t decode(const char *text, unsigned *code_point)
{
	const unsigned char first = (unsigned char)*text;
	const size_t length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : first >= 0xc0 ? 2 : 1;

	*code_point = length == 1 ? first : first & (0xffu >> (length + 1));
	for (size_t i = 1; i < length; i++)
		*code_point = (*code_point << 6) | ((unsigned char)text[i] & 0x3fu);
	return length;
}

/* The text is our own valid UTF-8. */
void fg_manual_text(struct fg_strbuf *page, const char *text, bool marks)
{
	bool is_bold = false;

	if (*text == '.' || *text == '\'')
		fg_strbuf_add_text(page, "\\&");
	while (*text) {
		unsigned code_point = 0;
		const size_t length = decode(text, &code_point);

		if (*text == '`' && marks) {
			is_bold = !is_bold;
			fg_strbuf_add_text(page, is_bold ? "\\fB" : "\\fR");
		} else if (*text == '\\') {
			fg_strbuf_add_text(page, "\\e");
		} else if (*text == '-') {
			fg_strbuf_add_text(page, "\\-");
		} else if (*text == '\'' || *text == '`') {
			fg_strbuf_add_text(page, *text == '`' ? "\\(ga" : "\\(aq");
		} else if (code_point > 0x7e) {
			fg_strbuf_printf(page, "\\[u%04X]", code_point);
		} else {
			fg_strbuf_add_char(page, *text);
		}
		text += length;
	}
}

void fg_manual_line(struct fg_strbuf *page, const char *text)
{
	fg_manual_text(page, text, true);
	fg_strbuf_add_char(page, '\n');
}

void fg_manual_paragraphs(struct fg_strbuf *page, const char *text)
{
	while (*text) {
		const size_t length = strcspn(text, "\n");
		char *line = fg_xstrndup(text, length);

		if (*line == ' ') {
			fg_strbuf_add_text(page, ".nf\n\\&");
			fg_manual_text(page, line, false);
			fg_strbuf_add_text(page, "\n.fi\n");
		} else if (*line) {
			fg_manual_line(page, line);
		} else {
			fg_strbuf_add_text(page, ".PP\n");
		}
		free(line);
		text += length + (text[length] == '\n');
	}
}

/* ---- parts of a page ---- */

void fg_manual_head(struct fg_strbuf *page, const char *name, const char *program,
		    const char *summary)
{
	fg_strbuf_add_text(page,
			   ".\\\" Made by `help --man` of the program from its tables.\n.TH ");
	for (const char *c = name; *c; c++)
		fg_strbuf_printf(page, "%s%c", *c == '-' ? "\\" : "", toupper((unsigned char)*c));
	fg_strbuf_printf(page, " 1 \"\" \"%s %s\" \"%s manual\"\n.SH NAME\n", program, fg_version(),
			 program);
	fg_manual_text(page, name, false);
	fg_strbuf_add_text(page, " \\- ");
	fg_manual_line(page, summary);
}

static void add_option(struct fg_strbuf *page, const struct fg_option *option)
{
	struct fg_strbuf text = {0};

	fg_strbuf_add_text(page, ".TP\n\\fB");
	if (option->letter)
		fg_strbuf_printf(page, "\\-%c\\fR, \\fB", option->letter);
	fg_strbuf_add_text(&text, "--");
	fg_strbuf_add_text(&text, option->name);
	fg_manual_text(page, fg_strbuf_text(&text), false);
	fg_strbuf_add_text(page, "\\fR");
	if (option->argument) {
		fg_strbuf_add_text(page, option->alone ? " [\\fI" : " \\fI");
		fg_manual_text(page, option->argument, false);
		fg_strbuf_add_text(page, option->alone ? "\\fR]" : "\\fR");
	}
	fg_strbuf_add_char(page, '\n');
	fg_strbuf_clear(&text);
	fg_option_describe(option, &text);
	fg_manual_line(page, fg_strbuf_text(&text));
	fg_strbuf_release(&text);
}

void fg_manual_options(struct fg_strbuf *page, const struct fg_option *options)
{
	for (; options && options->name; options++) {
		if (options->heading) {
			fg_strbuf_add_text(page, ".SS ");
			fg_manual_line(page, options->heading);
		}
		add_option(page, options);
	}
}

void fg_manual_term(struct fg_strbuf *page, const char *name, const char *what)
{
	fg_strbuf_add_text(page, ".TP\n\\fB");
	fg_manual_text(page, name, false);
	fg_strbuf_add_text(page, "\\fR\n");
	fg_manual_line(page, what);
}
