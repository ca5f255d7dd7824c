// SPDX-License-Identifier: Apache-2.0
#include "cli/session/receipt.h"

#include "base/clock.h"
#include "base/fs.h"
#include "base/json_write.h"
#include "base/number.h"
#include "reporters/verdict_queries.h"

#include <math.h>

enum {
	RECEIPT_MAX = 4 << 20,
};

static const char schema[] = "fastgate-receipt/1";
static const char digest_start[] = "sha256:";

/* ---- the canonical form ---- */

static int by_name(const void *a, const void *b)
{
	const cJSON *const *left = a;
	const cJSON *const *right = b;

	return strcmp((*left)->string, (*right)->string);
}

/* The members of an object sorted by name, or the items of an array; to be freed. */
static const cJSON **sorted_children(const cJSON *json, size_t *count)
{
	const cJSON **items = NULL;
	const cJSON *item = NULL;
	size_t used = 0;

	*count = (size_t)cJSON_GetArraySize(json);
	items = fg_xcalloc(*count + 1, sizeof(items[0]));
	cJSON_ArrayForEach(item, json) items[used++] = item;
	if (cJSON_IsObject(json))
		qsort(items, used, sizeof(items[0]), by_name);
	return items;
}

/* Whole numbers get digits only: many readers take 5e15 for a fraction. */
static void add_number(struct fg_json_writer *w, const char *name, double value)
{
	if (fg_json_is_whole(value))
		fg_json_int(w, name, (int64_t)value);
	else
		fg_json_double(w, name, value);
}

/* NOLINTNEXTLINE(misc-no-recursion): fg_json_parse() bounds the levels */
static void add_canonical(struct fg_json_writer *w, const char *name, const cJSON *json)
{
	const cJSON **items = NULL;
	size_t count = 0;

	if (cJSON_IsString(json)) {
		fg_json_text(w, name, json->valuestring);
	} else if (cJSON_IsNumber(json)) {
		add_number(w, name, json->valuedouble);
	} else if (cJSON_IsBool(json)) {
		fg_json_bool(w, name, cJSON_IsTrue(json));
	} else if (w->depth + 1 >= FG_JSON_MAX_DEPTH ||
		   !(cJSON_IsArray(json) || cJSON_IsObject(json))) {
		fg_json_null(w, name);
	} else {
		items = sorted_children(json, &count);
		if (cJSON_IsArray(json))
			fg_json_begin_array(w, name);
		else
			fg_json_begin_object(w, name);
		for (size_t i = 0; i < count; i++)
			add_canonical(w, cJSON_IsObject(json) ? items[i]->string : NULL, items[i]);
		fg_json_end(w);
		free(items);
	}
}

static void canonical(const cJSON *json, struct fg_strbuf *text)
{
	struct fg_json_writer w;

	fg_json_writer_init(&w, text, 0);
	add_canonical(&w, NULL, json);
}

/* The digest for a receipt that has none yet; to be freed. */
static char *digest_of(const cJSON *json)
{
	struct fg_strbuf text = {0};
	char hex[FG_SHA256_HEX_SIZE];

	canonical(json, &text);
	fg_sha256_hex(fg_strbuf_text(&text), text.length, hex);
	fg_strbuf_release(&text);
	return fg_xasprintf("%s%s", digest_start, hex);
}

/* ---- writing ---- */

static void add_side(struct fg_json_writer *w, const char *name, const struct fg_side *side)
{
	fg_json_begin_object(w, name);
	fg_json_text(w, "commit", side->commit);
	fg_json_text(w, "branch", side->branch);
	fg_json_bool(w, "dirty", side->dirty);
	fg_json_end(w);
}

static void add_host(struct fg_json_writer *w, const struct fg_environment *host)
{
	char fingerprint[17];

	fg_environment_fingerprint(host, fingerprint);
	fg_json_begin_object(w, "host");
	fg_json_text(w, "fingerprint", fingerprint);
	fg_json_begin_object(w, "facts");
	for (size_t i = 0; i < host->count; i++)
		fg_json_text(w, host->facts[i].key, host->facts[i].value);
	fg_json_end(w);
	fg_json_end(w);
}

static void add_claim(struct fg_json_writer *w, const struct fg_ledger_claim *claim)
{
	fg_json_begin_object(w, NULL);
	fg_json_text(w, "claim", fg_claim_name(claim->claim));
	fg_json_int(w, "attempt", (int64_t)claim->attempt);
	fg_json_int(w, "position", (int64_t)claim->number);
	fg_json_double(w, "log_e_value", claim->evidence);
	fg_json_double(w, "log_e_value_needed", fg_claim_needed(claim->number));
	fg_json_bool(w, "proven", fg_ledger_is_proven(claim));
	fg_json_end(w);
}

static void add_rule(struct fg_json_writer *w, const struct fg_metric_verdict *metric)
{
	fg_json_begin_object(w, "rule");
	fg_json_double(w, "alpha", metric->alpha);
	fg_json_double(w, "min_effect", metric->min_effect);
	fg_json_double(w, "margin", metric->margin);
	fg_json_double(w, "ledger_alpha", FG_LEDGER_ALPHA);
	fg_json_end(w);
}

static void add_metric(struct fg_json_writer *w, const struct fg_metric_verdict *metric)
{
	fg_json_text(w, "metric", metric->name);
	fg_json_double(w, "ratio", metric->ratio);
	fg_json_pair(w, "interval", metric->low, metric->high);
	fg_json_int(w, "pairs", metric->pairs);
	add_rule(w, metric);
}

static void add_benchmark(struct fg_json_writer *w, const struct fg_run *run,
			  const struct fg_benchmark_verdict *verdict,
			  const struct fg_ledger *ledger)
{
	const struct fg_metric_verdict *metric = fg_report_headline(verdict);
	const struct fg_series *series = fg_run_find(run, verdict->name);
	char code[FG_SHA256_HEX_SIZE];

	fg_json_begin_object(w, NULL);
	fg_json_text(w, "name", verdict->name);
	fg_json_text(w, "verdict", fg_outcome_name(verdict->outcome));
	if (metric)
		add_metric(w, metric);
	fg_json_begin_object(w, "code");
	for (size_t arm = 0; series && arm < FG_ARM_COUNT; arm++) {
		fg_ledger_code(run, series, (enum fg_arm)arm, code);
		fg_json_text(w, arm == FG_ARM_BASELINE ? "baseline" : "candidate", code);
	}
	fg_json_end(w);
	fg_json_begin_array(w, "claims");
	for (size_t i = 0; i < ledger->count; i++) {
		if (ledger->claims[i].is_own &&
		    strcmp(ledger->claims[i].benchmark, verdict->name) == 0)
			add_claim(w, &ledger->claims[i]);
	}
	fg_json_end(w);
	fg_json_end(w);
}

static void add_ledger(struct fg_json_writer *w, const struct fg_ledger *ledger)
{
	fg_json_begin_object(w, "ledger");
	fg_json_text(w, "branch", ledger->branch);
	fg_json_text(w, "base", ledger->base);
	fg_json_int(w, "attempts", (int64_t)ledger->attempts);
	fg_json_int(w, "claims", (int64_t)ledger->count);
	fg_json_int(w, "line", (int64_t)ledger->lines);
	fg_json_text(w, "head", ledger->head);
	fg_json_end(w);
}

static void write_members(const struct fg_session *session, const struct fg_ledger *ledger,
			  struct fg_strbuf *text)
{
	const struct fg_run *run = &session->result.run;
	const struct fg_verdict *verdict = &session->result.verdict;
	char time[FG_TIME_TEXT_SIZE];
	struct fg_json_writer w;

	fg_time_format_utc(run->started_ns, time);
	fg_json_writer_init(&w, text, 0);
	fg_json_begin_object(&w, NULL);
	fg_json_text(&w, "schema", schema);
	fg_json_text(&w, "project", run->project);
	fg_json_text(&w, "run", run->id);
	fg_json_text(&w, "started_at", time);
	fg_json_text(&w, "tool_version", run->tool_version);
	fg_json_text(&w, "verdict", fg_outcome_name(verdict->outcome));
	fg_json_int(&w, "exit_code", verdict->exit_code);
	fg_json_int(&w, "seed", (int64_t)run->seed);
	add_side(&w, "baseline", &run->sides[FG_ARM_BASELINE]);
	add_side(&w, "candidate", &run->sides[FG_ARM_CANDIDATE]);
	add_host(&w, &run->host);
	fg_json_begin_array(&w, "benchmarks");
	for (size_t i = 0; i < verdict->benchmark_count; i++)
		add_benchmark(&w, run, &verdict->benchmarks[i], ledger);
	fg_json_end(&w);
	add_ledger(&w, ledger);
	fg_json_end(&w);
}

int fg_receipt_write(const struct fg_session *session, const struct fg_ledger *ledger,
		     const char *path, struct fg_error *err)
{
	struct fg_strbuf text = {0};
	cJSON *json = NULL;
	char *digest = NULL;
	int status = FG_OK;

	write_members(session, ledger, &text);
	FG_TRY_OUT(fg_json_parse(fg_strbuf_text(&text), text.length, RECEIPT_MAX, &json, err));
	digest = digest_of(json);
	(void)cJSON_AddStringToObject(json, "digest", digest);
	fg_strbuf_clear(&text);
	canonical(json, &text);
	fg_strbuf_add_char(&text, '\n');
	status = fg_fs_write_result(path, fg_strbuf_text(&text), text.length, err);
out:
	cJSON_Delete(json);
	free(digest);
	fg_strbuf_release(&text);
	return status;
}

/* ---- messages ---- */

static void print_claim(const struct fg_session *session, const struct fg_ledger_claim *claim)
{
	const double tens = log(10);
	const char *verb = fg_ledger_is_proven(claim) ? "proven" : "not proven";

	fg_cli_say(session->cli,
		   "%s: %s: %s (attempt %zu, claim %zu: evidence 10^%.1f of 10^%.1f%s)",
		   claim->benchmark, fg_claim_name(claim->claim), verb, claim->attempt,
		   claim->number, claim->evidence / tens, fg_claim_needed(claim->number) / tens,
		   claim->is_confirmed ? "" : ", and the verdict does not say so");
}

void fg_receipt_print(const struct fg_session *session, const struct fg_ledger *ledger)
{
	size_t proven = 0;

	for (size_t i = 0; i < ledger->count; i++) {
		if (ledger->claims[i].is_own)
			print_claim(session, &ledger->claims[i]);
		proven += fg_ledger_is_proven(&ledger->claims[i]) ? 1 : 0;
	}
	fg_cli_say(session->cli, "branch %s: %zu attempt%s, %zu claim%s, %zu proven",
		   ledger->branch, ledger->attempts, ledger->attempts == 1 ? "" : "s",
		   ledger->count, ledger->count == 1 ? "" : "s", proven);
}

/* ---- reading ---- */

int fg_receipt_read(const char *path, cJSON **receipt, struct fg_error *err)
{
	cJSON *json = NULL;
	cJSON *stated = NULL;
	char *text = NULL;
	char *digest = NULL;
	size_t size = 0;
	int status = FG_OK;

	FG_TRY(fg_fs_read_regular(path, RECEIPT_MAX, &text, &size, err));
	if (fg_json_parse(text, size, RECEIPT_MAX, &json, NULL) != FG_OK ||
	    strcmp(fg_json_text_or(json, "schema", ""), schema) != 0) {
		status = fg_error_set(err, FG_EPARSE, "%s is not a fastgate receipt", path);
		goto out;
	}
	stated = cJSON_DetachItemFromObjectCaseSensitive(json, "digest");
	digest = digest_of(json);
	if (!cJSON_IsString(stated) || strcmp(stated->valuestring, digest) != 0) {
		status = fg_error_set(err, FG_EPARSE,
				      "%s was changed: its digest does not match its contents",
				      path);
		goto out;
	}
	*receipt = json;
	json = NULL;
out:
	cJSON_Delete(stated);
	cJSON_Delete(json);
	free(digest);
	free(text);
	return status;
}
