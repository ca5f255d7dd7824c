/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the blocks that hold the values of a series. */
#ifndef FG_STORE_CHUNKS_H
#define FG_STORE_CHUNKS_H

#include "base/base.h"
#include "base/error.h"
#include "store/bytes.h"

struct fg_store;

/* Kinds of chunks. The numbers are in stored files: never reuse one. */
enum fg_chunk_kind {
	FG_CHUNK_REPETITIONS = 1,
	FG_CHUNK_ROWS = 2,
	FG_CHUNK_REGIONS = 3,
	FG_CHUNK_PROGRAM = 5, /* name of the profile's root */
	FG_CHUNK_PATHS = 6,
	FG_CHUNK_MEASURES = 16, /* plus m: rows of measure m, from 1 (measures.h) */
};

enum {
	FG_MAX_CHUNK_BYTES = 1 << 28
};

/* `take` receives the content of each chunk of a kind, in order. */
typedef int fg_chunk_taker(struct fg_byte_reader *reader, void *context, struct fg_error *err);

int fg_store_chunks(struct fg_store *store, int64_t series, int64_t kind, fg_chunk_taker *take,
		    void *context, struct fg_error *err) FG_NODISCARD;

#endif
