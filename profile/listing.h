/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The machine code of the functions in which samples ended: each instruction as text, with its
 * line. Listings are made while the binaries exist, and kept with the profile.
 */
#ifndef FG_PROFILE_LISTING_H
#define FG_PROFILE_LISTING_H

#include "binary/symbolizer.h"
#include "profile/profile.h"

enum {
	FG_LISTED_MAX = 2000000, /* maximum number of instructions in a profile */
};

/*
 * Adds the listings to the profile, which was made with this symbolizer. If a module has no
 * listing, a note in the profile gives the reason.
 */
void fg_listings_add(struct fg_profile *profile, struct fg_symbolizer *symbolizer);
/*
 * The code of one function as text, one instruction per line, without addresses: unchanged code has
 * the same text in two builds.
 */
struct fg_code_text {
	char *text;
	uint64_t *addresses; /* address of each line */
	size_t count;
};

/* Opens a binary by its name in fg_profile_set.instructions. */
struct fg_symbol_module *fg_code_text_module(struct fg_symbolizer *symbolizer, const char *binary);
/* Reads the function around the address. Fails like fg_symbolizer_code(). */
int fg_code_text_read(struct fg_symbolizer *symbolizer, struct fg_symbol_module *module,
		      uint64_t address, struct fg_code_text *code_text, struct fg_error *err)
	FG_NODISCARD;
/* Returns the number of the line, from 1, with the instruction at the address; 0: none. */
unsigned fg_code_text_line(const struct fg_code_text *code, uint64_t address);
void fg_code_text_release(struct fg_code_text *code);

/* Returns the listing that contains the address, or NULL. */
const struct fg_listing *fg_listings_find(const struct fg_profile *profile, uint32_t module,
					  uint64_t address);

#endif
