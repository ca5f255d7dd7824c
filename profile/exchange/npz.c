// SPDX-License-Identifier: Apache-2.0
#include "base/gzip.h"
#include "profile/exchange/export_formats.h"

#include <string.h>

enum {
	GZIP_HEAD = 10, /* size of the gzip header that fg_gzip_pack() writes, which has no name */
	GZIP_TAIL = 8,  /* CRC-32 and unpacked size, as zip needs them */
	NPY_ALIGN = 64,
	ZIP_VERSION = 20, /* minimum version that supports deflate */
	ZIP_DEFLATED = 8,
	ZIP_UTF8 = 1 << 11,
	ZIP_DATE = 1 << 5 | 1, /* 1 January 1980 */
	ZIP_FILES_MAX = UINT16_MAX,
};

static const uint32_t local_head = 0x04034b50;
static const uint32_t central_head = 0x02014b50;
static const uint32_t end_head = 0x06054b50;

static void put16(struct fg_strbuf *out, size_t value)
{
	const uint8_t bytes[] = {(uint8_t)value, (uint8_t)(value >> 8)};

	fg_strbuf_add(out, bytes, sizeof(bytes));
}

static void put32(struct fg_strbuf *out, size_t value)
{
	put16(out, value & UINT16_MAX);
	put16(out, value >> 16 & UINT16_MAX);
}

/* Adds the header of a .npy file, version 1.0; its size is a multiple of 64. */
static void add_npy_head(struct fg_strbuf *npy, const struct fg_npz_array *array)
{
	struct fg_strbuf text = {0};

	fg_strbuf_printf(&text, "{'descr': '%s', 'fortran_order': False, 'shape': (%zu,), }",
			 array->type, array->count);
	while ((NPY_ALIGN + text.length + 1) % NPY_ALIGN != NPY_ALIGN - 10)
		fg_strbuf_add_char(&text, ' ');
	fg_strbuf_add_char(&text, '\n');
	fg_strbuf_add(npy, "\x93NUMPY\x01\x00", 8);
	put16(npy, text.length);
	fg_strbuf_add(npy, text.data, text.length);
	fg_strbuf_release(&text);
}

/* Adds the part that a member's local and central headers have in common. */
static void add_member(struct fg_strbuf *out, const struct fg_strbuf *packed,
		       const struct fg_strbuf *name)
{
	put16(out, ZIP_VERSION);
	put16(out, ZIP_UTF8);
	put16(out, ZIP_DEFLATED);
	put16(out, 0);
	put16(out, ZIP_DATE);
	fg_strbuf_add(out, packed->data + packed->length - GZIP_TAIL, 4);
	put32(out, packed->length - GZIP_HEAD - GZIP_TAIL);
	fg_strbuf_add(out, packed->data + packed->length - 4, 4);
	put16(out, name->length);
	put16(out, 0); /* no extra field */
}

static void add_local(struct fg_npz *npz, const struct fg_strbuf *packed,
		      const struct fg_strbuf *name)
{
	put32(npz->out, local_head);
	add_member(npz->out, packed, name);
	fg_strbuf_add(npz->out, name->data, name->length);
	fg_strbuf_add(npz->out, packed->data + GZIP_HEAD, packed->length - GZIP_HEAD - GZIP_TAIL);
}

static void add_central(struct fg_npz *npz, const struct fg_strbuf *packed,
			const struct fg_strbuf *name, size_t offset)
{
	put32(&npz->directory, central_head);
	put16(&npz->directory, ZIP_VERSION);
	add_member(&npz->directory, packed, name);
	put16(&npz->directory, 0); /* no comment */
	put16(&npz->directory, 0); /* first disk */
	put16(&npz->directory, 0); /* internal attributes: not text */
	put32(&npz->directory, 0); /* no external attributes */
	put32(&npz->directory, offset);
	fg_strbuf_add(&npz->directory, name->data, name->length);
}

void fg_npz_begin(struct fg_npz *npz, struct fg_strbuf *out)
{
	*npz = (struct fg_npz){.out = out, .start = out->length};
}

int fg_npz_add(struct fg_npz *npz, const struct fg_npz_array *array, struct fg_error *err)
{
	const size_t offset = npz->out->length - npz->start;
	struct fg_strbuf npy = {0};
	struct fg_strbuf packed = {0};
	struct fg_strbuf name = {0};
	int status = FG_OK;

	if (array->count > UINT32_MAX / 2 / array->item_size || offset > UINT32_MAX / 2 ||
	    npz->count == ZIP_FILES_MAX)
		return fg_error_set(err, FG_ELIMIT, "too many values for one file");
	add_npy_head(&npy, array);
	if (array->count > 0)
		fg_strbuf_add(&npy, array->items, array->count * array->item_size);
	fg_strbuf_printf(&name, "%s.npy", array->name);
	for (char *at = name.data; (at = strchr(at, '/')) != NULL;)
		*at = '_';
	status = fg_gzip_pack(npy.data, npy.length, FG_GZIP_TIGHT, &packed, err);
	if (status == FG_OK) {
		add_local(npz, &packed, &name);
		add_central(npz, &packed, &name, offset);
		npz->count++;
	}
	fg_strbuf_release(&npy);
	fg_strbuf_release(&packed);
	fg_strbuf_release(&name);
	return status;
}

void fg_npz_end(struct fg_npz *npz)
{
	const size_t offset = npz->out->length - npz->start;

	fg_strbuf_add(npz->out, npz->directory.data, npz->directory.length);
	put32(npz->out, end_head);
	put16(npz->out, 0);
	put16(npz->out, 0);
	put16(npz->out, npz->count);
	put16(npz->out, npz->count);
	put32(npz->out, npz->directory.length);
	put32(npz->out, offset);
	put16(npz->out, 0);
	fg_npz_release(npz);
}

void fg_npz_release(struct fg_npz *npz)
{
	fg_strbuf_release(&npz->directory);
}
