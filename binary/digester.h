/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shared by the files that digest an image. Each file calls only the files below it:
 *
 *	digest.c               items by name, the digest of the whole
 *	digest_text.c          the text of one item, hashed
 *	unnamed_data.c         the bounds of data without a name
 *	digest_instruction.c   the fields of an instruction that hold addresses; also for entries.c
 *	digest_arm64.c         the same for arm64
 */
#ifndef FG_CODE_DIGESTER_H
#define FG_CODE_DIGESTER_H

#include "base/strbuf.h"
#include "binary/code.h"
#include "binary/image.h"

#include <Zydis/Zydis.h>

enum {
	FG_DIGEST_DEPTH_MAX = 8, /* maximum length of a chain of unnamed data */
	FG_DIGEST_WORD = sizeof(uint64_t),
	FG_DIGEST_TABLE_ENTRY = sizeof(int32_t),
};

struct fg_digester {
	struct fg_image image;
	struct fg_code *code;
	ZydisDecoder decoder;      /* without operands */
	ZydisDecoder full_decoder; /* with operands */
	uint32_t *item_of_symbol;  /* image symbol → item, by name */
	uint64_t *unnamed;         /* sorted addresses of unnamed data that is referred to */
	size_t unnamed_count;
	size_t unnamed_capacity;
	size_t uses_capacity;
	size_t item; /* the item whose text is being written */
	/* addresses of the unnamed data that led to the data being described */
	uint64_t trail[FG_DIGEST_DEPTH_MAX];
};

struct fg_decoded {
	ZydisDecodedInstruction decoded;
	uint64_t address;
	const uint8_t *bytes;
};

/* A field of the instruction that holds an address: its position, and the address. */
struct fg_code_place {
	unsigned offset;
	unsigned size; /* size in bytes; 0: none */
	uint64_t target;
	bool is_operand; /* the target is read or written, unless the instruction is LEA */
};

bool fg_digester_owns(const struct fg_image *image, uint64_t address);
const uint8_t *fg_digester_bytes(const struct fg_image *image, uint64_t address, uint64_t *left);
/*
 * A table of distances holds offsets from its own start. Returns the target of one entry, which
 * must lie in the file.
 */
uint64_t fg_digester_relative_target(const struct fg_digester *d, uint64_t table, uint64_t index);
/*
 * clang turns an array of constant pointers that would need relocations into a table of distances
 * from its own start. Only its name distinguishes it from numbers. Returns the number of entries;
 * 0: not a table.
 */
uint64_t fg_digester_relative_entries(const struct fg_digester *d,
				      const struct fg_image_symbol *symbol);

/* An arm64 instruction, separated from the address that it holds. */
struct fg_arm64_place {
	uint32_t kept; /* the instruction without the address */
	bool has_target;
	unsigned operand_size; /* bytes that are read or written there; 0: the address is taken */
	uint64_t target;
	uint64_t page; /* page digested as it is; 0: none, or part of a known target */
};

/* Returns one place per instruction of a function. The caller frees them. */
struct fg_arm64_place *fg_arm64_places(const uint8_t *bytes, uint64_t size, uint64_t address,
				       size_t *count);

/* A decoder without operands reads only lengths and fields, and is three times faster. */
bool fg_decoder_start(ZydisDecoder *decoder, bool with_operands);
bool fg_decoded_decode(const ZydisDecoder *decoder, const uint8_t *bytes, uint64_t left,
		       uint64_t address, struct fg_decoded *instruction);
uint64_t fg_decoded_next(const struct fg_decoded *i);
struct fg_code_place fg_decoded_displacement(const struct fg_image *image,
					     const struct fg_decoded *i);
struct fg_code_place fg_decoded_immediate(const struct fg_image *image, const struct fg_decoded *i,
					  unsigned index);

/* The first pass: collects the addresses of all data without a name. */
void fg_digester_collect_unnamed(struct fg_digester *d);
/*
 * Returns the end of the unnamed data at this address: the next address that is referred to, the
 * next symbol or the section's end.
 */
uint64_t fg_digester_unnamed_end(const struct fg_digester *d, uint64_t address);
/* The second pass: writes the digest of `d->item`, which is this symbol; `text` is scratch. */
void fg_digester_item(struct fg_digester *d, const struct fg_image_symbol *symbol,
		      struct fg_strbuf *text);

#endif
