// SPDX-License-Identifier: Apache-2.0
/* Lists runs, and finds the run that a user names. */
#include "base/json_write.h"
#include "base/number.h"
#include "base/strbuf.h"
#include "base/text.h"
#include "store/db.h"
#include "store/session.h"
#include "store/store.h"

enum {
	LIMIT_DEFAULT = 50,
	LIMIT_MAX = 1000,
	SHORTEST_COMMIT = 4,
	UUID_LENGTH = 36
};

static void add_summary(const struct fg_query *q, struct fg_run_list *list)
{
	struct fg_run_summary *summary = &FG_APPEND(list->items, list->count, list->capacity);

	*summary = (struct fg_run_summary){
		.project = fg_column_keep(q, 1, &list->texts),
		.started_ns = fg_column_int(q, 2),
		.ended_ns = fg_column_int(q, 3),
		.complete = fg_column_int(q, 4) != 0,
		.has_baseline = fg_column_int(q, 5) != 0,
		.dirty = fg_column_int(q, 6) != 0,
		.outcome = fg_column_keep(q, 7, &list->texts),
		.commit = fg_column_keep(q, 8, &list->texts),
		.branch = fg_column_keep(q, 9, &list->texts),
		.tag = fg_column_keep(q, 10, &list->texts),
		.base_commit = fg_column_keep(q, 11, &list->texts),
		.fingerprint = fg_column_keep(q, 12, &list->texts),
		.benchmark_count = (size_t)fg_column_int(q, 13),
		.subject = fg_column_keep(q, 14, &list->texts),
	};
	(void)snprintf(summary->id, sizeof(summary->id), "%s", fg_column_text(q, 0));
}

int fg_store_list(struct fg_store *store, const struct fg_run_filter *filter,
		  struct fg_run_list *list, struct fg_error *err)
{
	size_t limit = filter->limit ? filter->limit : LIMIT_DEFAULT;
	struct fg_query q;
	int status = FG_OK;

	*list = (struct fg_run_list){0};
	if (filter->commit && strlen(filter->commit) < SHORTEST_COMMIT)
		return fg_error_set(err, FG_EINVAL,
				    "'%s' is too short for a commit: give at least %d digits",
				    filter->commit, SHORTEST_COMMIT);
	if (limit > LIMIT_MAX)
		limit = LIMIT_MAX;
	FG_QUERY_WITH(&q, store->db, FG_SQL_RUN_LIST, FG_BIND(filter->project),
		      FG_BIND(filter->branch), FG_BIND(filter->commit), FG_BIND(filter->tag),
		      FG_BIND(filter->benchmark), FG_BIND(filter->fact_key),
		      FG_BIND(filter->fact_value), FG_BIND(filter->outcome),
		      FG_BIND(filter->complete_only),
		      FG_BIND(filter->before_ns ? filter->before_ns : INT64_MAX),
		      FG_BIND(filter->before_id ? filter->before_id : ""),
		      FG_BIND((int64_t)limit + 1), FG_BIND(filter->subject));
	while ((status = fg_query_step(&q, err)) > 0) {
		if (list->count == limit) {
			list->more = true;
			continue;
		}
		add_summary(&q, list);
	}
	fg_query_end(&q);
	if (status != FG_OK)
		fg_run_list_release(list);
	return status;
}

void fg_run_list_release(struct fg_run_list *list)
{
	fg_arena_release(&list->texts);
	free(list->items);
	*list = (struct fg_run_list){0};
}

/* Takes at most one row. Without a row, the list stays empty. */
static int take_one(struct fg_query *q, struct fg_run_list *list, struct fg_error *err)
{
	int status = fg_query_step(q, err);

	if (status > 0) {
		add_summary(q, list);
		status = FG_OK;
	}
	fg_query_end(q);
	return status;
}

static int find_previous(struct fg_store *store, const struct fg_run_summary *run,
			 struct fg_run_list *list, struct fg_error *err)
{
	return fg_store_list(store,
			     &(struct fg_run_filter){.project = run->project,
						     .branch = run->branch,
						     .before_ns = run->started_ns,
						     .before_id = run->id,
						     .limit = 1},
			     list, err);
}

static int find_next(struct fg_store *store, const struct fg_run_summary *run,
		     struct fg_run_list *list, struct fg_error *err)
{
	struct fg_query q;

	FG_QUERY_WITH(&q, store->db, FG_SQL_RUN_NEXT, FG_BIND(run->project), FG_BIND(run->branch),
		      FG_BIND(run->started_ns), FG_BIND(run->id));
	return take_one(&q, list, err);
}

int fg_store_run_summary(struct fg_store *store, const char *id, struct fg_run_list *list,
			 struct fg_error *err)
{
	struct fg_query q;

	FG_QUERY_WITH(&q, store->db, FG_SQL_RUN_ONE, FG_BIND(id));
	return take_one(&q, list, err);
}

int fg_store_run_around(struct fg_store *store, const char *id, struct fg_run_around *around,
			struct fg_error *err)
{
	struct fg_run_around found = {0};
	int status = FG_OK;

	FG_TRY_OUT(fg_store_run_summary(store, id, &found.run, err));
	if (found.run.count == 0) {
		status = fg_error_set(err, FG_ENOENT, "there is no run %s", id);
		goto out;
	}
	FG_TRY_OUT(find_previous(store, &found.run.items[0], &found.previous, err));
	status = find_next(store, &found.run.items[0], &found.next, err);
out:
	if (status == FG_OK)
		*around = found;
	else
		fg_run_around_release(&found);
	return status;
}

void fg_run_around_release(struct fg_run_around *around)
{
	fg_run_list_release(&around->run);
	fg_run_list_release(&around->previous);
	fg_run_list_release(&around->next);
}

/* Reads the first column of the first row as an id. FG_ENOENT without a message: no row. */
static int take_id(struct fg_query *q, char id[37], struct fg_error *err)
{
	int status = fg_query_step(q, err);

	if (status > 0) {
		(void)snprintf(id, UUID_LENGTH + 1, "%s", fg_column_text(q, 0));
		status = FG_OK;
	} else if (status == FG_OK) {
		status = FG_ENOENT;
	}
	fg_query_end(q);
	return status;
}

static int by_words(struct fg_store *store, enum fg_sql sql, const char *project, const char *words,
		    char id[37], struct fg_error *err)
{
	struct fg_query q;

	FG_QUERY_WITH(&q, store->db, sql, FG_BIND(project), FG_BIND(words));
	return take_id(&q, id, err);
}

static int latest(struct fg_store *store, const char *project, const char *words, char id[37],
		  struct fg_error *err)
{
	struct fg_query q;
	int64_t back = 0;
	int status = FG_OK;

	if (fg_text_starts_with(words, "latest~")) {
		FG_TRY(fg_parse_int64(words + 7, &back, err));
		if (back < 0)
			return fg_error_set(err, FG_EINVAL, "'%s': expected latest~N with N >= 0",
					    words);
	}
	FG_QUERY_WITH(&q, store->db, FG_SQL_RUN_LATEST, FG_BIND(project), FG_BIND(back));
	status = take_id(&q, id, err);
	if (status == FG_ENOENT)
		status = fg_error_set(
			err, FG_ENOENT,
			back ? "%s does not hold that many complete runs of this project"
			     : "%s holds no complete run of this project yet: `fastgate run` creates "
			       "one",
			store->db->name);
	return status;
}

/* Returns true for "", "latest" and "latest~N", but not for "latest-fix", which may be a branch. */
static bool means_latest(const char *words)
{
	return *words == '\0' || strcmp(words, "latest") == 0 ||
	       fg_text_starts_with(words, "latest~");
}

static bool is_hex(const char *words)
{
	return *words && words[strspn(words, "0123456789abcdef-")] == '\0';
}

static int by_prefix(struct fg_store *store, const char *project, const char *words, char id[37],
		     struct fg_error *err)
{
	struct fg_strbuf others = {0};
	struct fg_query q;
	size_t count = 0;
	int status = FG_OK;

	if (!is_hex(words) || strlen(words) < SHORTEST_COMMIT)
		return FG_ENOENT;
	FG_QUERY_WITH(&q, store->db, FG_SQL_RUN_BY_PREFIX, FG_BIND(project), FG_BIND(words));
	while ((status = fg_query_step(&q, err)) > 0) {
		if (count++ == 0)
			(void)snprintf(id, UUID_LENGTH + 1, "%s", fg_column_text(&q, 0));
		fg_strbuf_printf(&others, "%s%s", count > 1 ? ", " : "", fg_column_text(&q, 0));
	}
	fg_query_end(&q);
	if (status == FG_OK && count == 0)
		status = FG_ENOENT;
	else if (status == FG_OK && count > 1)
		status = fg_error_set(err, FG_ECONFLICT,
				      "'%s' matches several runs (%s%s): give more digits", words,
				      fg_strbuf_text(&others), count > 3 ? ", ..." : "");
	fg_strbuf_release(&others);
	return status;
}

int fg_store_find(struct fg_store *store, const char *project, const char *words, char id[37],
		  struct fg_error *err)
{
	static const enum fg_sql ways[] = {FG_SQL_RUN_BY_TAG, FG_SQL_RUN_BY_BRANCH,
					   FG_SQL_RUN_BY_COMMIT};
	int status = FG_OK;

	words = words ? words : "";
	if (means_latest(words))
		return latest(store, project, words, id, err);
	status = by_prefix(store, project, words, id, err);
	for (size_t i = 0; i < FG_ARRAY_SIZE(ways) && status == FG_ENOENT; i++) {
		if (ways[i] == FG_SQL_RUN_BY_COMMIT &&
		    (!is_hex(words) || strlen(words) < SHORTEST_COMMIT))
			continue;
		status = by_words(store, ways[i], project, words, id, err);
	}
	if (status == FG_ENOENT)
		status = fg_error_set(
			err, FG_ENOENT,
			"no run is called '%s': "
			"it is not an id, tag, branch or commit in %s (`fastgate runs` lists them)",
			words, store->db->name);
	return status;
}

int fg_store_find_incomplete(struct fg_store *store, const char *project, char id[37],
			     struct fg_error *err)
{
	struct fg_query q;
	int status = FG_OK;

	FG_QUERY_WITH(&q, store->db, FG_SQL_RUN_LATEST_INCOMPLETE, FG_BIND(project));
	status = take_id(&q, id, err);
	if (status == FG_ENOENT)
		status = fg_error_set(err, FG_ENOENT, "%s holds no interrupted run of this project",
				      store->db->name);
	return status;
}

void fg_run_summary_write(struct fg_json_writer *w, const char *name,
			  const struct fg_run_summary *run)
{
	fg_json_begin_object(w, name);
	fg_json_text(w, "id", run->id);
	fg_json_text(w, "project", run->project);
	fg_json_time(w, "started_at", run->started_ns);
	fg_json_double(w, "seconds", (double)(run->ended_ns - run->started_ns) / 1e9);
	fg_json_bool(w, "complete", run->complete);
	fg_json_bool(w, "has_baseline", run->has_baseline);
	fg_json_text(w, "outcome", run->outcome);
	fg_json_text(w, "commit", run->commit);
	fg_json_bool(w, "dirty", run->dirty);
	fg_json_text(w, "branch", run->branch);
	fg_json_text(w, "tag", run->tag);
	if (run->subject)
		fg_json_text(w, "subject", run->subject);
	fg_json_text(w, "baseline_commit", run->base_commit);
	fg_json_text(w, "host_fingerprint", run->fingerprint);
	fg_json_int(w, "benchmarks", (int64_t)run->benchmark_count);
	fg_json_end(w);
}
