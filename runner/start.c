// SPDX-License-Identifier: Apache-2.0
/*
 * Prepares a job for its first execution: its series and arms, the sampler, and the facts about
 * both builds.
 */
#include "base/clock.h"
#include "base/fs.h"
#include "base/text.h"
#include "model/build_difference.h"
#include "runner/execute/preload.h"
#include "runner/facts/binary.h"
#include "runner/facts/build_info.h"
#include "runner/job.h"
#include "runner/target.h"

#include <math.h>

enum {
	/* CPU time below which the sampled share is meaningless */
	COVERED_MIN_MS = 10,
};

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

static void resume_pair(struct fg_runner_job *job, uint16_t aside)
{
	job->pairs++;
	job->counting += aside == 0;
	if (aside & (FG_ASIDE_GIVEN_UP | FG_ASIDE_ONE_LAYOUT))
		job->given_up = job->pairs;
	else
		job->apart = job->apart << 1 | ((aside & FG_ASIDE_APART) != 0);
}

/* Restores the counters from the repetitions of an earlier session. */
static void resume(struct fg_runner_job *job)
{
	const struct fg_series *series = fg_job_series(job);
	uint32_t last = UINT32_MAX;

	job->next_pair = fg_series_pair_end(series);
	for (size_t i = 0; i < series->repetition_count; i++) {
		const struct fg_repetition *repetition = &series->repetitions[i];

		if (repetition->pair == last ||
		    (repetition->aside & (FG_ASIDE_TRIAL | FG_ASIDE_UNPAIRED)))
			continue;
		last = repetition->pair;
		if (repetition->aside & FG_ASIDE_WARMUP)
			continue; /* every session warms up */
		if (repetition->aside & FG_ASIDE_SOLO)
			job->solos++;
		else if (repetition->aside & FG_ASIDE_UNSAMPLED)
			job->costs++;
		else
			resume_pair(job, repetition->aside);
	}
	if (job->benchmark->measure.until_sure) {
		job->earlier_seconds = series->seconds;
		job->earlier_counting = job->counting;
		job->earlier_pairs = job->pairs;
	}
}

/* Finds the series of an earlier session: this benchmark's own, or one per case of its harness. */
static void find_series(struct fg_runner_job *job)
{
	const struct fg_run *run = job->runner->options.run;

	for (size_t i = 0; i < run->series_count; i++) {
		const char *found = run->series[i].name;
		const bool is_case = fg_benchmark_case(job->benchmark, found) != NULL;

		if (!is_case && strcmp(found, job->benchmark->name) != 0)
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

/* Determines which arms exist, and so which schedules are possible. */
static void settle_arms(struct fg_runner_job *job)
{
	struct fg_target *targets = job->executor.targets;
	struct fg_series *series = fg_job_series(job);

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

	for (size_t arm = 0; arm < FG_ARM_COUNT && status == FG_OK; arm++) {
		/* Both commands run in one folder, which the baseline's set-up has prepared. */
		if (arm == FG_ARM_CANDIDATE && targets[0].command &&
		    strcmp(targets[0].working_directory, targets[1].working_directory) == 0)
			break;
		status = fg_execute_helper(&job->executor, (enum fg_arm)arm, setup, "setup",
					   &failure, err);
	}
	if (failure.text)
		fg_job_fail(job, &failure);
	job->interrupted |= status == FG_EINTERRUPTED;
	fg_failure_release(&failure);
	return status;
}

void fg_job_init(struct fg_runner_job *job)
{
	const struct fg_runner_options *options = &job->runner->options;
	const struct fg_benchmark *benchmark = job->benchmark;

	fg_executor_init(&job->executor, options->host_root);
	job->executor.interrupted = options->interrupted;
	job->executor.launcher = job->runner->launcher;
	job->executor.collector = job->runner->collector;
	job->executor.traces_folder = job->runner->traces_folder;
	job->executor.user_metric_count = benchmark->metric_count;
	for (size_t arm = 0; arm < FG_ARM_COUNT; arm++) {
		fg_target_init(&job->executor.targets[arm], (enum fg_arm)arm, benchmark,
			       options->roots[arm]);
		job->executor.targets[arm].checkout = options->checkouts[arm];
	}
	job->rules = (struct fg_schedule_rules){
		.seed = fg_schedule_seed(options->run->seed, benchmark->name),
		.cpus = job->runner->cpus,
		.cpu_count = job->runner->cpu_count,
		.pin = benchmark->measure.pin,
		.rate_hz = benchmark->measure.sampler.rate_hz,
	};
	add_series(job);
}

/* Is the program part of the project? An installed interpreter is not, and may be stripped. */
static bool is_of_project(const struct fg_runner_job *job, const char *program)
{
	char *root = realpath(job->runner->options.roots[FG_ARM_CANDIDATE], NULL);
	char *whole = realpath(program, NULL);
	const bool found = root && whole && fg_text_starts_with(whole, root);

	free(whole);
	free(root);
	return found;
}

/* A profile of a stripped program has addresses instead of names: no function can be blamed. */
static void note_stripped(struct fg_runner_job *job)
{
	const struct fg_target *target = &job->executor.targets[FG_ARM_CANDIDATE];
	struct fg_binary binary = {0};
	char *kept = NULL;
	char *note = NULL;

	if (!target->program || target->is_shell || target->is_wrapper ||
	    !is_of_project(job, target->program) ||
	    fg_binary_read(target->program, &binary, NULL) != FG_OK)
		return;
	if (strlen(binary.build_id) > 2)
		kept = fg_xasprintf("/usr/lib/debug/.build-id/%.2s/%s.debug", binary.build_id,
				    binary.build_id + 2);
	note = fg_xasprintf(
		"%s has no symbols, so no function can be named: link the program without -s and "
		"do not strip it, or keep its debug file%s%s",
		fg_fs_base_name(target->program), kept ? " in " : "", kept ? kept : "");
	if (!binary.has_symbols && !binary.has_debug_info && !(kept && fg_fs_exists(kept)))
		fg_job_note(job, note);
	free(note);
	free(kept);
	fg_binary_release(&binary);
}

/*
 * Samples both arms or neither, because the sampler's cost must be the same in both. A harness
 * chooses its own number of repetitions, so its profile would only show how long it ran.
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
	if (possible || fg_targets_are_outside(targets)) {
		note_stripped(job); /* a static program is sampled from outside, after the pairs */
	} else {
		(void)snprintf(note, sizeof(note),
			       "the program runs without the sampler, so there is no profile: %s",
			       err.message);
		fg_job_note(job, note);
	}
	job->rules.sampled = possible;
}

/*
 * If no rate is set, takes as many samples as the budget allows at the costs known so far; the wall
 * clock has a fixed rate. A resumed run keeps its rate.
 */
void fg_job_settle_rate(struct fg_runner_job *job)
{
	const struct fg_sampler *sampler = &job->benchmark->measure.sampler;
	struct fg_sampling *sampling = &fg_job_series(job)->sampling;

	if (!job->rules.sampled)
		return;
	if (sampler->rate_hz) {
		sampling->rate_hz = sampler->rate_hz;
		sampling->expected_cost = (double)NAN;
	} else if (sampler->clock == FG_SAMPLE_WALL) {
		sampling->rate_hz = FG_RATE_AUTO_WALL_HZ;
		sampling->expected_cost = (double)NAN;
	} else if (!(sampling->budget > 0) || job->sample_cost.samples) {
		fg_sampling_settle(&job->sample_cost, sampler->budget, sampling);
	}
	job->rules.rate_hz = (unsigned)sampling->rate_hz;
}

static int report_other_build(const struct fg_runner_job *job, size_t arm, const char *part,
			      const char *was, const char *is, struct fg_error *err)
{
	return fg_error_set(
		err, FG_EINVAL,
		"the %s of benchmark '%s' has changed since this run began (%s was %s, is %s): "
		"measure again without --resume",
		arm == FG_ARM_BASELINE ? "baseline" : "candidate", job->benchmark->name, part,
		was ? was : "absent", is ? is : "absent");
}

/*
 * Measurements of one program say nothing about another program: a series is resumed only with the
 * binaries with which it began. A program without a build-id is identified by its size.
 */
static int check_same_build(const struct fg_runner_job *job, size_t arm,
			    const struct fg_build_facts *now, struct fg_error *err)
{
	const struct fg_build_facts *then = &fg_job_series(job)->build[arm];
	struct fg_library_pair pair = {.builds = {then, now}};

	if (strcmp(then->id ? then->id : "", now->id ? now->id : "") != 0)
		return report_other_build(job, arm, "build.id", then->id, now->id, err);
	if (strcmp(then->size ? then->size : "", now->size ? now->size : "") != 0)
		return report_other_build(job, arm, "build.size", then->size, now->size, err);
	while (fg_library_pair_next(&pair)) {
		const char *was = pair.sides[0] ? pair.sides[0]->identity : NULL;
		const char *is = pair.sides[1] ? pair.sides[1]->identity : NULL;

		if (!fg_library_pair_is_same(&pair))
			return report_other_build(job, arm, fg_library_pair_name(&pair), was, is,
						  err);
	}
	return FG_OK;
}

static bool is_identical(const struct fg_target targets[FG_ARM_COUNT],
			 const struct fg_series *series)
{
	const struct fg_target *a = &targets[FG_ARM_BASELINE];
	const struct fg_target *b = &targets[FG_ARM_CANDIDATE];
	const struct fg_build_facts *build_a = &series->build[FG_ARM_BASELINE];
	const struct fg_build_facts *build_b = &series->build[FG_ARM_CANDIDATE];

	return a->command && b->command &&
	       (fg_build_is_identical(a, b, build_a, build_b) ||
		fg_build_loads_the_same(a, b, build_a, build_b));
}

/*
 * Records the builds of both arms, or checks that they are the builds with which the series began.
 */
static int capture_builds(struct fg_runner_job *job, struct fg_error *err)
{
	const struct fg_target *targets = job->executor.targets;
	struct fg_series *series = fg_job_series(job);
	int status = FG_OK;

	for (size_t arm = 0; arm < FG_ARM_COUNT && status == FG_OK; arm++) {
		struct fg_build_facts now = {0};

		if (!targets[arm].command)
			continue;
		fg_build_capture(&targets[arm], &now);
		if (fg_build_facts_count(&series->build[arm]) == 0)
			fg_build_facts_copy(&series->build[arm], &now);
		else
			status = check_same_build(job, arm, &now, err);
		fg_build_facts_release(&now);
	}
	series->identical =
		!job->benchmark->measure.sampler.slowdown && is_identical(targets, series);
	return status;
}

/* Moves the reason, if any, into the series and returns FG_ECHILD; FG_OK without a reason. */
static int refuse(struct fg_runner_job *job, char *reason, struct fg_error *err)
{
	struct fg_failure failure = {.text = reason};
	int status = FG_OK;

	if (!reason)
		return FG_OK;
	status = fg_error_set(err, FG_ECHILD, "%s", reason);
	fg_job_fail(job, &failure);
	return status;
}

/* Reports that set-up is done, which is the last chance to give both sides the same inputs. */
static int report_set_up(struct fg_runner_job *job, struct fg_error *err)
{
	const struct fg_runner_options *options = &job->runner->options;
	struct fg_error found = {0};
	const int status =
		options->on_set_up ? options->on_set_up(options->context, job, &found) : FG_OK;

	return status == FG_OK ? FG_OK : refuse(job, fg_xstrdup(found.message), err);
}

/* Refuses arms of different kinds, then reports that set-up is done. Must be the first check. */
static int check_kinds(struct fg_runner_job *job, struct fg_error *err)
{
	struct fg_target *targets = job->executor.targets;

	if (!targets[FG_ARM_BASELINE].command || !targets[FG_ARM_CANDIDATE].command)
		return FG_OK;
	FG_TRY(refuse(
		job,
		fg_comparability_of_targets(&targets[FG_ARM_BASELINE], &targets[FG_ARM_CANDIDATE]),
		err));
	FG_TRY(report_set_up(job, err));
	fg_target_share_stdin(&targets[FG_ARM_BASELINE], &targets[FG_ARM_CANDIDATE]);
	return FG_OK;
}

/*
 * Refuses builds that cannot be compared. The gate reports differences that do not forbid the
 * comparison.
 */
static int check_builds(struct fg_runner_job *job, struct fg_error *err)
{
	const struct fg_target *targets = job->executor.targets;
	const struct fg_series *series = fg_job_series(job);
	struct fg_build_difference difference;
	int status = FG_OK;

	if (!targets[FG_ARM_BASELINE].command || !targets[FG_ARM_CANDIDATE].command)
		return FG_OK;
	difference = fg_build_difference_of(&series->build[FG_ARM_BASELINE],
					    &series->build[FG_ARM_CANDIDATE]);
	status = refuse(job,
			fg_comparability_of_builds(&targets[FG_ARM_BASELINE],
						   &targets[FG_ARM_CANDIDATE], &difference),
			err);
	free(difference.text);
	return status;
}

/*
 * The sampler slows down only the programs it samples. If one side's programs escape it, by a
 * static helper or a replaced environment, the other side would look slower: then both sides
 * continue without the sampler.
 */
void fg_job_settle_coverage(struct fg_runner_job *job)
{
	const struct fg_coverage *arms = job->coverage;
	const double min_ns = COVERED_MIN_MS * (double)FG_NS_PER_MS;
	char *note = NULL;

	if (!job->rules.sampled || !fg_coverage_is_one_sided(arms, min_ns))
		return;
	note = fg_xasprintf(
		"measured without the sampler, so no function is blamed: the sampler saw %.0f %% "
		"of the baseline's CPU time and %.0f %% of the candidate's, and its cost must be "
		"the same on both sides; the sampler misses a program that is static or is "
		"started with its own environment",
		100 * fg_coverage_share(&arms[FG_ARM_BASELINE], min_ns),
		100 * fg_coverage_share(&arms[FG_ARM_CANDIDATE], min_ns));
	fg_job_note(job, note);
	fg_series_remark(fg_job_series(job), FG_REMARK_UNSAMPLED, note);
	job->rules.sampled = false;
}

static int check_metrics(struct fg_runner_job *job, struct fg_error *err)
{
	if (job->benchmark->harness != FG_HARNESS_NONE && job->benchmark->metric_count > 0)
		return fg_error_set(
			err, FG_EINVAL,
			"a harness brings its own metrics: remove either 'harness' or 'metrics'");
	return fg_extractor_create(job->benchmark->metrics, job->benchmark->metric_count,
				   &job->extractor, err);
}

/* A series measured in several layouts is resumed in the same layouts, or fails. */
int fg_job_resume_layouts(struct fg_runner_job *job, struct fg_error *err)
{
	struct fg_error found = {0};

	if (fg_job_make_layouts(job, &found) == FG_OK)
		return FG_OK;
	return refuse(
		job,
		fg_xasprintf("the layouts of this benchmark no longer exist (%s): measure again "
			     "without --resume",
			     found.message),
		err);
}

static void reread_files(const struct fg_runner_job *job)
{
	for (size_t arm = 0; arm < FG_ARM_COUNT; arm++) {
		const struct fg_target *target = &job->executor.targets[arm];
		const struct fg_build_facts *build = &fg_job_series(job)->build[arm];

		if (!target->command)
			continue;
		fg_target_reread(target);
		for (size_t i = 0; i < build->library_count; i++) {
			const char *place = build->libraries[i].place;
			char *path = place ? fg_fs_join(target->checkout, place) : NULL;

			if (path)
				fg_fs_cache_again(path);
			free(path);
		}
	}
}

int fg_job_prepare(struct fg_runner_job *job, struct fg_error *err)
{
	struct fg_error found = {0};

	if (check_metrics(job, &found) != FG_OK)
		return refuse(job, fg_xstrdup(found.message), err);
	job->executor.extractor = job->extractor;
	FG_TRY(setup_arms(job, err));
	settle_arms(job);
	FG_TRY(check_kinds(job, err));
	settle_sampler(job);
	job->keeps_rate = fg_job_series(job)->sampling.budget > 0;
	fg_job_settle_rate(job);
	FG_TRY(capture_builds(job, err));
	reread_files(job);
	/* Set the command after the build's own facts, which are captured only once. */
	if (job->benchmark->setup.argc && fg_process_has_kept())
		fg_build_facts_put(&fg_job_series(job)->build[FG_ARM_CANDIDATE].setup,
				   job->benchmark->setup.text);
	return check_builds(job, err);
}
