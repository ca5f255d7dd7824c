// SPDX-License-Identifier: Apache-2.0
#include "base/xml_write.h"

#include "base/text.h"

void fg_xml_writer_init(struct fg_xml_writer *w, struct fg_strbuf *text)
{
	*w = (struct fg_xml_writer){.text = text};
	fg_strbuf_add_text(text, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>");
}

static void new_line(struct fg_xml_writer *w)
{
	fg_strbuf_add_char(w->text, '\n');
	fg_strbuf_add_repeated(w->text, ' ', 2 * (size_t)w->depth);
}

static void close_tag(struct fg_xml_writer *w)
{
	if (w->in_tag)
		fg_strbuf_add_char(w->text, '>');
	w->in_tag = false;
}

static const char *entity(char c, bool in_attribute)
{
	switch (c) {
	case '<':
		return "&lt;";
	case '>':
		return "&gt;";
	case '&':
		return "&amp;";
	case '"':
		return in_attribute ? "&quot;" : NULL;
	case '\n':
		return in_attribute ? "&#10;" : NULL;
	case '\t':
		return in_attribute ? "&#9;" : NULL;
	default:
		return NULL;
	}
}

/*
 * Keeps line feeds and tabs. All other control characters, marks that change the direction of text,
 * invalid UTF-8, U+FFFE and U+FFFF become U+FFFD.
 */
static void add_escaped(struct fg_xml_writer *w, const char *text, bool in_attribute)
{
	struct fg_strbuf clean = {0};

	while (*text) {
		const size_t part = strcspn(text, "\n\t");

		fg_text_add_clean(&clean, text, part, SIZE_MAX);
		text += part;
		if (*text)
			fg_strbuf_add_char(&clean, *text++);
	}
	for (size_t i = 0; i < clean.length; i++) {
		const char *name = entity(clean.data[i], in_attribute);

		if (name)
			fg_strbuf_add_text(w->text, name);
		else if (i + 2 < clean.length && memcmp(clean.data + i, "\xef\xbf", 2) == 0 &&
			 ((unsigned char)clean.data[i + 2] & 0xfe) == 0xbe) {
			fg_strbuf_add_text(w->text, "\xef\xbf\xbd");
			i += 2;
		} else {
			fg_strbuf_add_char(w->text, clean.data[i]);
		}
	}
	fg_strbuf_release(&clean);
}

void fg_xml_begin(struct fg_xml_writer *w, const char *element)
{
	FG_ASSERT(w->depth < FG_XML_MAX_DEPTH);
	close_tag(w);
	new_line(w);
	fg_strbuf_printf(w->text, "<%s", element);
	w->open[w->depth++] = element;
	w->in_tag = true;
	w->has_text = false;
}

void fg_xml_attribute(struct fg_xml_writer *w, const char *name, const char *value)
{
	FG_ASSERT(w->in_tag);
	fg_strbuf_printf(w->text, " %s=\"", name);
	add_escaped(w, value, true);
	fg_strbuf_add_char(w->text, '"');
}

void fg_xml_attribute_printf(struct fg_xml_writer *w, const char *name, const char *format, ...)
{
	struct fg_strbuf value = {0};
	va_list ap;

	va_start(ap, format);
	fg_strbuf_vprintf(&value, format, ap);
	va_end(ap);
	fg_xml_attribute(w, name, fg_strbuf_text(&value));
	fg_strbuf_release(&value);
}

void fg_xml_text(struct fg_xml_writer *w, const char *text)
{
	FG_ASSERT(w->depth > 0);
	close_tag(w);
	add_escaped(w, text, false);
	w->has_text = true;
}

void fg_xml_end(struct fg_xml_writer *w)
{
	FG_ASSERT(w->depth > 0);
	w->depth--;
	if (w->in_tag) {
		fg_strbuf_add_text(w->text, "/>");
	} else {
		if (!w->has_text)
			new_line(w);
		fg_strbuf_printf(w->text, "</%s>", w->open[w->depth]);
	}
	w->in_tag = false;
	w->has_text = false;
	if (w->depth == 0)
		fg_strbuf_add_char(w->text, '\n');
}
