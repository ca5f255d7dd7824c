// SPDX-License-Identifier: Apache-2.0
#include "base/fs.h"
#include "base/number.h"
#include "base/process.h"
#include "base/text.h"
#include "cli/session/plan.h"
#include "cli/session/receipt.h"
#include "cli/session/stored.h"
#include "runner/build/git.h"

#include <unistd.h>

#define NAMESPACE "fastgate"

struct options {
	bool again;
	const char *allowed_signers;
	const char *commit;
	const char *against;
};

/* ---- the signature ---- */

/*
 * Runs ssh-keygen with the receipt as its input. If it succeeds, sets `first_line` to the first
 * line of its output, which the caller frees.
 */
static int run_ssh_keygen(const char *const *argv, const char *receipt, char **first_line,
			  struct fg_error *err)
{
	const struct fg_process_options options = {
		.argv = (char *const *)(uintptr_t)argv,
		.stdin_path = receipt,
		.stdout_to = FG_STREAM_CAPTURE,
		.stderr_to = FG_STREAM_CAPTURE,
	};
	struct fg_process_result result = {0};

	FG_TRY(fg_process_run(&options, &result, err));
	if (result.exited && result.exit_code == 0)
		*first_line = fg_xstrndup(result.stdout_text, strcspn(result.stdout_text, "\n"));
	fg_process_result_release(&result);
	return FG_OK;
}

/*
 * If an allowed signer signed the receipt, sets `signer` to the signer's name in the list of
 * allowed signers. The caller frees the name.
 */
static int find_signer(const char *receipt, const char *signature, const char *allowed,
		       char **signer, struct fg_error *err)
{
	const char *const find[] = {"ssh-keygen", "-Y", "find-principals", "-s",
				    signature,    "-f", allowed,           NULL};
	char *found = NULL;
	char *good = NULL;
	int status = run_ssh_keygen(find, receipt, &found, err);

	if (status == FG_OK && found && *found) {
		const char *const check[] = {"ssh-keygen", "-Y", "verify", "-n", NAMESPACE, "-f",
					     allowed,      "-I", found,    "-s", signature, NULL};

		status = run_ssh_keygen(check, receipt, &good, err);
	}
	if (good) {
		*signer = found;
		found = NULL;
	}
	free(good);
	free(found);
	return status;
}

static int check_signature(const struct fg_cli *cli, const char *receipt, const char *allowed,
			   struct fg_error *err)
{
	char *signature = fg_xasprintf("%s.sig", receipt);
	char *signer = NULL;
	int status = FG_OK;

	if (!allowed) {
		if (fg_fs_exists(signature))
			fg_cli_say(cli, "signed; use --allowed-signers FILE to check by whom");
		goto out;
	}
	if (!fg_fs_exists(allowed))
		status = fg_error_set(err, FG_ENOENT, "file %s does not exist", allowed);
	else if (!fg_fs_exists(signature))
		status = fg_error_set(err, FG_EINVAL, "%s is not signed: %s does not exist",
				      receipt, signature);
	else
		status = find_signer(receipt, signature, allowed, &signer, err);
	if (status != FG_OK)
		goto out;
	if (signer)
		fg_cli_say(cli, "signed by %s", signer);
	else
		status = fg_error_set(err, FG_EINVAL, "%s is not signed by anyone listed in %s",
				      receipt, allowed);
out:
	free(signer);
	free(signature);
	return status;
}

/* ---- commits and benchmarks ---- */

static int check_commit(const cJSON *receipt, const char *ref, struct fg_error *err)
{
	const struct fg_git git = {.folder = "."};
	const char *measured = fg_json_text_or(receipt, "candidate/commit", "");
	char *commit = NULL;
	char *words = NULL;
	int status = FG_OK;

	if (!ref)
		return FG_OK;
	FG_TRY(fg_git_resolve(&git, ref, &commit, &words, err));
	if (cJSON_IsTrue(fg_json_find(receipt, "candidate/dirty")))
		status = fg_error_set(err, FG_EINVAL,
				      "the receipt is for uncommitted changes on top of %.12s",
				      measured);
	else if (strcmp(commit, measured) != 0)
		status = fg_error_set(err, FG_EINVAL, "the receipt is for commit %.12s, not %.12s",
				      measured, commit);
	free(words);
	free(commit);
	return status;
}

static int check_baseline(const cJSON *receipt, const char *ref, struct fg_error *err)
{
	const struct fg_git git = {.folder = "."};
	const char *measured = fg_json_text_or(receipt, "baseline/commit", "");
	char *commit = NULL;
	char *words = NULL;
	int status = FG_OK;

	FG_TRY(fg_git_resolve(&git, ref, &commit, &words, err));
	if (strcmp(commit, measured) != 0)
		status = fg_error_set(err, FG_EINVAL,
				      "the receipt compares with commit %.12s, not with %.12s (%s)",
				      measured, commit, words);
	free(words);
	free(commit);
	return status;
}

/* Requires this benchmark, or a case of this suite, in the receipt, judged by the same settings. */
static int check_benchmark(const cJSON *receipt, const struct fg_benchmark *wanted,
			   struct fg_error *err)
{
	const cJSON *benchmark = NULL;
	char settings[FG_SHA256_HEX_SIZE];
	bool is_measured = false;

	fg_policy_digest(&wanted->policy, settings);
	cJSON_ArrayForEach(benchmark, fg_json_find(receipt, "benchmarks"))
	{
		const char *name = fg_json_text_or(benchmark, "name", "");

		if (strcmp(name, wanted->name) != 0 && !fg_benchmark_case(wanted, name))
			continue;
		is_measured = true;
		if (strcmp(fg_json_text_or(benchmark, "rule/settings", ""), settings) != 0)
			return fg_error_set(
				err, FG_EINVAL,
				"the receipt judges '%s' by settings other than `gate` in "
				"fastgate.yml",
				name);
	}
	return is_measured ? FG_OK
			   : fg_error_set(err, FG_EINVAL,
					  "the receipt lacks benchmark '%s' of fastgate.yml",
					  wanted->name);
}

static int check_comparison(const struct fg_cli *cli, const cJSON *receipt, const char *ref,
			    struct fg_error *err)
{
	const struct fg_cli_config config = {0};
	struct fg_plan plan = {0};
	int status = FG_OK;

	if (!ref)
		return FG_OK;
	FG_TRY(check_baseline(receipt, ref, err));
	if (fg_cli_load_plan(cli, &config, false, &plan) != FG_EXIT_PASS)
		return fg_error_set(
			err, FG_EINVAL,
			"without a valid fastgate.yml the benchmarks cannot be checked");
	for (size_t i = 0; i < plan.benchmark_count && status == FG_OK; i++)
		status = check_benchmark(receipt, &plan.benchmarks[i], err);
	fg_plan_release(&plan);
	return status;
}

/* ---- the ledger ---- */

/* Reports the receipt's line in this checkout's ledger; does nothing without a ledger, as in CI. */
static int check_ledger(const struct fg_cli *cli, const cJSON *receipt, struct fg_error *err)
{
	char *store = fg_cli_store_path(NULL);
	char *folder = fg_fs_parent(store);
	char *path = fg_fs_join(folder, "ledger");
	struct fg_ledger ledger = {0};
	int status = FG_OK;

	if (!fg_fs_exists(path))
		goto out;
	status = fg_ledger_find(path, receipt, &ledger, err);
	if (status != FG_OK)
		goto out;
	if (ledger.is_found)
		fg_cli_say(cli,
			   "the receipt is line %zu of %zu in the ledger, which has %zu "
			   "attempt%s on branch %s",
			   ledger.wanted_line, ledger.lines, ledger.attempts,
			   ledger.attempts == 1 ? "" : "s", ledger.branch);
	else
		fg_cli_say(
			cli,
			"line %zu of %s does not match: the receipt is from another checkout, or "
			"the ledger was restarted",
			ledger.wanted_line, path);
out:
	fg_ledger_release(&ledger);
	free(path);
	free(folder);
	free(store);
	return status;
}

/* ---- content of the receipt ---- */

static void add_claims(const cJSON *benchmark, struct fg_strbuf *text)
{
	const cJSON *claim = NULL;

	cJSON_ArrayForEach(claim, fg_json_find(benchmark, "claims"))
	{
		fg_strbuf_printf(
			text, "  %s: %s (attempt %.0f)\n", fg_json_text_or(claim, "claim", "?"),
			cJSON_IsTrue(fg_json_find(claim, "proven")) ? "proven" : "not proven",
			fg_json_double_or(claim, "attempt", 0));
	}
}

static void say(const struct fg_cli *cli, const cJSON *receipt)
{
	const cJSON *benchmark = NULL;
	struct fg_strbuf text = {0};
	char change[FG_NUMBER_TEXT_SIZE];

	fg_strbuf_printf(
		&text, "receipt of run %.8s: %s\ncandidate %.12s%s against %.12s\n",
		fg_json_text_or(receipt, "run", "?"), fg_json_text_or(receipt, "verdict", "?"),
		fg_json_text_or(receipt, "candidate/commit", "?"),
		cJSON_IsTrue(fg_json_find(receipt, "candidate/dirty")) ? " with uncommitted changes"
								       : "",
		fg_json_text_or(receipt, "baseline/commit", "?"));
	cJSON_ArrayForEach(benchmark, fg_json_find(receipt, "benchmarks"))
	{
		fg_strbuf_printf(
			&text, "%s: %s  %s %s\n", fg_json_text_or(benchmark, "name", "?"),
			fg_json_text_or(benchmark, "verdict", "?"),
			fg_json_text_or(benchmark, "metric", ""),
			fg_format_change(fg_json_double_or(benchmark, "ratio", 1) - 1, change));
		add_claims(benchmark, &text);
	}
	fg_cli_print_escaped(cli, &text);
	fg_strbuf_release(&text);
}

/* ---- measuring again ---- */

enum {
	REPORT_MAX = 64 << 20,
};

/*
 * Measures both commits of the receipt again, and reads the report. Nothing is stored and no
 * attempt is counted.
 */
static int measure_again(const struct fg_cli *cli, const cJSON *receipt, cJSON **report,
			 struct fg_error *err)
{
	const cJSON *benchmarks = fg_json_find(receipt, "benchmarks");
	const cJSON *benchmark = NULL;
	const char **argv =
		fg_xcalloc((size_t)cJSON_GetArraySize(benchmarks) + 16, sizeof(argv[0]));
	const struct fg_process_options options = {
		.argv = (char *const *)(uintptr_t)argv,
		.stdout_to = FG_STREAM_CAPTURE,
		.stderr_to = FG_STREAM_INHERIT,
		.capture_limit_bytes = REPORT_MAX,
		.interrupted = cli->interrupted,
	};
	struct fg_process_result result = {0};
	size_t count = 0;
	int status = FG_OK;

	argv[count++] = "/proc/self/exe";
	argv[count++] = "run";
	argv[count++] = "--no-post";
	argv[count++] = "--no-store";
	argv[count++] = "--json";
	argv[count++] = "--against";
	argv[count++] = fg_json_text_or(receipt, "baseline/commit", "");
	argv[count++] = "--candidate";
	argv[count++] = fg_json_text_or(receipt, "candidate/commit", "");
	argv[count++] = "--";
	cJSON_ArrayForEach(benchmark, benchmarks) argv[count++] =
		fg_json_text_or(benchmark, "name", "");
	status = fg_process_run(&options, &result, err);
	free(argv);
	if (status == FG_OK && fg_json_parse(result.stdout_text, result.stdout_size, REPORT_MAX,
					     report, NULL) != FG_OK)
		status = fg_error_set(err, FG_ECHILD, "the commits could not be measured again");
	fg_process_result_release(&result);
	return status;
}

static double end_of(const cJSON *metric, int end)
{
	const cJSON *value = cJSON_GetArrayItem(fg_json_find(metric, "interval"), end);

	return cJSON_IsNumber(value) ? value->valuedouble : 1;
}

enum answer {
	AGREES,
	CANNOT_TELL,
	DISAGREES,
};

static enum fg_outcome outcome_of(const cJSON *benchmark)
{
	enum fg_outcome outcome = FG_OUTCOME_ERROR;

	(void)fg_outcome_parse(fg_json_text_or(benchmark, "verdict", ""), &outcome);
	return outcome;
}

/* Does the new verdict confirm every claim, and any regression, of the old verdict? */
static bool is_confirmed(enum fg_outcome old, enum fg_outcome new)
{
	bool all = old != FG_OUTCOME_REGRESSION || new == FG_OUTCOME_REGRESSION;

	for (size_t i = 0; i < FG_CLAIM_COUNT; i++)
		all = all && (!fg_claim_is_confirmed((enum fg_claim)i, old) ||
			      fg_claim_is_confirmed((enum fg_claim)i, new));
	return all;
}

/* Compares the verdicts, and the intervals of the metric that decided in the receipt. */
static enum answer compare_benchmark(const cJSON *old, const cJSON *new, const cJSON *metric)
{
	const enum fg_outcome outcome = outcome_of(new);
	const bool overlaps =
		end_of(old, 0) <= end_of(metric, 1) && end_of(metric, 0) <= end_of(old, 1);

	if (metric && !overlaps)
		return DISAGREES;
	if (is_confirmed(outcome_of(old), outcome))
		return AGREES;
	return !metric || outcome == FG_OUTCOME_INCONCLUSIVE || outcome == FG_OUTCOME_ERROR
		       ? CANNOT_TELL
		       : DISAGREES;
}

static enum answer compare(const struct fg_cli *cli, const cJSON *receipt, const cJSON *report)
{
	static const char *const words[] = {"agrees", "cannot tell", "DISAGREES"};
	const cJSON *old = NULL;
	enum answer worst = AGREES;

	cJSON_ArrayForEach(old, fg_json_find(receipt, "benchmarks"))
	{
		const char *name = fg_json_text_or(old, "name", "");
		const cJSON *new = fg_json_find_named(fg_json_find(report, "benchmarks"), name);
		const cJSON *metric = fg_json_find_named(fg_json_find(new, "metrics"),
							 fg_json_text_or(old, "metric", ""));
		const enum answer answer = compare_benchmark(old, new, metric);
		char change[FG_NUMBER_TEXT_SIZE];
		struct fg_strbuf text = {0};

		fg_strbuf_printf(
			&text, "measured again: %s: %s %s: %s\n", name,
			fg_json_text_or(new, "verdict", "not measured"),
			fg_format_change(fg_json_double_or(metric, "ratio", 1) - 1, change),
			words[answer]);
		fg_cli_print_escaped(cli, &text);
		fg_strbuf_release(&text);
		worst = answer > worst ? answer : worst;
	}
	return worst;
}

/* Measures again; sets `code` if the result does not agree. */
static int again(const struct fg_cli *cli, const cJSON *receipt, int *code, struct fg_error *err)
{
	cJSON *report = NULL;
	enum answer answer;

	if (cJSON_IsTrue(fg_json_find(receipt, "candidate/dirty")))
		return fg_error_set(
			err, FG_EINVAL,
			"the receipt is for uncommitted changes, which cannot be built again");
	FG_TRY(measure_again(cli, receipt, &report, err));
	answer = compare(cli, receipt, report);
	cJSON_Delete(report);
	if (answer == DISAGREES)
		*code = FG_EXIT_REGRESSION;
	else if (answer == CANNOT_TELL && *code == FG_EXIT_PASS)
		*code = FG_EXIT_INCONCLUSIVE;
	return FG_OK;
}

static int verify(const struct fg_cli *cli, const struct options *given, int *code,
		  struct fg_error *err)
{
	const char *path = cli->arguments[0];
	cJSON *receipt = NULL;
	int status = FG_OK;

	FG_TRY(fg_receipt_read(path, &receipt, err));
	FG_TRY_OUT(check_signature(cli, path, given->allowed_signers, err));
	FG_TRY_OUT(check_commit(receipt, given->commit, err));
	FG_TRY_OUT(check_comparison(cli, receipt, given->against, err));
	FG_TRY_OUT(check_ledger(cli, receipt, err));
	say(cli, receipt);
	*code = (int)fg_json_double_or(receipt, "exit_code", FG_EXIT_INTERNAL);
	if (given->again)
		status = again(cli, receipt, code, err);
out:
	cJSON_Delete(receipt);
	return status;
}

static int run(struct fg_cli *cli, const void *values)
{
	struct fg_error err = {0};
	int code = FG_EXIT_PASS;
	const int status = verify(cli, values, &code, &err);

	return status == FG_OK ? code : fg_cli_fail(cli, &err);
}

static const struct fg_option options[] = {
	FG_ROW_FILE(
		struct options, allowed_signers, "allowed-signers", 0,
		"require a signature, RECEIPT.sig, by a key listed in this file (ssh-keygen(1), "
		"ALLOWED SIGNERS)"),
	FG_ROW_NAME(struct options, commit, "commit", 0, "REF", FG_COMPLETE_GIT_REF,
		    "require that this commit was measured, without uncommitted changes"),
	FG_ROW_NAME(
		struct options, against, "against", 0, "REF", FG_COMPLETE_GIT_REF,
		"require a comparison with this git ref (or `merge-base`), of all benchmarks of "
		"fastgate.yml, under its `gate` settings"),
	FG_ROW_FLAG(struct options, again, "again", 0,
		    "build and measure both commits again, and report whether the results agree"),
	{.name = NULL},
};

static const struct fg_cli_argument arguments[] = {
	{.name = "RECEIPT",
	 .help = "a file that `fastgate run --receipt` wrote",
	 .min = 1,
	 .max = 1,
	 .complete = FG_COMPLETE_FILE},
	{.name = NULL},
};

static const struct fg_cli_example examples[] = {
	{"fastgate verify receipt.json", "is the receipt unchanged, and what does it say?"},
	{"fastgate verify receipt.json --commit HEAD --against merge-base --allowed-signers "
	 ".github/signers",
	 "the check for a CI job"},
	{"ssh-keygen -Y sign -n " NAMESPACE " -f ~/.ssh/id_ed25519 receipt.json",
	 "sign a receipt: writes receipt.json.sig"},
	{"fastgate verify receipt.json --again", "do these two commits give the same answer here?"},
	{NULL, NULL},
};

const struct fg_cli_command fg_cmd_verify = {
	.name = "verify",
	.group = FG_CLI_GROUP_GATE,
	.summary = "check that a receipt is genuine, and whether it holds here",
	.description =
		"Checks a receipt: that nothing in it has changed since `fastgate run --receipt` "
		"wrote it, and, on request, who signed it, which commits it compares, and whether "
		"a new measurement agrees.\n"
		"\n"
		"If the receipt is genuine, the exit code is the run's (0: nothing got worse), or "
		"1 if a new measurement disagrees, or 3 if it cannot tell. The exit code is 2 if "
		"the receipt was changed, is not signed as required, compares other commits, or "
		"lacks a benchmark.\n"
		"\n"
		"The digest shows whether a receipt was changed; only a signature shows who made "
		"it.",
	FG_CLI_TABLES,
	.exits = FG_CLI_EXITS_OF_A_GATE,
	.stops_cleanly = true,
	.run = run,
};
