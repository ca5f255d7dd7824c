// SPDX-License-Identifier: Apache-2.0
#include "perfdb/server/sessions.h"

#include "store/store.h"

#include <pthread.h>

struct fg_sessions {
	pthread_mutex_t lock;
	char *database;
	bool read_only;
	struct fg_store **idle;
	size_t idle_count;
	size_t idle_capacity;
};

struct fg_sessions *fg_sessions_new(const char *database, bool read_only)
{
	struct fg_sessions *s = fg_xcalloc(1, sizeof(*s));

	s->database = fg_xstrdup(database);
	s->read_only = read_only;
	(void)pthread_mutex_init(&s->lock, NULL);
	return s;
}

void fg_sessions_free(struct fg_sessions *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < s->idle_count; i++)
		fg_store_close(s->idle[i]);
	free(s->idle);
	free(s->database);
	(void)pthread_mutex_destroy(&s->lock);
	free(s);
}

struct fg_store *fg_sessions_borrow(struct fg_sessions *s, struct fg_error *err)
{
	const unsigned flags =
		FG_STORE_BOUNDED | (s->read_only ? FG_STORE_READ_ONLY : FG_STORE_DURABLE);
	struct fg_store *store = NULL;

	(void)pthread_mutex_lock(&s->lock);
	if (s->idle_count)
		store = s->idle[--s->idle_count];
	(void)pthread_mutex_unlock(&s->lock);
	if (!store && fg_store_open(s->database, flags, &store, err) != FG_OK)
		return NULL;
	fg_store_set_name(store, "this database");
	return store;
}

void fg_sessions_give_back(struct fg_sessions *s, struct fg_store *store)
{
	struct fg_store **broken = NULL;
	size_t broken_count = 0;

	if (!store)
		return;
	(void)pthread_mutex_lock(&s->lock);
	FG_APPEND(s->idle, s->idle_count, s->idle_capacity) = store;
	if (fg_store_is_broken(store)) {
		/* The idle sessions are broken for the same reason, such as a restart. */
		broken = s->idle;
		broken_count = s->idle_count;
		s->idle = NULL;
		s->idle_count = 0;
		s->idle_capacity = 0;
	}
	(void)pthread_mutex_unlock(&s->lock);
	for (size_t i = 0; i < broken_count; i++)
		fg_store_close(broken[i]);
	free(broken);
}
