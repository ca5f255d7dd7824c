/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The machine code of the functions that samples ended in: each instruction as text, with its line.
 * Made while the binaries exist, and kept with the profile.
 */
#ifndef FG_PROFILE_LISTING_H
#define FG_PROFILE_LISTING_H

#include "binary/symbolizer.h"
#include "profile/profile.h"

enum {
	FG_LISTED_MAX = 2000000, /* instructions in all */
};

/*
 * Adds the listings to the profile, which was made with this symbolizer. Why a module has none is a
 * note of the profile.
 */
void fg_listings_add(struct fg_profile *profile, struct fg_symbolizer *symbolizer);
/*
 * The code of one function as text, an instruction a line, without addresses: what did not change
 * reads alike in two builds.
 */
struct fg_code_text {
	char *text;
	uint64_t *addresses; /* address of each line */
	size_t count;
};

/* A binary as fg_profile_set.instructions names it. */
struct fg_symbol_module *fg_code_text_module(struct fg_symbolizer *symbolizer, const char *binary);
/* The function around the address. FG_ENOENT, FG_EUNSUPPORTED: as fg_symbolizer_code(). */
int fg_code_text_read(struct fg_symbolizer *symbolizer, struct fg_symbol_module *module,
		      uint64_t address, struct fg_code_text *code_text, struct fg_error *err)
	FG_NODISCARD;
/* The line, from 1, with the instruction around the address; 0: none. */
unsigned fg_code_text_line(const struct fg_code_text *code, uint64_t address);
void fg_code_text_release(struct fg_code_text *code);

/* The one around the address, or NULL. */
const struct fg_listing *fg_listings_find(const struct fg_profile *profile, uint32_t module,
					  uint64_t address);

#endif
