/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The program and libraries that a process has mapped, from /proc/PID/maps and their headers in
 * memory: the address, build-id and unwind table of each.
 */
#ifndef FG_ATTACH_MAPPINGS_H
#define FG_ATTACH_MAPPINGS_H

#include "base/error.h"
#include "profile/attach/memory.h"

enum {
	FG_MAPPING_BUILD_ID_MAX = 64
};

/*
 * Like an entry of the table in .eh_frame_hdr, but both members are relative to the start of
 * .eh_frame.
 */
struct fg_mapping_frame {
	int32_t start;
	int32_t description;
};

struct fg_mapping {
	uint64_t start, end;
	uint64_t bias;  /* address - bias is the address in the file's own numbering */
	uint64_t table; /* address of the sorted table in .eh_frame_hdr; 0: none */
	uint64_t table_base;
	uint64_t table_entries;
	uint64_t dynamic;                   /* address of the dynamic section; 0: none */
	struct fg_mapping_frame *own_table; /* stands in for a missing `table` */
	uint8_t build_id[FG_MAPPING_BUILD_ID_MAX];
	size_t build_id_size;
	char *path;
	bool is_vdso;
	bool is_main;
};

struct fg_range {
	uint64_t start, end;
};

struct fg_mappings {
	struct fg_mapping *items; /* sorted by address */
	size_t count, capacity;
	struct fg_range *nameless; /* executable memory without a file */
	size_t nameless_count, nameless_capacity;
};

int fg_mappings_read(struct fg_memory *memory, struct fg_mappings *mappings, struct fg_error *err)
	FG_NODISCARD;
const struct fg_mapping *fg_mappings_find(const struct fg_mappings *mappings, uint64_t address);
/*
 * Returns true if the address lies in a mapped ELF file that contains code, or in other executable
 * memory.
 */
bool fg_mappings_is_code(const struct fg_mappings *mappings, uint64_t address);
/*
 * Limits how often the mappings of a process are read again for an unknown address: a read can take
 * milliseconds, and the address may stay unknown. The first few reads are free, for code that a
 * program generates at its start; after that, 100 ms must pass between two reads.
 */
struct fg_mapping_looks {
	unsigned count;
	int64_t last_ns;
};

bool fg_mapping_looks_allow(const struct fg_mapping_looks *looks);
void fg_mapping_looks_note(struct fg_mapping_looks *looks);

void fg_mappings_release(struct fg_mappings *mappings);

#endif
