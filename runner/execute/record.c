// SPDX-License-Identifier: Apache-2.0
/* Turns executions into repetitions of a series: their values, and whether they count. */
#include "base/clock.h"
#include "base/fs.h"
#include "runner/job.h"

#include <math.h>

/* Limits fixed in advance: none depends on a program's duration. */
static const double overlap_min = 0.8;
static const double steal_max = 0.5;
static const double single_thread_min = 0.9; /* main thread's share of all CPU time */
static const double one_cpu_max = 1.05;
enum {
	STEAL_TICKS_MIN = 5 /* shorter runs have too few ticks for a meaningful share */
};

static double timeval_ns(struct timeval time)
{
	return (double)time.tv_sec * (double)FG_NS_PER_S +
	       (double)time.tv_usec * (double)FG_NS_PER_US;
}

static void fill_values(const struct fg_executor *executor, const struct fg_target *target,
			const struct fg_execution *execution, double *values)
{
	const struct rusage *usage = &execution->result.usage;
	const double user_ns = timeval_ns(usage->ru_utime);
	const double system_ns = timeval_ns(usage->ru_stime);
	const double builtin[FG_METRIC_BUILTIN_COUNT] = {
		[FG_METRIC_CPU_TIME] = user_ns + system_ns,
		[FG_METRIC_WALL_TIME] = (double)execution->result.wall_ns,
		[FG_METRIC_USER_TIME] = user_ns,
		[FG_METRIC_SYSTEM_TIME] = system_ns,
		[FG_METRIC_MAX_RSS] = (double)usage->ru_maxrss * 1024,
		[FG_METRIC_MINOR_FAULTS] = (double)usage->ru_minflt,
		[FG_METRIC_MAJOR_FAULTS] = (double)usage->ru_majflt,
		[FG_METRIC_VOLUNTARY_SWITCHES] = (double)usage->ru_nvcsw,
		[FG_METRIC_INVOLUNTARY_SWITCHES] = (double)usage->ru_nivcsw,
		[FG_METRIC_BLOCKS_READ] = (double)usage->ru_inblock,
		[FG_METRIC_BLOCKS_WRITTEN] = (double)usage->ru_oublock,
		[FG_METRIC_BINARY_SIZE] = target->binary_size,
	};

	memcpy(values, builtin, sizeof(builtin));
	memcpy(values + FG_METRIC_BUILTIN_COUNT, execution->user_values,
	       executor->user_metric_count * sizeof(double));
}

/*
 * Returns the time during which both programs ran, as a share of the shorter run. A share of the
 * longer run would measure the slowdown of one program, and real slowdowns would be set aside.
 */
static double overlap(const struct fg_execution *a, const struct fg_execution *b)
{
	const int64_t begin = a->result.started_ns > b->result.started_ns ? a->result.started_ns
									  : b->result.started_ns;
	const int64_t end =
		a->result.ended_ns < b->result.ended_ns ? a->result.ended_ns : b->result.ended_ns;
	const int64_t shorter =
		a->result.wall_ns < b->result.wall_ns ? a->result.wall_ns : b->result.wall_ns;

	return end > begin && shorter > 0 ? (double)(end - begin) / (double)shorter : 0;
}

static bool was_stolen(const struct fg_execution *execution)
{
	const double steal = fg_observed_steal(&execution->before, &execution->after);

	return execution->after.all_ticks - execution->before.all_ticks >= STEAL_TICKS_MIN &&
	       steal > steal_max;
}

/* Returns the reasons to set a complete block aside. */
static uint16_t aside_of(const struct fg_pass *pass)
{
	const struct fg_execution *executions = pass->executions;
	uint16_t aside = pass->block->aside;

	if (pass->block->concurrent && overlap(&executions[0], &executions[1]) < overlap_min)
		aside |= FG_ASIDE_OVERLAP;
	for (size_t i = 0; i < pass->block->count; i++) {
		if (was_stolen(&executions[i]))
			aside |= FG_ASIDE_STEAL;
		if (pass->block->concurrent && executions[i].result.left_children)
			aside |= FG_ASIDE_STRAY;
	}
	return aside;
}

/* The repetition starts as unpaired, because its block is not complete yet and may never be. */
static struct fg_repetition *add_repetition(const struct fg_pass *pass, struct fg_series *series,
					    size_t slot)
{
	const struct fg_block *block = pass->block;
	const struct fg_execution *execution = &pass->executions[slot];
	struct fg_repetition *repetition = fg_series_add_repetition(series);

	repetition->pair = pass->job->next_pair;
	repetition->arm = (uint8_t)block->slots[slot].arm;
	repetition->position = (uint8_t)slot;
	repetition->aside = block->aside | FG_ASIDE_UNPAIRED;
	repetition->cpu = (int16_t)block->cpu;
	repetition->padding = block->slots[slot].padding;
	repetition->sampled = block->slots[slot].sampled;
	repetition->started_ns = execution->started_wall_ns;
	repetition->period_ns = repetition->sampled ? block->period_ns : 0;
	repetition->load = (float)execution->before.load;
	repetition->steal = (float)fg_observed_steal(&execution->before, &execution->after);
	repetition->pressure = (float)fg_observed_pressure(&execution->before, &execution->after);
	return repetition;
}

static void add_cost(const struct fg_pass *pass)
{
	struct fg_runner_job *job = pass->job;
	double cpu_ns[2] = {0, 0}; /* unsampled, sampled */

	for (size_t i = 0; i < pass->block->count; i++) {
		const struct rusage *usage = &pass->executions[i].result.usage;

		cpu_ns[pass->block->slots[i].sampled] +=
			timeval_ns(usage->ru_utime) + timeval_ns(usage->ru_stime);
	}
	if (!(cpu_ns[0] > 0) || !(cpu_ns[1] > 0))
		return;
	FG_APPEND(job->cost_ratios, job->cost_count, job->cost_capacity) =
		log(cpu_ns[1] / cpu_ns[0]);
}

/*
 * Returns the share of its run time during which a program kept one CPU busy, and no more than one
 * CPU; 0: several threads or processes. Uses the kernel's record of how long the main thread ran
 * and waited for a CPU; without that record, uses wall time.
 */
static double busy_share(const struct fg_process_result *result)
{
	const double cpu_ns =
		timeval_ns(result->usage.ru_utime) + timeval_ns(result->usage.ru_stime);
	const double wall_ns = (double)result->wall_ns;
	const double leader_ns = (double)result->leader_cpu_ns;
	const double active_ns = wall_ns - (double)result->leader_wait_ns;

	if (!(cpu_ns > 0) || !(wall_ns > 0))
		return 0;
	if (leader_ns >= single_thread_min * cpu_ns && active_ns > 0)
		return fmin(1, cpu_ns / active_ns);
	/*
	 * A wrapper that starts the real program: use the total CPU time, unless it exceeds the
	 * wall time.
	 */
	return cpu_ns <= one_cpu_max * wall_ns ? fmin(1, cpu_ns / wall_ns) : 0;
}

/* ---- cases of a harness ---- */

static struct fg_series *series_at(const struct fg_runner_job *job, size_t index)
{
	return &job->runner->options.run->series[job->series[index]];
}

/* Adds a series, or reuses the first series if it has no case yet. */
static size_t add_case_series(struct fg_runner_job *job, const char *name)
{
	struct fg_run *run = job->runner->options.run;

	if (!job->has_cases) {
		struct fg_series *first = fg_job_series(job);

		free(first->name);
		first->name = fg_xstrdup(name);
		job->has_cases = true;
		return 0;
	}
	(void)fg_run_add_series(run, name);
	job->series = fg_xreallocarray(job->series, job->series_count + 1, sizeof(job->series[0]));
	job->series[job->series_count] = run->series_count - 1;
	return job->series_count++;
}

static size_t find_case_series(struct fg_runner_job *job, const char *case_name)
{
	char *name = fg_xasprintf("%s/%s", job->benchmark->name, case_name);
	size_t index = 0;

	while (index < job->series_count && strcmp(series_at(job, index)->name, name) != 0)
		index++;
	if (index == job->series_count)
		index = add_case_series(job, name);
	free(name);
	return index;
}

static void set_case_value(struct fg_series *series, struct fg_repetition *repetition,
			   const struct fg_harness_value *value)
{
	size_t index = fg_series_find_metric(series, value->metric);

	if (index == SIZE_MAX) {
		const struct fg_metric metric = {
			.name = value->metric,
			.label = value->metric,
			.unit = value->unit,
			.better = value->better,
			.valid_in_duet = true,
			.min_effect = 0.02,
			.margin = 0.02,
		};

		index = fg_series_add_metric(series, &metric);
	}
	repetition->values[index] = value->value;
}

static void record_cases(const struct fg_pass *pass, size_t slot)
{
	const struct fg_harness_report *report = &pass->executions[slot].report;

	for (size_t i = 0; i < report->case_count; i++) {
		const struct fg_harness_case *found = &report->cases[i];
		const size_t index = find_case_series(pass->job, found->name);
		struct fg_series *series = series_at(pass->job, index);
		struct fg_repetition *repetition = add_repetition(pass, series, slot);

		for (size_t k = 0; k < found->value_count; k++)
			set_case_value(series, repetition, &found->values[k]);
	}
}

/* ---- whole repetitions ---- */

static void record_whole(const struct fg_pass *pass, size_t slot)
{
	const struct fg_executor *executor = &pass->job->executor;
	struct fg_repetition *repetition = add_repetition(pass, fg_job_series(pass->job), slot);

	fill_values(executor, &executor->targets[repetition->arm], &pass->executions[slot],
		    repetition->values);
}

/* Returns the index of the current block's first repetition. */
static size_t block_begin(const struct fg_runner_job *job, const struct fg_series *series)
{
	size_t begin = series->repetition_count;

	while (begin > 0 && series->repetitions[begin - 1].pair == job->next_pair)
		begin--;
	return begin;
}

/* Decides whether a complete block, whose programs all succeeded, counts. */
static void settle_block(struct fg_pass *pass)
{
	struct fg_runner_job *job = pass->job;
	const struct fg_block *block = pass->block;
	const uint16_t aside = aside_of(pass);

	for (size_t k = 0; k < job->series_count; k++) {
		struct fg_series *series = series_at(job, k);

		for (size_t i = block_begin(job, series); i < series->repetition_count; i++)
			series->repetitions[i].aside = aside;
	}
	for (size_t i = 0; i < block->count && !block->concurrent; i++)
		job->busy[block->slots[i].arm] = busy_share(&pass->executions[i].result);
	job->last_aside = aside;
	if (block->aside & FG_ASIDE_UNSAMPLED)
		add_cost(pass);
	pass->counts = aside == 0;
}

/* Hands over the next repetition of the last step, if any. */
bool fg_job_hand_over(struct fg_pass *pass, struct fg_runner_event *event)
{
	const struct fg_runner_job *job = pass->job;

	for (; pass->to_hand_over && pass->series < job->series_count;
	     pass->series++, pass->repetition = 0) {
		const struct fg_series *series = series_at(job, pass->series);
		size_t i = block_begin(job, series) + pass->repetition;

		for (; i < series->repetition_count; i++) {
			const size_t slot = series->repetitions[i].position;

			pass->repetition++;
			if (slot < pass->first || slot >= pass->next)
				continue;
			event->series = job->series[pass->series];
			event->repetition = i;
			event->trace_folder = pass->executions[slot].trace_folder;
			return true;
		}
	}
	pass->to_hand_over = false;
	return false;
}

void fg_job_record(struct fg_pass *pass)
{
	const size_t first = pass->first;
	const size_t count = pass->next - pass->first;
	struct fg_runner_job *job = pass->job;
	const bool has_harness = job->benchmark->harness != FG_HARNESS_NONE;
	size_t well = 0;

	for (size_t i = first; i < first + count; i++) {
		if (pass->executions[i].result.left_children)
			fg_job_note(
				job,
				"the program left processes running, which were ended and whose "
				"time is not counted");
		if (!pass->executions[i].user_values)
			continue; /* the program failed */
		well++;
		if (pass->executions[i].trace_folder && (pass->block->aside & FG_ASIDE_WARMUP))
			fg_sample_costs_add(pass->executions[i].trace_folder, &job->sample_cost);
		if (has_harness)
			record_cases(pass, i);
		else
			record_whole(pass, i);
	}
	/* A block ends with the first slot that fails, so all slots before it succeeded. */
	if (well == count && first + count == pass->block->count)
		settle_block(pass);
	pass->to_hand_over = true;
	pass->series = 0;
	pass->repetition = 0;
}
