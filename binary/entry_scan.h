/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Answers the two questions of binary/entries.h: can the instructions that a jump covers work
 * elsewhere, and does anything lead into them?
 */
#ifndef FG_CODE_ENTRY_SCAN_H
#define FG_CODE_ENTRY_SCAN_H

#include "binary/eh_frame.h"
#include "binary/image.h"
#include "collector/calls/entry_plan.h"

/* ---- entry_window.c ---- */

/*
 * Decodes the first instructions at `entry->address`, given as `size` bytes. Sets the range that
 * the jump covers and the code that does the same elsewhere; a refused entry gets only its refusal.
 */
enum fg_entry_refusal fg_entry_window(const uint8_t *bytes, size_t size,
				      struct fg_plan_entry *entry);

/* ---- entry_scan.c ---- */

/*
 * Returns the section with the frame's bytes if all of them are code of the file; otherwise NULL.
 */
const struct fg_image_section *fg_entry_section(const struct fg_image *image,
						const struct fg_eh_frame *frame);

/*
 * Refuses accepted entries if anything may lead to a byte that the jump covers. Only code outside
 * the function may lead to the first byte.
 */
void fg_entry_scan(const struct fg_image *image, const struct fg_eh_frames *frames,
		   struct fg_plan_entry *entries, size_t count);

#endif
