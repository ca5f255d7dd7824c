// SPDX-License-Identifier: Apache-2.0
#include "base/clock.h"
#include "base/fs.h"
#include "base/json.h"
#include "base/json_write.h"
#include "cli/session/receipt.h"
#include "reporters/verdict_queries.h"
#include "runner/build/git.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

enum {
	FILE_MAX = 64 << 20,
	LINE_BYTES_MAX = 1 << 14,
};

static const char schema[] = "fastgate-ledger/1";

bool fg_ledger_is_proven(const struct fg_ledger_claim *claim)
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

void fg_ledger_code(const struct fg_run *run, const struct fg_series *series, enum fg_arm arm,
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

/* The attempt's number: that of an earlier attempt with this build, or a new one. */
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
	/* A resumed run contains its earlier pairs again, so drop their evidence. */
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
	if (strcmp(fg_json_text_or(json, "branch", ""), ledger->branch) != 0 ||
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
	FG_TRY(fg_fs_read_regular(ledger->path, FILE_MAX, &text, &size, err));
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
	fg_json_text(&w, "schema", schema);
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
		fg_ledger_code(run, series, (enum fg_arm)arm, code[arm]);
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
