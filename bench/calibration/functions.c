// SPDX-License-Identifier: Apache-2.0
/*
 * Decisions about functions on recorded profiles of a program of 219 functions.
 *
 *	bench_calibration_functions FOLDER CONDITION VARIANT BASELINE CANDIDATE PAIRS DECISIONS
 *
 * Measures PAIRS duet pairs with the sampler on, then takes DECISIONS decisions, each on two thirds of the pairs, drawn without
 * replacement (variant 0: with the arms of each pair swapped at random).  The counts go to FOLDER/functions.CONDITION.VARIANT.txt
 * for the card; a file that is there already is left alone.
 */
#include "base/clock.h"
#include "base/fs.h"
#include "base/number.h"
#include "base/random.h"
#include "gate/gate.h"
#include "profile/ingest.h"
#include "runner/runner.h"

#include <math.h>

struct session {
	struct fg_run run;
	struct fg_profile_set set;
	struct fg_symbolizer *symbolizer;
	struct fg_measure measure;
	struct fg_policy policy;
};

struct counts {
	size_t decisions;
	size_t any_flag;   /* a function was called slower */
	size_t right_flag; /* the one that is */
	size_t first;      /* and it stands first */
	size_t path_first; /* through the right caller */
	size_t moved;      /* the change was called moved */
	size_t tested;     /* functions, over all decisions */
};

static int on_repetition(void *context, size_t series, size_t repetition, const char *trace_folder,
			 struct fg_error *err)
{
	struct session *session = context;
	const struct fg_repetition *r = &session->run.series[series].repetitions[repetition];
	const struct fg_ingest_row row = {.arm = r->arm, .pair = r->pair, .aside = r->aside};

	if (!trace_folder)
		return FG_OK;
	return fg_profile_ingest(&session->set, trace_folder, session->symbolizer, &row, NULL, err);
}

static int measure(struct session *session, char **programs, unsigned pairs, struct fg_error *err)
{
	char *argv[2][2] = {
		{programs[0], NULL},
                {programs[1], NULL}
        };
	struct fg_benchmark benchmark = {
		.name = "many",
		.command = {.text = programs[1], .argv = argv[1], .argc = 1},
		.baseline_command = {.text = programs[0], .argv = argv[0], .argc = 1},
		.timeout_ns = 120 * FG_NS_PER_S,
		.measure = session->measure,
	};
	struct fg_runner_options options = {
		.run = &session->run,
		.roots = {".", "."},
		.state_folder = "build/calibration-state",
		.context = session,
		.on_repetition = on_repetition
        };
	enum fg_runner_state state = FG_RUNNER_FAILED;
	struct fg_runner_job *job = NULL;
	struct fg_runner *runner = NULL;
	int status;

	benchmark.measure.schedule = FG_SCHEDULE_DUET;
	benchmark.measure.max_pairs = pairs;
	benchmark.measure.budget_ns = 3600 * FG_NS_PER_S;
	benchmark.measure.sampler.unsampled_share = 0.0;
	session->run.seed = (uint64_t)fg_clock_wall_ns();
	status = fg_runner_create(&options, &runner, err);
	if (status == FG_OK)
		status = fg_runner_start(runner, &benchmark, &job, err);
	if (status == FG_OK) {
		status = fg_runner_measure(job, pairs, &state, err);
		fg_runner_finish(job);
	}
	fg_runner_free(runner);
	if (status == FG_OK && state == FG_RUNNER_FAILED)
		status = fg_error_set(err, FG_ECHILD, "%s", session->run.series[0].failure);
	return status;
}

/* What happens to each pair number in one decision: left out, taken, or taken with its arms swapped. */
enum fate {
	OUT,
	TAKEN,
	SWAPPED,
};

static uint8_t *draw_fates(struct fg_random *random, size_t pairs, bool swap)
{
	uint8_t *fate = fg_xcalloc(pairs + 1, sizeof(fate[0]));
	size_t wanted = pairs * 2 / 3;
	size_t left = pairs;

	for (size_t i = 0; i < pairs; i++, left--) {
		if (fg_random_below(random, left) >= wanted)
			continue;
		fate[i] = swap && fg_random_below(random, 2) ? SWAPPED : TAKEN;
		wanted--;
	}
	return fate;
}

/* Write the fates into the repetitions and rows; a second call with the same fates takes a swap back. */
static void apply_fates(struct session *session, const uint8_t *fate, uint16_t aside)
{
	struct fg_series *series = &session->run.series[0];

	for (size_t i = 0; i < series->repetition_count; i++) {
		struct fg_repetition *r = &series->repetitions[i];

		if (fate[r->pair] == SWAPPED)
			r->arm = (uint8_t)(1 - r->arm);
		if (fate[r->pair] == OUT)
			r->aside = (uint16_t)(r->aside ^ aside);
	}
	for (size_t i = 0; i < session->set.row_count; i++) {
		struct fg_profile_row *row = &session->set.rows[i];

		if (fate[row->pair] == SWAPPED)
			row->arm = (uint8_t)(1 - row->arm);
		if (fate[row->pair] == OUT)
			row->aside = (uint16_t)(row->aside ^ aside);
	}
}

static void count_verdict(const struct fg_benchmark_verdict *b, const char *culprit,
			  struct counts *counts)
{
	bool any = false;

	for (size_t i = 0; i < b->function_count; i++) {
		const struct fg_node_verdict *f = &b->functions[i];
		bool right = strcmp(f->name, culprit) == 0;

		if (f->outcome != FG_OUTCOME_REGRESSION)
			continue;
		any = true;
		counts->right_flag += right;
		counts->first += right && i == 0;
		counts->path_first +=
			right && i == 0 && f->path_count > 0 && f->paths[0].frame_count > 1 &&
			strcmp(f->paths[0].frames[f->paths[0].frame_count - 2], "caller_b") == 0;
	}
	counts->any_flag += any;
	counts->moved += b->moved_count > 0;
	counts->tested += b->functions_tested;
	counts->decisions++;
}

static void decide(struct session *session, size_t decisions, bool swap, const char *culprit,
		   struct counts *counts)
{
	const struct fg_profile_set *sets[1] = {&session->set};
	struct fg_gate_input input = {.run = &session->run,
				      .profiles = sets,
				      .policy = &session->policy,
				      .measure = &session->measure};
	size_t pairs = fg_series_pair_end(&session->run.series[0]);
	struct fg_random random;

	fg_random_seed(&random, 1);
	session->run.has_baseline = true;
	session->run.series[0].identical = false;
	for (size_t i = 0; i < decisions; i++) {
		uint8_t *fate = draw_fates(&random, pairs, swap);
		struct fg_verdict verdict = {0};

		apply_fates(session, fate, FG_ASIDE_STEAL);
		session->run.seed = i + 1;
		if (fg_gate_decide(&input, &verdict, NULL) == FG_OK)
			count_verdict(&verdict.benchmarks[0], culprit, counts);
		fg_verdict_release(&verdict);
		apply_fates(session, fate, FG_ASIDE_STEAL);
		free(fate);
	}
}

static int write_counts(const char *path, const struct session *session,
			const struct counts *counts)
{
	FILE *file = fopen(path, "w");
	const struct fg_series *series = &session->run.series[0];
	double load = 0.0;

	if (!file)
		return 1;
	for (size_t i = 0; i < series->repetition_count; i++)
		load += (double)series->repetitions[i].load / (double)series->repetition_count;
	(void)fprintf(file, "%zu %zu %zu %zu %zu %zu %zu %u %.2f\n", counts->decisions,
		      counts->any_flag, counts->right_flag, counts->first, counts->path_first,
		      counts->moved, counts->decisions ? counts->tested / counts->decisions : 0,
		      fg_series_pair_end(series) * 2 / 3, load);
	return fclose(file) == 0 ? 0 : 1;
}

static int calibrate(char **argv, int64_t pairs, int64_t decisions, const char *path)
{
	struct session session = {0};
	struct counts counts = {0};
	struct fg_error err = {0};
	bool swap = strcmp(argv[3], "0") == 0;
	int status;

	fg_run_init(&session.run);
	fg_profile_set_init(&session.set, "many");
	fg_measure_defaults(&session.measure);
	fg_policy_defaults(&session.policy);
	session.symbolizer = fg_symbolizer_new(&(struct fg_symbolizer_options){0});
	status = measure(&session, argv + 4, (unsigned)pairs, &err);
	if (status == FG_OK) {
		decide(&session, (size_t)decisions, swap,
		       strcmp(argv[3], "2") == 0 ? "shared" : "hot", &counts);
		status = write_counts(path, &session, &counts);
	} else {
		(void)fprintf(stderr, "%s: %s\n", argv[0], err.message);
	}
	fg_symbolizer_free(session.symbolizer);
	fg_profile_set_release(&session.set);
	fg_run_release(&session.run);
	return status == FG_OK ? 0 : 1;
}

int main(int argc, char **argv)
{
	int64_t pairs = 0;
	int64_t decisions = 0;
	char *path;
	FILE *file;
	int status = 0;

	if (argc != 8 || fg_parse_int64(argv[6], &pairs, NULL) != FG_OK ||
	    fg_parse_int64(argv[7], &decisions, NULL) != FG_OK || pairs < 10 || pairs > 10000 ||
	    decisions < 1 || decisions > 1000000) {
		(void)fprintf(
			stderr,
			"usage: %s FOLDER CONDITION VARIANT BASELINE CANDIDATE PAIRS DECISIONS\n",
			argv[0]);
		return 2;
	}
	path = fg_xasprintf("%s/functions.%s.%s.txt", argv[1], argv[2], argv[3]);
	file = fopen(path, "r");
	if (file)
		(void)fclose(file);
	else
		status = calibrate(argv, pairs, decisions, path);
	free(path);
	return status;
}
