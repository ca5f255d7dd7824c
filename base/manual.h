/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Parts of a manual page, in the man(7) macros that groff and mandoc both read. Text is escaped so
 * that a dash stays a dash, and everything beyond ASCII is named by its code point. All functions
 * append to the page.
 */
#ifndef FG_BASE_MANUAL_H
#define FG_BASE_MANUAL_H

#include "base/options.h"
#include "base/strbuf.h"

/*
 * Adds the header and the NAME section; `name` is the name of the page, such as "fastgate-run".
 */
void fg_manual_head(struct fg_strbuf *page, const char *name, const char *program,
		    const char *summary);
/* Adds text within a line; with `marks`, text in `backticks` becomes bold. */
void fg_manual_text(struct fg_strbuf *page, const char *text, bool marks);
void fg_manual_line(struct fg_strbuf *page, const char *text);
/* Adds one paragraph per line; lines that begin with a blank stay as they are. */
void fg_manual_paragraphs(struct fg_strbuf *page, const char *text);
/* Adds a word in bold, with its explanation below. */
void fg_manual_term(struct fg_strbuf *page, const char *name, const char *what);
void fg_manual_options(struct fg_strbuf *page, const struct fg_option *options);

#endif
