/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The background thread that searches for change points. A search takes tens of milliseconds, and a
 * page may need hundreds of searches: the thread keeps results until the benchmark has another run,
 * and computes missing results. Private to perfdb/server/.
 */
#ifndef FG_PERFDB_SERVER_WATCHER_H
#define FG_PERFDB_SERVER_WATCHER_H

#include "perfdb/server/changes.h"
#include "perfdb/server/sessions.h"
#include "store/serving/history.h"

enum {
	FG_WATCHED_RUNS = 300,  /* number of newest runs that are searched */
	FG_WATCHED_CHANGES = 8, /* maximum number of changes; the newest stay */
};

struct fg_watched_change {
	char run[37];  /* first run after the change */
	char last[37]; /* last run before the change; "" if none */
	int64_t started_ns;
	double before; /* level before the change */
	double after;
	bool from_gate;    /* found by a paired verdict: see gate_changes.c */
	bool is_confirmed; /* later runs stay at the new level */
	double low;        /* the verdict's interval, as ratios */
	double high;
	char reverted_by[37]; /* run that undid the change; "" if none */
};

struct fg_watched {
	struct fg_watched_change changes[FG_WATCHED_CHANGES]; /* oldest first */
	size_t count;
};

/* A metric of a benchmark; `series` is the id of the benchmark's newest series. */
struct fg_watch_place {
	const char *project;
	const char *benchmark;
	const char *metric;
	int64_t series;
};

/*
 * Finds the change point that this run confirms: with the run, the history ends at a different
 * level than without it. If the run confirms no change point, change->run is empty.
 */
int fg_watcher_confirmed(struct fg_store *store, const struct fg_watch_place *place,
			 const char *run, struct fg_watched_change *change, struct fg_error *err)
	FG_NODISCARD;

struct fg_watcher;

/* *watcher is set even on failure. */
int fg_watcher_start(struct fg_sessions *sessions, struct fg_watcher **watcher,
		     struct fg_error *err) FG_NODISCARD;
void fg_watcher_stop(struct fg_watcher *watcher); /* NULL is fine */
/*
 * Returns false, with the previous result in *watched, if the new result is not known yet: call
 * again later.
 */
bool fg_watcher_look(struct fg_watcher *watcher, const struct fg_watch_place *place,
		     struct fg_watched *watched);

/* ---- gate_changes.c ---- */

/*
 * Adds the regressions of a history to its change points, and keeps the newest FG_WATCHED_CHANGES.
 * If a branch is measured again against the same baseline, a regression replaces the earlier
 * regression, and a pass or an improvement undoes the earlier regression. An improvement on the
 * branch that reverts at least half of a regression undoes the regression as well.
 */
void fg_gate_changes_add(const struct fg_history *history, struct fg_watched *watched);

#endif
