// SPDX-License-Identifier: Apache-2.0
/*
 * Untrusted trace files, all the way to a call tree, a row, and every export and view. Checksums
 * are repaired first, because a file with a wrong checksum is not read any further; files of an odd
 * size stay unchanged, to test the checks as well.
 */
#include "base/hash.h"
#include "profile/calltree.h"
#include "profile/ingest.h"
#include "profile/trace_profile.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/outputs.h"

static void mend_chunk(uint8_t *at, size_t left)
{
	struct fg_trace_chunk chunk;
	size_t used;

	memcpy(&chunk, at, sizeof(chunk));
	used = FG_TRACE_COMMIT_USED(chunk.commit);
	if (used > left - sizeof(chunk))
		used = left - sizeof(chunk);
	chunk.header_crc = fg_crc32c(0, &chunk, offsetof(struct fg_trace_chunk, header_crc));
	chunk.header_crc =
		fg_crc32c(chunk.header_crc, &chunk.base_time_ns, sizeof(chunk.base_time_ns));
	chunk.commit = FG_TRACE_COMMIT(used, fg_crc32c(0, at + sizeof(chunk), used));
	memcpy(at, &chunk, sizeof(chunk));
}

static void repair(uint8_t *bytes, size_t size)
{
	const size_t start = offsetof(struct fg_trace_header, word_bits);
	const size_t end = offsetof(struct fg_trace_header, allocated);
	struct fg_trace_header header;

	if (size < FG_TRACE_HEADER_SIZE)
		return;
	memcpy(&header, bytes, sizeof(header));
	header.header_crc = fg_crc32c(0, bytes + start, end - start);
	header.allocated = size;
	memcpy(bytes, &header, sizeof(header));
	for (size_t at = FG_TRACE_HEADER_SIZE; at + sizeof(struct fg_trace_chunk) <= size;
	     at += FG_TRACE_ALIGN)
		mend_chunk(bytes + at, size - at);
}

static void use(const struct fg_trace *trace)
{
	const struct fg_symbolizer_options options = {.names_only = true};
	const struct fg_ingest_row row = {0};
	struct fg_symbolizer *symbolizer = fg_symbolizer_new(&options);
	struct fg_profile profile;
	struct fg_profile_set set;
	struct fg_calltree tree;
	struct fg_error err = {0};

	fg_profile_init(&profile);
	fg_profile_add_trace(&profile, trace, symbolizer, trace->header.start_monotonic_ns);
	FG_ASSERT(fg_calltree_build(&profile, &(struct fg_calltree_query){.split = FG_SPLIT_REGION},
				    &tree, &err) == FG_OK);
	fg_profile_set_init(&set, "fuzz");
	fg_profile_ingest_profile(&set, &profile, &row, NULL);
	fg_profile_set_release(&set);
	fg_fuzz_write_everything(&profile);
	fg_calltree_release(&tree);
	fg_profile_release(&profile);
	fg_symbolizer_free(symbolizer);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t *copy = fg_xmalloc(size ? size : 1);
	struct fg_trace trace;
	struct fg_error err = {0};

	if (size > 0)
		memcpy(copy, data, size);
	if (size % 2 == 0)
		repair(copy, size);
	if (fg_trace_parse(copy, size, "fuzz", &trace, &err) == FG_OK) {
		use(&trace);
		fg_trace_release(&trace);
	} else {
		FG_ASSERT(err.message[0] != '\0');
	}
	free(copy);
	return 0;
}
