// SPDX-License-Identifier: Apache-2.0
#include "perfdb/server/sealer.h"

#include "base/clock.h"
#include "base/log.h"
#include "perfdb/server/threads.h"
#include "store/serving/tiles.h"

#include <stdatomic.h>

enum {
	SEAL_SECONDS = 10
};

struct fg_sealer {
	struct fg_sessions *sessions;
	const struct fg_write_queue *writes;
	pthread_mutex_t lock;
	pthread_cond_t wake;
	pthread_t thread;
	bool has_thread;
	bool stopping;
	atomic_ullong tiles;
};

/*
 * Sealing a tile takes some tenths of a second.  While there may be more to seal, it goes on after
 * one second without a new run; otherwise, or if runs never cease, every ten seconds.  Called with
 * the lock held.
 */
static void wait_to_seal(struct fg_sealer *s, bool is_more)
{
	const int step = is_more ? 1 : SEAL_SECONDS;
	unsigned long long written = fg_write_queue_batches(s->writes);

	for (int second = 0; second < SEAL_SECONDS && !s->stopping; second += step) {
		const unsigned long long before = written;

		(void)fg_wake_wait(&s->wake, &s->lock, step * FG_NS_PER_S);
		written = fg_write_queue_batches(s->writes);
		if (is_more && written == before)
			return;
	}
}

static size_t seal(struct fg_sealer *s)
{
	struct fg_error err = {0};
	struct fg_store *store = fg_sessions_borrow(s->sessions, &err);
	size_t sealed = 0;

	if (!store || fg_store_seal(store, &sealed, &err) != FG_OK)
		fg_log(FG_LOG_SERVER, 1, "sealing: %s", err.message);
	atomic_fetch_add(&s->tiles, sealed);
	fg_sessions_give_back(s->sessions, store);
	return sealed;
}

static void *work(void *context)
{
	struct fg_sealer *s = context;
	size_t sealed = 0;

	fg_thread_name("sealer");
	(void)pthread_mutex_lock(&s->lock);
	for (;;) {
		wait_to_seal(s, sealed > 0);
		if (s->stopping)
			break;
		(void)pthread_mutex_unlock(&s->lock);
		sealed = seal(s);
		(void)pthread_mutex_lock(&s->lock);
	}
	(void)pthread_mutex_unlock(&s->lock);
	return NULL;
}

int fg_sealer_start(struct fg_sessions *sessions, const struct fg_write_queue *writes,
		    struct fg_sealer **sealer, struct fg_error *err)
{
	struct fg_sealer *s = fg_xcalloc(1, sizeof(*s));

	s->sessions = sessions;
	s->writes = writes;
	(void)pthread_mutex_init(&s->lock, NULL);
	fg_wake_init(&s->wake);
	*sealer = s;
	s->has_thread = pthread_create(&s->thread, NULL, work, s) == 0;
	return s->has_thread ? FG_OK : fg_error_set(err, FG_EIO, "cannot start the sealing thread");
}

void fg_sealer_stop(struct fg_sealer *s)
{
	if (!s)
		return;
	fg_wake_to_stop(&s->lock, &s->wake, &s->stopping);
	if (s->has_thread)
		(void)pthread_join(s->thread, NULL);
	(void)pthread_mutex_destroy(&s->lock);
	(void)pthread_cond_destroy(&s->wake);
	free(s);
}

unsigned long long fg_sealer_tiles(const struct fg_sealer *s)
{
	return atomic_load(&s->tiles);
}
