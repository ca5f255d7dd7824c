// SPDX-License-Identifier: Apache-2.0
#include "store/serving/limits.h"

#include "base/number.h"
#include "base/strbuf.h"
#include "store/db.h"
#include "store/session.h"

static int check(const struct fg_limits *limits, struct fg_error *err)
{
	if (limits->most_runs < 0 || limits->most_bytes < 0 || limits->keep_newest < 0 ||
	    limits->keep_days < 0)
		return fg_error_set(err, FG_EINVAL, "a limit must be 0 (unlimited) or positive");
	if (limits->keep_days > FG_KEEP_DAYS_MAX)
		return fg_error_set(err, FG_EINVAL,
				    "runs can be kept for at most %d days, not %lld",
				    FG_KEEP_DAYS_MAX, (long long)limits->keep_days);
	if (limits->keep_newest && !limits->keep_days)
		return fg_error_set(
			err, FG_EINVAL,
			"keeping the newest runs of each branch needs an age limit: set the days "
			"as well");
	return FG_OK;
}

static bool is_any_set(const struct fg_limits *limits)
{
	return limits->most_runs || limits->most_bytes || limits->keep_days;
}

int fg_store_limits_set(struct fg_store *store, const struct fg_limits *limits,
			struct fg_error *err)
{
	FG_TRY(check(limits, err));
	if (!is_any_set(limits)) {
		return FG_QUERY_DO(store->db, err, FG_SQL_LIMITS_REMOVE, FG_BIND(limits->project));
	}
	return FG_QUERY_DO(store->db, err, FG_SQL_LIMITS_PUT, FG_BIND(limits->project),
			   FG_BIND(limits->most_runs), FG_BIND(limits->most_bytes),
			   FG_BIND(limits->keep_days), FG_BIND(limits->keep_newest));
}

static struct fg_limits read_row(const struct fg_query *q, const char *project)
{
	return (struct fg_limits){
		.project = project,
		.most_runs = fg_column_int(q, 1),
		.most_bytes = fg_column_int(q, 2),
		.keep_days = fg_column_int(q, 3),
		.keep_newest = fg_column_int(q, 4),
	};
}

int fg_store_limits_list(struct fg_store *store, struct fg_limits_list *list, struct fg_error *err)
{
	struct fg_query q;
	int status = FG_OK;

	*list = (struct fg_limits_list){0};
	fg_query_begin(&q, store->db, FG_SQL_LIMITS_LIST);
	while ((status = fg_query_step(&q, err)) > 0)
		FG_APPEND(list->items, list->count, list->capacity) =
			read_row(&q, fg_column_keep(&q, 0, &list->texts));
	fg_query_end(&q);
	if (status != FG_OK)
		fg_limits_list_release(list);
	return status;
}

void fg_limits_list_release(struct fg_limits_list *list)
{
	fg_arena_release(&list->texts);
	free(list->items);
	*list = (struct fg_limits_list){0};
}

int fg_store_limits_of(struct fg_store *store, const char *project, struct fg_limits *limits,
		       struct fg_error *err)
{
	struct fg_query q;
	int status = FG_OK;

	*limits = (struct fg_limits){0};
	FG_QUERY_WITH(&q, store->db, FG_SQL_LIMITS_OF, FG_BIND(project));
	status = fg_query_step(&q, err);
	if (status > 0)
		*limits = read_row(&q, *fg_column_text(&q, 0) ? project : "");
	fg_query_end(&q);
	return status < 0 ? status : FG_OK;
}

int fg_store_usage(struct fg_store *store, const char *project, struct fg_usage *usage,
		   struct fg_error *err)
{
	struct fg_query q;
	int status = FG_OK;

	*usage = (struct fg_usage){0};
	FG_QUERY_WITH(&q, store->db, FG_SQL_USAGE_OF, FG_BIND(project));
	status = fg_query_step(&q, err);
	if (status > 0)
		*usage = (struct fg_usage){.runs = fg_column_int(&q, 0),
					   .bytes = fg_column_int(&q, 1)};
	fg_query_end(&q);
	return status < 0 ? status : FG_OK;
}

static int compare_usage(const char *project, const struct fg_limits *limits,
			 const struct fg_usage *usage, struct fg_error *err)
{
	static const char *const advice = "remove some, or have the quota raised";
	char held[FG_NUMBER_TEXT_SIZE];
	char most[FG_NUMBER_TEXT_SIZE];

	if (limits->most_runs && usage->runs > limits->most_runs)
		return fg_error_set(err, FG_ELIMIT,
				    "project '%.100s' has reached its quota of %lld runs: %s",
				    project, (long long)limits->most_runs, advice);
	if (limits->most_bytes && usage->bytes > limits->most_bytes)
		return fg_error_set(
			err, FG_ELIMIT,
			"the runs of project '%.100s' would need %s, but its quota is %s: %s",
			project, fg_format_size((double)usage->bytes, held),
			fg_format_size((double)limits->most_bytes, most), advice);
	return FG_OK;
}

int fg_store_check_quota(struct fg_store *store, const char *project, const struct fg_usage *more,
			 struct fg_error *err)
{
	struct fg_limits limits = {0};
	struct fg_usage usage = {0};
	int status = fg_store_limits_of(store, project, &limits, err);

	if (status != FG_OK || (!limits.most_runs && !limits.most_bytes))
		return status;
	FG_TRY(fg_store_usage(store, project, &usage, err));
	usage.runs += more->runs;
	usage.bytes += more->bytes;
	return compare_usage(project, &limits, &usage, err);
}

void fg_limits_describe(const struct fg_limits *limits, struct fg_strbuf *text)
{
	if (!is_any_set(limits))
		fg_strbuf_add_text(text, "no limits");
	if (limits->most_runs)
		fg_strbuf_printf(text, "at most %lld run%s", (long long)limits->most_runs,
				 limits->most_runs == 1 ? "" : "s");
	if (limits->most_bytes)
		fg_strbuf_printf(text, "%sat most %lld bytes", text->length ? "; " : "",
				 (long long)limits->most_bytes);
	if (limits->keep_days)
		fg_strbuf_printf(
			text,
			"%skept for %lld days, the newest %lld of each branch whatever their age",
			text->length ? "; " : "", (long long)limits->keep_days,
			(long long)limits->keep_newest);
}
