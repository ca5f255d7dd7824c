// SPDX-License-Identifier: Apache-2.0
/*
 * An untrusted upload. Random bytes would hardly ever pass the checksums, so the input is the three
 * parts unpacked (sizes of envelope and dictionary, 2 bytes each, little endian, then the parts),
 * which are packed here. An input that begins with FGRU is tried unchanged.
 */
#include "perfdb/protocol.h"
#include "store/bundle.h"
#include "store/store.h"
#include "tests/fuzz/fuzz.h"

enum {
	SIZES = 4
};

static const struct fg_bundle_limits limits = {
	.envelope_bytes = 1 << 16,
	.dictionary_bytes = 1 << 16,
	.values_bytes = 1 << 16,
	.functions = 1000,
	.nodes = 10000,
	.depth = 100,
};

static void try_container(const uint8_t *data, size_t size)
{
	struct fg_wire wire = {0};
	struct fg_error err = {0};

	if (fg_wire_read(data, size, &wire, &err) == FG_OK)
		FG_ASSERT(wire.envelope_size + wire.dictionary_size + wire.values_size +
				  FG_WIRE_HEADER_SIZE ==
			  size);
	else
		FG_ASSERT(err.message[0] != '\0');
}

static void try_parts(const uint8_t *data, size_t size)
{
	const size_t envelope = (size_t)(data[0] | data[1] << 8);
	const size_t dictionary = (size_t)(data[2] | data[3] << 8);
	struct fg_bundle bundle = {0};
	struct fg_stored_run run = {0};
	struct fg_error err = {0};

	if (envelope + dictionary > size - SIZES)
		return;
	data += SIZES;
	size -= SIZES;
	fg_strbuf_add(&bundle.envelope, (const char *)data, envelope);
	if (fg_pack(data + envelope, dictionary, 1, &bundle.dictionary, &err) == FG_OK &&
	    fg_pack(data + envelope + dictionary, size - envelope - dictionary, 1, &bundle.values,
		    &err) == FG_OK) {
		if (fg_bundle_to_run(&bundle, &limits, &run, &err) == FG_OK)
			fg_stored_run_release(&run);
		else
			FG_ASSERT(err.message[0] != '\0');
	}
	fg_bundle_release(&bundle);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size >= SIZES && memcmp(data, "FGRU", SIZES) == 0)
		try_container(data, size);
	else if (size >= SIZES)
		try_parts(data, size);
	return 0;
}
