/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Arrays with names in one file, as numpy.load() reads them: a zip archive of .npy files, each
 * packed by deflate.  No times are in it: equal arrays give equal bytes.
 */
#ifndef FG_EXCHANGE_NPZ_H
#define FG_EXCHANGE_NPZ_H

#include "base/error.h"
#include "base/strbuf.h"

struct fg_npz {
	struct fg_strbuf *out; /* the archive */
	size_t start;          /* its offset in `out` */
	struct fg_strbuf directory;
	uint32_t count;
};

struct fg_npz_array {
	const char *name; /* a / in it would be a folder, and becomes _ */
	const char *type; /* numpy's: "<f8", "<u4", "|S20" */
	size_t item_size; /* bytes of an item of this type */
	size_t count;
	const void *items; /* in this byte order */
};

void fg_npz_begin(struct fg_npz *npz, struct fg_strbuf *out);
/* FG_ELIMIT: the archive would be larger than 4 GiB. */
int fg_npz_add(struct fg_npz *npz, const struct fg_npz_array *array, struct fg_error *err)
	FG_NODISCARD;
void fg_npz_end(struct fg_npz *npz);
/* Instead of the end, after an error: what is in `out` is of no use. */
void fg_npz_release(struct fg_npz *npz);

#endif
