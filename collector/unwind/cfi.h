/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A reader of .eh_frame, the DWARF call frame information that nearly every object has. Whatever
 * the tables contain, nothing outside the segment that holds them is read. Signal-safe.
 */
#ifndef FG_COLLECTOR_CFI_H
#define FG_COLLECTOR_CFI_H

#include "collector/unwind/rules.h"

#include <stdbool.h>

struct fg_cfi_cursor {
	const uint8_t *at;
	const uint8_t *end;
};

struct fg_cfi_common {
	struct fg_cfi_cursor program; /* instructions for every function that shares this CIE */
	uint64_t code_align;
	int64_t data_align;
	uint64_t ra;
	uint8_t encoding;
	bool has_augmentation;
	bool signal;
};

struct fg_cfi_function {
	struct fg_cfi_common cie;
	struct fg_cfi_cursor program;
	uintptr_t start;
	uintptr_t size;
};

/* Reads beyond the end give 0. */
uint64_t fg_cfi_take(struct fg_cfi_cursor *c, unsigned size);
uint64_t fg_cfi_take_uleb(struct fg_cfi_cursor *c);
int64_t fg_cfi_take_sleb(struct fg_cfi_cursor *c);
/* Reads a pointer in one of the encodings of .eh_frame. */
uintptr_t fg_cfi_take_encoded(struct fg_cfi_cursor *c, uint8_t encoding);
/* Reads a block that is preceded by its length. */
struct fg_cfi_cursor fg_cfi_take_block(struct fg_cfi_cursor *c);

/* Finds the entry of the function at `address`; false: the tables have none. */
bool fg_cfi_find(const struct fg_tables *tables, uintptr_t address,
		 struct fg_cfi_function *function);

#endif
