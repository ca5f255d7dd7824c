/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A sorted table for the .eh_frame of a file that has none: linkers leave .eh_frame_hdr out of
 * static programs.
 */
#ifndef FG_OUTSIDE_FRAME_INDEX_H
#define FG_OUTSIDE_FRAME_INDEX_H

#include "base/base.h"

/* As in .eh_frame_hdr: both relative to the start of .eh_frame. */
struct fg_frame_index_entry {
	int32_t start;
	int32_t description;
};

/* Where .eh_frame lies in the numbering of this ELF file; false: there is none. */
bool fg_frame_index_section(const char *path, uint64_t *address, uint64_t *size);
/*
 * From the section's bytes as they are in memory; nothing in them is believed.  Entries by start,
 * to be freed; NULL: none.
 */
struct fg_frame_index_entry *fg_frame_index_build(const uint8_t *bytes, size_t size, size_t *count);

#endif
