// SPDX-License-Identifier: Apache-2.0
#include "perfdb/server/remembered.h"

#include "base/clock.h"
#include "base/hash.h"
#include "base/random.h"

#include <stdatomic.h>

enum {
	SLOTS = 4096
};

struct fg_remembered {
	uint64_t seed;
	atomic_ullong hashes[SLOTS];
};

struct fg_remembered *fg_remembered_new(void)
{
	struct fg_remembered *remembered = fg_xcalloc(1, sizeof(*remembered));

	if (fg_random_bytes(&remembered->seed, sizeof(remembered->seed), NULL) != FG_OK)
		remembered->seed = (uint64_t)fg_clock_monotonic_ns();
	return remembered;
}

void fg_remembered_free(struct fg_remembered *remembered)
{
	free(remembered);
}

void fg_remembered_add(struct fg_remembered *remembered, const char *text)
{
	const uint64_t hash = fg_hash64(text, strlen(text), remembered->seed);

	atomic_store(&remembered->hashes[hash % SLOTS], hash);
}

bool fg_remembered_have(const struct fg_remembered *remembered, const char *text)
{
	const uint64_t hash = fg_hash64(text, strlen(text), remembered->seed);

	return atomic_load(&remembered->hashes[hash % SLOTS]) == hash;
}
