// SPDX-License-Identifier: Apache-2.0
#include "binary/debug_files.h"

#include <lzma.h>

/*
 * Unpacks in growing steps, up to the limit: the size is not known in advance, and the file's own
 * claim is untrusted.
 */
static int unpack(const void *packed, size_t size, const char *name, uint8_t **bytes,
		  size_t *length, struct fg_error *err)
{
	lzma_stream stream = LZMA_STREAM_INIT;
	lzma_ret state = lzma_stream_decoder(&stream, FG_MINI_DEBUG_MAX_BYTES, 0);
	size_t capacity = 0;

	*bytes = NULL;
	*length = 0;
	stream.next_in = packed;
	stream.avail_in = size;
	while (state == LZMA_OK && *length < FG_MINI_DEBUG_MAX_BYTES) {
		*bytes = fg_grow(*bytes, &capacity, *length + 65536, 1);
		stream.next_out = *bytes + *length;
		stream.avail_out = capacity - *length;
		state = lzma_code(&stream, LZMA_FINISH);
		*length = capacity - stream.avail_out;
	}
	lzma_end(&stream);
	if (state == LZMA_STREAM_END && *length <= FG_MINI_DEBUG_MAX_BYTES)
		return FG_OK;
	free(*bytes);
	*bytes = NULL;
	if (state == LZMA_OK || state == LZMA_STREAM_END || state == LZMA_MEMLIMIT_ERROR)
		return fg_error_set(err, FG_ELIMIT, "%s: .gnu_debugdata has more than %d bytes",
				    name, FG_MINI_DEBUG_MAX_BYTES);
	return fg_error_set(err, FG_EPARSE, "%s: .gnu_debugdata is not compressed with xz", name);
}

/* Unpacks the section, which is an ELF file, and reads its symbols. */
static int parse_table(const void *packed, size_t size, const char *name, struct fg_elf *symbols,
		       struct fg_error *err)
{
	uint8_t *bytes;
	size_t length;
	int status = FG_OK;

	FG_TRY(unpack(packed, size, name, &bytes, &length, err));
	status = fg_elf_parse(bytes, length, name, symbols, err);
	free(bytes);
	return status;
}

int fg_mini_debug_read(const char *path, struct fg_elf *symbols, struct fg_error *err)
{
	char *packed;
	size_t size;
	int status = FG_OK;

	FG_TRY(fg_elf_read_section(path, ".gnu_debugdata", FG_MINI_DEBUG_MAX_PACKED, &packed, &size,
				   err));
	status = parse_table(packed, size, path, symbols, err);
	free(packed);
	return status;
}
