/* SPDX-License-Identifier: Apache-2.0 */
/* Formats symbols, call paths and places for people. Private to reporters/. */
#ifndef FG_REPORTERS_NAMES_H
#define FG_REPORTERS_NAMES_H

#include "base/strbuf.h"
#include "model/verdict.h"

/* Adds valid UTF-8 without control characters, at most `limit` bytes. */
void fg_report_add_clean(struct fg_strbuf *text, const char *from, size_t limit);

/*
 * Adds a symbol's name in at most `columns` columns (0: unlimited), as clean UTF-8. If it is too
 * long, template arguments and then parameters become "…", then the middle is cut.
 */
void fg_report_add_name(struct fg_strbuf *text, const char *name, size_t columns);
/*
 * Adds the name without return type, parameters and template arguments: "ns::fit" for "int
 * ns::fit<int>(Track&)".
 */
void fg_report_add_plain_name(struct fg_strbuf *text, const char *name, size_t columns);
/*
 * Adds a name, shortened as by fg_report_add_name(), or fg_report_add_plain_name() if `plain`, but
 * distinct in its list: a name that would look like another name keeps the part that differs, or
 * all of its text. `node` is one of the functions of `blame`.
 */
void fg_report_add_function_name(struct fg_strbuf *text, const struct fg_blame *blame,
				 const struct fg_node_verdict *node, size_t columns, bool plain);
void fg_report_add_benchmark_name(struct fg_strbuf *text, const struct fg_verdict *verdict,
				  const struct fg_benchmark_verdict *benchmark, size_t columns);

/* Adds "main → loop → fit" in at most `columns` columns; "…" replaces frames in the middle. */
void fg_report_add_path(struct fg_strbuf *text, const struct fg_path_verdict *path, size_t columns);

/* Adds "fit.cpp:88", with the path if `whole`; adds nothing if unknown. */
void fg_report_add_place(struct fg_strbuf *text, const struct fg_node_verdict *node, bool whole);

#endif
