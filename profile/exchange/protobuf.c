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

static void add_key(struct fg_strbuf *out, uint32_t field, enum fg_protobuf_wire wire)
{
	add_varint(out, ((uint64_t)field << 3U) | (uint64_t)wire);
}

void fg_protobuf_add_uint(struct fg_strbuf *out, uint32_t field, uint64_t value)
{
	if (value == 0)
		return;
	add_key(out, field, FG_WIRE_VARINT);
	add_varint(out, value);
}

void fg_protobuf_add_int(struct fg_strbuf *out, uint32_t field, int64_t value)
{
	fg_protobuf_add_uint(out, field, (uint64_t)value);
}

void fg_protobuf_add_bytes(struct fg_strbuf *out, uint32_t field, const void *data, size_t size)
{
	add_key(out, field, FG_WIRE_BYTES);
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

void fg_protobuf_reader_init(struct fg_protobuf_reader *reader, const void *data, size_t size)
{
	reader->at = data;
	reader->end = reader->at ? reader->at + size : NULL;
	reader->broken = false;
}

static bool broken(struct fg_protobuf_reader *reader)
{
	reader->broken = true;
	return false;
}

bool fg_protobuf_varint(struct fg_protobuf_reader *reader, uint64_t *value)
{
	uint64_t result = 0;

	if (reader->at == reader->end)
		return false;
	for (unsigned shift = 0; shift < 70; shift += 7) {
		uint8_t byte = 0;

		if (reader->at == reader->end)
			return broken(reader);
		byte = *reader->at++;
		if (shift == 63 && (byte & 0x7eU) != 0)
			return broken(reader); /* more than 64 bits */
		result |= (uint64_t)(byte & 0x7fU) << shift;
		if ((byte & 0x80U) == 0) {
			*value = result;
			return true;
		}
	}
	return broken(reader);
}

static bool take_fixed(struct fg_protobuf_reader *reader, size_t size, uint64_t *value)
{
	uint64_t result = 0;

	if ((size_t)(reader->end - reader->at) < size)
		return broken(reader);
	for (size_t i = 0; i < size; i++)
		result |= (uint64_t)reader->at[i] << (8 * i);
	reader->at += size;
	*value = result;
	return true;
}

static bool take_bytes(struct fg_protobuf_reader *reader, struct fg_protobuf_field *field)
{
	uint64_t size = 0;

	if (!fg_protobuf_varint(reader, &size) || size > (uint64_t)(reader->end - reader->at))
		return broken(reader);
	field->data = reader->at;
	field->size = (size_t)size;
	reader->at += size;
	return true;
}

bool fg_protobuf_next(struct fg_protobuf_reader *reader, struct fg_protobuf_field *field)
{
	uint64_t key = 0;

	if (reader->broken || !fg_protobuf_varint(reader, &key))
		return false;
	if (key >> 3U == 0 || key >> 3U > UINT32_MAX)
		return broken(reader);
	*field = (struct fg_protobuf_field){.number = (uint32_t)(key >> 3U)};
	switch (key & 7U) {
	case FG_WIRE_VARINT:
		field->wire = FG_WIRE_VARINT;
		return fg_protobuf_varint(reader, &field->value) || broken(reader);
	case FG_WIRE_64:
		field->wire = FG_WIRE_64;
		return take_fixed(reader, 8, &field->value);
	case FG_WIRE_BYTES:
		field->wire = FG_WIRE_BYTES;
		return take_bytes(reader, field);
	case FG_WIRE_32:
		field->wire = FG_WIRE_32;
		return take_fixed(reader, 4, &field->value);
	default:
		return broken(reader); /* groups, long abolished */
	}
}
