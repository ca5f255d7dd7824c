// SPDX-License-Identifier: Apache-2.0
#include "perfdb/protocol.h"

#include "base/hash.h"

enum {
	MAGIC_SIZE = 8,
	SIZES = 4
};

static void put(uint8_t *at, size_t value)
{
	for (size_t i = 0; i < 4; i++)
		at[i] = (uint8_t)(value >> (8 * i));
}

static size_t get(const uint8_t *at)
{
	size_t value = 0;

	for (size_t i = 0; i < 4; i++)
		value |= (size_t)at[i] << (8 * i);
	return value;
}

int fg_wire_write(const struct fg_wire *wire, struct fg_strbuf *text, struct fg_error *err)
{
	uint8_t header[FG_WIRE_HEADER_SIZE];
	const size_t start = text->length;
	const size_t total = wire->envelope_size + wire->dictionary_size + wire->values_size;

	if (total + FG_WIRE_HEADER_SIZE > FG_WIRE_MAX_BYTES)
		return fg_error_set(err, FG_ELIMIT,
				    "a run of %zu bytes exceeds a server's limit of %d MiB", total,
				    FG_WIRE_MAX_BYTES >> 20);
	memcpy(header, FG_WIRE_MAGIC, MAGIC_SIZE);
	put(header + MAGIC_SIZE, wire->envelope_size);
	put(header + MAGIC_SIZE + 4, wire->dictionary_size);
	put(header + MAGIC_SIZE + 8, wire->values_size);
	fg_strbuf_add(text, header, sizeof(header));
	fg_strbuf_add(text, wire->envelope, wire->envelope_size);
	fg_strbuf_add(text, wire->dictionary, wire->dictionary_size);
	fg_strbuf_add(text, wire->values, wire->values_size);
	put(header, fg_crc32c(0, text->data + start + FG_WIRE_HEADER_SIZE, total));
	memcpy(text->data + start + MAGIC_SIZE + 12, header, 4);
	return FG_OK;
}

int fg_wire_read(const void *data, size_t size, struct fg_wire *wire, struct fg_error *err)
{
	const uint8_t *at = data;
	size_t sizes[SIZES];
	size_t left = size;

	if (size < FG_WIRE_HEADER_SIZE || memcmp(at, "FGRUN/", 6) != 0)
		return fg_error_set(err, FG_EPARSE,
				    "this is not a fastgate run: it does not begin with FGRUN");
	if (memcmp(at, FG_WIRE_MAGIC, MAGIC_SIZE) != 0)
		return fg_error_set(
			err, FG_EUNSUPPORTED,
			"the run is in another version of the format; this fastgate reads version 1");
	for (size_t i = 0; i < SIZES; i++)
		sizes[i] = get(at + MAGIC_SIZE + 4 * i);
	at += FG_WIRE_HEADER_SIZE;
	left -= FG_WIRE_HEADER_SIZE;
	if (sizes[0] + sizes[1] + sizes[2] != left)
		return fg_error_set(err, FG_EPARSE,
				    "the run is cut short: it announces %zu bytes but has %zu",
				    sizes[0] + sizes[1] + sizes[2], left);
	if (fg_crc32c(0, at, left) != sizes[3])
		return fg_error_set(err, FG_EPARSE,
				    "the run is damaged: its checksum does not match");
	*wire = (struct fg_wire){
		.envelope = (const char *)at,
		.envelope_size = sizes[0],
		.dictionary = at + sizes[0],
		.dictionary_size = sizes[1],
		.values = at + sizes[0] + sizes[1],
		.values_size = sizes[2],
	};
	return FG_OK;
}

void fg_wire_digest(const struct fg_wire *wire, char hex[FG_SHA256_HEX_SIZE])
{
	uint8_t digest[FG_SHA256_SIZE];
	struct fg_sha256 sha;

	fg_sha256_init(&sha);
	fg_sha256_add(&sha, wire->envelope, wire->envelope_size);
	fg_sha256_add(&sha, wire->dictionary, wire->dictionary_size);
	fg_sha256_add(&sha, wire->values, wire->values_size);
	fg_sha256_finish(&sha, digest);
	fg_hex(digest, sizeof(digest), hex);
}
