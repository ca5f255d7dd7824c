// SPDX-License-Identifier: Apache-2.0
/* Alert rules, and what they have sent.  A secret is told once, to whoever makes the rule. */
#include "store/serving/alerts.h"

#include "base/clock.h"
#include "base/hash.h"
#include "base/number.h"
#include "base/random.h"
#include "base/text.h"
#include "perfdb/protocol.h"
#include "perfdb/server/alerter.h"
#include "perfdb/server/api/decision.h"
#include "perfdb/server/api/handlers.h"

enum {
	PATTERN_MAX_BYTES = 200,
	SECRET_LEAST_BYTES = 16,
	SECRET_MAX_BYTES = 200,
	SECRET_BYTES = 24, /* of one that is made here */
	SHOWN = 200,       /* alerts */
};

#define DEFAULT_SILENCE "24h"
#define RULE_NUMBER_MAX 9e15 /* what a double holds exactly */

static void write_rule(struct fg_json_writer *w, const struct fg_alert_rule *rule)
{
	fg_json_begin_object(w, NULL);
	fg_json_int(w, "id", rule->id);
	fg_json_text(w, "project", rule->project);
	fg_json_begin_array(w, "events");
	for (size_t i = 0; i < FG_ALERT_EVENTS; i++) {
		if (rule->events >> i & 1U)
			fg_json_text(w, NULL, fg_alert_event_names[i]);
	}
	fg_json_end(w);
	fg_json_text(w, "benchmark", rule->benchmark);
	fg_json_text(w, "metric", rule->metric);
	fg_json_int(w, "silence_s", rule->silence_ns / FG_NS_PER_S);
	fg_json_text(w, "webhook", rule->target);
	fg_json_text(w, "author", rule->author);
	fg_request_json_time(w, "created_at", rule->created_ns);
	fg_json_end(w);
}

int fg_handle_alert_rules(struct fg_request *rq, struct fg_error *err)
{
	const char *project = fg_request_parameter(rq, "project");
	struct fg_alert_rule_list list = {0};
	struct fg_json_writer w;
	int status = project ? fg_request_may_see(rq, project, err) : FG_OK;

	if (status != FG_OK)
		return status;
	status = fg_store_alert_rule_list(rq->store, project, &list, err);
	if (status != FG_OK)
		return status;
	fg_request_json_list(rq, &w, "rules");
	for (size_t i = 0; i < list.count; i++) {
		if (fg_request_may_see(rq, list.items[i].project, NULL) == FG_OK)
			write_rule(&w, &list.items[i]);
	}
	fg_json_end(&w);
	fg_json_end(&w);
	fg_alert_rule_list_release(&list);
	return FG_OK;
}

static int read_events(const cJSON *json, unsigned *events, struct fg_error *err)
{
	const cJSON *list = fg_json_find(json, "events");
	const cJSON *item = NULL;

	*events = 0;
	cJSON_ArrayForEach(item, list)
	{
		const char *word = cJSON_IsString(item) ? item->valuestring : "";
		size_t i = 0;

		while (i < FG_ALERT_EVENTS && strcmp(word, fg_alert_event_names[i]) != 0)
			i++;
		if (i == FG_ALERT_EVENTS)
			return fg_error_set(
				err, FG_EINVAL,
				"'%.40s' is not an event: expected regression, error or change",
				word);
		*events |= 1U << i;
	}
	if (!cJSON_IsArray(list) || !*events)
		return fg_error_set(
			err, FG_EINVAL,
			"'events': expected a list of at least one of regression, error, change");
	return FG_OK;
}

static int read_pattern(struct fg_request *rq, const cJSON *json, const char *name, char **pattern,
			struct fg_error *err)
{
	*pattern = fg_decision_text(rq, json, name, "*");
	if (**pattern && strlen(*pattern) <= PATTERN_MAX_BYTES)
		return FG_OK;
	return fg_error_set(err, FG_EINVAL,
			    "'%s': expected a name or a pattern with * and ?, 1 to %d bytes", name,
			    PATTERN_MAX_BYTES);
}

static int read_silence(const cJSON *json, int64_t *silence_ns, struct fg_error *err)
{
	const int64_t most = (int64_t)FG_ALERT_SILENCE_DAYS * 24 * 3600 * FG_NS_PER_S;
	const int status = fg_parse_duration_ns(fg_json_text_or(json, "silence", DEFAULT_SILENCE),
						silence_ns, err);

	if (status == FG_OK && *silence_ns >= 0 && *silence_ns <= most)
		return FG_OK;
	return fg_error_set(err, FG_EINVAL,
			    "'silence': expected a time from 0s to %dd, like 24h, in quotes",
			    FG_ALERT_SILENCE_DAYS);
}

static int make_secret(struct fg_request *rq, char **secret, struct fg_error *err)
{
	uint8_t bytes[SECRET_BYTES];
	char text[2 * SECRET_BYTES + 1];
	const int status = fg_random_bytes(bytes, sizeof(bytes), err);

	if (status != FG_OK)
		return status;
	fg_hex(bytes, sizeof(bytes), text);
	*secret = fg_arena_strdup(&rq->arena, text);
	return FG_OK;
}

static int read_secret(struct fg_request *rq, const cJSON *json, char **secret,
		       struct fg_error *err)
{
	size_t length = 0;

	*secret = fg_decision_text(rq, json, "secret", NULL);
	if (!*secret)
		return make_secret(rq, secret, err);
	length = strlen(*secret);
	if (length >= SECRET_LEAST_BYTES && length <= SECRET_MAX_BYTES)
		return FG_OK;
	return fg_error_set(err, FG_EINVAL, "'secret': expected %d to %d bytes", SECRET_LEAST_BYTES,
			    SECRET_MAX_BYTES);
}

/* `old`: the rule as it was; NULL: it is new. */
static int read_target(struct fg_request *rq, const cJSON *json, const struct fg_alert_rule *old,
		       struct fg_alert_rule *rule, struct fg_error *err)
{
	int status = FG_OK;

	rule->target = fg_decision_text(rq, json, "webhook", NULL);
	if (!rule->target)
		return fg_error_set(err, FG_EINVAL, "expected 'webhook', an address");
	status = fg_webhook_check(fg_alerter_delivery(rq->server->alerter), rule->target, err);
	if (status != FG_OK)
		return status;
	if (!old || !old->secret || fg_json_find(json, "secret"))
		return read_secret(rq, json, &rule->secret, err);
	rule->secret = fg_arena_strdup(&rq->arena, old->secret);
	return FG_OK;
}

static int read_rule(struct fg_request *rq, const cJSON *json, const struct fg_alert_rule *old,
		     struct fg_alert_rule *rule, struct fg_error *err)
{
	int status = FG_OK;

	if (!rule->project || !*rule->project || strlen(rule->project) > PATTERN_MAX_BYTES)
		return fg_error_set(err, FG_EINVAL, "'project': an alert rule is for one project");
	status = read_events(json, &rule->events, err);
	if (status != FG_OK)
		return status;
	status = read_pattern(rq, json, "benchmark", &rule->benchmark, err);
	if (status != FG_OK)
		return status;
	status = read_pattern(rq, json, "metric", &rule->metric, err);
	if (status != FG_OK)
		return status;
	status = read_silence(json, &rule->silence_ns, err);
	return status == FG_OK ? read_target(rq, json, old, rule, err) : status;
}

/* The address of a webhook may be a secret itself: the log gets only that it is one. */
static void describe(struct fg_request *rq, const struct fg_alert_rule *rule,
		     struct fg_audit_entry *entry)
{
	entry->subject = fg_arena_printf(&rq->arena, "alert rule %lld", (long long)rule->id);
	entry->detail =
		fg_arena_printf(&rq->arena, "%s, %s: %s", rule->benchmark, rule->metric, "webhook");
}

static int add(struct fg_request *rq, struct fg_alert_rule *rule, struct fg_error *err)
{
	struct fg_audit_entry entry = {.project = rule->project, .action = "alert.add"};
	int status = fg_decision_begin(rq, err);

	if (status != FG_OK)
		return status;
	rule->author = fg_arena_strdup(&rq->arena, rq->author);
	status = fg_store_alert_rule_add(rq->store, rule, err);
	describe(rq, rule, &entry);
	return fg_decision_end(rq, status, &entry, err);
}

int fg_handle_alert_rule_add(struct fg_request *rq, struct fg_error *err)
{
	struct fg_alert_rule rule = {0};
	struct fg_json_writer w;
	const char *project = NULL;
	cJSON *json = NULL;
	int status = fg_decision_body(rq, &json, &project, err);

	if (status == FG_OK) {
		rule.project = fg_arena_strdup(&rq->arena, project);
		status = read_rule(rq, json, NULL, &rule, err);
	}
	cJSON_Delete(json);
	if (status != FG_OK)
		return status;
	status = add(rq, &rule, err);
	if (status != FG_OK)
		return status;
	rq->answer.status = FG_HTTP_CREATED;
	fg_request_json(rq, &w);
	fg_json_begin_object(&w, NULL);
	fg_json_int(&w, "id", rule.id);
	if (rule.secret)
		fg_json_text(&w, "secret", rule.secret);
	fg_json_end(&w);
	return FG_OK;
}

/* The rule of this number in `rules`, if it may be seen. */
static int find_rule(struct fg_request *rq, int64_t id, struct fg_alert_rule_list *rules,
		     struct fg_alert_rule **found, struct fg_error *err)
{
	char *project = NULL;
	int status = fg_store_alert_rule_project(rq->store, id, &project, err);

	*found = NULL;
	if (status != FG_OK)
		return status;
	if (fg_request_may_see(rq, project, NULL) == FG_OK)
		status = fg_store_alert_rule_list(rq->store, project, rules, err);
	free(project);
	if (status != FG_OK)
		return status;
	for (size_t i = 0; i < rules->count; i++) {
		if (rules->items[i].id == id)
			*found = &rules->items[i];
	}
	if (*found)
		return FG_OK;
	return fg_error_set(err, FG_ENOENT, "there is no alert rule %lld", (long long)id);
}

static int change(struct fg_request *rq, const struct fg_alert_rule *rule, struct fg_error *err)
{
	struct fg_audit_entry entry = {.project = rule->project, .action = "alert.change"};
	int status = fg_decision_begin(rq, err);

	if (status != FG_OK)
		return status;
	status = fg_store_alert_rule_change(rq->store, rule, err);
	describe(rq, rule, &entry);
	return fg_decision_end(rq, status, &entry, err);
}

static int read_change(struct fg_request *rq, const struct fg_alert_rule *old,
		       struct fg_alert_rule *rule, struct fg_error *err)
{
	const char *project = NULL;
	cJSON *json = NULL;
	int status = fg_decision_body(rq, &json, &project, err);

	*rule = (struct fg_alert_rule){.id = old->id, .project = old->project};
	if (status != FG_OK)
		goto out;
	if (!project || strcmp(project, old->project) != 0)
		status = fg_error_set(err, FG_EINVAL, "'project': a rule stays in its project");
	else
		status = read_rule(rq, json, old, rule, err);
out:
	cJSON_Delete(json);
	return status;
}

/* The secret is told if it is another one. */
static void answer_change(struct fg_request *rq, const struct fg_alert_rule *old,
			  const struct fg_alert_rule *rule)
{
	struct fg_json_writer w;

	fg_request_json(rq, &w);
	fg_json_begin_object(&w, NULL);
	fg_json_int(&w, "id", rule->id);
	if (rule->secret && (!old->secret || strcmp(rule->secret, old->secret) != 0))
		fg_json_text(&w, "secret", rule->secret);
	fg_json_end(&w);
}

/* All of the rule but its secret, which is only replaced by another one. */
int fg_handle_alert_rule_change(struct fg_request *rq, struct fg_error *err)
{
	struct fg_alert_rule_list rules = {0};
	struct fg_alert_rule *old = NULL;
	struct fg_alert_rule rule = {0};
	int64_t id = 0;
	int status = fg_decision_number(rq, "an alert rule", &id, err);

	if (status != FG_OK)
		return status;
	status = find_rule(rq, id, &rules, &old, err);
	if (status != FG_OK)
		goto out;
	status = read_change(rq, old, &rule, err);
	if (status != FG_OK)
		goto out;
	status = change(rq, &rule, err);
	if (status != FG_OK)
		goto out;
	answer_change(rq, old, &rule);
out:
	fg_alert_rule_list_release(&rules);
	return status;
}

static int put_test(struct fg_request *rq, const struct fg_alert_rule *rule, int64_t *alert,
		    struct fg_error *err)
{
	struct fg_audit_entry entry = {.project = rule->project, .action = "alert.test"};
	const char *base = rq->server->options.public_url;
	const char *url =
		base ? fg_arena_printf(&rq->arena, "%.*s/?view=alerts",
				       (int)(strlen(base) - fg_text_ends_with(base, "/")), base)
		     : NULL;
	int status = fg_decision_begin(rq, err);

	if (status != FG_OK)
		return status;
	status = fg_store_alert_test(rq->store, rule, url, alert, err);
	describe(rq, rule, &entry);
	return fg_decision_end(rq, status, &entry, err);
}

int fg_handle_alert_test(struct fg_request *rq, struct fg_error *err)
{
	struct fg_alert_rule_list rules = {0};
	struct fg_alert_rule *rule = NULL;
	const char *project = NULL;
	cJSON *json = NULL;
	double number = 0;
	int64_t alert = 0;
	int status = fg_decision_body(rq, &json, &project, err);

	number = fg_json_double_or(json, "rule", 0);
	cJSON_Delete(json);
	if (status != FG_OK)
		return status;
	if (!(number >= 1 && number < RULE_NUMBER_MAX))
		return fg_error_set(err, FG_EINVAL, "'rule': expected the number of an alert rule");
	status = find_rule(rq, (int64_t)number, &rules, &rule, err);
	if (status != FG_OK)
		return status;
	status = put_test(rq, rule, &alert, err);
	fg_alert_rule_list_release(&rules);
	if (status != FG_OK)
		return status;
	fg_alerter_wake(rq->server->alerter);
	fg_decision_answer(rq, "alert", NULL, alert);
	rq->answer.status = FG_HTTP_CREATED;
	return FG_OK;
}

static int take_away(struct fg_request *rq, int64_t id, const char *project, struct fg_error *err)
{
	const struct fg_audit_entry entry = {
		.project = project,
		.action = "alert.remove",
		.subject = fg_arena_printf(&rq->arena, "alert rule %lld", (long long)id),
	};
	int status = fg_decision_begin(rq, err);

	if (status != FG_OK)
		return status;
	status = fg_store_alert_rule_remove(rq->store, id, err);
	return fg_decision_end(rq, status, &entry, err);
}

int fg_handle_alert_rule_remove(struct fg_request *rq, struct fg_error *err)
{
	struct fg_alert_rule_list rules = {0};
	struct fg_alert_rule *rule = NULL;
	int64_t id = 0;
	int status = fg_decision_number(rq, "an alert rule", &id, err);

	if (status != FG_OK)
		return status;
	status = find_rule(rq, id, &rules, &rule, err);
	if (status != FG_OK || !rule)
		return status;
	status = take_away(rq, id, rule->project, err);
	fg_alert_rule_list_release(&rules);
	if (status != FG_OK)
		return status;
	fg_decision_answer(rq, "removed", NULL, id);
	return FG_OK;
}

static void write_alert(void *context, const struct fg_alert *alert)
{
	static const char *const states[] = {"waiting", "delivered", "given up"};
	struct fg_json_writer *w = context;

	fg_json_begin_object(w, NULL);
	fg_json_int(w, "id", alert->id);
	fg_json_int(w, "rule", alert->rule);
	fg_json_text(w, "run", alert->run);
	fg_json_text(w, "state", states[alert->state]);
	fg_json_int(w, "attempts", alert->attempts);
	fg_request_json_time(w, "created_at", alert->created_ns);
	if (alert->state == FG_ALERT_WAITING)
		fg_request_json_time(w, "due_at", alert->due_ns);
	if (alert->reason)
		fg_json_text(w, "reason", alert->reason);
	fg_json_raw(w, "alert", alert->body);
	fg_json_end(w);
}

int fg_handle_alerts(struct fg_request *rq, struct fg_error *err)
{
	struct fg_json_writer w;
	const char *project = NULL;
	int status = fg_request_project(rq, &project, err);

	if (status != FG_OK)
		return status;
	fg_request_json_list(rq, &w, "alerts");
	status = fg_store_alert_list(rq->store, project, SHOWN, write_alert, &w, err);
	fg_json_end(&w);
	fg_json_end(&w);
	return status;
}
