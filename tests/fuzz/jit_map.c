// SPDX-License-Identifier: Apache-2.0
/*
 * Untrusted names of generated code, the lines of perf-PID.map, are looked up at the addresses that
 * they contain.
 */
#include "binary/jit_map.h"

#include "tests/fuzz/fuzz.h"

enum {
	MAX_NAME = 1 << 20,
};

static void ask(const struct fg_jit_map *map, uint64_t address)
{
	const char *name = fg_jit_map_find(map, address);

	struct fg_jit_place place;

	if (!name)
		return;
	FG_ASSERT(*name && strlen(name) < MAX_NAME);
	if (!fg_jit_place_read(name, &place))
		return;
	FG_ASSERT(strlen(place.name) <= strlen(name) && *place.file == '/');
	free(place.name);
	free(place.file);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fg_jit_map map = {0};

	fg_jit_map_parse(fg_fuzz_text(data, size), &map);
	for (size_t i = 0; i < map.count; i++) {
		const struct fg_jit_entry *entry = &map.entries[i];

		FG_ASSERT(entry->start < entry->end && *entry->name);
		FG_ASSERT(i == 0 || map.entries[i - 1].start <= entry->start);
		ask(&map, entry->start);
		ask(&map, entry->end - 1);
		ask(&map, entry->end);
	}
	ask(&map, 0);
	ask(&map, UINT64_MAX);
	fg_jit_map_release(&map);
	return 0;
}
