/* SPDX-License-Identifier: Apache-2.0 */
/* The rows of the table in export.c, and the code that their files share. */
#ifndef FG_EXCHANGE_EXPORT_FORMATS_H
#define FG_EXCHANGE_EXPORT_FORMATS_H

#include "base/error.h"
#include "base/strbuf.h"
#include "profile/exchange/export.h"

typedef int fg_export_writer(const struct fg_profile *profile,
			     const struct fg_export_options *options, struct fg_strbuf *out,
			     struct fg_error *err);

fg_export_writer fg_export_folded;
fg_export_writer fg_export_pprof;
fg_export_writer fg_export_chrome;
fg_export_writer fg_export_json;
fg_export_writer fg_export_tables;
fg_export_writer fg_export_npz;
fg_export_writer fg_export_html;

/* ---- npz.c ---- */

struct fg_npz {
	struct fg_strbuf *out; /* the archive */
	size_t start;          /* offset of the archive in `out` */
	struct fg_strbuf directory;
	uint32_t count;
};

struct fg_npz_array {
	const char *name; /* '/' becomes '_', because it would make a folder */
	const char *type; /* numpy's name: "<f8", "<u4", "|S20" */
	size_t item_size; /* bytes of an item of this type */
	size_t count;
	const void *items; /* in the host's byte order */
};

void fg_npz_begin(struct fg_npz *npz, struct fg_strbuf *out);
/* FG_ELIMIT: the archive could exceed 4 GiB, or has too many arrays. */
int fg_npz_add(struct fg_npz *npz, const struct fg_npz_array *array, struct fg_error *err)
	FG_NODISCARD;
void fg_npz_end(struct fg_npz *npz);
/* Replaces fg_npz_end() after an error: the content of `out` is unusable. */
void fg_npz_release(struct fg_npz *npz);

#endif
