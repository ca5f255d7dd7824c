// SPDX-License-Identifier: Apache-2.0
/* Formats options as two columns of text. */
#include "base/options.h"
#include "base/text.h"

enum {
	LEFT_COLUMN = 26,
	MIN_TEXT_COLUMNS = 24
};

/* Adds the spelling, such as "-r, --rate HZ". */
static void add_spelling(const struct fg_option *option, struct fg_strbuf *text)
{
	if (option->letter)
		fg_strbuf_printf(text, "-%c, ", option->letter);
	fg_strbuf_printf(text, "--%s", option->name);
	if (option->argument)
		fg_strbuf_printf(text, option->alone ? " [%s]" : " %s", option->argument);
}

void fg_option_describe(const struct fg_option *option, struct fg_strbuf *text)
{
	fg_strbuf_add_text(text, option->help);
	if (option->kind == FG_OPTION_CHOICE) {
		fg_strbuf_add_text(text, ": ");
		for (size_t i = 0; option->choices[i]; i++)
			fg_strbuf_printf(text, "%s%s", i == 0 ? "" : ", ", option->choices[i]);
	}
	if (option->kind == FG_OPTION_LIST)
		fg_strbuf_add_text(text, " (may be repeated)");
	if (option->initial && option->kind != FG_OPTION_FLAG)
		fg_strbuf_printf(text, " [default: %s]", option->initial);
}

void fg_text_wrap(struct fg_strbuf *text, const char *words, unsigned indent, unsigned columns)
{
	const size_t room =
		columns > indent + MIN_TEXT_COLUMNS ? columns - indent : MIN_TEXT_COLUMNS;
	size_t used = 0;

	while (*words) {
		const size_t length = strcspn(words, " \n");
		char *word = fg_xstrndup(words, length);
		const size_t width = fg_text_width(word);

		free(word);
		if (used > 0 && used + 1 + width > room) {
			fg_strbuf_add_char(text, '\n');
			fg_strbuf_add_repeated(text, ' ', indent);
			used = 0;
		} else if (used > 0 && length > 0) {
			fg_strbuf_add_char(text, ' ');
			used++;
		}
		fg_strbuf_add(text, words, length);
		used += width;
		words += length;
		if (*words == '\n') {
			fg_strbuf_add_char(text, '\n');
			fg_strbuf_add_repeated(text, ' ',
					       words[1] && words[1] != '\n' ? indent : 0);
			used = 0;
		}
		if (*words)
			words++;
	}
}

void fg_text_two_columns(struct fg_strbuf *text, const char *name, const char *what, unsigned left,
			 unsigned columns)
{
	const size_t width = 2 + fg_text_width(name);

	fg_strbuf_printf(text, "  %s", name);
	if (width + 2 > left) {
		fg_strbuf_add_char(text, '\n');
		fg_strbuf_add_repeated(text, ' ', left);
	} else {
		fg_strbuf_add_repeated(text, ' ', left - width);
	}
	fg_text_wrap(text, what, left, columns);
	fg_strbuf_add_char(text, '\n');
}

void fg_options_help(const struct fg_option *options, unsigned columns, struct fg_strbuf *text)
{
	for (; options && options->name; options++) {
		struct fg_strbuf name = {0};
		struct fg_strbuf what = {0};

		if (options->heading)
			fg_strbuf_printf(text, "\n%s:\n", options->heading);
		fg_strbuf_add_text(&name, options->letter ? "" : "    ");
		add_spelling(options, &name);
		fg_option_describe(options, &what);
		fg_text_two_columns(text, fg_strbuf_text(&name), fg_strbuf_text(&what), LEFT_COLUMN,
				    columns);
		fg_strbuf_release(&name);
		fg_strbuf_release(&what);
	}
}
