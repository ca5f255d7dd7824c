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
static const int64_t remember_ns = 60 * FG_NS_PER_S; /* a failed write counts for this long */
/*
 * The database counts as down if it has not answered for this long. A session waits longer for a
 * lock, so queued requests are refused before a free worker takes them and waits for the lock as
 * well.
 */
static const int64_t patience_ns = 2500 * FG_NS_PER_MS;

struct fg_health {
	struct fg_health_options options;
	char *folder;
	atomic_llong answered_ns; /* time of the last answer */
	atomic_bool has_room;
	atomic_llong failed_ns; /* time of the last write if it failed, otherwise 0 */
	struct fg_background asks;
	struct fg_background looks;
};

static void ask_database(struct fg_health *h)
{
	struct fg_error err = {0};
	struct fg_store *store = fg_sessions_borrow(h->options.sessions, &err);
	size_t tokens = 0;

	if (store && fg_store_token_count(store, &tokens, &err) == FG_OK)
		atomic_store(&h->answered_ns, fg_clock_monotonic_ns());
	else
		fg_log(FG_LOG_SERVER, 1, "the database does not answer: %s", err.message);
	fg_sessions_give_back(h->options.sessions, store);
}

static bool disk_has_room(const struct fg_health *h)
{
	struct statvfs disk;

	return !h->folder || statvfs(h->folder, &disk) != 0 ||
	       (uint64_t)disk.f_bavail * disk.f_frsize >= ROOM_BYTES;
}

static bool ask(void *context)
{
	struct fg_health *h = context;

	ask_database(h);
	atomic_store(&h->has_room, disk_has_room(h));
	return false;
}

static bool look(void *context)
{
	struct fg_health *h = context;

	if (!fg_health_database_answers(h))
		h->options.while_down(h->options.context);
	return false;
}

int fg_health_start(const struct fg_health_options *options, struct fg_health **health,
		    struct fg_error *err)
{
	struct fg_health *h = fg_xcalloc(1, sizeof(*h));
	int status = FG_OK;

	h->options = *options;
	h->folder = options->folder ? fg_xstrdup(options->folder) : NULL;
	atomic_store(&h->answered_ns, fg_clock_monotonic_ns());
	atomic_store(&h->has_room, true);
	h->asks = (struct fg_background){
		.name = "health db", .work = ask, .context = h, .pause_ns = ask_every_ns};
	h->looks = (struct fg_background){
		.name = "health watch", .work = look, .context = h, .pause_ns = look_every_ns};
	*health = h;
	status = fg_background_start(&h->asks, err);
	return status == FG_OK ? fg_background_start(&h->looks, err) : status;
}

void fg_health_stop(struct fg_health *h)
{
	if (!h)
		return;
	fg_background_stop(&h->looks);
	fg_background_stop(&h->asks);
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
