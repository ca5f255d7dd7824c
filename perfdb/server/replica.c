// SPDX-License-Identifier: Apache-2.0
#include "perfdb/server/replica.h"

#include "base/clock.h"
#include "base/hash.h"
#include "base/log.h"
#include "perfdb/server/threads.h"
#include "store/serving/upkeep.h"

#include <stdatomic.h>

enum {
	SLOTS = 1024, /* slots for clients that wrote; clients in the same slot count as one client */
	MAX_LAG_MS = 10000,
	NO_ANSWER = -1,
};

static const int64_t ask_every_ns = 500 * FG_NS_PER_MS;
/* The replica counts as down if it has not answered for this long. */
static const int64_t patience_ns = 2500 * FG_NS_PER_MS;
/*
 * A client that wrote uses the primary for this long, which is also the largest delay of a replica
 * in use.
 */
static const int64_t own_writes_ns = MAX_LAG_MS * FG_NS_PER_MS;

struct fg_replica {
	struct fg_sessions *sessions;
	atomic_llong answered_ns; /* time of the last answer; 0: never */
	atomic_llong lag_ms;
	atomic_ullong questions;
	atomic_llong wrote_ns[SLOTS];
	struct fg_background asks;
};

static bool ask(void *context)
{
	struct fg_replica *r = context;
	struct fg_error err = {0};
	struct fg_store *store = fg_sessions_borrow(r->sessions, &err);
	int64_t lag_ms = NO_ANSWER;
	const bool answers = store && fg_store_lag(store, &lag_ms, &err) == FG_OK;

	if (!answers)
		fg_log(FG_LOG_SERVER, 1, "the replica does not answer: %s", err.message);
	fg_sessions_give_back(r->sessions, store);
	atomic_store(&r->lag_ms, lag_ms);
	if (answers)
		atomic_store(&r->answered_ns, fg_clock_monotonic_ns());
	return false;
}

int fg_replica_start(const char *database, struct fg_replica **replica, struct fg_error *err)
{
	struct fg_replica *r = fg_xcalloc(1, sizeof(*r));

	r->sessions = fg_sessions_new(database, true);
	atomic_store(&r->lag_ms, NO_ANSWER);
	r->asks = (struct fg_background){
		.name = "replica", .work = ask, .context = r, .pause_ns = ask_every_ns};
	*replica = r;
	return fg_background_start(&r->asks, err);
}

void fg_replica_stop(struct fg_replica *r)
{
	if (!r)
		return;
	fg_background_stop(&r->asks);
	fg_sessions_free(r->sessions);
	free(r);
}

static atomic_llong *slot_of(struct fg_replica *r, const char *who)
{
	return &r->wrote_ns[fg_hash64(who, strlen(who), 0) % SLOTS];
}

static bool is_of_use(struct fg_replica *r, const char *who)
{
	const int64_t now_ns = fg_clock_monotonic_ns();
	const int64_t answered_ns = atomic_load(&r->answered_ns);
	const int64_t wrote_ns = atomic_load(slot_of(r, who));
	const int64_t lag_ms = fg_replica_lag_ms(r);

	return answered_ns && now_ns - answered_ns < patience_ns && lag_ms >= 0 &&
	       lag_ms < MAX_LAG_MS && (!wrote_ns || now_ns - wrote_ns > own_writes_ns);
}

struct fg_store *fg_replica_borrow(struct fg_replica *r, const char *who)
{
	struct fg_store *store = NULL;

	if (!r || !is_of_use(r, who))
		return NULL;
	store = fg_sessions_borrow(r->sessions, NULL);
	if (store)
		atomic_fetch_add(&r->questions, 1);
	else
		atomic_store(&r->answered_ns, 0);
	return store;
}

void fg_replica_give_back(struct fg_replica *r, struct fg_store *store)
{
	if (r)
		fg_sessions_give_back(r->sessions, store);
}

void fg_replica_wrote(struct fg_replica *r, const char *who)
{
	if (r)
		atomic_store(slot_of(r, who), fg_clock_monotonic_ns());
}

unsigned long long fg_replica_query_count(const struct fg_replica *r)
{
	return r ? atomic_load(&r->questions) : 0;
}

int64_t fg_replica_lag_ms(const struct fg_replica *r)
{
	return r ? atomic_load(&r->lag_ms) : NO_ANSWER;
}
