// SPDX-License-Identifier: Apache-2.0
#include "profile/exchange/protobuf.h"

static void add_varint(struct fg_strbuf *out, uint64_t value)
{
	uint8_t bytes[10];
	size_t count = 0;

	do {
		uint8_t byte = (uint8_t)(value & 0x7fU);

		value >>= 7;
		if (value != 0)
			byte |= 0x80U;
		bytes[count++] = byte;
	} while (value != 0);
	fg_strbuf_add(out, bytes, count);
}

enum wire {
	WIRE_VARINT = 0,
	WIRE_BYTES = 2,
};

static void add_key(struct fg_strbuf *out, uint32_t field, enum wire wire)
{
	add_varint(out, ((uint64_t)field << 3U) | (uint64_t)wire);
}

void fg_protobuf_add_uint(struct fg_strbuf *out, uint32_t field, uint64_t value)
{
	if (value == 0)
		return;
	add_key(out, field, WIRE_VARINT);
	add_varint(out, value);
}

void fg_protobuf_add_int(struct fg_strbuf *out, uint32_t field, int64_t value)
{
	fg_protobuf_add_uint(out, field, (uint64_t)value);
}

void fg_protobuf_add_bytes(struct fg_strbuf *out, uint32_t field, const void *data, size_t size)
{
	add_key(out, field, WIRE_BYTES);
	add_varint(out, size);
	if (size > 0)
		fg_strbuf_add(out, data, size);
}

void fg_protobuf_add_packed(struct fg_strbuf *out, uint32_t field, const uint64_t *values,
			    size_t count)
{
	struct fg_strbuf packed = {0};

	if (count == 0)
		return;
	for (size_t i = 0; i < count; i++)
		add_varint(&packed, values[i]);
	fg_protobuf_add_bytes(out, field, packed.data, packed.length);
	fg_strbuf_release(&packed);
}
