// SPDX-License-Identifier: Apache-2.0
/*
 * perfdb gc: old runs, the archives of runs that are gone, and the pieces of those that nobody goes
 * on sending.
 *
 * An archive loses its row first, then its object is removed; if that fails, it is an object that
 * no row names, which the next gc finds.  Objects younger than a day may belong to an upload that
 * has not written its row yet.
 */
#include "base/clock.h"
#include "perfdb/archives/begun.h"
#include "perfdb/server/options.h"
#include "perfdb/server/place.h"
#include "store/serving/archives.h"
#include "store/serving/batch.h"
#include "store/store.h"

enum {
	STRAY_AFTER_HOURS = 24,
};

static const struct fg_option gc_options[] = {
	FG_PERFDB_DATABASE,
	FG_ROW_TEXT(struct fg_perfdb_options, project, "project", 0, "NAME",
		    "only runs of this project"),
	FG_ROW_DURATION(struct fg_perfdb_options, older_than, "older-than", "365d",
			"remove runs that started longer ago than this"),
	FG_ROW_NUMBER(struct fg_perfdb_options, keep, "keep", 1000000, "50",
		      "keep this many newest runs of each branch whatever their age"),
	FG_PERFDB_ARCHIVES,
	FG_ROW_FLAG(struct fg_perfdb_options, dry_run, "dry-run", 0,
		    "only say what would be removed"),
	FG_PERFDB_HELP,
	{.name = NULL},
};

struct names {
	char **items;
	size_t count;
	size_t capacity;
	const char *owner;
};

static void keep_stray(void *context, const char *name)
{
	const int64_t before_ns =
		fg_clock_wall_ns() - (int64_t)STRAY_AFTER_HOURS * 3600 * FG_NS_PER_S;
	struct names *names = context;
	int64_t made_ns = 0;

	if (!fg_archives_is_object(names->owner, name, &made_ns) || made_ns >= before_ns)
		return;
	names->items = fg_grow(names->items, &names->capacity, names->count + 1, sizeof(char *));
	names->items[names->count++] = fg_xstrdup(name);
}

/* What is swept, and what it is swept from. */
struct sweep {
	struct fg_store *store;
	struct fg_archives *archives;
	bool dry_run;
	size_t removed; /* of runs that are gone */
	size_t strays;
	size_t pieces;
};

static int remove_strays(struct sweep *sweep, const struct names *names, struct fg_error *err)
{
	int status = FG_OK;

	for (size_t i = 0; i < names->count && status == FG_OK; i++) {
		bool has = false;

		status = fg_store_archive_has_object(sweep->store, names->items[i], &has, err);
		if (status != FG_OK || has)
			continue;
		if (!sweep->dry_run)
			status = fg_archives_remove(sweep->archives, names->items[i], err);
		sweep->strays += status == FG_OK;
	}
	return status;
}

static int note_sweep(struct sweep *sweep, size_t count, const char *what, struct fg_error *err)
{
	char subject[64];

	if (count == 0 || sweep->dry_run)
		return FG_OK;
	(void)snprintf(subject, sizeof(subject), "%zu %s", count, what);
	return fg_perfdb_note(sweep->store, NULL, "archive.sweep", subject, err);
}

static int sweep_strays(struct sweep *sweep, const char *owner, struct fg_error *err)
{
	struct names names = {.owner = owner};
	int status = fg_archives_list(sweep->archives, owner, keep_stray, &names, err);

	if (status != FG_OK)
		goto out;
	status = remove_strays(sweep, &names, err);
	if (status != FG_OK)
		goto out;
	status = note_sweep(sweep, sweep->strays, "objects without a run", err);
out:
	for (size_t i = 0; i < names.count; i++)
		free(names.items[i]);
	free(names.items);
	return status;
}

static int sweep_pieces(struct sweep *sweep, const char *owner, struct fg_error *err)
{
	struct fg_begun_names names = {0};
	int status = fg_begun_list_old(sweep->archives, owner, &names, err);

	if (status != FG_OK)
		goto out;
	if (!sweep->dry_run)
		status = fg_begun_remove(sweep->archives, &names, err);
	if (status != FG_OK)
		goto out;
	sweep->pieces = names.count;
	status = note_sweep(sweep, sweep->pieces, "pieces of unfinished archives", err);
out:
	fg_begun_names_release(&names);
	return status;
}

static int sweep_place(struct sweep *sweep, struct fg_error *err)
{
	char *owner = NULL;
	int status = fg_store_archive_owner(sweep->store, &owner, err);

	if (status != FG_OK || !owner)
		return status;
	status = sweep_strays(sweep, owner, err);
	if (status == FG_OK)
		status = sweep_pieces(sweep, owner, err);
	free(owner);
	return status;
}

/* The row and its entry in the audit log, then the object. */
static int remove_left(struct sweep *sweep, const struct fg_kept_archive *archive,
		       struct fg_error *err)
{
	bool taken = false;
	int status = fg_store_batch_begin(sweep->store, err);

	if (status != FG_OK)
		return status;
	status = fg_store_archive_take_left(sweep->store, archive->run, &taken, err);
	if (status == FG_OK && taken)
		status = fg_perfdb_note(sweep->store, NULL, "archive.remove", archive->run, err);
	if (status != FG_OK) {
		fg_store_batch_undo(sweep->store);
		return status;
	}
	status = fg_store_batch_end(sweep->store, err);
	if (status != FG_OK || !taken)
		return status;
	sweep->removed++;
	return fg_archives_remove(sweep->archives, archive->object, err);
}

static int sweep_left(struct sweep *sweep, struct fg_error *err)
{
	struct fg_kept_archive_list left = {0};
	int status = fg_store_archives_left(sweep->store, &left, err);

	for (size_t i = 0; i < left.count && status == FG_OK; i++) {
		if (sweep->archives && !sweep->dry_run)
			status = remove_left(sweep, &left.items[i], err);
		else
			sweep->removed++;
	}
	fg_kept_archive_list_release(&left);
	return status;
}

static void say(const struct sweep *sweep)
{
	const char *verb = sweep->dry_run ? "would be removed" : "removed";

	if (!sweep->archives && sweep->removed)
		(void)fprintf(stderr,
			      "perfdb: archives of removed runs that stay: %zu (give --archives)\n",
			      sweep->removed);
	if (sweep->archives)
		(void)fprintf(stderr,
			      "perfdb: %zu archive%s of removed runs and %zu without a run %s\n",
			      sweep->removed, sweep->removed == 1 ? "" : "s", sweep->strays, verb);
	if (sweep->pieces)
		(void)fprintf(stderr, "perfdb: %zu piece%s of unfinished archives %s\n",
			      sweep->pieces, sweep->pieces == 1 ? "" : "s", verb);
}

static int sweep_all(struct sweep *sweep, struct fg_error *err)
{
	const int status = sweep_left(sweep, err);

	return status == FG_OK && sweep->archives ? sweep_place(sweep, err) : status;
}

static int gc_archives(const struct fg_perfdb_options *given, struct fg_store *store,
		       struct fg_error *err)
{
	struct sweep sweep = {.store = store, .dry_run = given->dry_run};
	struct fg_perfdb_place place = {0};
	int status = fg_perfdb_place_read(given, &place, err);

	if (status != FG_OK)
		goto out;
	if (given->archives)
		status = fg_archives_open(&place.options, &sweep.archives, err);
	if (status != FG_OK)
		goto out;
	status = sweep_all(&sweep, err);
	say(&sweep);
out:
	fg_archives_close(sweep.archives);
	fg_perfdb_place_release(&place);
	return status;
}

static int gc(const struct fg_perfdb_options *given, const struct fg_perfdb_words *words)
{
	const struct fg_gc_policy policy =
		fg_gc_policy_now(given->project, given->older_than, given->keep, given->dry_run);
	struct fg_gc_result result = {0};
	struct fg_store *store = NULL;
	struct fg_error err = {0};
	int status = fg_store_open(given->database, FG_STORE_DURABLE, &store, &err);

	(void)words;
	if (status == FG_OK)
		status = fg_store_gc(store, &policy, &result, &err);
	if (status != FG_OK) {
		fg_store_close(store);
		return fg_perfdb_fail(&err);
	}
	(void)fprintf(stderr, "perfdb: %zu run%s %s; old ones kept as baselines: %zu\n",
		      result.runs, result.runs == 1 ? "" : "s",
		      given->dry_run ? "would be removed" : "removed", result.kept_baselines);
	status = gc_archives(given, store, &err);
	fg_store_close(store);
	return status == FG_OK ? FG_PERFDB_OK : fg_perfdb_fail(&err);
}

const struct fg_perfdb_command fg_perfdb_gc = {
	.name = "gc",
	.summary = "remove old runs, and archives without a run",
	.options = gc_options,
	.run = gc,
};
