// SPDX-License-Identifier: Apache-2.0
/*
 * Untrusted descriptions of generated code: jit-PID.dump, or the lines of perf-PID.map. Names are
 * looked up at the addresses that they contain.
 */
#include "binary/jit_dump.h"

#include "binary/jit_map.h"
#include "tests/fuzz/fuzz.h"

enum {
	NAME_MOST = 1 << 20,
};

struct input {
	const char *data;
	size_t size;
};

static void use_code(void *context, const struct fg_jit_code *code)
{
	const struct input *input = context;

	if (!code->name)
		return;
	FG_ASSERT(code->name > input->data && code->name < input->data + input->size);
	FG_ASSERT(strnlen(code->name, (size_t)(input->data + input->size - code->name)) <
		  (size_t)(input->data + input->size - code->name));
}

static void ask(const struct fg_jit_map *map, uint64_t address)
{
	const char *name = fg_jit_map_find(map, address);

	struct fg_jit_place place;

	if (!name)
		return;
	FG_ASSERT(*name && strlen(name) < NAME_MOST);
	if (!fg_jit_place_read(name, &place))
		return;
	FG_ASSERT(strlen(place.name) <= strlen(name) && *place.file == '/');
	free(place.name);
	free(place.file);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input input = {(const char *)data, size};
	struct fg_jit_map map = {0};

	if (fg_jit_dump_is(input.data, size))
		fg_jit_dump_read(input.data, size, use_code, &input);
	fg_jit_map_parse(fg_fuzz_text(data, size), size, &map);
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
