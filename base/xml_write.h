/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes XML 1.0: any bytes in, well-formed out (characters that XML cannot carry become U+FFFD).
 * begin → attributes → (text | nested elements) → end.  An element without content is closed as
 * <x/>.
 */
#ifndef FG_BASE_XML_WRITE_H
#define FG_BASE_XML_WRITE_H

#include "base/strbuf.h"

enum {
	FG_XML_MAX_DEPTH = 16
};

struct fg_xml_writer {
	struct fg_strbuf *text;
	const char *open[FG_XML_MAX_DEPTH];
	unsigned depth;
	bool in_tag;
	bool has_text;
};

void fg_xml_writer_init(struct fg_xml_writer *w,
			struct fg_strbuf *text); /* writes the declaration */
void fg_xml_begin(struct fg_xml_writer *w,
		  const char *element); /* the name must outlive the element */
void fg_xml_attribute(struct fg_xml_writer *w, const char *name, const char *value);
void fg_xml_attribute_printf(struct fg_xml_writer *w, const char *name, const char *format, ...)
	FG_PRINTF(3, 4);
void fg_xml_text(struct fg_xml_writer *w, const char *text);
void fg_xml_end(struct fg_xml_writer *w);

#endif
