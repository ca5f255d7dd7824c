/* SPDX-License-Identifier: Apache-2.0 */
/* Symbols, call paths and places as people read them.  Private to reporters/. */
#ifndef FG_REPORTERS_NAMES_H
#define FG_REPORTERS_NAMES_H

#include "base/strbuf.h"
#include "model/verdict.h"

/* Valid UTF-8 without control characters, at most `limit` bytes. */
void fg_report_add_clean(struct fg_strbuf *text, const char *from, size_t limit);

/*
 * A symbol's name in at most `columns` columns (0: as long as it is): clean UTF-8; too long, first
 * template arguments, then parameters become "…", then the middle goes.
 */
void fg_report_add_name(struct fg_strbuf *text, const char *name, size_t columns);
/* Without parameters and template arguments: "ns::fit" for "ns::fit<int>(Track&)". */
void fg_report_add_plain_name(struct fg_strbuf *text, const char *name, size_t columns);
/*
 * Likewise in a list: a name that would read like another function's keeps the part in which they
 * differ, or all of its text if that is not enough.  `node` is one of the functions of `blame`.
 */
void fg_report_add_function_name(struct fg_strbuf *text, const struct fg_blame *blame,
				 const struct fg_node_verdict *node, size_t columns, bool plain);
void fg_report_add_benchmark_name(struct fg_strbuf *text, const struct fg_verdict *verdict,
				  const struct fg_benchmark_verdict *benchmark, size_t columns);

/* "main → loop → fit", at most `columns` columns; frames in the middle give way to "…". */
void fg_report_add_path(struct fg_strbuf *text, const struct fg_path_verdict *path, size_t columns);

/* "fit.cpp:88"; the base name only unless `whole`.  Nothing when unknown. */
void fg_report_add_place(struct fg_strbuf *text, const struct fg_node_verdict *node, bool whole);

#endif
