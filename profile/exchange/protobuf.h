/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The little of the protocol buffer wire format that a pprof profile needs: varints, and fields
 * with a length in front.
 *
 * Writing appends to a text buffer; zero values are left out, as the format says.  A nested message
 * is written into a buffer of its own first.  Reading walks over a piece of memory and never past
 * it: fg_protobuf_next() returns false at the end and on broken input; afterwards `broken` tells
 * which of the two it was.
 */
#ifndef FG_EXCHANGE_PROTOBUF_H
#define FG_EXCHANGE_PROTOBUF_H

#include "base/strbuf.h"

void fg_protobuf_add_uint(struct fg_strbuf *out, uint32_t field, uint64_t value);
void fg_protobuf_add_int(struct fg_strbuf *out, uint32_t field, int64_t value);
void fg_protobuf_add_bytes(struct fg_strbuf *out, uint32_t field, const void *data, size_t size);
/* A repeated integer field in its packed form; nothing when `count` is 0. */
void fg_protobuf_add_packed(struct fg_strbuf *out, uint32_t field, const uint64_t *values,
			    size_t count);

enum fg_protobuf_wire {
	FG_WIRE_VARINT = 0,
	FG_WIRE_64 = 1,
	FG_WIRE_BYTES = 2,
	FG_WIRE_32 = 5,
};

struct fg_protobuf_field {
	uint32_t number;
	enum fg_protobuf_wire wire;
	uint64_t value;      /* FG_WIRE_VARINT, _64 and _32 */
	const uint8_t *data; /* FG_WIRE_BYTES */
	size_t size;
};

struct fg_protobuf_reader {
	const uint8_t *at;
	const uint8_t *end;
	bool broken;
};

void fg_protobuf_reader_init(struct fg_protobuf_reader *reader, const void *data, size_t size);
bool fg_protobuf_next(struct fg_protobuf_reader *reader, struct fg_protobuf_field *field);
/* The next bare varint: for the inside of a packed field. */
bool fg_protobuf_varint(struct fg_protobuf_reader *reader, uint64_t *value);

#endif
