// SPDX-License-Identifier: Apache-2.0
/*
 * SQLite's log begins anew when all of it is in the file and nobody reads in it.  While runs keep
 * coming, whoever moves it is never done.  So a thread of its own moves nearly all, which takes
 * long, and then the writer what has come since, between two batches.
 */
#include "perfdb/server/trimmer.h"

#include "base/log.h"
#include "perfdb/server/threads.h"
#include "store/serving/batch.h"
#include "store/store.h"

enum {
	LOG_PAGES = 4000,      /* 32 MB: from here on it is worth moving */
	LOG_MOST_PAGES = 32000 /* whatever the thread does, the writer moves it itself */
};

struct fg_trimmer {
	struct fg_store *store;
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t wake;
	bool running;
	bool stopping;
	bool is_wanted;
	bool is_done; /* but for what has come since */
	/* The writer's own. */
	size_t last_pages;
	size_t next_pages;
};

static void trim(struct fg_store *store)
{
	struct fg_error err = {0};

	if (fg_store_trim_log(store, &err) != FG_OK)
		fg_log(FG_LOG_SERVER, 1, "trimming the log: %s", err.message);
}

static void *work(void *context)
{
	struct fg_trimmer *t = context;

	fg_thread_name("trimmer");
	(void)pthread_mutex_lock(&t->lock);
	for (;;) {
		while (!t->is_wanted && !t->stopping)
			(void)pthread_cond_wait(&t->wake, &t->lock);
		if (t->stopping)
			break;
		(void)pthread_mutex_unlock(&t->lock);
		trim(t->store);
		(void)pthread_mutex_lock(&t->lock);
		t->is_wanted = false;
		t->is_done = true;
	}
	(void)pthread_mutex_unlock(&t->lock);
	return NULL;
}

int fg_trimmer_start(struct fg_sessions *sessions, struct fg_trimmer **trimmer,
		     struct fg_error *err)
{
	struct fg_trimmer *t = fg_xcalloc(1, sizeof(*t));
	struct fg_error reason = {0};

	(void)pthread_mutex_init(&t->lock, NULL);
	fg_wake_init(&t->wake);
	t->next_pages = LOG_PAGES;
	*trimmer = t;
	t->store = fg_sessions_borrow(sessions, &reason);
	if (!t->store)
		return fg_error_set(err, reason.code, "%s", reason.message);
	t->running = pthread_create(&t->thread, NULL, work, t) == 0;
	return t->running ? FG_OK
			  : fg_error_set(err, FG_EIO, "cannot start the thread that trims the log");
}

void fg_trimmer_stop(struct fg_trimmer *t)
{
	if (!t)
		return;
	fg_wake_to_stop(&t->lock, &t->wake, &t->stopping);
	if (t->running)
		(void)pthread_join(t->thread, NULL);
	fg_store_close(t->store);
	(void)pthread_mutex_destroy(&t->lock);
	(void)pthread_cond_destroy(&t->wake);
	free(t);
}

/* Whether the writer has to move something; wakes the thread if that is to. */
static bool is_writers_turn(struct fg_trimmer *t, size_t pages)
{
	bool is_mine = false;

	(void)pthread_mutex_lock(&t->lock);
	is_mine = t->is_done || (pages >= LOG_MOST_PAGES && !t->is_wanted);
	t->is_done = false;
	if (!is_mine && !t->is_wanted && pages >= t->next_pages) {
		t->is_wanted = true;
		(void)pthread_cond_signal(&t->wake);
	}
	(void)pthread_mutex_unlock(&t->lock);
	return is_mine;
}

void fg_trimmer_look(struct fg_trimmer *t, struct fg_store *store)
{
	size_t pages = 0;

	if (!t || !store)
		return;
	pages = fg_store_log_pages(store);
	if (pages < t->last_pages)
		t->next_pages = LOG_PAGES; /* it has begun anew */
	t->last_pages = pages;
	if (!is_writers_turn(t, pages))
		return;
	trim(store);
	/* Somebody may read in it: it is tried again when as much has come. */
	t->next_pages = pages + LOG_PAGES;
}
