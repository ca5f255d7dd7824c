// SPDX-License-Identifier: Apache-2.0
/*
 * Untrusted unwind tables, as the collector finds them inside a program: the offset of the header
 * (2 bytes, little endian), then its segment. The target looks up the first 64 functions of the
 * table, at their start and beyond it.
 */
#include "base/base.h"
#include "collector/unwind/rules.h"
#include "tests/fuzz/fuzz.h"

enum {
	START_BYTES = 2,
	HEADER_BYTES = 12,
	MAX_ASKED = 64
};

static void ask(const struct fg_tables *tables, int32_t distance)
{
	const uint64_t rule =
		fg_rule_find(tables, (uintptr_t)tables->hdr + (uintptr_t)(intptr_t)distance);

	FG_ASSERT(fg_rule_kind(rule) != FG_RULE_NONE && fg_rule_kind(rule) <= FG_RULE_UNKNOWN);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const size_t start = size >= START_BYTES ? (size_t)(data[0] | data[1] << 8) : 0;
	const uint8_t *segment = data + START_BYTES;
	struct fg_tables tables = {0};
	int32_t distance = 0;

	if (size < START_BYTES || start > size - START_BYTES)
		return 0;
	tables = (struct fg_tables){segment + start, segment, data + size};
	ask(&tables, 0);
	for (size_t i = 0; i < MAX_ASKED; i++) {
		const uint8_t *at = tables.hdr + HEADER_BYTES + 2 * sizeof(distance) * i;

		if (tables.high - at < (ptrdiff_t)sizeof(distance))
			break;
		memcpy(&distance, at, sizeof(distance));
		ask(&tables, distance);
		ask(&tables, (int32_t)((uint32_t)distance + 5));
		ask(&tables, (int32_t)((uint32_t)distance + 200));
	}
	return 0;
}
