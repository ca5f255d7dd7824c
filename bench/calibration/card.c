// SPDX-License-Identifier: Apache-2.0
/*
 * The calibration card: how often the gate errs, and what it sees, on recorded pairs of real programs.
 *
 *	bench_calibration_card FOLDER [DECISIONS]
 *
 * Prints the card, and writes card.json and card.svg into FOLDER.  A goal that is missed is shown as missed, a row
 * without recordings as not measured.
 */
#include "bench/calibration/card.h"

#include "base/number.h"
#include "bench/calibration/replay.h"
#include "stats/sample.h"

#include <math.h>

static const char *const kinds[] = {"integer", "memory", "allocation", "interpreter"};
static const char *const conditions[] = {"asfound", "busy1", "busy3"};

/* One row of the goals table. */
struct question {
	const char *name;
	const char *setting;
	int permille;
	const char *schedule;
	unsigned max_pairs;
	double min_effect;
	double margin;
	enum fg_outcome outcome; /* that is counted */
	bool at_least;
	double goal;
	unsigned median_goal; /* pairs; 0: none */
};

static const struct question questions[] = {
	{"identical programs FAIL", "duet, defaults",                        0,  "duet", 80,  -1.0,   -1.0,
	 FG_OUTCOME_REGRESSION,												     false, 0.01, 0 },
	{"identical programs FAIL", "duet, min_effect 0",                    0,  "duet", 80,  0.0,    0.02,
	 FG_OUTCOME_REGRESSION,												     false, 0.01, 0 },
	{"identical programs FAIL", "ABBA, min_effect 0",                    0,  "abba", 50,  0.0,    0.02,
	 FG_OUTCOME_REGRESSION,												     false, 0.01, 0 },
	{"+2 % FAIL",               "duet, defaults",                        20, "duet", 80,  -1.0,   -1.0,  FG_OUTCOME_REGRESSION, true,
	 0.99,																   25},
	{"+2 % FAIL",               "duet, min_effect 1 %, margin 2 %",      20, "duet", 80,  0.01,   0.02,
	 FG_OUTCOME_REGRESSION,												     true,  0.99, 25},
	{"+1 % FAIL",               "duet, min_effect 0.5 %, margin 1 %",    10, "duet", 80,  0.005,  0.01,
	 FG_OUTCOME_REGRESSION,												     true,  0.90, 0 },
	{"+0.5 % FAIL",             "duet, min_effect 0.25 %, margin 0.5 %", 5,  "duet", 300, 0.0025, 0.005,
	 FG_OUTCOME_REGRESSION,												     true,  0.90, 0 },
	{"+5 % FAIL",               "duet, defaults",                        50, "duet", 80,  -1.0,   -1.0,  FG_OUTCOME_REGRESSION, true,
	 0.99,																   0 },
	{"+5 % FAIL",               "ABBA, defaults, 50 blocks",             50, "abba", 50,  -1.0,   -1.0,
	 FG_OUTCOME_REGRESSION,												     true,  0.90, 0 },
	{"identical programs PASS", "duet, defaults",                        0,  "duet", 80,  -1.0,   -1.0,  FG_OUTCOME_PASS,
	 true,															     0.99, 0 },
	{"+2 % PASS",               "duet, defaults",                        20, "duet", 80,  -1.0,   -1.0,  FG_OUTCOME_PASS,       false, 0.01,
	 0																	 },
};

/* What the recordings of one question and condition gave. */
struct tally {
	size_t hits;
	size_t trials;
	double *pairs; /* of each trial */
	double load;
	size_t recordings;
	size_t recorded_pairs;
};

static struct fg_policy policy_of(const struct question *q, struct fg_metric_policy *row)
{
	struct fg_policy policy;

	fg_policy_defaults(&policy);
	if (q->min_effect >= 0.0) {
		*row = fg_policy_metric(&policy, "cpu_time");
		row->min_effect = q->min_effect;
		row->margin = q->margin;
		policy.metrics = row;
		policy.metric_count = 1;
	}
	return policy;
}

static void replay_recording(const struct question *q, const struct recording *recording,
			     size_t decisions, struct fg_random *random, struct tally *tally)
{
	struct fg_metric_policy row;
	struct fg_policy policy = policy_of(q, &row);
	struct replay replay = {.recording = recording,
				.policy = &policy,
				.max_pairs = q->max_pairs,
				.swap = q->permille == 0};

	for (size_t i = 0; i < decisions; i++) {
		struct decision d = replay_decide(&replay, random);

		tally->hits += d.outcome == q->outcome || (q->outcome == FG_OUTCOME_PASS &&
							   d.outcome == FG_OUTCOME_IMPROVEMENT);
		tally->pairs[tally->trials++] = d.pairs;
	}
	tally->load += recording->load;
	tally->recordings++;
	tally->recorded_pairs += recording->pairs;
}

static void ask(const char *folder, const struct question *q, const char *condition,
		size_t decisions, struct card *card)
{
	struct tally tally = {0};
	struct fg_random random;
	struct card_row row = {.at_least = q->at_least, .goal = q->goal};

	fg_random_seed(&random, (uint64_t)q->permille + 1);
	tally.pairs = fg_xcalloc(decisions * FG_ARRAY_SIZE(kinds) + 1, sizeof(tally.pairs[0]));
	for (size_t k = 0; k < FG_ARRAY_SIZE(kinds); k++) {
		struct recording recording;

		if (recording_load(folder, condition, kinds[k], q->permille, q->schedule,
				   &recording))
			replay_recording(q, &recording, decisions, &random, &tally);
		recording_release(&recording);
	}
	row.name = q->name;
	row.setting = q->setting;
	row.condition = condition;
	row.hits = tally.hits;
	row.trials = tally.trials;
	row.median_pairs = fg_median(tally.pairs, tally.trials);
	row.median_goal = q->median_goal;
	row.load = tally.recordings ? tally.load / (double)tally.recordings : (double)NAN;
	row.recorded_pairs = tally.recorded_pairs;
	card_add(card, &row);
	free(tally.pairs);
}

/* At most what the recording allows: three stretches of them, so that there is more than one place to take them from. */
static size_t affordable_runs(const struct rival *rival, const struct recording *recording)
{
	return fg_min_size(rival->runs, recording->count / 6);
}

static void ask_rival(const char *folder, const struct rival *rival, int permille,
		      const char *condition, size_t decisions, struct card *card)
{
	struct card_row row = {.name = rival->name,
			       .setting = rival->rule,
			       .condition = condition,
			       .rival = true,
			       .permille = permille,
			       .median_pairs = (double)NAN,
			       .load = (double)NAN};
	struct fg_random random;

	fg_random_seed(&random, (uint64_t)permille + 7);
	for (size_t k = 0; k < FG_ARRAY_SIZE(kinds); k++) {
		struct recording recording;
		bool slower = false;

		if (!recording_load(folder, condition, kinds[k], permille, "abba", &recording))
			continue;
		row.runs = affordable_runs(rival, &recording);
		for (size_t i = 0; i < decisions; i++) {
			if (!rival_decide_sequential(rival, &recording, row.runs, &random, &slower))
				continue;
			row.trials++;
			row.hits += slower;
		}
		row.recorded_pairs += recording.pairs;
		recording_release(&recording);
	}
	card_add(card, &row);
}

static void fill_card(const char *folder, size_t decisions, struct card *card)
{
	for (size_t c = 0; c < FG_ARRAY_SIZE(conditions); c++) {
		for (size_t q = 0; q < FG_ARRAY_SIZE(questions); q++)
			ask(folder, &questions[q], conditions[c], decisions, card);
		card_add_functions(folder, conditions[c], card);
	}
	card_add_cost(card);
	for (size_t c = 0; c < FG_ARRAY_SIZE(conditions); c++) {
		for (size_t i = 0; i < rival_count; i++) {
			ask_rival(folder, &rivals[i], 0, conditions[c], decisions, card);
			ask_rival(folder, &rivals[i], 50, conditions[c], decisions, card);
		}
	}
}

int main(int argc, char **argv)
{
	struct card card = {0};
	int64_t decisions = 250;
	struct fg_error err = {0};
	int status;

	if (argc < 2 || argc > 3 ||
	    (argc == 3 && fg_parse_int64(argv[2], &decisions, &err) != FG_OK) || decisions < 1 ||
	    decisions > 1000000) {
		(void)fprintf(stderr, "usage: %s FOLDER [DECISIONS]\n", argv[0]);
		return 2;
	}
	fill_card(argv[1], (size_t)decisions, &card);
	card_print(&card, stdout);
	status = card_write(&card, argv[1], &err);
	if (status != FG_OK)
		(void)fprintf(stderr, "%s: %s\n", argv[0], err.message);
	card_release(&card);
	return status == FG_OK ? 0 : 1;
}
