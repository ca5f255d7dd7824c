// SPDX-License-Identifier: Apache-2.0
#include "base/clock.h"
#include "base/json_write.h"
#include "store/db.h"
#include "store/serving/alerts.h"
#include "store/session.h"
#include "store/transaction.h"

enum {
	NAME_SHOWN_BYTES = 200,
};

static const int64_t day_ns = (int64_t)24 * 3600 * FG_NS_PER_S;

static bool concerns(const struct fg_alert_rule *rule, const struct fg_alert_finding *finding)
{
	return (rule->events & finding->event) &&
	       (!*finding->benchmark || fg_alert_matches(rule->benchmark, finding->benchmark)) &&
	       (!*finding->metric || fg_alert_matches(rule->metric, finding->metric));
}

/* `*may`: the rule has not told of this metric within its silence; from now on it has. */
static int tell(struct fg_store *store, const struct fg_alert_rule *rule,
		const struct fg_alert_finding *finding, int64_t now_ns, bool *may,
		struct fg_error *err)
{
	struct fg_query q;
	int64_t at_ns = 0;
	int status = FG_OK;

	*may = true;
	if (rule->silence_ns == 0)
		return FG_OK;
	fg_query_begin(&q, store->db, FG_SQL_ALERT_TELL);
	fg_query_int(&q, rule->id);
	fg_query_text(&q, finding->benchmark);
	fg_query_text(&q, finding->metric);
	fg_query_int(&q, now_ns);
	fg_query_int(&q, now_ns - rule->silence_ns);
	status = fg_query_value(&q, &at_ns, err);
	*may = status == FG_OK;
	return status == FG_ENOENT ? FG_OK : status;
}

static const char *event_name(unsigned event)
{
	size_t bit = 0;

	while (bit + 1 < FG_ALERT_EVENTS && !(event >> bit & 1U))
		bit++;
	return fg_alert_event_names[bit];
}

static void write_name(struct fg_json_writer *w, const char *name, const char *value)
{
	if (value && *value)
		fg_json_text_sized(w, name, value,
				   fg_min_size(strlen(value), (size_t)NAME_SHOWN_BYTES));
}

static void write_finding(struct fg_json_writer *w, const struct fg_alert_finding *finding)
{
	fg_json_begin_object(w, NULL);
	fg_json_text(w, "event", event_name(finding->event));
	write_name(w, "benchmark", finding->benchmark);
	write_name(w, "metric", finding->metric);
	fg_json_double(w, "before", finding->before);
	fg_json_double(w, "after", finding->after);
	fg_json_double(w, "ratio", finding->ratio);
	if (finding->last)
		fg_json_text(w, "last_run_before", finding->last);
	fg_json_end(w);
}

/* An alert that is being written. */
struct draft {
	struct fg_strbuf text;
	struct fg_json_writer w;
	size_t told;
	int64_t now_ns;
	int64_t id; /* once it is put; 0: it was left out */
};

static void begin_draft(struct draft *d, const struct fg_alert_rule *rule,
			const struct fg_alert_news *news)
{
	char time[FG_TIME_TEXT_SIZE];

	d->now_ns = fg_clock_wall_ns();
	fg_time_format_utc(d->now_ns, time);
	fg_json_writer_init(&d->w, &d->text, 0);
	fg_json_begin_object(&d->w, NULL);
	write_name(&d->w, "project", news->project);
	fg_json_int(&d->w, "rule", rule->id);
	fg_json_text(&d->w, "at", time);
	if (news->run)
		fg_json_text(&d->w, "run", news->run);
	fg_json_text(&d->w, "url", news->url);
	write_name(&d->w, "commit", news->commit);
	write_name(&d->w, "branch", news->branch);
	fg_json_begin_array(&d->w, "findings");
}

static int put_draft(struct fg_store *store, struct draft *d, const struct fg_alert_rule *rule,
		     const struct fg_alert_news *news, struct fg_error *err)
{
	struct fg_query q;
	int status = FG_OK;

	fg_json_end(&d->w);
	fg_json_int(&d->w, "more",
		    (int64_t)(d->told - fg_min_size(d->told, (size_t)FG_ALERT_SHOWN_MAX)));
	fg_json_end(&d->w);
	fg_query_begin(&q, store->db, FG_SQL_ALERT_ADD);
	fg_query_int(&q, rule->id);
	fg_query_text(&q, news->run);
	fg_query_text(&q, fg_strbuf_text(&d->text));
	fg_query_int(&q, d->now_ns);
	fg_query_int(&q, FG_ALERT_WAITING_MAX);
	status = fg_query_value(&q, &d->id, err);
	return status == FG_ENOENT ? FG_OK : status;
}

static int put_for_rule(struct fg_store *store, const struct fg_alert_rule *rule,
			const struct fg_alert_news *news, struct fg_error *err)
{
	struct draft d = {0};
	int status = FG_OK;

	begin_draft(&d, rule, news);
	for (size_t i = 0; i < news->count && status == FG_OK; i++) {
		bool may = false;

		if (!concerns(rule, &news->findings[i]))
			continue;
		status = tell(store, rule, &news->findings[i], d.now_ns, &may, err);
		if (may && d.told++ < FG_ALERT_SHOWN_MAX)
			write_finding(&d.w, &news->findings[i]);
	}
	if (status == FG_OK && d.told)
		status = put_draft(store, &d, rule, news, err);
	fg_strbuf_release(&d.text);
	return status;
}

int fg_store_alert_test(struct fg_store *store, const struct fg_alert_rule *rule, const char *url,
			int64_t *id, struct fg_error *err)
{
	const struct fg_alert_news news = {.project = rule->project, .url = url};
	struct draft d = {.told = 1};
	int status = FG_OK;

	begin_draft(&d, rule, &news);
	fg_json_begin_object(&d.w, NULL);
	fg_json_text(&d.w, "event", "test");
	fg_json_end(&d.w);
	status = put_draft(store, &d, rule, &news, err);
	if (status == FG_OK && !d.id)
		status = fg_error_set(err, FG_EBUSY, "as many alerts of the rule wait as may");
	*id = d.id;
	fg_strbuf_release(&d.text);
	return status;
}

static int put_search(struct fg_store *store, const struct fg_alert_news *news,
		      const struct fg_alert_finding *place, struct fg_error *err)
{
	struct fg_query q;

	fg_query_begin(&q, store->db, FG_SQL_ALERT_SEARCH_ADD);
	fg_query_text(&q, news->project);
	fg_query_text(&q, place->benchmark);
	fg_query_text(&q, place->metric);
	fg_query_text(&q, news->run);
	return fg_query_run(&q, err);
}

static bool is_watched(const struct fg_alert_news *news, const struct fg_alert_finding *place)
{
	for (size_t i = 0; i < news->rules->count; i++) {
		if (concerns(&news->rules->items[i], place))
			return true;
	}
	return false;
}

int fg_store_alerts_put(struct fg_store *store, const struct fg_alert_news *news,
			struct fg_error *err)
{
	int status = fg_store_begin(store, err);

	if (status != FG_OK)
		return status;
	for (size_t i = 0; i < news->rules->count && status == FG_OK; i++)
		status = put_for_rule(store, &news->rules->items[i], news, err);
	for (size_t i = 0; i < news->search_count && status == FG_OK; i++) {
		if (is_watched(news, &news->searches[i]))
			status = put_search(store, news, &news->searches[i], err);
	}
	return fg_store_end(store, status, err);
}

int fg_store_alert_list(struct fg_store *store, const char *project, size_t limit,
			fg_alert_visit *visit, void *context, struct fg_error *err)
{
	struct fg_query q;
	int status = FG_OK;

	fg_query_begin(&q, store->db, FG_SQL_ALERT_LIST);
	fg_query_text(&q, project);
	fg_query_int(&q, (int64_t)limit);
	while ((status = fg_query_step(&q, err)) > 0) {
		const struct fg_alert alert = {
			.id = fg_column_int(&q, 0),
			.rule = fg_column_int(&q, 1),
			.run = fg_column_text(&q, 2),
			.state = (enum fg_alert_state)fg_column_int(&q, 3),
			.attempts = fg_column_int(&q, 4),
			.due_ns = fg_column_int(&q, 5),
			.created_ns = fg_column_int(&q, 6),
			.reason = fg_column_text(&q, 7),
			.body = fg_column_text(&q, 8),
		};

		visit(context, &alert);
	}
	fg_query_end(&q);
	return status;
}

/* FG_ENOENT: nothing is due. */
static int find_due(struct fg_store *store, int64_t now_ns, struct fg_alert_claim *claim,
		    int64_t *due_ns, struct fg_error *err)
{
	struct fg_query q;
	int status = FG_OK;

	fg_query_begin(&q, store->db, FG_SQL_ALERT_DUE);
	fg_query_int(&q, now_ns);
	status = fg_query_step(&q, err);
	if (status > 0) {
		*claim = (struct fg_alert_claim){
			.id = fg_column_int(&q, 0),
			.attempts = fg_column_int(&q, 1),
			.body = fg_column_copy(&q, 3),
			.target = fg_column_copy(&q, 4),
			.secret = fg_column_copy(&q, 5),
			.rule = fg_column_int(&q, 6),
		};
		*due_ns = fg_column_int(&q, 2);
	}
	fg_query_end(&q);
	if (status > 0)
		return FG_OK;
	return status == FG_OK ? FG_ENOENT : status;
}

static int take(struct fg_store *store, struct fg_alert_claim *claim, int64_t due_ns,
		int64_t until_ns, struct fg_error *err)
{
	struct fg_query q;
	int64_t id = 0;
	int status = fg_store_begin(store, err);

	if (status != FG_OK)
		return status;
	fg_query_begin(&q, store->db, FG_SQL_ALERT_CLAIM);
	fg_query_int(&q, claim->id);
	fg_query_int(&q, claim->attempts);
	fg_query_int(&q, due_ns);
	fg_query_int(&q, until_ns);
	status = fg_query_value(&q, &id, err);
	claim->attempts++;
	return fg_store_end(store, status, err);
}

int fg_store_alert_claim(struct fg_store *store, int64_t now_ns, int64_t until_ns,
			 struct fg_alert_claim *claim, struct fg_error *err)
{
	struct fg_alert_claim found = {0};
	int64_t due_ns = 0;
	int status = find_due(store, now_ns, &found, &due_ns, err);

	if (status == FG_OK)
		status = take(store, &found, due_ns, until_ns, err);
	if (status == FG_OK)
		*claim = found;
	else
		fg_alert_claim_release(&found);
	return status;
}

void fg_alert_claim_release(struct fg_alert_claim *claim)
{
	if (claim->secret)
		explicit_bzero(claim->secret, strlen(claim->secret));
	free(claim->body);
	free(claim->target);
	free(claim->secret);
	*claim = (struct fg_alert_claim){0};
}

/* The others of the rule need not find out for themselves that the other end is not there. */
static int hold_others(struct fg_store *store, const struct fg_alert_claim *claim, int64_t due_ns,
		       struct fg_error *err)
{
	struct fg_query q;

	fg_query_begin(&q, store->db, FG_SQL_ALERT_HOLD);
	fg_query_int(&q, claim->rule);
	fg_query_int(&q, due_ns);
	return fg_query_run(&q, err);
}

int fg_store_alert_settle(struct fg_store *store, const struct fg_alert_claim *claim,
			  const struct fg_alert_outcome *outcome, struct fg_error *err)
{
	struct fg_query q;
	int status = fg_store_begin(store, err);

	if (status != FG_OK)
		return status;
	fg_query_begin(&q, store->db, FG_SQL_ALERT_SETTLE);
	fg_query_int(&q, claim->id);
	fg_query_int(&q, claim->attempts);
	fg_query_int(&q, (int64_t)outcome->state);
	fg_query_int(&q, outcome->due_ns);
	fg_query_text(&q, outcome->reason);
	status = fg_query_run(&q, err);
	if (status == FG_OK && outcome->state == FG_ALERT_WAITING)
		status = hold_others(store, claim, outcome->due_ns, err);
	return fg_store_end(store, status, err);
}

int fg_store_alert_next(struct fg_store *store, int64_t *due_ns, struct fg_error *err)
{
	struct fg_query q;

	*due_ns = 0;
	fg_query_begin(&q, store->db, FG_SQL_ALERT_NEXT);
	return fg_query_value(&q, due_ns, err);
}

int fg_store_alert_forget(struct fg_store *store, int64_t now_ns, struct fg_error *err)
{
	static const enum fg_sql steps[] = {FG_SQL_ALERT_FORGET, FG_SQL_ALERT_FORGET_TOLD};
	int status = fg_store_begin(store, err);

	if (status != FG_OK)
		return status;
	for (size_t i = 0; i < FG_ARRAY_SIZE(steps) && status == FG_OK; i++) {
		struct fg_query q;

		fg_query_begin(&q, store->db, steps[i]);
		fg_query_int(&q, now_ns - (FG_ALERT_SILENCE_DAYS + 1) * day_ns);
		status = fg_query_run(&q, err);
	}
	return fg_store_end(store, status, err);
}

static int find_search(struct fg_store *store, struct fg_alert_search *search, struct fg_error *err)
{
	struct fg_query q;
	int status = FG_OK;

	fg_query_begin(&q, store->db, FG_SQL_ALERT_SEARCH_FIRST);
	status = fg_query_step(&q, err);
	if (status > 0) {
		search->project = fg_column_copy(&q, 0);
		search->benchmark = fg_column_copy(&q, 1);
		search->metric = fg_column_copy(&q, 2);
	}
	fg_query_end(&q);
	if (status > 0)
		return FG_OK;
	return status == FG_OK ? FG_ENOENT : status;
}

/* The newest: those of the history are among them. */
static int read_notes(struct fg_store *store, struct fg_alert_search *search, struct fg_error *err)
{
	struct fg_query q;
	int status = FG_OK;

	fg_query_begin(&q, store->db, FG_SQL_ALERT_SEARCH_OF);
	fg_query_text(&q, search->project);
	fg_query_text(&q, search->benchmark);
	fg_query_text(&q, search->metric);
	fg_query_int(&q, FG_ALERT_SEARCH_RUNS);
	while ((status = fg_query_step(&q, err)) > 0 && search->count < FG_ALERT_SEARCH_RUNS) {
		search->ids[search->count] = fg_column_int(&q, 0);
		(void)snprintf(search->runs[search->count++], sizeof(search->runs[0]), "%s",
			       fg_column_text(&q, 1));
	}
	fg_query_end(&q);
	return status < 0 ? status : FG_OK;
}

static int read_history(struct fg_store *store, size_t runs, struct fg_alert_search *search,
			struct fg_error *err)
{
	const struct fg_history_query query = {.project = search->project,
					       .benchmark = search->benchmark,
					       .metric = search->metric,
					       .limit = runs};
	struct fg_error reason = {0};
	const int status = fg_store_history(store, &query, &search->history, &reason);

	search->is_gone = status == FG_ENOENT;
	if (status == FG_OK || search->is_gone)
		return FG_OK;
	return fg_error_set(err, reason.code, "%s", reason.message);
}

int fg_store_alert_search(struct fg_store *store, size_t runs, struct fg_alert_search *search,
			  struct fg_error *err)
{
	bool mine = false;
	int status = fg_store_view(store, &mine, err);

	*search = (struct fg_alert_search){0};
	if (status != FG_OK)
		return status;
	status = find_search(store, search, err);
	if (status != FG_OK)
		goto out;
	status = read_notes(store, search, err);
	if (status != FG_OK)
		goto out;
	status = read_history(store, runs, search, err);
out:
	fg_store_view_end(store, mine);
	if (status != FG_OK)
		fg_alert_search_release(search);
	return status;
}

void fg_alert_search_release(struct fg_alert_search *search)
{
	free(search->project);
	free(search->benchmark);
	free(search->metric);
	search->project = NULL;
	search->benchmark = NULL;
	search->metric = NULL;
	fg_history_release(&search->history);
}

/* How many of the notes were still there. */
static int take_notes(struct fg_store *store, const struct fg_alert_search *search, size_t *taken,
		      struct fg_error *err)
{
	*taken = 0;
	for (size_t i = 0; i < search->count; i++) {
		struct fg_query q;
		int64_t id = 0;
		int status = FG_OK;

		fg_query_begin(&q, store->db, FG_SQL_ALERT_SEARCH_DONE);
		fg_query_int(&q, search->ids[i]);
		status = fg_query_value(&q, &id, err);
		if (status != FG_OK && status != FG_ENOENT)
			return status;
		*taken += status == FG_OK;
	}
	return FG_OK;
}

int fg_store_alert_search_done(struct fg_store *store, const struct fg_alert_search *search,
			       const struct fg_alert_news *news, struct fg_error *err)
{
	size_t taken = 0;
	int status = fg_store_begin(store, err);

	if (status != FG_OK)
		return status;
	status = take_notes(store, search, &taken, err);
	if (status == FG_OK && taken > 0 && taken < search->count)
		status = fg_error_set(err, FG_EBUSY, "another server looks at the same runs");
	for (size_t i = 0; news && taken && i < news->rules->count; i++) {
		if (status == FG_OK)
			status = put_for_rule(store, &news->rules->items[i], news, err);
	}
	return fg_store_end(store, status, err);
}
