// SPDX-License-Identifier: Apache-2.0
#include "perfdb/server/recent_tokens.h"

#include "base/clock.h"
#include "base/hash.h"
#include "base/random.h"

#include <stdatomic.h>

enum {
	SLOTS = 4096
};

struct fg_recent_tokens {
	uint64_t seed;
	atomic_ullong hashes[SLOTS];
};

struct fg_recent_tokens *fg_recent_tokens_new(void)
{
	struct fg_recent_tokens *tokens = fg_xcalloc(1, sizeof(*tokens));

	if (fg_random_bytes(&tokens->seed, sizeof(tokens->seed), NULL) != FG_OK)
		tokens->seed = (uint64_t)fg_clock_monotonic_ns();
	return tokens;
}

void fg_recent_tokens_free(struct fg_recent_tokens *tokens)
{
	free(tokens);
}

void fg_recent_tokens_add(struct fg_recent_tokens *tokens, const char *text)
{
	const uint64_t hash = fg_hash64(text, strlen(text), tokens->seed);

	atomic_store(&tokens->hashes[hash % SLOTS], hash);
}

bool fg_recent_tokens_have(const struct fg_recent_tokens *tokens, const char *text)
{
	const uint64_t hash = fg_hash64(text, strlen(text), tokens->seed);

	return atomic_load(&tokens->hashes[hash % SLOTS]) == hash;
}
