/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The background thread that searches for change points. A search takes tens of milliseconds, and a
 * page may need hundreds of them: results are kept until the benchmark has another run, and missing
 * ones are computed in the background. Inside perfdb/server/ only.
 */
#ifndef FG_PERFDB_SERVER_WATCHER_H
#define FG_PERFDB_SERVER_WATCHER_H

#include "perfdb/server/changes.h"
#include "perfdb/server/sessions.h"
#include "store/serving/history.h"

enum {
	FG_WATCHED_RUNS = 300,  /* the newest ones are searched */
	FG_WATCHED_CHANGES = 8, /* the newest ones are kept */
};

struct fg_watched_change {
	char run[37];  /* the first after the change */
	char last[37]; /* the one before; "": none */
	int64_t started_ns;
	double before; /* level */
	double after;
	bool from_gate;    /* a paired verdict found it: see gate_changes.h */
	bool is_confirmed; /* the runs after it stay at the new level */
	double low;        /* the verdict's interval, as ratios */
	double high;
	char undone_by[37]; /* run; "": none */
};

struct fg_watched {
	struct fg_watched_change changes[FG_WATCHED_CHANGES]; /* oldest first */
	size_t count;
};

/* A metric of a benchmark, as it was when `series` was the newest. */
struct fg_watch_place {
	const char *project;
	const char *benchmark;
	const char *metric;
	int64_t series;
};

struct fg_store;

/*
 * The change point that this run confirms: with the run there is another level at the end than
 * without it.  Otherwise change->run is empty.
 */
int fg_watcher_confirmed(struct fg_store *store, const struct fg_watch_place *place,
			 const char *run, struct fg_watched_change *change, struct fg_error *err)
	FG_NODISCARD;

struct fg_watcher;

/* *watcher is set also on failure. */
int fg_watcher_start(struct fg_sessions *sessions, struct fg_watcher **watcher,
		     struct fg_error *err) FG_NODISCARD;
void fg_watcher_stop(struct fg_watcher *watcher); /* NULL is fine */
/* False: not known yet, ask again; *watched is what was known before. */
bool fg_watcher_look(struct fg_watcher *watcher, const struct fg_watch_place *place,
		     struct fg_watched *watched);

/* ---- gate_changes.c ---- */

/*
 * Adds the regressions of a history to its change points; the newest FG_WATCHED_CHANGES stay.  A
 * later run of the same branch against the same baseline takes the place of an earlier one; an
 * improvement that takes back at least half of a regression undoes it.
 */
void fg_gate_changes_add(const struct fg_history *history, struct fg_watched *watched);

#endif
