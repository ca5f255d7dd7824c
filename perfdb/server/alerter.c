// SPDX-License-Identifier: Apache-2.0
#include "perfdb/server/alerter.h"

#include "base/clock.h"
#include "base/log.h"
#include "perfdb/server/changes.h"
#include "perfdb/server/news.h"
#include "perfdb/server/reach.h"
#include "perfdb/server/server.h"
#include "perfdb/server/threads.h"
#include "perfdb/server/watcher.h"
#include "store/serving/alerts.h"
#include "store/serving/history.h"

#include <math.h>
#include <stdatomic.h>

enum {
	SENDERS = 4,        /* so that one slow webhook does not hold up all others */
	CLAIM_SECONDS = 60, /* longer than any sending takes */
	ATTEMPTS_MAX = 12,
	WAIT_MAX_SECONDS = 3600,
	AGAIN_MS = 200,
	POLL_SECONDS = 5, /* for what other servers stored */
	FORGET_SECONDS = 3600,
	NEAR = 5, /* values: less apart, two searches mean the same change */
};

struct fg_alerter {
	struct fg_sessions *sessions;
	struct fg_reach *reach;
	struct fg_delivery_options delivery;
	const char *public_url;
	int64_t retry_ns;
	pthread_mutex_t lock;
	pthread_cond_t wake;
	pthread_t senders[SENDERS];
	size_t sender_count;
	pthread_t searcher;
	bool has_searcher;
	bool stopping;
	int64_t forgotten_ns; /* the searcher's alone */
	atomic_ullong sent;
	atomic_ullong searched;
};

static int64_t wait_after(const struct fg_alerter *a, int64_t attempts, int64_t asked_ns)
{
	const int64_t most = WAIT_MAX_SECONDS * FG_NS_PER_S;
	int64_t wait = a->retry_ns;

	for (int64_t i = 1; i < attempts && wait < most; i++)
		wait *= 2;
	wait = wait < most ? wait : most;
	if (asked_ns > most)
		return most;
	return asked_ns > wait ? asked_ns : wait;
}

static enum fg_delivery_result send_it(const struct fg_alerter *a,
				       const struct fg_alert_claim *claim, int64_t *asked_ns,
				       struct fg_error *err)
{
	const struct fg_delivery delivery = {.number = claim->id,
					     .target = claim->target,
					     .secret = claim->secret,
					     .body = claim->body};

	*asked_ns = 0;
	return fg_webhook_send(&a->delivery, &delivery, asked_ns, err);
}

static void settle(const struct fg_alerter *a, const struct fg_alert_claim *claim,
		   enum fg_delivery_result result, int64_t asked_ns, const struct fg_error *why)
{
	struct fg_error err = {0};
	struct fg_store *store = fg_sessions_borrow(a->sessions, &err);
	struct fg_alert_outcome outcome = {
		.state = FG_ALERT_DELIVERED,
		.due_ns = fg_clock_wall_ns() + wait_after(a, claim->attempts, asked_ns),
	};

	if (result != FG_DELIVERY_DONE)
		outcome.reason = why->message;
	if (result == FG_DELIVERY_LATER && claim->attempts < ATTEMPTS_MAX)
		outcome.state = FG_ALERT_WAITING;
	else if (result != FG_DELIVERY_DONE)
		outcome.state = FG_ALERT_GIVEN_UP;
	if (result != FG_DELIVERY_DONE)
		fg_log(FG_LOG_SERVER, 1, "alert %lld was not delivered: %s", (long long)claim->id,
		       why->message);
	if (!store || fg_store_alert_settle(store, claim, &outcome, &err) != FG_OK)
		fg_log(FG_LOG_SERVER, 1, "alert %lld: %s", (long long)claim->id, err.message);
	fg_sessions_give_back(a->sessions, store);
}

/* No session is held while the other end takes its time.  False: nothing is due. */
static bool send_next(struct fg_alerter *a)
{
	const int64_t now_ns = fg_clock_wall_ns();
	struct fg_alert_claim claim = {0};
	struct fg_error err = {0};
	struct fg_store *store = fg_sessions_borrow(a->sessions, &err);
	enum fg_delivery_result result = FG_DELIVERY_LATER;
	int64_t asked_ns = 0;
	int status = FG_ENOENT;

	if (store)
		status = fg_store_alert_claim(store, now_ns, now_ns + CLAIM_SECONDS * FG_NS_PER_S,
					      &claim, &err);
	fg_sessions_give_back(a->sessions, store);
	if (!store || (status != FG_OK && status != FG_ENOENT))
		fg_log(FG_LOG_SERVER, 1, "taking an alert: %s", err.message);
	if (status != FG_OK)
		return false;
	err = (struct fg_error){0};
	result = send_it(a, &claim, &asked_ns, &err);
	settle(a, &claim, result, asked_ns, &err);
	if (result == FG_DELIVERY_DONE)
		atomic_fetch_add(&a->sent, 1);
	fg_alert_claim_release(&claim);
	return true;
}

/* Until the next attempt is due, or someone wakes this thread. */
static int64_t until_due(const struct fg_alerter *a)
{
	struct fg_error err = {0};
	struct fg_store *store = fg_sessions_borrow(a->sessions, &err);
	int64_t due_ns = 0;
	int64_t left_ns = POLL_SECONDS * FG_NS_PER_S;

	if (store && fg_store_alert_next(store, &due_ns, &err) == FG_OK && due_ns) {
		due_ns -= fg_clock_wall_ns();
		left_ns = due_ns < left_ns ? due_ns : left_ns;
		/* Due, and not taken: the database takes no claims now. */
		if (left_ns <= 0)
			left_ns = AGAIN_MS * FG_NS_PER_MS;
	}
	fg_sessions_give_back(a->sessions, store);
	return left_ns;
}

static bool is_one_of(const char *run, const struct fg_alert_search *search)
{
	for (size_t i = 0; i < search->count; i++) {
		if (strcmp(search->runs[i], run) == 0)
			return true;
	}
	return false;
}

/* The changes of a metric with its new runs, and without them. */
struct comparison {
	struct fg_change_series now;
	struct fg_change_series before;
	struct fg_changepoints changes;
	struct fg_changepoints earlier;
};

static void release_comparison(struct comparison *c)
{
	fg_changepoints_release(&c->changes);
	fg_changepoints_release(&c->earlier);
	fg_change_series_release(&c->now);
	fg_change_series_release(&c->before);
}

/*
 * It led to the same level from nearly the same run when the new runs were not there.  A few runs
 * far off may have made the search believe in a smaller change just before.
 */
static bool was_known(const struct comparison *c, const struct fg_changepoint *change)
{
	const size_t at = c->now.places[change->at];
	const double half = fabs(change->after - change->before) / 2;

	for (size_t i = 0; i < c->earlier.count; i++) {
		const struct fg_changepoint *one = &c->earlier.items[i];
		const size_t place = c->before.places[one->at];

		if ((place > at ? place - at : at - place) < NEAR &&
		    fabs(one->after - change->after) <= half)
			return true;
	}
	return false;
}

/* Below the gate's threshold it is nothing to tell. */
static bool is_small(const struct fg_history *history, const struct fg_changepoint *change)
{
	return fabs(change->after - change->before) < history->min_effect * fabs(change->before);
}

static int compare(const struct fg_alert_search *search, struct comparison *c, struct fg_error *err)
{
	const struct fg_history *history = &search->history;
	int status = FG_OK;

	fg_change_series_init(&c->now, history->count);
	fg_change_series_init(&c->before, history->count);
	for (size_t i = 0; i < history->count; i++) {
		const struct fg_history_point *point = &history->points[i];

		fg_change_series_add(&c->now, i, point->run, point->candidate);
		fg_change_series_add(&c->before, i, point->run,
				     is_one_of(point->run, search) ? (double)NAN
								   : point->candidate);
	}
	status = fg_changes_find(&c->now, &c->changes, err);
	if (status != FG_OK)
		return status;
	return fg_changes_find(&c->before, &c->earlier, err);
}

static int write_down(const struct fg_alerter *a, struct fg_store *store,
		      const struct fg_alert_search *search, const struct comparison *c,
		      struct fg_error *err)
{
	struct fg_alert_finding *findings =
		fg_xcalloc(c->changes.count + 1, sizeof(struct fg_alert_finding));
	struct fg_alert_rule_list rules = {0};
	struct fg_arena arena = {0};
	struct fg_alert_news news = {
		.rules = &rules, .project = search->project, .findings = findings};
	int status = FG_OK;

	for (size_t i = 0; i < c->changes.count; i++) {
		const struct fg_changepoint *change = &c->changes.items[i];
		const size_t at = c->now.places[change->at];

		if (is_small(&search->history, change) || was_known(c, change))
			continue;
		findings[news.count++] = (struct fg_alert_finding){
			.event = FG_ALERT_CHANGE,
			.benchmark = search->benchmark,
			.metric = search->metric,
			.before = change->before,
			.after = change->after,
			.ratio = fabs(change->before) > 0 ? change->after / change->before
							  : (double)NAN,
			.last = c->now.runs[c->now.places[change->at - 1]],
		};
		news.run = c->now.runs[at];
		news.commit = search->history.points[at].commit;
		news.branch = search->history.points[at].branch;
	}
	if (news.count) {
		news.url = fg_news_url(&arena, a->public_url, news.run);
		status = fg_store_alert_rule_list(store, search->project, &rules, err);
	}
	if (status == FG_OK)
		status = fg_store_alert_search_done(store, search, news.count ? &news : NULL, err);
	fg_alert_rule_list_release(&rules);
	fg_arena_release(&arena);
	free(findings);
	return status;
}

/* A metric that is gone since has no change. */
static int search_in(const struct fg_alerter *a, struct fg_store *store,
		     const struct fg_alert_search *search, struct fg_error *err)
{
	struct comparison c = {0};
	int status = FG_OK;

	if (search->is_gone)
		return fg_store_alert_search_done(store, search, NULL, err);
	status = compare(search, &c, err);
	if (status == FG_OK)
		status = write_down(a, store, search, &c, err);
	release_comparison(&c);
	return status;
}

/* False: nothing is to be searched, or it fails. */
static bool search_next(struct fg_alerter *a)
{
	struct fg_alert_search search = {0};
	struct fg_error err = {0};
	struct fg_store *store = fg_sessions_borrow(a->sessions, &err);
	int status = FG_ENET;

	if (store)
		status = fg_store_alert_search(store, FG_WATCHED_RUNS, &search, &err);
	if (status == FG_OK) {
		status = search_in(a, store, &search, &err);
		if (status == FG_OK)
			atomic_fetch_add(&a->searched, search.count);
		fg_alert_search_release(&search);
	}
	if (status != FG_OK && status != FG_ENOENT)
		fg_log(FG_LOG_SERVER, 1, "change points: %s", err.message);
	fg_sessions_give_back(a->sessions, store);
	return status == FG_OK;
}

static void forget(struct fg_alerter *a)
{
	struct fg_error err = {0};
	struct fg_store *store = NULL;

	if (a->forgotten_ns &&
	    fg_clock_monotonic_ns() - a->forgotten_ns < FORGET_SECONDS * FG_NS_PER_S)
		return;
	a->forgotten_ns = fg_clock_monotonic_ns();
	store = fg_sessions_borrow(a->sessions, &err);
	if (!store || fg_store_alert_forget(store, fg_clock_wall_ns(), &err) != FG_OK)
		fg_log(FG_LOG_SERVER, 1, "old alerts: %s", err.message);
	fg_sessions_give_back(a->sessions, store);
}

/* Waits unless there is more to do; false: the end. */
static bool go_on(struct fg_alerter *a, bool is_more, int64_t wait_ns)
{
	bool is_end = false;

	(void)pthread_mutex_lock(&a->lock);
	if (!is_more && !a->stopping)
		(void)fg_wake_wait(&a->wake, &a->lock, wait_ns);
	is_end = a->stopping;
	(void)pthread_mutex_unlock(&a->lock);
	return !is_end;
}

static void *send_all(void *context)
{
	struct fg_alerter *a = context;
	bool is_more = true;

	fg_thread_name("alert sender");
	while (go_on(a, is_more, is_more ? 0 : until_due(a)))
		is_more = send_next(a);
	return NULL;
}

static void *search_all(void *context)
{
	struct fg_alerter *a = context;
	bool is_more = true;

	fg_thread_name("alert search");
	while (go_on(a, is_more, POLL_SECONDS * FG_NS_PER_S)) {
		forget(a);
		is_more = search_next(a);
		if (is_more)
			fg_alerter_wake(a);
	}
	return NULL;
}

int fg_alerter_start(struct fg_sessions *sessions, const struct fg_server_options *options,
		     struct fg_alerter **alerter, struct fg_error *err)
{
	struct fg_alerter *a = fg_xcalloc(1, sizeof(*a));
	int status = FG_OK;

	*alerter = a;
	a->sessions = sessions;
	a->public_url = options->public_url;
	a->retry_ns = options->alerts.retry_ns;
	(void)pthread_mutex_init(&a->lock, NULL);
	fg_wake_init(&a->wake);
	status = fg_reach_new(options->alerts.allowed, options->alerts.allowed_count, &a->reach,
			      err);
	if (status != FG_OK)
		return status;
	a->delivery = (struct fg_delivery_options){
		.ca_file = options->alerts.ca_file,
		.admits = fg_reach_admits,
		.context = a->reach,
		.allows_plain = options->alerts.allows_plain,
	};
	while (a->sender_count < SENDERS &&
	       pthread_create(&a->senders[a->sender_count], NULL, send_all, a) == 0)
		a->sender_count++;
	a->has_searcher = pthread_create(&a->searcher, NULL, search_all, a) == 0;
	return a->sender_count && a->has_searcher
		       ? FG_OK
		       : fg_error_set(err, FG_EIO, "cannot start the threads that send alerts");
}

void fg_alerter_stop(struct fg_alerter *a)
{
	if (!a)
		return;
	fg_wake_to_stop(&a->lock, &a->wake, &a->stopping);
	for (size_t i = 0; i < a->sender_count; i++)
		(void)pthread_join(a->senders[i], NULL);
	if (a->has_searcher)
		(void)pthread_join(a->searcher, NULL);
	fg_reach_free(a->reach);
	(void)pthread_mutex_destroy(&a->lock);
	(void)pthread_cond_destroy(&a->wake);
	free(a);
}

void fg_alerter_wake(struct fg_alerter *a)
{
	(void)pthread_mutex_lock(&a->lock);
	(void)pthread_cond_broadcast(&a->wake);
	(void)pthread_mutex_unlock(&a->lock);
}

const struct fg_delivery_options *fg_alerter_delivery(const struct fg_alerter *a)
{
	return &a->delivery;
}

unsigned long long fg_alerter_sent(const struct fg_alerter *a)
{
	return atomic_load(&a->sent);
}

unsigned long long fg_alerter_searched(const struct fg_alerter *a)
{
	return atomic_load(&a->searched);
}
