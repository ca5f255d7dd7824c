/* SPDX-License-Identifier: Apache-2.0 */
/* Does anything in an object lead into the first instructions of a function? */
#ifndef FG_CODE_ENTRY_SCAN_H
#define FG_CODE_ENTRY_SCAN_H

#include "binary/eh_frame.h"
#include "binary/image.h"
#include "collector/calls/entry_plan.h"

/* The bytes that a jump at a function's entry would cover, and what speaks against it. */
struct fg_entry_place {
	uint64_t start; /* the function */
	uint64_t jump;  /* where the jump would begin: who comes there goes through it */
	uint64_t end;
	enum fg_entry_refusal refusal;
};

/* `places` are in order and do not overlap; those that nothing speaks against stay as they are. */
void fg_entry_scan(const struct fg_image *image, const struct fg_eh_frames *frames,
		   struct fg_entry_place *places, size_t count);

#endif
