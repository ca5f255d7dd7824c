// SPDX-License-Identifier: Apache-2.0
/*
 * Limits requests per minute and caller. Callers are hashed into a fixed table, so that an attacker
 * with many addresses costs no memory. Two callers in the same slot share an allowance.
 */
#include "perfdb/server/limiter.h"

#include "base/clock.h"
#include "base/hash.h"
#include "base/random.h"

#include <pthread.h>

enum {
	SLOTS = 4096,
	SECONDS = 60
};

struct fg_limiter {
	pthread_mutex_t lock;
	unsigned per_minute;
	uint64_t seed;
	int64_t minute;
	unsigned counts[SLOTS];
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

unsigned fg_limiter_count(struct fg_limiter *limiter, const char *caller, int64_t now_ns)
{
	const int64_t second = now_ns / FG_NS_PER_S;
	const int64_t minute = second / SECONDS;
	unsigned wait = 0;
	unsigned *count = NULL;

	caller = caller ? caller : "";
	(void)pthread_mutex_lock(&limiter->lock);
	if (minute != limiter->minute) {
		memset(limiter->counts, 0, sizeof(limiter->counts));
		limiter->minute = minute;
	}
	count = &limiter->counts[fg_hash64(caller, strlen(caller), limiter->seed) % SLOTS];
	if (*count >= limiter->per_minute)
		wait = (unsigned)(SECONDS - second % SECONDS);
	else
		*count += 1;
	(void)pthread_mutex_unlock(&limiter->lock);
	return wait;
}
