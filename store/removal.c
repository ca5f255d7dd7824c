// SPDX-License-Identifier: Apache-2.0
/* Deletes runs and collects garbage. */

#include "base/clock.h"
#include "store/db.h"
#include "store/session.h"
#include "store/store.h"
#include "store/transaction.h"

#include <sys/stat.h>

enum {
	RUNS_AT_ONCE = 50 /* runs per transaction; few, so that uploads wait only briefly */
};

static int delete_run(struct fg_store *store, const char *id, struct fg_error *err)
{
	int64_t row = 0;
	int status = FG_OK;

	status = FG_QUERY_FIND(store->db, &row, err, FG_SQL_RUN_DELETE, FG_BIND(id));
	if (status == FG_ENOENT)
		status = fg_error_set(err, FG_ENOENT, "there is no run '%s' in %s", id,
				      store->db->name);
	return status;
}

int fg_store_delete(struct fg_store *store, const char *id, struct fg_error *err)
{
	if (strcmp(store->progress.run, id) == 0)
		store->progress.run[0] = '\0';
	FG_TRY(fg_store_begin(store, err));
	return fg_store_end(store, delete_run(store, id, err), err);
}

struct victims {
	char (*ids)[37];
	size_t count;
	size_t capacity;
};

struct fg_gc_policy fg_gc_policy_now(const char *project, int64_t age_ns, size_t keep, bool dry_run)
{
	const int64_t now_ns = fg_clock_wall_ns();

	return (struct fg_gc_policy){
		.project = project,
		.older_than_ns = now_ns - age_ns,
		.keep = keep,
		.now_ns = now_ns,
		.dry_run = dry_run,
	};
}

/*
 * Returns true if this run must stay; `place` is its position in its branch, 0 for the newest run.
 * The retention of its project, or of all projects, takes precedence over the policy.
 */
static bool stays(const struct fg_gc_policy *policy, const struct fg_query *row, size_t place)
{
	const int64_t started_ns = fg_column_int(row, 3);
	const int64_t days = fg_column_int(row, 5);

	if (days > 0)
		return (int64_t)place < fg_column_int(row, 6) ||
		       started_ns >= policy->now_ns - days * FG_NS_PER_DAY;
	return place < policy->keep || started_ns >= policy->older_than_ns;
}

/*
 * Chooses the runs to remove. Runs come newest first within a project and branch, so their position
 * is a count of newer runs.
 */
static int choose(struct fg_store *store, const struct fg_gc_policy *policy,
		  struct victims *victims, struct fg_gc_result *result, struct fg_error *err)
{
	char *branch = NULL;
	int64_t project = 0;
	size_t place = 0;
	struct fg_query q;
	int status = FG_OK;

	FG_QUERY_WITH(&q, store->db, FG_SQL_GC_CANDIDATES, FG_BIND(policy->project));
	while ((status = fg_query_step(&q, err)) > 0) {
		const char *this_branch = fg_column_text(&q, 2);

		this_branch = this_branch ? this_branch : "";
		if (!branch || fg_column_int(&q, 1) != project ||
		    strcmp(branch, this_branch) != 0) {
			free(branch);
			branch = fg_xstrdup(this_branch);
			project = fg_column_int(&q, 1);
			place = 0;
		}
		if (stays(policy, &q, place++))
			continue;
		if (fg_column_int(&q, 4) > 0) {
			result->kept_tagged++;
			continue;
		}
		victims->ids = fg_grow(victims->ids, &victims->capacity, victims->count + 1,
				       sizeof(*victims->ids));
		(void)snprintf(victims->ids[victims->count++], sizeof(*victims->ids), "%s",
			       fg_column_text(&q, 0));
	}
	fg_query_end(&q);
	free(branch);
	return status;
}

/* Removes up to RUNS_AT_ONCE victims, starting at `first`. */
static int remove_some(struct fg_store *store, const struct victims *victims, size_t first,
		       struct fg_error *err)
{
	const size_t end = fg_min_size(first + RUNS_AT_ONCE, victims->count);
	int status = FG_OK;

	for (size_t i = first; i < end && status == FG_OK; i++) {
		status = delete_run(store, victims->ids[i], err);
		if (status == FG_ENOENT) /* another process removed it */
			status = FG_OK;
	}
	return status;
}

static int remove_runs(struct fg_store *store, const struct victims *victims, struct fg_error *err)
{
	int status = FG_OK;

	for (size_t i = 0; i < victims->count && status == FG_OK; i += RUNS_AT_ONCE) {
		status = fg_store_begin(store, err);
		if (status == FG_OK)
			status = fg_store_end(store, remove_some(store, victims, i, err), err);
	}
	return status;
}

/* Removes benchmarks, strings and facts that no run uses any more. */
static int sweep_up(struct fg_store *store, struct fg_error *err)
{
	static const enum fg_sql sweeps[] = {FG_SQL_GC_BENCHMARKS, FG_SQL_GC_WORDS,
					     FG_SQL_GC_FACTS};
	int status = FG_OK;

	FG_TRY(fg_store_begin(store, err));
	for (size_t i = 0; i < FG_ARRAY_SIZE(sweeps) && status == FG_OK; i++) {
		struct fg_query q;

		fg_query_begin(&q, store->db, sweeps[i]);
		status = fg_query_run(&q, err);
	}
	return fg_store_end(store, status, err);
}

static int64_t size_of(const struct fg_store *store)
{
	struct stat status = {0};

	if (fg_db_is_url(store->db->location) || stat(store->db->location, &status) != 0)
		return 0;
	return status.st_size;
}

int fg_store_gc(struct fg_store *store, const struct fg_gc_policy *policy,
		struct fg_gc_result *result, struct fg_error *err)
{
	struct victims victims = {0};
	struct fg_gc_result done = {.bytes_before = size_of(store)};
	int status = FG_OK;

	FG_TRY_OUT(choose(store, policy, &victims, &done, err));
	if (!policy->dry_run)
		FG_TRY_OUT(remove_runs(store, &victims, err));
	if (!policy->dry_run)
		status = sweep_up(store, err);
	if (status != FG_OK)
		goto out;
	/*
	 * PostgreSQL vacuums by itself. In SQLite, VACUUM copies the database, here into a
	 * temporary file instead of memory.
	 */
	if (!policy->dry_run && !fg_db_is_url(store->db->location))
		status = fg_db_script(store->db,
				      "PRAGMA temp_store = FILE; VACUUM; "
				      "PRAGMA wal_checkpoint(TRUNCATE)",
				      err);
	if (status != FG_OK)
		goto out;
	done.runs = victims.count;
	done.bytes_after = size_of(store);
	*result = done;
out:
	free(victims.ids);
	return status;
}
