// SPDX-License-Identifier: Apache-2.0
#include "perfdb/server/health.h"

#include "base/clock.h"
#include "base/log.h"
#include "perfdb/server/threads.h"
#include "store/serving/access.h"

#include <stdatomic.h>
#include <sys/statvfs.h>

enum {
	ROOM_BYTES = 16 << 20
};

static const int64_t ask_every_ns = 500 * FG_NS_PER_MS;
static const int64_t look_every_ns = 250 * FG_NS_PER_MS;
static const int64_t remember_ns = 60 * FG_NS_PER_S; /* a failed write */
/*
 * Without an answer for this long, the database counts as down.  Less than the time for which a
 * session waits for a lock: what is queued is refused before a worker gets free and waits as long.
 */
static const int64_t patience_ns = 2500 * FG_NS_PER_MS;

struct fg_health {
	struct fg_health_options options;
	char *folder;
	atomic_llong answered_ns; /* when it answered last */
	atomic_bool has_room;
	atomic_llong failed_ns; /* last write; 0: it did not fail */
	pthread_mutex_t lock;
	pthread_cond_t wake;
	pthread_t asking;
	pthread_t looking;
	bool has_asking;
	bool has_looking;
	bool stopping;
};

static bool ask_database(struct fg_health *h)
{
	struct fg_error err = {0};
	struct fg_store *store = fg_sessions_borrow(h->options.sessions, &err);
	size_t tokens = 0;
	const bool answers = store && fg_store_token_count(store, &tokens, &err) == FG_OK;

	if (!answers)
		fg_log(FG_LOG_SERVER, 1, "the database does not answer: %s", err.message);
	fg_sessions_give_back(h->options.sessions, store);
	return answers;
}

static bool disk_has_room(const struct fg_health *h)
{
	struct statvfs disk;

	return !h->folder || statvfs(h->folder, &disk) != 0 ||
	       (uint64_t)disk.f_bavail * disk.f_frsize >= ROOM_BYTES;
}

/* Returns true when the thread must end. */
static bool pause_for(struct fg_health *h, int64_t ns)
{
	bool stopping = false;

	(void)pthread_mutex_lock(&h->lock);
	if (!h->stopping)
		(void)fg_wake_wait(&h->wake, &h->lock, ns);
	stopping = h->stopping;
	(void)pthread_mutex_unlock(&h->lock);
	return stopping;
}

static void *ask(void *context)
{
	struct fg_health *h = context;

	fg_thread_name("health asks");
	do {
		if (ask_database(h))
			atomic_store(&h->answered_ns, fg_clock_monotonic_ns());
		atomic_store(&h->has_room, disk_has_room(h));
	} while (!pause_for(h, ask_every_ns));
	return NULL;
}

static void *look(void *context)
{
	struct fg_health *h = context;

	fg_thread_name("health looks");
	while (!pause_for(h, look_every_ns)) {
		if (!fg_health_database_answers(h))
			h->options.while_down(h->options.context);
	}
	return NULL;
}

int fg_health_start(const struct fg_health_options *options, struct fg_health **health,
		    struct fg_error *err)
{
	struct fg_health *h = fg_xcalloc(1, sizeof(*h));

	h->options = *options;
	h->folder = options->folder ? fg_xstrdup(options->folder) : NULL;
	atomic_store(&h->answered_ns, fg_clock_monotonic_ns());
	atomic_store(&h->has_room, true);
	(void)pthread_mutex_init(&h->lock, NULL);
	fg_wake_init(&h->wake);
	*health = h;
	h->has_asking = pthread_create(&h->asking, NULL, ask, h) == 0;
	h->has_looking = pthread_create(&h->looking, NULL, look, h) == 0;
	return h->has_asking && h->has_looking
		       ? FG_OK
		       : fg_error_set(err, FG_EIO,
				      "cannot start the threads that ask the database");
}

void fg_health_stop(struct fg_health *h)
{
	if (!h)
		return;
	fg_wake_to_stop(&h->lock, &h->wake, &h->stopping);
	if (h->has_asking)
		(void)pthread_join(h->asking, NULL);
	if (h->has_looking)
		(void)pthread_join(h->looking, NULL);
	(void)pthread_mutex_destroy(&h->lock);
	(void)pthread_cond_destroy(&h->wake);
	free(h->folder);
	free(h);
}

bool fg_health_database_answers(const struct fg_health *h)
{
	return fg_clock_monotonic_ns() - atomic_load(&h->answered_ns) < patience_ns;
}

bool fg_health_disk_has_room(const struct fg_health *h)
{
	const int64_t failed_ns = atomic_load(&h->failed_ns);

	return atomic_load(&h->has_room) &&
	       (!failed_ns || fg_clock_monotonic_ns() - failed_ns > remember_ns);
}

void fg_health_wrote(struct fg_health *h, bool is_good)
{
	atomic_store(&h->failed_ns, is_good ? 0 : fg_clock_monotonic_ns());
}
