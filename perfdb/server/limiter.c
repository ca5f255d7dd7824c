// SPDX-License-Identifier: Apache-2.0
/*
 * Limits requests per minute and caller. The table has a fixed size, so that an attacker with many
 * addresses costs no memory. A caller's hash chooses a set, and in a full set a new caller replaces
 * the caller with the fewest requests: a flood of addresses can erase the counts of other callers,
 * but never limits another caller.
 */
#include "perfdb/server/limiter.h"

#include "base/clock.h"
#include "base/hash.h"
#include "base/random.h"

#include <pthread.h>

enum {
	SETS = 1024,
	CALLERS = 8, /* callers per set */
	SECONDS = 60
};

struct caller {
	uint64_t hash;
	unsigned count; /* 0: free */
};

struct fg_limiter {
	pthread_mutex_t lock;
	unsigned per_minute;
	uint64_t seed;
	int64_t minute;
	struct caller callers[SETS][CALLERS];
};

struct fg_limiter *fg_limiter_new(unsigned per_minute)
{
	struct fg_limiter *limiter = fg_xcalloc(1, sizeof(*limiter));

	limiter->per_minute = per_minute;
	if (fg_random_bytes(&limiter->seed, sizeof(limiter->seed), NULL) != FG_OK)
		limiter->seed = (uint64_t)fg_clock_monotonic_ns();
	(void)pthread_mutex_init(&limiter->lock, NULL);
	return limiter;
}

void fg_limiter_free(struct fg_limiter *limiter)
{
	if (!limiter)
		return;
	(void)pthread_mutex_destroy(&limiter->lock);
	free(limiter);
}

static struct caller *find_caller(struct fg_limiter *limiter, const char *name)
{
	const uint64_t hash = fg_hash64(name, strlen(name), limiter->seed);
	struct caller *set = limiter->callers[hash % SETS];
	struct caller *fewest = set;

	for (struct caller *at = set; at < set + CALLERS; at++) {
		if (at->count > 0 && at->hash == hash)
			return at;
		if (at->count < fewest->count)
			fewest = at;
	}
	*fewest = (struct caller){.hash = hash};
	return fewest;
}

unsigned fg_limiter_count(struct fg_limiter *limiter, const char *caller, int64_t now_ns)
{
	const int64_t second = now_ns / FG_NS_PER_S;
	const int64_t minute = second / SECONDS;
	unsigned wait = 0;
	struct caller *found = NULL;

	(void)pthread_mutex_lock(&limiter->lock);
	if (minute != limiter->minute) {
		memset(limiter->callers, 0, sizeof(limiter->callers));
		limiter->minute = minute;
	}
	found = find_caller(limiter, caller ? caller : "");
	if (found->count >= limiter->per_minute)
		wait = (unsigned)(SECONDS - second % SECONDS);
	else
		found->count++;
	(void)pthread_mutex_unlock(&limiter->lock);
	return wait;
}
