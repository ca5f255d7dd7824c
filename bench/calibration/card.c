// SPDX-License-Identifier: Apache-2.0
/*
 * The calibration card: error rates and detection rates of the gate on recorded pairs of real
 * programs.
 *
 *	bench_calibration_card FOLDER [DECISIONS]
 *
 * Prints the card, and writes card.txt and card.json into FOLDER.  A goal that is missed
 * is shown as missed, a row without recordings as not measured.
 */
#include "bench/calibration/card.h"

#include "base/number.h"
#include "bench/calibration/replay.h"
#include "gate/statistics/location.h"
#include "gate/statistics/sample.h"

#include <math.h>

enum {
	BY_DEFAULT = 0, /* at most the default number of pairs */
	TRIM_PERCENT = 20,
	LEAST_PAIRS = 10,
};

/* The settings for deciding a row's recordings. */
struct setting {
	const char *schedule;
	unsigned max_pairs;
	double min_effect; /* negative: the defaults */
	double margin;
	double seconds; /* time budget for the pairs; 0: max_pairs */
};

static const struct setting defaults = {"duet", BY_DEFAULT, -1.0, -1.0, 0.0};
static const struct setting any_effect = {"duet", BY_DEFAULT, 0.0, 0.02, 0.0};
static const struct setting few = {"duet", 12, -1.0, -1.0, 0.0};
static const struct setting quick = {"duet", BY_DEFAULT, -1.0, -1.0, 15.0};
static const struct setting blocks_any = {"abba", 50, 0.0, 0.02, 0.0};

enum {
	FAIL = FG_OUTCOME_REGRESSION,
	OPEN = FG_OUTCOME_INCONCLUSIVE,
	PASS = FG_OUTCOME_PASS,
};

/* Extra rows and options for a question. */
enum show {
	PLAIN = 0,
	PARTS = 1,   /* one row per program */
	CENTRED = 2, /* shift the recordings so that they show exactly the planted slowdown */
	BOTH = PARTS | CENTRED,
};

/* One row of the goals table. */
struct question {
	const char *name;
	const char *words;
	const struct setting *setting;
	int permille; /* the slowdown; CENTRED if no program was slowed by this much */
	int outcome;  /* the outcome that is counted */
	char bound;   /* '>': the goal is a floor; '<': a ceiling */
	double goal;
	unsigned median_goal; /* pairs; 0: none */
	unsigned show;
};

static const struct question questions[] = {
	{"identical programs FAIL", "duet, min_effect 0", &any_effect, 0, FAIL, '<', 0.001, 0,
	 PARTS},
	{"identical programs FAIL", "ABBA, min_effect 0", &blocks_any, 0, FAIL, '<', 0.001, 0,
	 PLAIN},
	{"identical programs PASS", "duet, defaults", &defaults, 0, PASS, '>', 0.90, 0, PLAIN},
	{"+1.5 % inconclusive", "centred on it", &defaults, 15, OPEN, '<', 0.05, 0, CENTRED},
	{"+1.5 % inconclusive", "the same, 15 s as by --quick", &quick, 15, OPEN, '<', 0.20, 0,
	 CENTRED},
	{"+2 % FAIL", "duet, defaults", &defaults, 20, FAIL, '>', 0.95, 25, PARTS},
	{"+2 % FAIL", "the same, centred on it", &defaults, 20, FAIL, '>', 0.95, 25, BOTH},
	{"+5 % FAIL", "duet, defaults", &defaults, 50, FAIL, '>', 0.995, 0, PLAIN},
	{"+10 % FAIL", "centred on it, 12 pairs", &few, 100, FAIL, '>', 0.95, 0, BOTH},
};

static struct fg_policy policy_of(const struct question *q, struct fg_metric_policy *row)
{
	struct fg_policy policy;

	fg_policy_defaults(&policy);
	if (q->setting->min_effect >= 0.0) {
		*row = fg_policy_metric(&policy, "cpu_time");
		row->min_effect = q->setting->min_effect;
		row->margin = q->setting->margin;
		policy.metrics = row;
		policy.metric_count = 1;
	}
	return policy;
}

/* Returns the largest recorded slowdown that does not exceed `permille`. */
static int recorded_for(int permille)
{
	static const int recorded[] = {50, 20, 10, 0};
	size_t i = 0;

	while (recorded[i] > permille)
		i++;
	return recorded[i];
}

/* Estimates the slowdown from the whole recording. */
static void set_effect(const struct recording *recording, struct card_row *row)
{
	size_t count;
	struct recorded_pair *pairs = recording_pairs(recording, &count);
	double *differences = fg_xcalloc(count + 1, sizeof(differences[0]));
	struct fg_trimmed trimmed;

	for (size_t i = 0; i < count; i++)
		differences[i] = pairs[i].difference;
	trimmed = fg_trimmed_mean(differences, count, TRIM_PERCENT / 100.0);
	row->effect = expm1(trimmed.mean);
	row->effect_error = trimmed.standard_error;
	free(differences);
	free(pairs);
}

/*
 * Returns the number of recorded pairs that fit in this time, or the number needed to decide if
 * that is larger.
 */
static unsigned pairs_within(const struct recording *recording, double seconds)
{
	double sum = 0.0;
	size_t count;
	struct recorded_pair *pairs = recording_pairs(recording, &count);

	for (size_t i = 0; i < count; i++)
		sum += pairs[i].seconds;
	free(pairs);
	return (unsigned)fmax(LEAST_PAIRS, seconds * (double)count / sum);
}

static void replay_recording(const struct question *q, const struct recording *recording,
			     size_t decisions, double *median_pairs, struct card_row *row)
{
	struct fg_metric_policy metric;
	struct fg_policy policy = policy_of(q, &metric);
	struct replay replay = {.recording = recording,
				.policy = &policy,
				.max_pairs = q->setting->max_pairs,
				.swap = q->permille == 0};
	struct fg_random random;

	if (q->setting->seconds > 0.0)
		replay.max_pairs = pairs_within(recording, q->setting->seconds);
	set_effect(recording, row);
	if (q->show & CENTRED)
		replay.shift = log1p(q->permille / 1000.0) - log1p(row->effect);
	fg_random_seed(&random, (uint64_t)q->permille + 1);
	for (size_t i = 0; i < decisions; i++) {
		struct decision d = replay_decide(&replay, &random);

		row->hits += (int)d.outcome == q->outcome ||
			     (q->outcome == PASS && d.outcome == FG_OUTCOME_IMPROVEMENT);
		median_pairs[row->trials++] = d.pairs;
	}
	row->recorded_pairs += recording->pairs;
	row->load = recording->load;
}

/* Adds the row for all programs, then a row per program. */
static void ask(const char *folder, const struct question *q, const char *condition,
		size_t decisions, struct card *card)
{
	double *pairs = fg_xcalloc(decisions * CARD_KINDS + 1, sizeof(pairs[0]));
	struct card_row whole = {.kind = CARD_GOAL,
				 .name = q->name,
				 .setting = q->words,
				 .condition = condition,
				 .at_least = q->bound == '>',
				 .goal = q->goal,
				 .median_goal = q->median_goal,
				 .effect = (double)NAN,
				 .load = (double)NAN};
	struct card_row parts[CARD_KINDS] = {0};
	double loads = 0.0;
	size_t recordings = 0;

	for (size_t k = 0; k < CARD_KINDS; k++) {
		struct card_row *part = &parts[k];
		struct recording recording;

		*part = (struct card_row){.kind = CARD_PART,
					  .name = card_kinds[k],
					  .setting = "",
					  .condition = condition,
					  .median_pairs = (double)NAN};
		if (recording_load(folder, condition, card_kinds[k], recorded_for(q->permille),
				   q->setting->schedule, &recording)) {
			replay_recording(q, &recording, decisions, pairs + whole.trials, part);
			whole.hits += part->hits;
			whole.trials += part->trials;
			whole.recorded_pairs += part->recorded_pairs;
			loads += part->load;
			recordings++;
		}
		recording_release(&recording);
	}
	whole.median_pairs = fg_median(pairs, whole.trials);
	if (recordings > 0)
		whole.load = loads / (double)recordings;
	card_add(card, &whole);
	for (size_t k = 0; k < CARD_KINDS && (q->show & PARTS); k++)
		card_add(card, &parts[k]);
	free(pairs);
}

static void ask_rival(const char *folder, const struct rival *rival, int permille,
		      const char *condition, size_t decisions, struct card *card)
{
	struct card_row row = {.kind = CARD_RIVAL,
			       .name = rival->name,
			       .setting = permille ? rival->slower_rule : rival->rule,
			       .condition = condition,
			       .median_pairs = (double)NAN,
			       .effect = (double)NAN,
			       .load = (double)NAN};
	struct fg_random random;

	fg_random_seed(&random, (uint64_t)permille + 7);
	for (size_t k = 0; k < CARD_KINDS; k++) {
		struct recording recording;
		bool slower = false;

		if (recording_load(folder, condition, card_kinds[k], permille, "abba",
				   &recording)) {
			for (size_t i = 0; i < decisions; i++) {
				if (!rival_decide(rival, &recording, &random, &slower))
					continue;
				row.trials++;
				row.hits += slower;
			}
			row.recorded_pairs += recording.pairs;
		}
		recording_release(&recording);
	}
	card_add(card, &row);
}

static void fill_card(const char *folder, size_t decisions, struct card *card)
{
	for (size_t c = 0; c < CARD_CONDITIONS; c++) {
		for (size_t q = 0; q < FG_ARRAY_SIZE(questions); q++)
			ask(folder, &questions[q], card_conditions[c], decisions, card);
		card_add_auto(folder, card_conditions[c], decisions, card);
		card_add_functions(folder, card_conditions[c], decisions, card);
	}
	card_add_made(decisions, card);
	card_add_cost(card);
	for (size_t c = 0; c < CARD_CONDITIONS; c++) {
		for (size_t i = 0; i < rival_count; i++) {
			ask_rival(folder, &rivals[i], 0, card_conditions[c], decisions, card);
			ask_rival(folder, &rivals[i], 50, card_conditions[c], decisions, card);
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
