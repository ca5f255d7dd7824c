// SPDX-License-Identifier: Apache-2.0
/* The rules; alert_outbox.c has what they say. */
#include "store/serving/alerts.h"

#include "base/clock.h"
#include "store/db.h"
#include "store/session.h"

const char *const fg_alert_event_names[FG_ALERT_EVENTS] = {"regression", "error", "change"};

/* Where a * is followed by something that does not fit, the newest * takes one character more. */
bool fg_alert_matches(const char *pattern, const char *text)
{
	const char *star = NULL;
	const char *resume = NULL;

	while (*text) {
		if (*pattern == '*') {
			star = pattern++;
			resume = text;
		} else if (*pattern == '?' || *pattern == *text) {
			pattern++;
			text++;
		} else if (star) {
			pattern = star + 1;
			text = ++resume;
		} else {
			return false;
		}
	}
	while (*pattern == '*')
		pattern++;
	return *pattern == '\0';
}

static int check_room(struct fg_store *store, const char *project, struct fg_error *err)
{
	struct fg_query q;
	int64_t count = 0;
	int status = FG_OK;

	fg_query_begin(&q, store->db, FG_SQL_ALERT_RULE_COUNT);
	fg_query_text(&q, project);
	status = fg_query_value(&q, &count, err);
	if (status != FG_OK)
		return status;
	if (count >= FG_ALERT_RULES_MAX)
		return fg_error_set(err, FG_EINVAL,
				    "the project has %d alert rules, which is the most: remove one",
				    FG_ALERT_RULES_MAX);
	return FG_OK;
}

int fg_store_alert_rule_add(struct fg_store *store, struct fg_alert_rule *rule,
			    struct fg_error *err)
{
	struct fg_query q;
	int status = check_room(store, rule->project, err);

	if (status != FG_OK)
		return status;
	rule->created_ns = fg_clock_wall_ns();
	fg_query_begin(&q, store->db, FG_SQL_ALERT_RULE_ADD);
	fg_query_text(&q, rule->project);
	fg_query_int(&q, rule->events);
	fg_query_text(&q, rule->benchmark);
	fg_query_text(&q, rule->metric);
	fg_query_int(&q, rule->silence_ns);
	fg_query_text(&q, rule->target);
	fg_query_text(&q, rule->secret);
	fg_query_text(&q, rule->author);
	fg_query_int(&q, rule->created_ns);
	return fg_query_value(&q, &rule->id, err);
}

static int no_such_rule(int64_t id, struct fg_error *err)
{
	return fg_error_set(err, FG_ENOENT, "there is no alert rule %lld", (long long)id);
}

int fg_store_alert_rule_change(struct fg_store *store, const struct fg_alert_rule *rule,
			       struct fg_error *err)
{
	struct fg_query q;
	int64_t id = 0;
	int status = FG_OK;

	fg_query_begin(&q, store->db, FG_SQL_ALERT_RULE_CHANGE);
	fg_query_int(&q, rule->id);
	fg_query_int(&q, rule->events);
	fg_query_text(&q, rule->benchmark);
	fg_query_text(&q, rule->metric);
	fg_query_int(&q, rule->silence_ns);
	fg_query_text(&q, rule->target);
	fg_query_text(&q, rule->secret);
	status = fg_query_value(&q, &id, err);
	return status == FG_ENOENT ? no_such_rule(rule->id, err) : status;
}

int fg_store_alert_rule_project(struct fg_store *store, int64_t id, char **project,
				struct fg_error *err)
{
	struct fg_query q;
	int status = FG_OK;

	*project = NULL;
	fg_query_begin(&q, store->db, FG_SQL_ALERT_RULE_PROJECT);
	fg_query_int(&q, id);
	status = fg_query_step(&q, err);
	if (status > 0)
		*project = fg_column_copy(&q, 0);
	fg_query_end(&q);
	if (status == FG_OK)
		return no_such_rule(id, err);
	return status > 0 ? FG_OK : status;
}

int fg_store_alert_rule_remove(struct fg_store *store, int64_t id, struct fg_error *err)
{
	static const enum fg_sql steps[] = {FG_SQL_ALERT_RULE_REMOVE_ALERTS,
					    FG_SQL_ALERT_RULE_REMOVE_TOLD,
					    FG_SQL_ALERT_RULE_REMOVE};
	int status = FG_OK;

	for (size_t i = 0; i < FG_ARRAY_SIZE(steps) && status == FG_OK; i++) {
		struct fg_query q;

		fg_query_begin(&q, store->db, steps[i]);
		fg_query_int(&q, id);
		status = fg_query_run(&q, err);
	}
	return status;
}

static struct fg_alert_rule read_rule(const struct fg_query *q)
{
	return (struct fg_alert_rule){
		.id = fg_column_int(q, 0),
		.project = fg_column_copy(q, 1),
		.events = (unsigned)fg_column_int(q, 2),
		.benchmark = fg_column_copy(q, 3),
		.metric = fg_column_copy(q, 4),
		.silence_ns = fg_column_int(q, 5),
		.target = fg_column_copy(q, 6),
		.author = fg_column_copy(q, 7),
		.created_ns = fg_column_int(q, 8),
		.secret = fg_column_copy(q, 9),
	};
}

int fg_store_alert_rule_list(struct fg_store *store, const char *project,
			     struct fg_alert_rule_list *list, struct fg_error *err)
{
	struct fg_alert_rule_list found = {0};
	struct fg_query q;
	int status = FG_OK;

	fg_query_begin(&q, store->db, project ? FG_SQL_ALERT_RULE_OF : FG_SQL_ALERT_RULE_LIST);
	if (project)
		fg_query_text(&q, project);
	while ((status = fg_query_step(&q, err)) > 0) {
		found.items = fg_grow(found.items, &found.capacity, found.count + 1,
				      sizeof(*found.items));
		found.items[found.count++] = read_rule(&q);
	}
	fg_query_end(&q);
	if (status == FG_OK)
		*list = found;
	else
		fg_alert_rule_list_release(&found);
	return status;
}

void fg_alert_rule_list_release(struct fg_alert_rule_list *list)
{
	for (size_t i = 0; i < list->count; i++) {
		struct fg_alert_rule *rule = &list->items[i];

		if (rule->secret)
			explicit_bzero(rule->secret, strlen(rule->secret));
		free(rule->project);
		free(rule->benchmark);
		free(rule->metric);
		free(rule->target);
		free(rule->secret);
		free(rule->author);
	}
	free(list->items);
	*list = (struct fg_alert_rule_list){0};
}
