/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The machine code of the functions that samples ended in: each instruction as text, with its line.
 * Made while the binaries are at hand, and kept with the profile.
 */
#ifndef FG_PROFILE_LISTING_H
#define FG_PROFILE_LISTING_H

#include "profile/profile.h"
#include "symbols/symbolizer.h"

enum {
	FG_LISTED_MAX = 2000000, /* instructions in all */
};

/*
 * Adds the listings to the profile, which was made with this symbolizer. Why a module has none is a
 * note of the profile.
 */
void fg_listings_add(struct fg_profile *profile, struct fg_symbolizer *symbolizer);
/* The one around the address, or NULL. */
const struct fg_listing *fg_listings_find(const struct fg_profile *profile, uint32_t module,
					  uint64_t address);

#endif
