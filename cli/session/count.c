// SPDX-License-Identifier: Apache-2.0
#include "base/clock.h"
#include "base/fs.h"
#include "base/text.h"
#include "cli/session/steps.h"
#include "gate/exact.h"
#include "model/arguments.h"
#include "profile/called.h"
#include "profile/exchange/import.h"
#include "profile/ingest.h"
#include "profile/trace_profile.h"
#include "runner/execute/exact.h"
#include "runner/execute/extra.h"
#include "runner/execute/preload.h"

#include <unistd.h>

/* ---- both sides ---- */

enum {
	REPETITIONS_MAX = 2,
};

struct both {
	const struct fg_benchmark *benchmark;
	struct fg_profile_set *set; /* profile of the benchmark's series */
	bool has_baseline;          /* the baseline runs here; it is not a stored run */
	uint32_t first_pair;        /* pair number of the first counted row in the set */
	/* sets *counted to false if this side has no count; the reason is in `context` */
	int (*count)(void *context, enum fg_arm arm, struct fg_profile *profile, bool *counted,
		     struct fg_error *err);
	/* Do both sides agree after the first repetition? */
	bool (*is_equal)(const struct fg_profile_set *set, uint32_t first_pair);
	void *context; /* passed to `count` */
};

static int count_sides(const struct both *both, unsigned repetition, bool *counted,
		       struct fg_error *err)
{
	*counted = true;
	for (unsigned arm = 0; arm < FG_ARM_COUNT && *counted; arm++) {
		struct fg_ingest_row row;
		struct fg_profile profile;

		if (arm == FG_ARM_BASELINE && !both->has_baseline)
			continue;
		FG_TRY(both->count(both->context, (enum fg_arm)arm, &profile, counted, err));
		if (!*counted)
			continue;
		row = fg_session_row(both->benchmark, (enum fg_arm)arm,
				     both->first_pair + repetition);
		fg_profile_ingest_profile(both->set, &profile, &row, NULL);
		fg_profile_release(&profile);
	}
	return FG_OK;
}

/*
 * Sets *done to the number of repetitions that all sides completed. The first repetition is valid
 * without a second.
 */
static int count_both(const struct both *both, unsigned *done, struct fg_error *err)
{
	bool counted = true;

	*done = 0;
	for (unsigned i = 0; i < REPETITIONS_MAX; i++) {
		FG_TRY(count_sides(both, i, &counted, err));
		if (!counted)
			break;
		++*done;
		if (both->has_baseline && both->is_equal(both->set, both->first_pair))
			break;
	}
	return FG_OK;
}

/* ---- instructions ---- */

struct meter {
	struct fg_session *session;
	const struct fg_benchmark *benchmark;
	struct fg_runner_job *job;
	int64_t until_ns;                /* end of the budget, monotonic clock */
	bool is_simulated[FG_ARM_COUNT]; /* caches were simulated, which is needed only once */
	char *why;                       /* reason why nothing was counted */
};

static int read_meter(void *context, enum fg_arm arm, struct fg_profile *profile, bool *counted,
		      struct fg_error *err)
{
	const struct fg_import_options options = {0};
	struct meter *meter = context;
	const struct fg_exact_request request = {
		.arm = arm,
		.timeout_ns = meter->until_ns - fg_clock_monotonic_ns(),
		.simulated = !meter->benchmark->measure.exact_only && !meter->is_simulated[arm]};
	struct fg_exact_reading reading = {0};
	struct fg_error found = {0};

	*counted = false;
	if (request.timeout_ns <= 0) {
		free(meter->why);
		meter->why = fg_xstrdup("measure.exact_budget is used up");
		return FG_OK;
	}
	FG_TRY(fg_runner_exact(meter->job, &request, &reading, err));
	free(meter->why);
	meter->why = reading.why;
	reading.why = NULL;
	if (!reading.callgrind)
		goto out;
	if (fg_import_read(fg_import_find("callgrind"), reading.callgrind, reading.callgrind_size,
			   &options, profile, &found) != FG_OK) {
		free(meter->why);
		meter->why = fg_xstrdup(found.message);
		goto out;
	}
	if (meter->benchmark->measure.affected == FG_AFFECTED_ALWAYS)
		fg_session_keep_executed(meter->session, meter->job, &request, &reading);
	meter->is_simulated[arm] = true;
	*counted = true;
out:
	fg_exact_reading_release(&reading);
	return FG_OK;
}

static void record_meter(const struct meter *meter, struct fg_series *series, bool counted)
{
	fg_series_remark(series, FG_REMARK_EXACT,
			 fg_xasprintf("instructions %s%s%s",
				      counted ? "counted by callgrind" : "are not counted",
				      !meter->why ? ""
				      : counted   ? "; "
						  : ": ",
				      meter->why ? meter->why : ""));
}

static bool are_instructions_equal(const struct fg_profile_set *set, uint32_t first_pair)
{
	(void)first_pair; /* instructions have only one range of pairs */
	return fg_exact_is_equal(set);
}

int fg_session_count_exactly(struct fg_session *session, struct fg_runner_job *job,
			     const struct fg_benchmark *benchmark, struct fg_profile_set *set,
			     struct fg_error *err)
{
	struct fg_series *series = fg_session_series(session, job);
	struct meter meter = {
		.session = session,
		.benchmark = benchmark,
		.job = job,
		.until_ns = fg_clock_monotonic_ns() + benchmark->measure.exact_budget_ns,
	};
	struct both both = {
		.benchmark = benchmark,
		.set = set,
		.first_pair = FG_EXACT_FIRST_PAIR,
		.count = read_meter,
		.is_equal = are_instructions_equal,
		.context = &meter,
	};
	unsigned done = 0;
	int status = FG_OK;

	both.has_baseline =
		session->open.roots[FG_ARM_BASELINE] && series->schedule != FG_SCHEDULE_STORED;
	if (fg_exact_has(set, FG_ARM_CANDIDATE))
		return FG_OK; /* an earlier session has counted already */
	status = count_both(&both, &done, err);
	if (status == FG_OK)
		record_meter(&meter, series, done > 0);
	free(meter.why);
	return status;
}

/* ---- events and calls ---- */

enum {
	/* The pairs of exact repetitions begin at FG_EXACT_FIRST_PAIR. */
	FIRST_PAIR_OF_EVENTS = FG_EXACT_FIRST_PAIR + 16,
	FIRST_PAIR_OF_CALLS = FG_EXACT_FIRST_PAIR + 32,
	PAIRS = 16, /* number of pair numbers reserved per library */
};

/* The events that one library counts in separate repetitions. */
struct kind {
	const char *what;
	enum fg_remark remark; /* remark with the reason why nothing was counted */
	uint32_t first_pair;
	int (*find_library)(const char *library, char **found, struct fg_error *err);
};

static const struct kind kind_of_events = {
	.what = "events",
	.remark = FG_REMARK_COUNTS,
	.first_pair = FIRST_PAIR_OF_EVENTS,
	.find_library = fg_preload_counting_library,
};
static const struct kind kind_of_calls = {
	.what = "calls",
	.remark = FG_REMARK_CALLS,
	.first_pair = FIRST_PAIR_OF_CALLS,
	.find_library = fg_preload_calls_library,
};

struct counter {
	const struct kind *kind;
	struct fg_session *session;
	struct fg_runner_job *job;
	const struct fg_benchmark *benchmark;
	const char *library;
	char *events;               /* events to count, in the format of FG_ENV_COUNT */
	char *why;                  /* reason why nothing, or less than wanted, was counted */
	struct fg_strbuf unreached; /* the candidate's uncounted functions, with reasons */
	char *plans[FG_ARM_COUNT];  /* plans of jumps at function entries, or NULL */
	char *plan_folder;
	/* arguments from the first repetition, for the series */
	struct fg_argument_sums *arguments;
	bool is_taken[FG_ARM_COUNT];
};

static const char not_preloaded[] = "nothing could be preloaded into the program: it may be "
				    "statically linked or drop its environment";

static void explain(struct counter *counter, const char *why)
{
	free(counter->why);
	counter->why = fg_xstrdup(why);
}

/* Executes a side once with the counting library, without sampling. */
static int run_counted(struct counter *counter, enum fg_arm arm, const char *folder,
		       struct fg_error *err)
{
	const struct fg_measuring *measure = &counter->benchmark->measure;
	const bool events = counter->kind == &kind_of_events;
	char *calls = events || measure->call_count == 0 ? NULL : fg_text_join(measure->calls, ",");
	char *domains =
		events || measure->domain_count == 0 ? NULL : fg_text_join(measure->domains, ",");
	const struct fg_preload preload = {
		.library = counter->library,
		.counters = events ? counter->events : NULL,
		.calls = calls,
		.domains = domains,
		.entries = counter->plans[arm],
		.trace_folder = folder,
		.clock = FG_SAMPLE_NOTHING,
		.follow_children = true,
		.no_python = measure->sampler.python == FG_PYTHON_OFF,
	};
	/* `env` execs the command, so `env` itself is not counted. */
	char *env[] = {(char *)(uintptr_t) "env", NULL};
	char **variables = fg_preload_variables(&preload, environ);
	char **words = fg_join_words(env, variables);
	const struct fg_extra extra = {
		.arm = arm, .before = words, .timeout_ns = counter->benchmark->timeout_ns};
	char *why = NULL;
	int status = FG_OK;

	status = fg_runner_extra(counter->job, &extra, &why, err);
	if (status == FG_ECHILD)
		explain(counter, why ? why : "the program failed");
	free(why);
	free(words);
	free(calls);
	free(domains);
	fg_free_words(variables);
	return status;
}

/*
 * For the report, keeps the arguments of a side's first repetition, and the candidate's notes on
 * calls that were not counted.
 */
static void take(struct counter *counter, enum fg_arm arm, const struct fg_profile *profile)
{
	if (counter->is_taken[arm])
		return;
	counter->is_taken[arm] = true;
	fg_domains_sum_up(profile, arm, counter->arguments);
	for (size_t i = 0; arm == FG_ARM_CANDIDATE && i < profile->note_count; i++)
		if (fg_text_starts_with(profile->notes[i], "no call of ") ||
		    strstr(profile->notes[i], " not counted at the entry"))
			fg_strbuf_printf(&counter->unreached, "%s%s",
					 counter->unreached.length ? "; " : "", profile->notes[i]);
}

static int count_traces(void *context, enum fg_arm arm, struct fg_profile *profile, bool *counted,
			struct fg_error *err)
{
	struct counter *counter = context;
	struct fg_error found = {0};
	char *folder = NULL;
	int status = fg_runner_extra_folder(counter->job, &folder, err);

	*counted = false;
	if (status != FG_OK)
		return status;
	status = run_counted(counter, arm, folder, err);
	if (status == FG_ECHILD) {
		status = FG_OK;
		goto out;
	}
	if (status != FG_OK)
		goto out;
	if (fg_profile_read_traces(folder, counter->session->open.symbolizer, profile, &found) !=
	    FG_OK) {
		explain(counter, found.code == FG_ENOENT ? not_preloaded : found.message);
		goto out;
	}
	*counted = true;
	take(counter, arm, profile);
out:
	fg_runner_extra_remove(counter->job, folder);
	return status;
}

static const struct fg_profile_row *row_of(const struct fg_profile_set *set, uint8_t arm,
					   uint16_t measure, uint32_t pair)
{
	for (size_t i = 0; i < set->row_count; i++) {
		const struct fg_profile_row *row = &set->rows[i];

		if (row->arm == arm && row->measure == measure && row->pair == pair)
			return row;
	}
	return NULL;
}

/* Do both sides agree in all totals of the first repetition? */
static bool are_totals_equal(const struct fg_profile_set *set, uint32_t pair)
{
	for (size_t id = 0; id < fg_measure_count(&set->measures); id++) {
		const struct fg_profile_row *before =
			row_of(set, FG_ARM_BASELINE, (uint16_t)id, pair);
		const struct fg_profile_row *after =
			row_of(set, FG_ARM_CANDIDATE, (uint16_t)id, pair);

		if (!before != !after)
			return false;
		if (before && (before->total < after->total || before->total > after->total))
			return false;
	}
	return true;
}

static bool is_counted_already(const struct fg_profile_set *set, uint32_t first)
{
	for (size_t i = 0; i < set->row_count; i++) {
		if (set->rows[i].arm == FG_ARM_CANDIDATE && set->rows[i].pair >= first &&
		    set->rows[i].pair < first + PAIRS)
			return true;
	}
	return false;
}

static void record(const struct counter *counter, struct fg_series *series, unsigned done)
{
	char *change = fg_argument_change_text(counter->arguments);
	char *arguments = fg_argument_sums_text(counter->arguments);
	char *hints = fg_argument_hints_text(counter->arguments);

	if (counter->why)
		fg_series_remark(series, counter->kind->remark,
				 fg_xasprintf("%s %s: %s", counter->kind->what,
					      done > 0 ? "were not counted a second time"
						       : "are not counted",
					      counter->why));
	else if (counter->unreached.length)
		fg_series_remark(series, counter->kind->remark,
				 fg_xstrdup(counter->unreached.data));
	if (change)
		fg_series_remark(series, FG_REMARK_DOMAINS, fg_xasprintf("arguments: %s", change));
	if (arguments)
		fg_series_remark(series, FG_REMARK_ARGUMENTS,
				 fg_xasprintf("called with %s", arguments));
	if (hints)
		fg_series_remark(series, FG_REMARK_HINTS, fg_xasprintf("hint: %s", hints));
	free(change);
	free(arguments);
	free(hints);
}

static void drop_plans(struct counter *counter)
{
	for (unsigned arm = 0; arm < FG_ARM_COUNT; arm++) {
		free(counter->plans[arm]);
		counter->plans[arm] = NULL;
	}
}

static void counter_release(struct counter *counter)
{
	fg_strbuf_release(&counter->unreached);
	drop_plans(counter);
	if (counter->plan_folder)
		fg_runner_extra_remove(counter->job, counter->plan_folder);
	free(counter->events);
	free(counter->why);
}

/* Plans the jumps at function entries. If the plans fail, no function is counted at its entry. */
static int make_plans(struct counter *counter, bool has_baseline, struct fg_error *err)
{
	struct fg_error why = {0};

	FG_TRY(fg_runner_extra_folder(counter->job, &counter->plan_folder, err));
	for (unsigned arm = 0; arm < FG_ARM_COUNT; arm++) {
		if (arm == FG_ARM_CANDIDATE || has_baseline)
			counter->plans[arm] =
				fg_xasprintf("%s/entries.%u", counter->plan_folder, arm);
	}
	if (fg_runner_extra_entry_plans(counter->job, counter->plans, &why) != FG_OK) {
		fg_strbuf_printf(&counter->unreached, "no function is counted at its entry: %s",
				 why.message);
		drop_plans(counter);
	}
	return FG_OK;
}

static int count_kind(struct counter *counter, struct fg_series *series, struct fg_profile_set *set,
		      struct fg_error *err)
{
	const struct fg_session *session = counter->session;
	const struct both both = {
		.benchmark = counter->benchmark,
		.set = set,
		.has_baseline = session->open.roots[FG_ARM_BASELINE] &&
				series->schedule != FG_SCHEDULE_STORED,
		.first_pair = counter->kind->first_pair,
		.count = count_traces,
		.is_equal = are_totals_equal,
		.context = counter,
	};
	struct fg_error found = {0};
	char *plain = NULL;
	char *library = NULL;
	unsigned done = 0;
	int status = FG_OK;

	if (is_counted_already(set, both.first_pair))
		return FG_OK; /* an earlier session has counted already */
	if (fg_preload_library(&plain, &found) != FG_OK ||
	    counter->kind->find_library(plain, &library, &found) != FG_OK)
		explain(counter, found.message);
	counter->library = library;
	if (library && counter->kind == &kind_of_calls && counter->benchmark->measure.entries)
		status = make_plans(counter, both.has_baseline, err);
	if (library && status == FG_OK)
		status = count_both(&both, &done, err);
	if (status == FG_OK)
		record(counter, series, done);
	free(library);
	free(plain);
	return status;
}

/*
 * Does the candidate use more memory than the baseline? If so, the heap is counted, requested or
 * not, to find the call paths that hold the memory.
 */
static bool has_grown(const struct fg_session *session, const struct fg_series *series,
		      const struct fg_benchmark *benchmark)
{
	return session->open.roots[FG_ARM_BASELINE] && series->schedule != FG_SCHEDULE_STORED &&
	       fg_gate_is_worse(series, &benchmark->policy, &benchmark->measure, "max_rss");
}

/* Returns NULL without events to count. */
static char *events_to_count(const struct fg_session *session, const struct fg_series *series,
			     const struct fg_benchmark *benchmark)
{
	const struct fg_measuring *measure = &benchmark->measure;
	char *requested = measure->also_count > 0 ? fg_text_join(measure->also, ",") : NULL;
	char *all = NULL;

	for (size_t i = 0; i < measure->also_count; i++)
		if (strcmp(measure->also[i], "heap") == 0)
			return requested;
	if (!has_grown(session, series, benchmark))
		return requested;
	all = requested ? fg_xasprintf("%s,heap", requested) : fg_xstrdup("heap");
	free(requested);
	return all;
}

bool fg_session_counts_events(const struct fg_session *session, const struct fg_series *series,
			      const struct fg_benchmark *benchmark)
{
	const struct fg_measuring *measure = &benchmark->measure;

	return measure->also_count > 0 || measure->call_count > 0 || measure->domain_count > 0 ||
	       has_grown(session, series, benchmark);
}

int fg_session_count_events(struct fg_session *session, struct fg_runner_job *job,
			    const struct fg_benchmark *benchmark, struct fg_profile_set *set,
			    struct fg_error *err)
{
	const struct fg_measuring *measure = &benchmark->measure;
	struct fg_series *series = fg_session_series(session, job);
	int status = FG_OK;
	struct counter events = {
		.kind = &kind_of_events,
		.session = session,
		.job = job,
		.benchmark = benchmark,
		.arguments = &set->arguments,
		.events = events_to_count(session, series, benchmark),
	};
	struct counter calls = {
		.kind = &kind_of_calls,
		.session = session,
		.job = job,
		.benchmark = benchmark,
		.arguments = &set->arguments,
	};

	if (events.events)
		status = count_kind(&events, series, set, err);
	if (status == FG_OK && (measure->call_count > 0 || measure->domain_count > 0))
		status = count_kind(&calls, series, set, err);
	counter_release(&events);
	counter_release(&calls);
	return status;
}
