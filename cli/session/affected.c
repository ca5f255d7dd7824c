// SPDX-License-Identifier: Apache-2.0
#include "runner/facts/affected.h"

#include "base/clock.h"
#include "base/fs.h"
#include "base/strbuf.h"
#include "base/text.h"
#include "binary/demangle.h"
#include "cli/session/steps.h"
#include "model/executed.h"
#include "runner/execute/extra.h"
#include "runner/facts/executed.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- kept sets ---- */

enum {
	KEPT_OF_A_BENCHMARK = 12,
	SET_MAX_BYTES = 64 << 20,
	PART = FG_EXECUTED_KEY_PART - 1,
};

static char *folder_of(const char *state_folder)
{
	return fg_fs_join(state_folder, "executed");
}

static char *path_of(const char *state_folder, const struct fg_executed_key *key)
{
	return fg_xasprintf("%s/executed/%s-%s-%s-%s", state_folder, key->benchmark, key->build,
			    key->configuration, key->environment);
}

static bool has_set(const char *state_folder, const struct fg_executed_key *key)
{
	char *path = path_of(state_folder, key);
	const bool found = fg_fs_exists(path);

	free(path);
	return found;
}

static void remove_set(const char *state_folder, const struct fg_executed_key *key)
{
	char *path = path_of(state_folder, key);

	(void)unlink(path);
	free(path);
}

/* Does the name "BENCHMARK-BUILD-CONFIGURATION-ENVIRONMENT" have this part at `index`? */
static bool has_part(const char *name, size_t index, const char *part)
{
	const size_t start = index * (PART + 1);

	return strlen(name) == 4 * PART + 3 && memcmp(name + start, part, PART) == 0;
}

static int explain_absence(const char *state_folder, const struct fg_executed_key *key,
			   struct fg_error *err)
{
	const char *why = "the functions that the benchmark executes are not known yet";
	char *folder = folder_of(state_folder);
	char **names = NULL;
	size_t count = 0;
	bool any = false;
	bool configuration = false;
	bool build = false;

	if (fg_fs_list(folder, &names, &count, NULL) != FG_OK)
		count = 0;
	for (size_t i = 0; i < count; i++) {
		const bool same = has_part(names[i], 0, key->benchmark) &&
				  has_part(names[i], 2, key->configuration);

		any |= has_part(names[i], 0, key->benchmark);
		configuration |= same;
		build |= same && has_part(names[i], 1, key->build);
	}
	if (build)
		why = "the environment changed after the benchmark's functions were recorded";
	else if (configuration)
		why = "the functions that this build of the baseline executes are not known";
	else if (any)
		why = "the benchmark's configuration changed after its functions were recorded";
	fg_fs_list_free(names, count);
	free(folder);
	return fg_error_set(err, FG_ENOENT, "%s", why);
}

static int load_set(const char *state_folder, const struct fg_executed_key *key,
		    struct fg_executed *executed, struct fg_error *err)
{
	char *path = path_of(state_folder, key);
	char *data = NULL;
	size_t size = 0;
	int status = fg_fs_read_regular(path, SET_MAX_BYTES, &data, &size, err);

	if (status == FG_ENOENT)
		status = explain_absence(state_folder, key, err);
	if (status != FG_OK)
		goto out;
	FG_TRY_OUT(fg_executed_read(data, size, executed, err));
	/* Mark the set as used: the least recently used sets are removed first. */
	(void)!utimensat(AT_FDCWD, path, NULL, 0);
out:
	free(data);
	free(path);
	return status;
}

static void prune(const char *folder, const struct fg_executed_key *key)
{
	struct fg_fs_file *files = NULL;
	const size_t count = fg_fs_newest(folder, &files);
	size_t kept = 0;

	for (size_t i = 0; i < count; i++) {
		if (has_part(fg_fs_base_name(files[i].path), 0, key->benchmark) &&
		    ++kept > KEPT_OF_A_BENCHMARK)
			(void)unlink(files[i].path);
	}
	fg_fs_files_free(files, count);
}

static int write_set(const char *state_folder, const struct fg_executed_key *key,
		     const struct fg_executed *executed, struct fg_error *err)
{
	char *folder = folder_of(state_folder);
	char *path = path_of(state_folder, key);
	struct fg_strbuf text = {0};
	int status = FG_OK;

	FG_TRY_OUT(fg_fs_make_folders(folder, 0755, err));
	fg_executed_write(executed, &text);
	status = fg_fs_write_atomic(path, text.data, text.length, 0644, err);
	if (status == FG_OK)
		prune(folder, key);
out:
	fg_strbuf_release(&text);
	free(path);
	free(folder);
	return status;
}

/* ---- is it affected? ---- */

static bool key_of(struct fg_session *session, const struct fg_runner_job *job, enum fg_arm arm,
		   struct fg_executed_key *key)
{
	return fg_executed_key_of(&fg_runner_job_targets(job)[arm],
				  &fg_session_series(session, job)->build[arm],
				  &session->result.run.host, key);
}

static void note_reason(struct fg_series *series, const struct fg_affected_reason *reason)
{
	struct fg_strbuf text = {0};
	struct fg_strbuf readable = {0};

	fg_strbuf_add_text(&text, reason->text);
	if (reason->symbol)
		fg_strbuf_printf(&text, ": %s",
				 fg_demangle(reason->symbol, &readable) ? readable.data
									: reason->symbol);
	free(series->affected);
	series->affected = fg_strbuf_detach(&text);
	fg_strbuf_release(&readable);
}

static void save(struct fg_session *session, const struct fg_executed_key *key,
		 const struct fg_executed *executed)
{
	struct fg_error why = {0};

	if (!session->open.store ||
	    write_set(session->request.state_folder, key, executed, &why) == FG_OK ||
	    session->warned_no_executed)
		return;
	fg_progress_clear(&session->progress);
	fg_cli_warn(session->cli, "the list of executed functions cannot be kept: %s", why.message);
	session->warned_no_executed = true;
}

/* Copies the executed set to the candidate, whose code is the same as the baseline's. */
static void copy_to_candidate(struct fg_session *session, const struct fg_runner_job *job,
			      const struct fg_executed *executed)
{
	struct fg_executed_key key;
	struct fg_executed copy;

	if (!key_of(session, job, FG_ARM_CANDIDATE, &key) ||
	    has_set(session->request.state_folder, &key))
		return;
	fg_executed_copy(&fg_runner_job_targets(job)[FG_ARM_CANDIDATE], executed, &copy);
	save(session, &key, &copy);
	fg_executed_release(&copy);
}

static void find_reason(struct fg_session *session, const struct fg_runner_job *job,
			struct fg_affected_reason *reason)
{
	struct fg_executed executed = {0};
	struct fg_executed_key key;
	struct fg_error why = {0};

	fg_affected_by_build(fg_runner_job_targets(job), fg_session_series(session, job)->build,
			     reason);
	if (reason->text)
		return;
	if (!key_of(session, job, FG_ARM_BASELINE, &key)) {
		reason->text = fg_xstrdup("the program's functions cannot be distinguished");
		return;
	}
	if (load_set(session->request.state_folder, &key, &executed, &why) != FG_OK) {
		reason->text = fg_xstrdup(why.message);
		return;
	}
	if (!session->open.affected)
		session->open.affected = fg_affected_new();
	fg_affected_by_code(session->open.affected, fg_runner_job_targets(job), &executed, reason);
	if (reason->is_stale && session->open.store)
		remove_set(session->request.state_folder, &key);
	if (!reason->text)
		copy_to_candidate(session, job, &executed);
	fg_executed_release(&executed);
}

bool fg_session_is_unaffected(struct fg_session *session, struct fg_runner_job *job,
			      const struct fg_benchmark *benchmark)
{
	struct fg_affected_reason reason = {0};
	struct fg_series *series = fg_session_series(session, job);

	if (benchmark->measure.affected != FG_AFFECTED_ALWAYS ||
	    !session->open.roots[FG_ARM_BASELINE] || series->identical ||
	    series->repetition_count > 0)
		return false;
	find_reason(session, job, &reason);
	if (reason.text)
		note_reason(series, &reason);
	series->unaffected = !reason.text;
	fg_affected_reason_release(&reason);
	return series->unaffected;
}

/* ---- input files ---- */

/* Executes the program once more, at full speed, to see which files it opens. */
static void find_inputs(struct fg_runner_job *job, const struct fg_exact_request *request,
			struct fg_executed *executed)
{
	struct fg_opened opened = {0};

	if (!fg_session_find_opened(job, request->arm, request->timeout_ns, &opened))
		fg_executed_doubt(
			executed,
			"the files that the benchmark reads are not known, because it cannot be "
			"traced");
	for (size_t i = 0; i < opened.paths.count; i++) {
		if (opened.paths.entries[i].value == FG_OPENED_READ)
			fg_executed_take_input(&fg_runner_job_targets(job)[request->arm],
					       opened.paths.entries[i].key, executed);
	}
	fg_opened_release(&opened);
}

void fg_session_keep_executed(struct fg_session *session, struct fg_runner_job *job,
			      const struct fg_exact_request *request,
			      const struct fg_exact_reading *reading)
{
	struct fg_executed executed = {0};
	struct fg_executed_key key;

	if (!session->open.store || !reading->callgrind ||
	    !key_of(session, job, request->arm, &key))
		return;
	fg_executed_from_callgrind(&fg_runner_job_targets(job)[request->arm], reading->callgrind,
				   reading->callgrind_size, &executed);
	if (!executed.doubt)
		find_inputs(job, request, &executed);
	save(session, &key, &executed);
	fg_executed_release(&executed);
}

/* ---- after the pairs ---- */

/*
 * Warns once: without callgrind the executed functions are unknown, so every benchmark is measured.
 */
static void warn_no_meter(struct fg_session *session)
{
	if (session->warned_no_executed)
		return;
	fg_progress_clear(&session->progress);
	fg_cli_say(session->cli,
		   "no benchmark can be skipped: finding the functions that a benchmark executes "
		   "needs valgrind, which is not installed");
	session->warned_no_executed = true;
}

static const char failed[] = "the functions that the benchmark executes could not be recorded in ";

static double budget_s(const struct fg_benchmark *benchmark)
{
	return (double)benchmark->measure.exact_budget_ns / (double)FG_NS_PER_S;
}

/*
 * Did an attempt with at least this budget fail? Then it is not repeated, even for a new build of
 * the candidate.
 */
static bool has_failed_before(struct fg_session *session, const struct fg_runner_job *job,
			      const struct fg_benchmark *benchmark)
{
	struct fg_executed executed = {0};
	struct fg_executed_key key;
	bool found = false;

	if (!key_of(session, job, FG_ARM_BASELINE, &key) ||
	    load_set(session->request.state_folder, &key, &executed, NULL) != FG_OK)
		return false;
	if (executed.doubt && fg_text_starts_with(executed.doubt, failed)) {
		found = budget_s(benchmark) <= strtod(executed.doubt + strlen(failed), NULL);
		if (found)
			copy_to_candidate(session, job, &executed);
		else
			remove_set(session->request.state_folder, &key);
	}
	fg_executed_release(&executed);
	return found;
}

static void keep_failure(struct fg_session *session, const struct fg_executed_key *key,
			 const struct fg_benchmark *benchmark, const char *why)
{
	struct fg_executed executed = {0};

	fg_executed_doubt(&executed, "%s%.3g s: %s", failed, budget_s(benchmark), why);
	save(session, key, &executed);
	fg_executed_release(&executed);
}

struct finding {
	struct fg_session *session;
	struct fg_runner_job *job;
	const struct fg_benchmark *benchmark;
	int64_t until_ns; /* end of the budget, monotonic clock */
	bool is_announced;
};

static int find_of_arm(struct finding *finding, enum fg_arm arm, struct fg_error *err)
{
	struct fg_session *session = finding->session;
	const struct fg_exact_request request = {.arm = arm,
						 .timeout_ns = finding->until_ns -
							       fg_clock_monotonic_ns(),
						 .flat = true};
	struct fg_exact_reading reading = {0};
	struct fg_executed_key key;

	if (!key_of(session, finding->job, arm, &key) ||
	    has_set(session->request.state_folder, &key))
		return FG_OK;
	if (!fg_runner_has_callgrind()) {
		warn_no_meter(session);
		return FG_OK;
	}
	if (request.timeout_ns <= 0) {
		keep_failure(session, &key, finding->benchmark, "no time is left");
		return FG_OK;
	}
	if (!finding->is_announced) {
		fg_progress_clear(&session->progress);
		fg_cli_say(session->cli, "%s: finding the functions that the benchmark executes",
			   finding->benchmark->name);
		finding->is_announced = true;
	}
	FG_TRY(fg_runner_exact(finding->job, &request, &reading, err));
	if (reading.callgrind)
		fg_session_keep_executed(session, finding->job, &request, &reading);
	else
		keep_failure(session, &key, finding->benchmark,
			     reading.why ? reading.why : "the program failed");
	fg_exact_reading_release(&reading);
	return FG_OK;
}

/*
 * Adds functions that the sampler saw but callgrind did not: code for processors that valgrind does
 * not know, and code that threads execute only when they run concurrently.
 */
static void add_sampled(struct fg_session *session, const struct fg_runner_job *job,
			enum fg_arm arm)
{
	const size_t index = (size_t)(fg_session_series(session, job) - session->result.run.series);
	const struct fg_profile_set *set =
		index < session->result.profile_count ? session->result.profiles[index] : NULL;
	struct fg_executed executed = {0};
	struct fg_executed_key key;
	bool more = false;

	if (!set || !key_of(session, job, arm, &key) ||
	    load_set(session->request.state_folder, &key, &executed, NULL) != FG_OK)
		return;
	for (size_t i = 1; i < set->function_count; i++) {
		const struct fg_profile_function *f = &set->functions[i];

		more |= !f->inlined && f->library &&
			fg_executed_add_sampled(&executed, f->library,
						f->linkage ? f->linkage : f->name);
	}
	if (more)
		save(session, &key, &executed);
	fg_executed_release(&executed);
}

int fg_session_find_executed(struct fg_session *session, struct fg_runner_job *job,
			     const struct fg_benchmark *benchmark, struct fg_error *err)
{
	const struct fg_series *series = fg_session_series(session, job);
	struct finding finding = {
		.session = session,
		.job = job,
		.benchmark = benchmark,
		.until_ns = fg_clock_monotonic_ns() + benchmark->measure.exact_budget_ns,
	};
	struct fg_affected_reason reason = {0};
	int status = FG_OK;

	if (benchmark->measure.affected != FG_AFFECTED_ALWAYS || !session->open.store ||
	    !session->open.roots[FG_ARM_BASELINE] || series->identical || series->failure)
		return FG_OK;
	fg_affected_by_kind(fg_runner_job_targets(job), &reason);
	if (reason.text) {
		fg_affected_reason_release(&reason);
		return FG_OK;
	}
	if (has_failed_before(session, job, benchmark))
		return FG_OK;
	for (unsigned arm = 0; arm < FG_ARM_COUNT && status == FG_OK; arm++)
		status = find_of_arm(&finding, (enum fg_arm)arm, err);
	for (unsigned arm = 0; arm < FG_ARM_COUNT && status == FG_OK; arm++)
		add_sampled(session, job, (enum fg_arm)arm);
	return status;
}
