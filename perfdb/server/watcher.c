// SPDX-License-Identifier: Apache-2.0
#include "perfdb/server/watcher.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/map.h"
#include "perfdb/server/changes.h"
#include "perfdb/server/threads.h"
#include "store/serving/history.h"

#include <math.h>

enum {
	PLACES_MAX = 20000, /* maximum number of places that are watched */
	IDLE_SECONDS = 60,
};

struct place {
	char *project;
	char *benchmark;
	char *metric;
	int64_t series; /* newest series that `found` is based on; 0: none yet */
	int64_t wanted; /* requested series; the thread searches until `series` equals it */
	struct fg_watched found;
};

struct fg_watcher {
	struct fg_sessions *sessions;
	struct fg_background searches;
	struct fg_map index; /* project, benchmark and metric → place */
	struct place **places;
	size_t count;
	size_t capacity;
	size_t next; /* index of the place that the thread checks next */
};

static struct place *find_place(struct fg_watcher *w, const struct fg_watch_place *wanted)
{
	struct fg_strbuf key = {0};
	struct place *place = NULL;
	const uint64_t *at = NULL;
	bool is_new = false;

	fg_strbuf_printf(&key, "%zu:%zu:%s%s%s", strlen(wanted->project), strlen(wanted->benchmark),
			 wanted->project, wanted->benchmark, wanted->metric);
	if (w->count < PLACES_MAX)
		at = fg_map_add(&w->index, key.data, key.length, w->count, &is_new);
	else
		at = fg_map_get(&w->index, key.data, key.length);
	if (is_new) {
		place = fg_xcalloc(1, sizeof(*place));
		place->project = fg_xstrdup(wanted->project);
		place->benchmark = fg_xstrdup(wanted->benchmark);
		place->metric = fg_xstrdup(wanted->metric);
		FG_APPEND(w->places, w->count, w->capacity) = place;
	} else if (at) {
		place = w->places[*at];
	}
	fg_strbuf_release(&key);
	return place;
}

bool fg_watcher_look(struct fg_watcher *w, const struct fg_watch_place *wanted,
		     struct fg_watched *watched)
{
	struct place *place = NULL;
	bool is_known = true;

	*watched = (struct fg_watched){0};
	(void)pthread_mutex_lock(&w->searches.lock);
	place = find_place(w, wanted);
	if (place) {
		*watched = place->found;
		is_known = place->series == wanted->series;
		place->wanted = wanted->series;
	}
	(void)pthread_mutex_unlock(&w->searches.lock);
	if (!is_known)
		fg_background_wake(&w->searches);
	return is_known;
}

static void keep(const struct fg_history *history, const struct fg_change_series *series,
		 const struct fg_changepoints *changes, struct fg_watched *found)
{
	const size_t first = changes->count - fg_min_size(changes->count, FG_WATCHED_CHANGES);

	for (size_t i = first; i < changes->count; i++) {
		const struct fg_changepoint *c = &changes->items[i];
		struct fg_watched_change *kept = &found->changes[found->count++];

		(void)snprintf(kept->run, sizeof(kept->run), "%s",
			       series->runs[series->places[c->at]]);
		(void)snprintf(kept->last, sizeof(kept->last), "%s",
			       series->runs[series->places[c->at - 1]]);
		kept->started_ns = history->points[series->places[c->at]].started_ns;
		kept->before = c->before;
		kept->after = c->after;
	}
}

static int search(const struct fg_history *history, size_t points, struct fg_watched *watched,
		  struct fg_error *err)
{
	struct fg_change_series series = {0};
	struct fg_changepoints changes = {0};
	int status = FG_OK;

	fg_change_series_init(&series, points);
	for (size_t i = 0; i < points; i++)
		fg_change_series_add(&series, i, history->points[i].run,
				     history->points[i].candidate);
	status = fg_changes_find(&series, &changes, err);
	if (status == FG_OK)
		keep(history, &series, &changes, watched);
	fg_changepoints_release(&changes);
	fg_change_series_release(&series);
	return status;
}

static int read_history(struct fg_store *store, const struct fg_watch_place *place,
			struct fg_history *history, struct fg_error *err)
{
	const struct fg_history_query query = {.project = place->project,
					       .benchmark = place->benchmark,
					       .metric = place->metric,
					       .limit = FG_WATCHED_RUNS};

	return fg_store_history(store, &query, history, err);
}

/*
 * Searches a history that ends with this run, with and without the run. Both results are empty if
 * the run has no value, or if the search with the run finds no change.
 */
static int search_around(const struct fg_history *history, const char *run, struct fg_watched *now,
			 struct fg_watched *before, struct fg_error *err)
{
	size_t last = 0;
	int status = FG_OK;

	while (last < history->count && strcmp(history->points[last].run, run) != 0)
		last++;
	if (last == history->count || !isfinite(history->points[last].candidate))
		return FG_OK;
	status = search(history, last + 1, now, err);
	if (status != FG_OK || now->count == 0)
		return status;
	return search(history, last, before, err);
}

int fg_watcher_confirmed(struct fg_store *store, const struct fg_watch_place *place,
			 const char *run, struct fg_watched_change *change, struct fg_error *err)
{
	struct fg_history history = {0};
	struct fg_watched now = {0};
	struct fg_watched before = {0};
	int status = read_history(store, place, &history, err);

	*change = (struct fg_watched_change){0};
	if (status == FG_OK)
		status = search_around(&history, run, &now, &before, err);
	fg_history_release(&history);
	if (status != FG_OK || now.count == 0)
		return status == FG_ENOENT ? FG_OK : status;
	*change = now.changes[now.count - 1];
	if (before.count && fabs(before.changes[before.count - 1].after - change->after) <=
				    fabs(change->after - change->before) / 2)
		change->run[0] = '\0';
	return FG_OK;
}

static int find_changes(struct fg_store *store, const struct fg_watch_place *place,
			struct fg_watched *found, struct fg_error *err)
{
	struct fg_history history = {0};
	int status = FG_OK;

	FG_TRY(read_history(store, place, &history, err));
	status = search(&history, history.count, found, err);
	if (status == FG_OK)
		fg_gate_changes_add(&history, found);
	fg_history_release(&history);
	return status;
}

/* Called without the lock; a place's names never change. */
static void look_at(struct fg_watcher *w, const struct place *place, struct fg_watched *found)
{
	struct fg_error err = {0};
	struct fg_store *store = fg_sessions_borrow(w->sessions, &err);
	const struct fg_watch_place where = {
		.project = place->project, .benchmark = place->benchmark, .metric = place->metric};

	if (!store || find_changes(store, &where, found, &err) != FG_OK)
		fg_log(FG_LOG_SERVER, 1, "change points of '%s': %s", place->benchmark,
		       err.message);
	fg_sessions_give_back(w->sessions, store);
}

/* Returns the next place whose result is out of date, or NULL. */
static struct place *next_place(struct fg_watcher *w)
{
	for (size_t i = 0; i < w->count; i++) {
		struct place *place = w->places[(w->next + i) % w->count];

		if (place->wanted != place->series) {
			w->next = (w->next + i + 1) % w->count;
			return place;
		}
	}
	return NULL;
}

static bool work(void *context)
{
	struct fg_watcher *w = context;
	struct fg_watched found = {0};
	struct place *place = NULL;
	int64_t series = 0;

	(void)pthread_mutex_lock(&w->searches.lock);
	place = next_place(w);
	series = place ? place->wanted : 0;
	(void)pthread_mutex_unlock(&w->searches.lock);
	if (!place)
		return false;
	look_at(w, place, &found);
	(void)pthread_mutex_lock(&w->searches.lock);
	place->found = found;
	place->series = series;
	(void)pthread_mutex_unlock(&w->searches.lock);
	return true;
}

int fg_watcher_start(struct fg_sessions *sessions, struct fg_watcher **watcher,
		     struct fg_error *err)
{
	struct fg_watcher *w = fg_xcalloc(1, sizeof(*w));

	w->sessions = sessions;
	w->searches = (struct fg_background){.name = "change watcher",
					     .work = work,
					     .context = w,
					     .pause_ns = IDLE_SECONDS * FG_NS_PER_S};
	*watcher = w;
	return fg_background_start(&w->searches, err);
}

void fg_watcher_stop(struct fg_watcher *w)
{
	if (!w)
		return;
	fg_background_stop(&w->searches);
	for (size_t i = 0; i < w->count; i++) {
		free(w->places[i]->project);
		free(w->places[i]->benchmark);
		free(w->places[i]->metric);
		free(w->places[i]);
	}
	free(w->places);
	fg_map_release(&w->index);
	free(w);
}
