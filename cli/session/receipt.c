// SPDX-License-Identifier: Apache-2.0
#include "cli/session/receipt.h"

#include "base/clock.h"
#include "base/fs.h"
#include "base/json.h"
#include "base/json_write.h"
#include "base/number.h"
#include "reporters/verdict_queries.h"
#include "runner/build/git.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <sys/file.h>
#include <unistd.h>

enum {
	LEDGER_MAX = 64 << 20,
	LINE_BYTES_MAX = 1 << 14,
	RECEIPT_MAX = 4 << 20,
};

static const char ledger_schema[] = "fastgate-ledger/1";

static bool is_proven(const struct fg_ledger_claim *claim)
{
	return claim->is_confirmed && claim->evidence >= fg_claim_needed(claim->number);
}

void fg_ledger_release(struct fg_ledger *ledger)
{
	fg_arena_release(&ledger->arena);
	free(ledger->path);
	free(ledger->branch);
	free(ledger->base);
	*ledger = (struct fg_ledger){0};
}

/* ---- code that a side executes ---- */

static void add_fact(struct fg_sha256 *sha, const char *value)
{
	fg_sha256_add(sha, value ? value : "", value ? strlen(value) + 1 : 1);
}

static void code_of(const struct fg_run *run, const struct fg_series *series, enum fg_arm arm,
		    char code[FG_SHA256_HEX_SIZE])
{
	const struct fg_build_facts *build = &series->build[arm];
	const struct fg_side *side = &run->sides[arm];
	struct fg_sha256 sha;
	uint8_t digest[FG_SHA256_SIZE];

	fg_sha256_init(&sha);
	if (build->id) {
		add_fact(&sha, build->id);
		for (size_t i = 0; i < build->library_count; i++)
			add_fact(&sha, build->libraries[i].identity);
	} else {
		add_fact(&sha, side->commit);
		/*
		 * A script with uncommitted changes cannot be recognised later, so use the run's
		 * id.
		 */
		add_fact(&sha, side->dirty || !side->commit ? run->id : NULL);
	}
	fg_sha256_finish(&sha, digest);
	fg_hex(digest, sizeof(digest), code);
}

/* ---- reading ---- */

static struct fg_ledger_claim *find_claim(const struct fg_ledger *ledger,
					  const struct fg_ledger_claim *like)
{
	for (size_t i = 0; i < ledger->count; i++) {
		struct fg_ledger_claim *claim = &ledger->claims[i];

		if (claim->claim == like->claim && strcmp(claim->benchmark, like->benchmark) == 0 &&
		    strcmp(claim->code[FG_ARM_BASELINE], like->code[FG_ARM_BASELINE]) == 0 &&
		    strcmp(claim->code[FG_ARM_CANDIDATE], like->code[FG_ARM_CANDIDATE]) == 0)
			return claim;
	}
	return NULL;
}

/* Returns the number of the earlier attempt with this build, or a new number. */
static size_t attempt_of(const struct fg_ledger *ledger, const struct fg_ledger_claim *like)
{
	size_t newest = 0;

	for (size_t i = 0; i < ledger->count; i++) {
		const struct fg_ledger_claim *claim = &ledger->claims[i];

		if (strcmp(claim->benchmark, like->benchmark) != 0)
			continue;
		if (strcmp(claim->code[FG_ARM_CANDIDATE], like->code[FG_ARM_CANDIDATE]) == 0)
			return claim->attempt;
		newest = claim->attempt > newest ? claim->attempt : newest;
	}
	return newest + 1;
}

/* Adds the evidence of one run to its claim; makes the claim if it is new. */
static struct fg_ledger_claim *enter(struct fg_ledger *ledger, const struct fg_ledger_claim *found)
{
	struct fg_ledger_claim *claim = find_claim(ledger, found);

	if (!claim) {
		ledger->claims = fg_arena_grow(&ledger->arena, ledger->claims, &ledger->capacity,
					       ledger->count + 1, sizeof(ledger->claims[0]));
		claim = &ledger->claims[ledger->count];
		*claim = (struct fg_ledger_claim){
			.benchmark = fg_arena_strdup(&ledger->arena, found->benchmark),
			.code = {fg_arena_strdup(&ledger->arena, found->code[0]),
				 fg_arena_strdup(&ledger->arena, found->code[1])},
			.claim = found->claim,
			.attempt = attempt_of(ledger, found),
			.number = ledger->count + 1,
		};
		ledger->count++;
	}
	/* A resumed run contains its earlier pairs again, so drop the evidence of those pairs. */
	if (claim->run && strcmp(claim->run, found->run) == 0)
		claim->evidence -= claim->run_evidence;
	claim->evidence += found->evidence;
	claim->run = fg_arena_strdup(&ledger->arena, found->run);
	claim->run_evidence = found->evidence;
	claim->is_confirmed = found->is_confirmed;
	if (claim->attempt > ledger->attempts)
		ledger->attempts = claim->attempt;
	return claim;
}

static int changed(const struct fg_ledger *ledger, struct fg_error *err)
{
	return fg_error_set(err, FG_EPARSE,
			    "%s: line %zu does not follow from the line before it: the ledger was "
			    "changed",
			    ledger->path, ledger->lines);
}

static int take_line(struct fg_ledger *ledger, const char *line, size_t length,
		     struct fg_error *err)
{
	cJSON *json = NULL;
	struct fg_ledger_claim found = {0};
	int status = FG_OK;

	ledger->lines++;
	if (fg_json_parse(line, length, LINE_BYTES_MAX, &json, NULL) != FG_OK ||
	    strcmp(fg_json_text_or(json, "previous", "-"), ledger->head) != 0) {
		status = changed(ledger, err);
		goto out;
	}
	fg_sha256_hex(line, length, ledger->head);
	ledger->is_found |= ledger->lines == ledger->wanted_line &&
			    strcmp(ledger->head, ledger->wanted_head) == 0;
	/* Neither a new name for the branch nor a rebase starts the count again. */
	if (strcmp(fg_json_text_or(json, "branch", ""), ledger->branch) != 0 &&
	    strcmp(fg_json_text_or(json, "base", ""), ledger->base) != 0)
		goto out;
	found = (struct fg_ledger_claim){
		.benchmark = fg_json_text_or(json, "benchmark", ""),
		.run = fg_json_text_or(json, "run", ""),
		.code = {fg_json_text_or(json, "baseline", ""),
			 fg_json_text_or(json, "candidate", "")},
		.claim = fg_claim_parse(fg_json_text_or(json, "claim", "")),
		.evidence = fg_json_double_or(json, "evidence", 0),
		.is_confirmed = cJSON_IsTrue(fg_json_find(json, "said")),
	};
	if (found.claim < FG_CLAIM_COUNT)
		(void)enter(ledger, &found);
out:
	cJSON_Delete(json);
	return status;
}

static int take_file(struct fg_ledger *ledger, struct fg_error *err)
{
	char *text = NULL;
	size_t size = 0;
	int status = FG_OK;

	if (!fg_fs_exists(ledger->path))
		return FG_OK;
	FG_TRY(fg_fs_read_regular(ledger->path, LEDGER_MAX, &text, &size, err));
	for (const char *line = text; line < text + size && status == FG_OK;) {
		const char *end = memchr(line, '\n', (size_t)(text + size - line));

		end = end ? end : text + size;
		status = take_line(ledger, line, (size_t)(end - line), err);
		line = end + 1;
	}
	free(text);
	return status;
}

int fg_ledger_load(const struct fg_session *session, struct fg_ledger *ledger, struct fg_error *err)
{
	const struct fg_git git = {.folder = session->request.plan->root};
	struct fg_side side = {0};
	char *words = NULL;
	int status = FG_OK;

	FG_TRY_OUT(fg_git_describe_side(&git, &side, err));
	*ledger = (struct fg_ledger){
		.path = fg_fs_join(session->request.state_folder, "ledger"),
		.branch = fg_xstrdup(side.branch ? side.branch : "HEAD"),
	};
	if (fg_git_resolve(&git, "merge-base", &ledger->base, &words, NULL) != FG_OK)
		ledger->base = fg_xstrdup(side.commit ? side.commit : "");
	status = take_file(ledger, err);
out:
	free(words);
	fg_side_release(&side);
	return status;
}

int fg_ledger_find(const char *path, const cJSON *receipt, struct fg_ledger *ledger,
		   struct fg_error *err)
{
	*ledger = (struct fg_ledger){
		.path = fg_xstrdup(path),
		.branch = fg_xstrdup(fg_json_text_or(receipt, "ledger/branch", "")),
		.base = fg_xstrdup(fg_json_text_or(receipt, "ledger/base", "")),
		.wanted_line = (size_t)fg_json_double_or(receipt, "ledger/line", 0),
		.wanted_head = fg_json_text_or(receipt, "ledger/head", ""),
	};
	return take_file(ledger, err);
}

/* ---- adding ---- */

static void write_line(const struct fg_session *session, const struct fg_ledger *ledger,
		       const struct fg_ledger_claim *found, struct fg_strbuf *line)
{
	char time[FG_TIME_TEXT_SIZE];
	struct fg_json_writer w;

	fg_time_format_utc(session->result.run.started_ns, time);
	fg_json_writer_init(&w, line, 0);
	fg_json_begin_object(&w, NULL);
	fg_json_text(&w, "schema", ledger_schema);
	fg_json_text(&w, "branch", ledger->branch);
	fg_json_text(&w, "base", ledger->base);
	fg_json_text(&w, "run", session->result.run.id);
	fg_json_text(&w, "started_at", time);
	fg_json_text(&w, "benchmark", found->benchmark);
	fg_json_text(&w, "baseline", found->code[FG_ARM_BASELINE]);
	fg_json_text(&w, "candidate", found->code[FG_ARM_CANDIDATE]);
	fg_json_text(&w, "claim", fg_claim_name(found->claim));
	fg_json_bool(&w, "said", found->is_confirmed);
	fg_json_double(&w, "evidence", found->evidence);
	fg_json_text(&w, "previous", ledger->head);
	fg_json_end(&w);
}

static void add_claims(const struct fg_session *session, const struct fg_benchmark_verdict *verdict,
		       struct fg_ledger *ledger, struct fg_strbuf *lines)
{
	const struct fg_run *run = &session->result.run;
	const struct fg_series *series = fg_run_find(run, verdict->name);
	const struct fg_metric_verdict *metric = fg_report_headline(verdict);
	double evidence[FG_CLAIM_COUNT];
	char code[FG_ARM_COUNT][FG_SHA256_HEX_SIZE];

	if (!series || !metric || !fg_claims_evidence(series, metric, evidence))
		return;
	for (size_t arm = 0; arm < FG_ARM_COUNT; arm++)
		code_of(run, series, (enum fg_arm)arm, code[arm]);
	for (size_t i = 0; i < FG_CLAIM_COUNT; i++) {
		const struct fg_ledger_claim found = {
			.benchmark = verdict->name,
			.run = run->id,
			.code = {code[FG_ARM_BASELINE], code[FG_ARM_CANDIDATE]},
			.claim = (enum fg_claim)i,
			.evidence = evidence[i],
			.is_confirmed = fg_claim_is_confirmed((enum fg_claim)i, metric->outcome),
		};
		const size_t from = lines->length;

		write_line(session, ledger, &found, lines);
		fg_sha256_hex(lines->data + from, lines->length - from, ledger->head);
		fg_strbuf_add_char(lines, '\n');
		ledger->lines++;
		enter(ledger, &found)->is_own = true;
	}
}

int fg_ledger_add(const struct fg_session *session, struct fg_ledger *ledger, struct fg_error *err)
{
	char *path = fg_fs_join(session->request.state_folder, "ledger");
	const int fd = open(path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0644);
	struct fg_strbuf lines = {0};
	int status = FG_OK;

	if (fd < 0 || flock(fd, LOCK_EX) != 0) {
		status = fg_error_errno(err, FG_EIO, "%s", path);
		goto out;
	}
	FG_TRY_OUT(fg_ledger_load(session, ledger, err));
	for (size_t i = 0; i < session->result.verdict.benchmark_count; i++)
		add_claims(session, &session->result.verdict.benchmarks[i], ledger, &lines);
	status = fg_fs_write_all(fd, fg_strbuf_text(&lines), lines.length, err);
out:
	if (fd >= 0)
		(void)close(fd);
	fg_strbuf_release(&lines);
	free(path);
	return status;
}

/* ---- the receipt ---- */

static const char schema[] = "fastgate-receipt/1";
static const char digest_start[] = "sha256:";

/* ---- the canonical form ---- */

static int by_name(const void *a, const void *b)
{
	const cJSON *const *left = a;
	const cJSON *const *right = b;

	return strcmp((*left)->string, (*right)->string);
}

/*
 * Returns the members of an object sorted by name, or the items of an array. The caller frees the
 * list.
 */
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

/*
 * Whole numbers are written without an exponent, because many JSON readers take 5e15 for a float.
 */
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

/*
 * Returns the digest of a receipt, which must not have the member `digest` yet. The caller frees
 * it.
 */
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
	fg_json_bool(w, "proven", is_proven(claim));
	fg_json_end(w);
}

static void add_rule(struct fg_json_writer *w, const struct fg_metric_verdict *metric,
		     const struct fg_policy *policy)
{
	char digest[FG_SHA256_HEX_SIZE];

	fg_policy_digest(policy, digest);
	fg_json_begin_object(w, "rule");
	fg_json_double(w, "alpha", metric->alpha);
	fg_json_double(w, "min_effect", metric->min_effect);
	fg_json_double(w, "margin", metric->margin);
	fg_json_double(w, "ledger_alpha", FG_LEDGER_ALPHA);
	fg_json_text(w, "settings", digest);
	fg_json_end(w);
}

static void add_metric(struct fg_json_writer *w, const struct fg_metric_verdict *metric,
		       const struct fg_policy *policy)
{
	fg_json_text(w, "metric", metric->name);
	fg_json_double(w, "ratio", metric->ratio);
	fg_json_pair(w, "interval", metric->low, metric->high);
	fg_json_int(w, "pairs", metric->pairs);
	add_rule(w, metric, policy);
}

static void add_benchmark(struct fg_json_writer *w, const struct fg_session *session,
			  const struct fg_benchmark_verdict *verdict,
			  const struct fg_ledger *ledger)
{
	const struct fg_run *run = &session->result.run;
	const struct fg_benchmark *benchmark = fg_plan_find(session->request.plan, verdict->name);
	const struct fg_metric_verdict *metric = fg_report_headline(verdict);
	const struct fg_series *series = fg_run_find(run, verdict->name);
	char code[FG_SHA256_HEX_SIZE];

	fg_json_begin_object(w, NULL);
	fg_json_text(w, "name", verdict->name);
	fg_json_text(w, "verdict", fg_outcome_name(verdict->outcome));
	if (metric && benchmark)
		add_metric(w, metric, &benchmark->policy);
	fg_json_begin_object(w, "code");
	for (size_t arm = 0; series && arm < FG_ARM_COUNT; arm++) {
		code_of(run, series, (enum fg_arm)arm, code);
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
		add_benchmark(&w, session, &verdict->benchmarks[i], ledger);
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
	const char *verb = is_proven(claim) ? "proven" : "not proven";

	fg_cli_say(session->cli,
		   "%s: %s: %s (attempt %zu, claim %zu: evidence 10^%.1f, needed 10^%.1f%s)",
		   claim->benchmark, fg_claim_name(claim->claim), verb, claim->attempt,
		   claim->number, claim->evidence / tens, fg_claim_needed(claim->number) / tens,
		   claim->is_confirmed ? "" : "; the verdict does not confirm it");
}

void fg_receipt_print(const struct fg_session *session, const struct fg_ledger *ledger)
{
	size_t proven = 0;

	for (size_t i = 0; i < ledger->count; i++) {
		if (ledger->claims[i].is_own)
			print_claim(session, &ledger->claims[i]);
		proven += is_proven(&ledger->claims[i]) ? 1 : 0;
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
