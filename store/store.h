/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A store keeps runs. It is an SQLite file (".fastgate/store.db", or the server's) or a PostgreSQL
 * database, with the same calls and the same results. docs/formats/store.md describes its contents.
 *
 * 	fg_store_open() → save, load, list, ... → fg_store_close()
 *
 * - A run is saved in one transaction: after a crash it is either complete or unchanged.
 * - fg_store_progress() stores the finished part of a run in progress; such a run is listed as
 *   incomplete and loads like any other, so that it can be shown, and resumed.
 * - Text and numbers are loaded as they were saved, with two exceptions: profile weights are
 *   rounded (store/matrix.h), and invalid UTF-8 may be replaced.
 * - A store belongs to one thread at a time; each thread opens its own session.
 * - Errors: FG_ENOENT (no such run), FG_EBUSY (locked by another process), FG_ECONFLICT (the id is
 *   taken), FG_EDB (damaged, or written by a newer fastgate), FG_EIO (disk full, permissions).
 */
#ifndef FG_STORE_STORE_H
#define FG_STORE_STORE_H

#include "base/arena.h"
#include "base/base.h"
#include "base/error.h"
#include "model/profile_set.h"
#include "model/run.h"

struct fg_json_writer;
struct fg_store;

enum fg_store_flags {
	FG_STORE_READ_ONLY = 1 << 0, /* the store must exist; nothing is created */
	/*
	 * For a server: a save survives a power failure once it has returned, and packing is quick
	 * rather than tight.
	 */
	FG_STORE_DURABLE = 1 << 1,
	/*
	 * Calls wait at most about five seconds for another process, then fail with FG_EBUSY or
	 * FG_ENET.
	 */
	FG_STORE_BOUNDED = 1 << 2,
};

int fg_store_open(const char *location, unsigned flags, struct fg_store **store,
		  struct fg_error *err) FG_NODISCARD;
void fg_store_close(struct fg_store *store); /* NULL is fine */
/* Returns true if the connection to PostgreSQL is lost: close the store and open it again. */
bool fg_store_is_broken(const struct fg_store *store);
const char *
fg_store_location(const struct fg_store *store); /* a path, or a URL without its password */
/*
 * Sets the store's name in messages, instead of "store 'LOCATION'", so that a server reveals no
 * paths.
 */
void fg_store_set_name(struct fg_store *store, const char *name);

enum {
	FG_STORED_HISTORY_MAX = 20
};

/* A run with everything that belongs to it. */
struct fg_stored_run {
	struct fg_run run;
	/* one per series of the run; NULL for a series that was not sampled */
	struct fg_profile_set **profiles;
	char *report;  /* the verdict as report.json; NULL: none was stored */
	char *outcome; /* outcome of the verdict, such as "regression"; NULL: none */
};

void fg_stored_run_release(struct fg_stored_run *stored);

/*
 * Saves a whole run, replacing any run with the same id. `profiles` may be NULL; otherwise it has
 * run->series_count entries, any of which may be NULL. `report` is a fastgate-report/1 text or
 * NULL.
 */
int fg_store_save(struct fg_store *store, const struct fg_run *run,
		  struct fg_profile_set *const *profiles, const char *report, struct fg_error *err)
	FG_NODISCARD;
/* Saves an uploaded run, with the digest of the upload. */
int fg_store_save_upload(struct fg_store *store, const struct fg_stored_run *stored,
			 const char *digest, struct fg_error *err) FG_NODISCARD;
/*
 * Stores the new data since the last call for this run: repetitions, profile rows and regions are
 * appended. The last pair is rewritten while it continues; everything is rewritten if all earlier
 * pairs were set aside. Call it after each repetition. The first call creates the run, marked
 * incomplete.
 */
int fg_store_progress(struct fg_store *store, const struct fg_run *run,
		      struct fg_profile_set *const *profiles, struct fg_error *err) FG_NODISCARD;
int fg_store_load(struct fg_store *store, const char *id, struct fg_stored_run *stored,
		  struct fg_error *err) FG_NODISCARD;
/* Loads a run without profiles, which is quick enough for lists and histories. */
int fg_store_load_run(struct fg_store *store, const char *id, struct fg_stored_run *stored,
		      struct fg_error *err) FG_NODISCARD;
/*
 * Loads the data for a line of a history, without profiles. If `benchmark` is not NULL, loads only
 * this benchmark's series and, of the conditions, only the host's.
 */
int fg_store_load_benchmark(struct fg_store *store, const char *id, const char *benchmark,
			    bool with_report, struct fg_stored_run *stored, struct fg_error *err)
	FG_NODISCARD;

/* Earlier runs, which show the differences between sessions. */
struct fg_stored_history {
	struct fg_stored_run runs[FG_STORED_HISTORY_MAX];
	const struct fg_run *list[FG_STORED_HISTORY_MAX]; /* oldest first */
	size_t count;
};

/*
 * Loads the newest complete runs of the project and branch of `like` that started before
 * `before_ns` (0: all), without profiles. The caller releases the history even after an error.
 */
int fg_store_load_history(struct fg_store *store, const struct fg_run *like, int64_t before_ns,
			  struct fg_stored_history *history, struct fg_error *err) FG_NODISCARD;
void fg_stored_history_release(struct fg_stored_history *history);

/* One line of a list of runs. */
struct fg_run_summary {
	char id[37];
	char *project;
	int64_t started_ns;
	int64_t ended_ns;
	bool complete;
	bool has_baseline;
	bool dirty;
	char *outcome; /* NULL: no verdict */
	char *commit;
	char *branch;
	char *tag;
	char *subject; /* subject of the commit */
	char *base_commit;
	char *fingerprint;
	size_t benchmark_count;
};

struct fg_run_list {
	struct fg_run_summary *items; /* newest first */
	size_t count;
	size_t capacity;
	bool more; /* more runs exist beyond the limit */
	struct fg_arena texts;
};

/* Filter of a list of runs; a NULL or zero member does not filter. */
struct fg_run_filter {
	const char *project;
	const char *branch;
	const char *commit; /* the whole id or its beginning, at least 4 digits */
	const char *tag;
	const char *benchmark;  /* runs that measured this benchmark */
	const char *fact_key;   /* runs with this fact, in any scope */
	const char *fact_value; /* needs fact_key */
	const char *outcome;
	const char *subject;   /* a part of the commit's subject, ignoring case */
	int64_t before_ns;     /* started earlier than this */
	const char *before_id; /* with before_ns: the end of a page */
	bool complete_only;
	size_t limit; /* 0: 50; at most 1000 */
};

int fg_store_list(struct fg_store *store, const struct fg_run_filter *filter,
		  struct fg_run_list *list, struct fg_error *err) FG_NODISCARD;
/* Writes a run as a JSON object, for `fastgate runs --json` and the server. */
void fg_run_summary_write(struct fg_json_writer *w, const char *name,
			  const struct fg_run_summary *run);
void fg_run_list_release(struct fg_run_list *list);

/* Lists one run; the list is empty if the run does not exist. */
int fg_store_run_summary(struct fg_store *store, const char *id, struct fg_run_list *list,
			 struct fg_error *err) FG_NODISCARD;

/* A run and its neighbours on the same branch; `previous` and `next` may be empty. */
struct fg_run_around {
	struct fg_run_list run;
	struct fg_run_list previous;
	struct fg_run_list next;
};

int fg_store_run_around(struct fg_store *store, const char *id, struct fg_run_around *around,
			struct fg_error *err) FG_NODISCARD;
void fg_run_around_release(struct fg_run_around *around);

/*
 * Finds the run that a user names: "" or "latest" (the newest complete run), "latest~2", an id or
 * its beginning; a tag, a branch or a commit (its newest complete run). `project` may be NULL.
 * FG_ENOENT: no run matches. FG_ECONFLICT: several ids have this beginning; the message lists up to
 * four.
 */
int fg_store_find(struct fg_store *store, const char *project, const char *words, char id[37],
		  struct fg_error *err) FG_NODISCARD;
/* Finds the newest incomplete run of a project, for --resume. FG_ENOENT: none. */
int fg_store_find_incomplete(struct fg_store *store, const char *project, char id[37],
			     struct fg_error *err) FG_NODISCARD;

int fg_store_delete(struct fg_store *store, const char *id, struct fg_error *err) FG_NODISCARD;

struct fg_gc_policy {
	const char *project;   /* NULL: all */
	int64_t older_than_ns; /* runs that started before this wall clock time are old; 0: none */
	/* number of newest runs per project and branch that stay at any age */
	size_t keep;
	int64_t now_ns; /* current time, for a project's own retention */
	bool dry_run;
};

/* Returns a policy that removes runs started more than `age_ns` ago. */
struct fg_gc_policy fg_gc_policy_now(const char *project, int64_t age_ns, size_t keep,
				     bool dry_run);

struct fg_gc_result {
	size_t runs;        /* runs that were removed, or would be removed without dry_run */
	size_t kept_tagged; /* old runs that stay because their commit has a tag */
	int64_t bytes_before;
	int64_t bytes_after;
};

/*
 * Removes old runs, then benchmarks, strings and facts that no run uses, and frees the space. Runs
 * of tagged commits stay: they are releases.
 */
int fg_store_gc(struct fg_store *store, const struct fg_gc_policy *policy,
		struct fg_gc_result *result, struct fg_error *err) FG_NODISCARD;

#endif
