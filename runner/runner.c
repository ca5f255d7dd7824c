// SPDX-License-Identifier: Apache-2.0
#include "runner/runner.h"

#include "base/clock.h"
#include "base/fs.h"
#include "base/hash.h"
#include "base/launch.h"
#include "base/log.h"
#include "runner/build_info.h"
#include "runner/installed.h"
#include "runner/job.h"
#include "runner/preload.h"

#include <math.h>
#include <sched.h>
#include <unistd.h>

/* A schedule that keeps setting pairs aside ends here instead of never. */
enum {
	ATTEMPTS_PER_PAIR = 3,
	ATTEMPTS_EXTRA = 10,
	SHARDS_MAX = 10000
};

/* ---- session ---- */

static void list_cpus(struct fg_runner *runner)
{
	cpu_set_t set;
	size_t room = 0;

	CPU_ZERO(&set);
	if (sched_getaffinity(0, sizeof(set), &set) != 0)
		return; /* nothing is pinned then */
	for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
		if (!CPU_ISSET((size_t)cpu, &set))
			continue;
		runner->cpus = fg_grow(runner->cpus, &room, runner->cpu_count + 1, sizeof(int));
		runner->cpus[runner->cpu_count++] = cpu;
	}
}

/* Without it everything but profiles can be measured: each job that wanted them says so. */
static void find_collector(struct fg_runner *runner)
{
	if (runner->options.collector)
		runner->collector = fg_xstrdup(runner->options.collector);
	else if (fg_preload_library(&runner->collector, &runner->no_collector) != FG_OK)
		return;
	fg_preload_warm();
}

static int make_traces_folder(struct fg_runner *runner, struct fg_error *err)
{
	char *traces = fg_fs_join(runner->options.state_folder, "traces");
	char *folder = NULL;
	int status = fg_fs_make_folders(traces, 0755, err);

	if (status == FG_OK)
		status = fg_fs_temporary_folder(traces, "run-", &folder, err);
	if (status == FG_OK) {
		runner->traces_folder = realpath(folder, NULL);
		if (!runner->traces_folder)
			status = fg_error_errno(err, FG_EIO, "'%s'", folder);
	}
	free(traces);
	free(folder);
	return status;
}

int fg_runner_create(const struct fg_runner_options *options, struct fg_runner **runner,
		     struct fg_error *err)
{
	struct fg_runner *made = NULL;
	int status = FG_OK;

	FG_ASSERT(options->run && options->roots[FG_ARM_CANDIDATE] && options->state_folder);
	made = fg_xcalloc(1, sizeof(*made));
	made->options = *options;
	list_cpus(made);
	find_collector(made);
	made->launcher = fg_installed_find(FG_LAUNCHER_NAME);
	status = make_traces_folder(made, err);
	if (status != FG_OK) {
		fg_runner_free(made);
		return status;
	}
	*runner = made;
	return FG_OK;
}

/* Traces that were taken in are litter; one that cannot be removed is no reason to fail. */
static void remove_folder(const struct fg_runner *runner, const char *folder)
{
	struct fg_error err = {0};

	if (folder && !runner->options.keep_traces && fg_fs_remove_tree(folder, &err) != FG_OK)
		fg_log(FG_LOG_RUNNER, 1, "%s", err.message);
}

void fg_runner_free(struct fg_runner *runner)
{
	if (!runner)
		return;
	FG_ASSERT(!runner->busy);
	remove_folder(runner, runner->traces_folder);
	free(runner->traces_folder);
	free(runner->collector);
	free(runner->launcher);
	free(runner->cpus);
	free(runner);
}

/* ---- job: what record.c and trial.c need ---- */

struct fg_series *fg__job_series(const struct fg_runner_job *job)
{
	return &job->runner->options.run->series[job->series[0]];
}

void fg__job_note(struct fg_runner_job *job, const char *note)
{
	const struct fg_runner_options *options = &job->runner->options;

	for (size_t i = 0; i < job->note_count; i++) {
		if (strcmp(job->notes[i], note) == 0)
			return;
	}
	if (job->note_count == FG_JOB_NOTES_MAX)
		return;
	job->notes[job->note_count++] = fg_xstrdup(note);
	if (options->on_note)
		options->on_note(options->context, fg__job_series(job), note);
}

void fg__job_progress(const struct fg_runner_job *job, enum fg_runner_phase phase)
{
	const struct fg_runner_options *options = &job->runner->options;
	const struct fg_series *series = fg__job_series(job);

	if (!options->on_progress)
		return;
	options->on_progress(
		options->context,
		&(struct fg_runner_progress){
			.series = series,
			.phase = phase,
			.pairs = job->counting,
			.wanted = job->wanted,
			.set_aside = job->pairs - job->counting,
			.spent_ns = (int64_t)(series->seconds * (double)FG_NS_PER_S),
			.per_pair_ns = (int64_t)(job->pair_seconds * (double)FG_NS_PER_S),
		});
}

static void set_failure(struct fg_runner_job *job, struct fg_failure *failure)
{
	struct fg_series *series = fg__job_series(job);

	free(series->failure);
	free(series->failure_tail);
	series->failure = failure->text;
	series->failure_tail = failure->tail;
	series->state = FG_NOT_MEASURED;
	*failure = (struct fg_failure){0};
	job->failed = true;
}

int fg__job_block(struct fg_runner_job *job, const struct fg_block *block, struct fg_error *err)
{
	struct fg_execution executions[FG_BLOCK_SLOTS_MAX] = {0};
	struct fg_failure failure = {0};
	const int64_t begin_ns = fg_clock_monotonic_ns();
	bool counts = false;
	int status = fg_execute_block(&job->executor, block, executions, &failure, err);
	int recorded = fg__job_record(job, block, executions, status == FG_OK, &counts,
				      status == FG_OK ? err : NULL);

	fg__job_series(job)->seconds +=
		(double)(fg_clock_monotonic_ns() - begin_ns) / (double)FG_NS_PER_S;
	if (status == FG_OK)
		status = recorded;
	if (status == FG_OK) {
		job->next_pair++;
		job->counting += counts;
	}
	if (failure.text)
		set_failure(job, &failure);
	if (status == FG_EINTERRUPTED)
		job->interrupted = true;
	for (size_t i = 0; i < block->count; i++) {
		remove_folder(job->runner, executions[i].trace_folder);
		fg_execution_release(&executions[i]);
	}
	fg_failure_release(&failure);
	return status;
}

void fg__job_last_means(const struct fg_runner_job *job, enum fg_metric_id metric,
			double means[FG_ARM_COUNT])
{
	const struct fg_series *series = fg__job_series(job);
	unsigned counts[FG_ARM_COUNT] = {0};

	for (size_t arm = 0; arm < FG_ARM_COUNT; arm++)
		means[arm] = 0;
	for (size_t i = series->repetition_count; i > 0; i--) {
		const struct fg_repetition *repetition = &series->repetitions[i - 1];

		if (repetition->pair != series->repetitions[series->repetition_count - 1].pair)
			break;
		means[repetition->arm] += repetition->values[metric];
		counts[repetition->arm]++;
	}
	for (size_t arm = 0; arm < FG_ARM_COUNT; arm++)
		means[arm] = counts[arm] ? means[arm] / counts[arm] : (double)NAN;
}

/* ---- start ---- */

static void add_user_metrics(struct fg_series *series, const struct fg_benchmark *benchmark)
{
	for (size_t i = 0; i < benchmark->metric_count; i++) {
		const struct fg_user_metric *user = &benchmark->metrics[i];
		const struct fg_metric metric = {
			.name = user->name,
			.label = user->name,
			.unit = user->unit,
			.better = user->better,
			.exact = user->exact,
			.gated = true,
			.valid_in_duet = true,
			.min_effect = 0.02,
			.margin = 0.02,
		};

		(void)fg_series_add_metric(series, &metric);
	}
}

/* Counters out of the repetitions that an earlier session recorded. */
static void resume(struct fg_runner_job *job)
{
	const struct fg_series *series = fg__job_series(job);
	uint32_t last = UINT32_MAX;

	job->next_pair = fg_series_pair_end(series);
	for (size_t i = 0; i < series->repetition_count; i++) {
		const struct fg_repetition *repetition = &series->repetitions[i];

		if (repetition->pair == last ||
		    (repetition->aside & (FG_ASIDE_TRIAL | FG_ASIDE_UNPAIRED)))
			continue;
		last = repetition->pair;
		if (repetition->aside & FG_ASIDE_WARMUP)
			continue; /* the machine is cold again */
		if (repetition->aside & FG_ASIDE_SOLO)
			job->solos++;
		else if (repetition->aside & FG_ASIDE_UNSAMPLED)
			job->costs++;
		else
			job->pairs++;
		job->counting += repetition->aside == 0;
	}
}

/* The series of an earlier session: this benchmark's own, or one per case of its harness. */
static void find_series(struct fg_runner_job *job)
{
	const struct fg_run *run = job->runner->options.run;
	const char *name = job->benchmark->name;
	const size_t length = strlen(name);

	for (size_t i = 0; i < run->series_count; i++) {
		const char *found = run->series[i].name;
		const bool is_case = job->benchmark->harness != FG_HARNESS_NONE &&
				     strncmp(found, name, length) == 0 && found[length] == '/';

		if (!is_case && strcmp(found, name) != 0)
			continue;
		job->series = fg_xreallocarray(job->series, job->series_count + 1,
					       sizeof(job->series[0]));
		job->series[job->series_count++] = i;
		job->has_cases |= is_case;
	}
}

static void add_series(struct fg_runner_job *job)
{
	struct fg_run *run = job->runner->options.run;

	find_series(job);
	if (job->series_count == 0) {
		struct fg_series *series = fg_run_add_series(run, job->benchmark->name);

		job->series = fg_xcalloc(1, sizeof(job->series[0]));
		job->series[0] = run->series_count - 1;
		job->series_count = 1;
		series->command = fg_xstrdup(job->benchmark->command.text);
		series->schedule = job->benchmark->measure.schedule;
		add_user_metrics(series, job->benchmark);
		return;
	}
	for (size_t i = 0; i < job->series_count; i++) {
		struct fg_series *series = &run->series[job->series[i]];

		free(series->failure);
		free(series->failure_tail);
		series->failure = NULL;
		series->failure_tail = NULL;
		series->state = FG_INTERRUPTED;
	}
	resume(job);
}

/* Which arms exist, and so which schedules are possible. */
static void settle_arms(struct fg_runner_job *job)
{
	struct fg_target *targets = job->executor.targets;
	struct fg_series *series = fg__job_series(job);

	for (size_t arm = 0; arm < FG_ARM_COUNT; arm++)
		fg_target_resolve(&targets[arm]);
	const bool baseline = targets[FG_ARM_BASELINE].program != NULL;
	const bool candidate = targets[FG_ARM_CANDIDATE].program != NULL;
	const bool two = targets[FG_ARM_BASELINE].command != NULL;

	series->only_in[FG_ARM_CANDIDATE] = two && candidate && !baseline;
	series->only_in[FG_ARM_BASELINE] = two && baseline && !candidate;
	job->rules.only = FG_ARM_CANDIDATE;
	if (!two || !baseline || !candidate) {
		series->schedule = FG_SCHEDULE_STORED;
		if (two && !baseline)
			fg_target_release(&targets[FG_ARM_BASELINE]);
	} else if (series->schedule == FG_SCHEDULE_STORED) {
		fg_target_release(&targets[FG_ARM_BASELINE]);
	}
	job->rules.schedule = series->schedule;
}

static int setup_arms(struct fg_runner_job *job, struct fg_error *err)
{
	const struct fg_target *targets = job->executor.targets;
	const struct fg_command *setup = &job->benchmark->setup;
	struct fg_failure failure = {0};
	int status = FG_OK;

	fg__job_progress(job, FG_RUNNER_SETUP);
	for (size_t arm = 0; arm < FG_ARM_COUNT && status == FG_OK; arm++) {
		/* two commands in one folder share what was set up */
		if (arm == FG_ARM_CANDIDATE && targets[0].command &&
		    strcmp(targets[0].working_directory, targets[1].working_directory) == 0)
			break;
		status = fg_execute_helper(&job->executor, (enum fg_arm)arm, setup, "setup",
					   &failure, err);
	}
	if (failure.text)
		set_failure(job, &failure);
	job->interrupted |= status == FG_EINTERRUPTED;
	fg_failure_release(&failure);
	return status;
}

static int warm_up(struct fg_runner_job *job, struct fg_error *err)
{
	struct fg_schedule_rules rules = job->rules;
	int status = FG_OK;

	if (rules.schedule == FG_SCHEDULE_AUTO)
		rules.schedule = FG_SCHEDULE_ABBA;
	for (unsigned i = 0; i < job->benchmark->measure.warmup && status == FG_OK; i++) {
		struct fg_block block;

		fg_schedule_warmup(&rules, job->warmups, &block);
		fg__job_progress(job, FG_RUNNER_WARMUP);
		status = fg__job_block(job, &block, err);
		job->warmups += status == FG_OK;
	}
	return status;
}

static void init_job(struct fg_runner_job *job)
{
	const struct fg_runner_options *options = &job->runner->options;
	const struct fg_benchmark *benchmark = job->benchmark;

	fg_executor_init(&job->executor);
	job->executor.interrupted = options->interrupted;
	job->executor.launcher = job->runner->launcher;
	job->executor.collector = job->runner->collector;
	job->executor.traces_folder = job->runner->traces_folder;
	job->executor.user_metric_count = benchmark->metric_count;
	for (size_t arm = 0; arm < FG_ARM_COUNT; arm++)
		fg_target_init(&job->executor.targets[arm], (enum fg_arm)arm, benchmark,
			       options->roots[arm]);
	job->rules = (struct fg_schedule_rules){
		.seed = fg_schedule_seed(options->run->seed, benchmark->name),
		.cpus = job->runner->cpus,
		.cpu_count = job->runner->cpu_count,
		.pin = benchmark->measure.pin,
		.rate_hz = benchmark->measure.sampler.rate_hz,
	};
	add_series(job);
}

/*
 * Sampled are both arms or none: the sampler's cost must be the same in both.  A harness decides by itself how often it repeats,
 * so a profile of it says how long it ran and nothing else.
 */
static void settle_sampler(struct fg_runner_job *job)
{
	const struct fg_target *targets = job->executor.targets;
	struct fg_error err = job->runner->no_collector;
	bool possible = job->executor.collector != NULL;
	char note[FG_ERROR_MESSAGE_SIZE + 64];

	if (!job->benchmark->measure.sampler.enabled || job->benchmark->harness != FG_HARNESS_NONE)
		return;
	for (size_t arm = 0; arm < FG_ARM_COUNT && possible; arm++)
		possible = !targets[arm].program ||
			   fg_preload_check(targets[arm].program, job->executor.collector, &err) ==
				   FG_OK;
	if (!possible) {
		(void)snprintf(note, sizeof(note),
			       "it runs without the sampler, so there is no profile: %s",
			       err.message);
		fg__job_note(job, note);
	}
	job->rules.sampled = possible;
}

/* How both arms were built; a series that is resumed knows already. */
static void capture_builds(struct fg_runner_job *job)
{
	const struct fg_target *targets = job->executor.targets;
	struct fg_series *series = fg__job_series(job);

	for (size_t arm = 0; arm < FG_ARM_COUNT; arm++) {
		if (targets[arm].command && series->build[arm].count == 0)
			fg_build_capture(&targets[arm], &series->build[arm]);
	}
	series->identical =
		targets[FG_ARM_BASELINE].command && targets[FG_ARM_CANDIDATE].command &&
		fg_build_is_identical(&targets[FG_ARM_BASELINE], &targets[FG_ARM_CANDIDATE],
				      &series->build[FG_ARM_BASELINE],
				      &series->build[FG_ARM_CANDIDATE]);
}

static int check_metrics(struct fg_runner_job *job, struct fg_error *err)
{
	if (job->benchmark->harness != FG_HARNESS_NONE && job->benchmark->metric_count > 0)
		return fg_error_set(
			err, FG_EINVAL,
			"a harness brings its own metrics: take away either 'harness' or 'metrics'");
	return fg_extractor_create(job->benchmark->metrics, job->benchmark->metric_count,
				   &job->extractor, err);
}

/* Everything up to the first pair that counts.  FG_ECHILD: the benchmark failed. */
static int prepare(struct fg_runner_job *job, struct fg_error *err)
{
	struct fg_failure failure = {0};
	struct fg_error found = {0};
	int status = check_metrics(job, &found);

	if (status != FG_OK) {
		failure.text = fg_xstrdup(found.message);
		set_failure(job, &failure);
		return fg_error_set(err, FG_ECHILD, "%s", found.message);
	}
	job->executor.extractor = job->extractor;
	status = setup_arms(job, err);
	if (status == FG_OK) {
		settle_arms(job);
		settle_sampler(job);
		capture_builds(job);
		status = warm_up(job, err);
	}
	if (status == FG_OK && job->rules.schedule == FG_SCHEDULE_AUTO)
		status = fg__job_choose(job, err);
	return status;
}

int fg_runner_start(struct fg_runner *runner, const struct fg_benchmark *benchmark,
		    struct fg_runner_job **job, struct fg_error *err)
{
	struct fg_runner_job *made = fg_xcalloc(1, sizeof(*made));
	struct fg_error found = {0};
	int status = FG_OK;

	FG_ASSERT(!runner->busy);
	runner->busy = true;
	made->runner = runner;
	made->benchmark = benchmark;
	init_job(made);
	status = prepare(made, &found);
	if (status != FG_OK && !made->failed && !made->interrupted) {
		fg_runner_finish(made);
		return fg_error_set(err, found.code, "%s", found.message);
	}
	*job = made;
	return FG_OK;
}

/* ---- measure ---- */

static bool is_exhausted(const struct fg_runner_job *job)
{
	const struct fg_measure *measure = &job->benchmark->measure;
	const double budget_seconds = (double)measure->budget_ns / (double)FG_NS_PER_S;
	const double next = fg__job_series(job)->seconds + job->pair_seconds;

	if (job->counting >= measure->max_pairs ||
	    job->pairs >= ATTEMPTS_PER_PAIR * measure->max_pairs + ATTEMPTS_EXTRA)
		return true;
	return measure->budget_ns > 0 && job->pairs > 0 && next > budget_seconds;
}

/* The next block of whatever kind is due. */
static int next_block(struct fg_runner_job *job, struct fg_error *err)
{
	const double share = job->benchmark->measure.sampler.unsampled_share;
	const double before = fg__job_series(job)->seconds;
	struct fg_block block;
	int status = FG_OK;

	if (fg_schedule_solo_due(&job->rules, job->pairs, job->solos)) {
		fg_schedule_solo(&job->rules, job->solos, &block);
		status = fg__job_block(job, &block, err);
		job->solos += status == FG_OK;
		return status;
	}
	if (fg_schedule_cost_due(&job->rules, share, job->pairs, job->costs)) {
		fg_schedule_cost(&job->rules, job->costs, &block);
		status = fg__job_block(job, &block, err);
		job->costs += status == FG_OK;
		return status;
	}
	fg_schedule_pair(&job->rules, job->pairs, &block);
	status = fg__job_block(job, &block, err);
	if (status == FG_OK) {
		const double took = fg__job_series(job)->seconds - before;

		job->pairs++;
		job->pair_seconds += (took - job->pair_seconds) / job->pairs;
	}
	return status;
}

int fg_runner_measure(struct fg_runner_job *job, unsigned pairs_wanted, enum fg_runner_state *state,
		      struct fg_error *err)
{
	const volatile sig_atomic_t *interrupted = job->runner->options.interrupted;
	struct fg_error found = {0};
	int status = FG_OK;

	job->wanted = pairs_wanted;
	while (!job->failed && !job->interrupted) {
		if (interrupted && *interrupted) {
			job->interrupted = true;
			break;
		}
		fg__job_progress(job, FG_RUNNER_MEASURE);
		if (job->counting >= pairs_wanted || is_exhausted(job)) {
			*state = job->counting >= pairs_wanted ? FG_RUNNER_REACHED
							       : FG_RUNNER_EXHAUSTED;
			return FG_OK;
		}
		status = next_block(job, &found);
		if (status != FG_OK && !job->failed && !job->interrupted)
			return fg_error_set(err, found.code, "%s", found.message);
	}
	*state = job->failed ? FG_RUNNER_FAILED : FG_RUNNER_INTERRUPTED;
	return FG_OK;
}

size_t fg_runner_job_series(const struct fg_runner_job *job, const size_t **indexes)
{
	*indexes = job->series;
	return job->series_count;
}

static int compare_doubles(const void *a, const void *b)
{
	const double x = *(const double *)a;
	const double y = *(const double *)b;

	return (x > y) - (x < y);
}

static double median(double *values, size_t count)
{
	if (!count)
		return (double)NAN;
	qsort(values, count, sizeof(values[0]), compare_doubles);
	return (values[(count - 1) / 2] + values[count / 2]) / 2;
}

static void fail_like(struct fg_series *series, const struct fg_series *first)
{
	free(series->failure);
	free(series->failure_tail);
	series->failure = fg_xstrdup(first->failure);
	series->failure_tail = fg_xstrdup(first->failure_tail);
	series->state = FG_NOT_MEASURED;
}

/* A case takes over from the first series what belongs to all cases of the harness. */
static void complete_case(const struct fg_runner_job *job, struct fg_series *series)
{
	const struct fg_series *first = fg__job_series(job);
	bool seen[FG_ARM_COUNT] = {false, false};

	for (size_t i = 0; i < series->repetition_count; i++)
		seen[series->repetitions[i].arm] = true;
	if (job->rules.schedule != FG_SCHEDULE_STORED &&
	    seen[FG_ARM_BASELINE] != seen[FG_ARM_CANDIDATE]) {
		series->only_in[FG_ARM_BASELINE] = seen[FG_ARM_BASELINE];
		series->only_in[FG_ARM_CANDIDATE] = seen[FG_ARM_CANDIDATE];
	}
	if (series == first)
		return;
	free(series->command);
	free(series->schedule_reason);
	series->command = fg_xstrdup(first->command);
	series->schedule_reason = fg_xstrdup(first->schedule_reason);
	series->schedule = first->schedule;
	series->identical = first->identical;
	series->seconds = first->seconds;
	for (size_t arm = 0; arm < FG_ARM_COUNT; arm++) {
		fg_environment_release(&series->build[arm]);
		fg_environment_copy(&series->build[arm], &first->build[arm]);
	}
}

void fg_runner_finish(struct fg_runner_job *job)
{
	struct fg_series *first = fg__job_series(job);

	first->seconds /= (double)job->series_count; /* shared by the cases of a harness */
	for (size_t i = 0; i < job->series_count; i++) {
		struct fg_series *series = &job->runner->options.run->series[job->series[i]];

		if (!job->failed)
			series->state = job->interrupted ? FG_INTERRUPTED : FG_MEASURED;
		else if (series != first)
			fail_like(series, first);
		if (job->has_cases)
			complete_case(job, series);
		if (job->cost_count)
			series->sampler_cost = exp(median(job->cost_ratios, job->cost_count)) - 1;
	}
	fg_process_end_kept();
	fg_executor_release(&job->executor);
	fg_extractor_free(job->extractor);
	for (size_t i = 0; i < job->note_count; i++)
		free(job->notes[i]);
	free(job->cost_ratios);
	free(job->series);
	job->runner->busy = false;
	free(job);
}

/* ---- shards ---- */

int fg_shard_parse(const char *text, unsigned *index, unsigned *count, struct fg_error *err)
{
	char *rest = NULL;
	const unsigned long found_index = strtoul(text, &rest, 10);
	const unsigned long found_count = *rest == '/' ? strtoul(rest + 1, &rest, 10) : 0;

	if (*rest || strspn(text, "0123456789/") != strlen(text) || found_index < 1 ||
	    found_index > found_count || found_count > SHARDS_MAX)
		return fg_error_set(err, FG_EINVAL,
				    "'%s' is not a shard: write 2/8 for the second of eight", text);
	*index = (unsigned)found_index;
	*count = (unsigned)found_count;
	return FG_OK;
}

bool fg_shard_contains(const char *benchmark, unsigned index, unsigned count)
{
	return fg_hash64(benchmark, strlen(benchmark), 0) % count == index - 1;
}
