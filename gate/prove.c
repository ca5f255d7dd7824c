// SPDX-License-Identifier: Apache-2.0
#include "gate/prove.h"

#include "base/text.h"
#include "gate/pairs.h"
#include "gate/statistics/proportion.h"
#include "gate/statistics/sample.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
	BLOCK = 4,       /* number of successive pairs whose mean shows how noise averages out */
	BLOCKS_MIN = 6,  /* fewer blocks do not show how noise averages out */
	BETWEEN_MIN = 4, /* minimum number of runs that show how estimates differ between runs */
	LONGER = 10,     /* remedy: repetitions this many times as long */
	MORE_PAIRS = 4,  /* remedy: this many times the pairs */
};

static const double found_share = 0.95;
static const double alarming_share = 0.2;
static const double alarm_sure = 20;
static const double blind_sure = 500;
static const double two_sided = 0.9; /* two-sided level: each bound holds with 95 % */
/* Normal quantile for a slowdown that 95 % of the runs find. */
static const double power_errors = 1.645;
static const double min_gain = 0.9; /* a remedy must reduce the figure to this share or less */

static const char *const arms[] = {
	[FG_PROOF_SAME] = "same",
	[FG_PROOF_NEUTRAL] = "neutral",
	[FG_PROOF_PLANTED] = "planted",
	[FG_PROOF_STORED] = "stored",
};

FG_WORDS(arms, enum fg_proof_arm, fg_proof_arm_name, fg_proof_arm_parse)

/* Does the run name the planted function first? */
static bool is_named(const struct fg_proof *proof)
{
	return proof->function && proof->blamed && strcmp(proof->function, proof->blamed) == 0;
}

bool fg_proof_counts(const struct fg_proof *proof)
{
	return proof->pairs > 0;
}

bool fg_proof_is_right(const struct fg_proof *proof)
{
	const bool is_planted = proof->arm == FG_PROOF_PLANTED;
	const bool is_seen =
		proof->outcome == FG_OUTCOME_REGRESSION ||
		(is_planted && !proof->function && proof->outcome == FG_OUTCOME_PLACEMENT);

	return is_seen == is_planted;
}

/* ---- noise of one run ---- */

/*
 * Finds the e from 0 to 1 for which the mean of BLOCK successive pairs has BLOCK^-e times the
 * variance of a pair.
 */
static double exponent_of(const double *differences, size_t count)
{
	const size_t blocks = count / BLOCK;
	double *means = NULL;
	double ratio = 0;

	if (blocks < BLOCKS_MIN)
		return (double)NAN;
	means = fg_xcalloc(blocks, sizeof(means[0]));
	for (size_t i = 0; i < blocks; i++)
		means[i] = fg_mean(differences + i * BLOCK, BLOCK);
	ratio = fg_variance(means, blocks) / fg_variance(differences, blocks * BLOCK);
	free(means);
	if (!(ratio > 0))
		return (double)NAN;
	return fmin(1.0, fmax(0.0, -log(ratio) / log(BLOCK)));
}

static double quietest(const double *differences, size_t count)
{
	const size_t part = count / 4;
	double best = (double)NAN;

	for (size_t i = 0; part >= BLOCK && i < 4; i++) {
		const double sd = sqrt(fg_variance(differences + i * part, part));

		best = fmin(sd, best); /* fmin() ignores NaN */
	}
	return best;
}

void fg_proof_noise(const struct fg_series *series, const char *metric,
		    struct fg_proof_noise *noise)
{
	const size_t index = fg_series_find_metric(series, metric);
	struct fg_pairs pairs = {0};

	*noise = (struct fg_proof_noise){(double)NAN, (double)NAN, (double)NAN, (double)NAN};
	if (index == SIZE_MAX)
		return;
	fg_pairs_collect(series, index, &pairs);
	if (pairs.count > 1) {
		noise->middle = fg_median(pairs.difference, pairs.count);
		noise->pair = sqrt(fg_variance(pairs.difference, pairs.count));
		noise->quiet = quietest(pairs.difference, pairs.count);
		noise->exponent = exponent_of(pairs.difference, pairs.count);
	}
	fg_pairs_release(&pairs);
}

/* ---- shares ---- */

static void count_run(struct fg_proof_card_share *share, bool hit)
{
	share->runs++;
	share->hits += hit;
}

static void bound(struct fg_proof_card_share *share)
{
	const struct fg_proportion p = fg_clopper_pearson(share->hits, share->runs, two_sided);

	share->at_least = p.low;
	share->at_most = p.high;
}

static struct fg_proof_card_size *size_of(struct fg_proof_card *card, double size)
{
	size_t at = 0;

	while (at < card->size_count && card->sizes[at].size < size - 1e-6)
		at++;
	if (at < card->size_count && fabs(card->sizes[at].size - size) <= 1e-6)
		return &card->sizes[at];
	if (card->size_count == FG_PROOF_CARD_SIZES_MAX)
		return NULL;
	memmove(&card->sizes[at + 1], &card->sizes[at],
		(card->size_count - at) * sizeof(card->sizes[0]));
	card->size_count++;
	card->sizes[at] = (struct fg_proof_card_size){.size = size};
	return &card->sizes[at];
}

static void count_proof(struct fg_proof_card *card, const struct fg_proof *proof)
{
	const bool is_right = fg_proof_is_right(proof);
	struct fg_proof_card_size *size = NULL;

	card->runs++;
	card->minutes += proof->seconds / 60;
	if (proof->arm != FG_PROOF_PLANTED) {
		count_run(&card->alarms, !is_right);
		return;
	}
	size = size_of(card, proof->size);
	if (size)
		count_run(&size->found, is_right);
	if (is_right && proof->function)
		count_run(&card->named, is_named(proof));
}

static void find_smallest(struct fg_proof_card *card)
{
	card->smallest = card->smallest_at_least = (double)NAN;
	for (size_t i = card->size_count; i-- > 0;) {
		const struct fg_proof_card_share *found = &card->sizes[i].found;

		if ((double)found->hits < found_share * (double)found->runs)
			return;
		card->smallest = card->sizes[i].size;
		card->smallest_at_least = found->at_least;
	}
}

/* ---- evidence against the gate ---- */

/*
 * Bets that from some run on, the gate also fails a fifth of those runs of equal code that a
 * correct gate passes. From a given run on, the product of likelihood ratios is a martingale if
 * each run fails with the probability `alpha`; the stake is spread over all runs in advance, so the
 * total is also a martingale.
 */
struct alarm_bets {
	double running; /* value of the bets placed so far */
	double runs;
};

static double bet_on_alarm(struct alarm_bets *bets, double alpha, bool is_alarm)
{
	const double wrong = alpha + alarming_share * (1 - alpha);
	const double ratio = is_alarm ? wrong / alpha : (1 - wrong) / (1 - alpha);

	bets->runs++;
	bets->running = ratio * (bets->running + 1 / (bets->runs * (bets->runs + 1)));
	return bets->running + 1 / (bets->runs + 1);
}

static double alarm_evidence_of(const struct fg_proof *proofs, size_t count)
{
	struct alarm_bets bets = {0};
	double evidence = 1;

	for (size_t i = 0; i < count; i++) {
		const struct fg_proof *proof = &proofs[i];

		if (fg_proof_counts(proof) && proof->arm != FG_PROOF_PLANTED && proof->alpha > 0 &&
		    proof->alpha < 1)
			evidence = bet_on_alarm(&bets, proof->alpha, !fg_proof_is_right(proof));
	}
	return evidence;
}

static bool is_same_plant(const struct fg_proof *a, const struct fg_proof *b)
{
	return fg_proof_counts(a) && a->arm == FG_PROOF_PLANTED && a->is_hidden == b->is_hidden &&
	       fabs(a->size - b->size) <= 1e-6 && strcmp(a->benchmark, b->benchmark) == 0;
}

/*
 * Bets that the gate finds only half as many slowdowns like `first` as before. Evidence below 1
 * counts as 1, so that years of good runs cannot hide a fault (Page's CUSUM); "before" ends where
 * the evidence was last 1. The share found before is represented by its lower bound.
 */
static double blind_evidence_of(const struct fg_proof *first, const struct fg_proof *end)
{
	struct fg_proof_card_share before = {0};
	struct fg_proof_card_share since = {0};
	double evidence = 1;

	for (const struct fg_proof *proof = first; proof < end; proof++) {
		const bool is_found = fg_proof_is_right(proof);

		if (!is_same_plant(proof, first))
			continue;
		count_run(&since, is_found);
		evidence *= is_found ? 0.5 : (1 - before.at_least / 2) / (1 - before.at_least);
		if (evidence <= 1) {
			evidence = 1;
			before.hits += since.hits;
			before.runs += since.runs;
			bound(&before);
			since = (struct fg_proof_card_share){0};
		}
	}
	return evidence;
}

static void find_evidence(const struct fg_proof *proofs, size_t count, struct fg_proof_card *card)
{
	card->alarm_evidence = alarm_evidence_of(proofs, count);
	card->blind_evidence = 1;
	for (size_t i = 0; i < count; i++) {
		bool is_first = is_same_plant(&proofs[i], &proofs[i]);

		for (size_t k = 0; k < i && is_first; k++)
			is_first = !is_same_plant(&proofs[k], &proofs[i]);
		if (is_first)
			card->blind_evidence = fmax(card->blind_evidence,
						    blind_evidence_of(&proofs[i], proofs + count));
	}
	card->is_broken = card->alarm_evidence >= alarm_sure || card->blind_evidence >= blind_sure;
}

/* ---- remedies ---- */

/* A summary of a benchmark's runs: medians, and the spread between runs. */
struct parts {
	const struct fg_proof_card_plan *plan;
	struct fg_proof_noise noise;
	double reach;  /* half width of the interval in standard errors */
	double pairs;  /* number of pairs in a run that does not decide early */
	double pair_s; /* wall time of a pair */
	double level_ns;
	double min_effect;
	double between; /* standard deviation of estimates beyond the noise of pairs */
	bool in_layouts;
};

static double median_of(double *values, size_t count)
{
	size_t kept = 0;

	for (size_t i = 0; i < count; i++) {
		if (isfinite(values[i]))
			values[kept++] = values[i];
	}
	return fg_median(values, kept);
}

static double error_of(double pair, double exponent, double pairs)
{
	return pair * pow(pairs, -exponent / 2);
}

/* Returns the smallest slowdown that 95 % of the runs find. */
static double smallest_of(const struct parts *parts, double pair, double pairs, double between)
{
	const double error = hypot(error_of(pair, parts->noise.exponent, pairs), between);

	return expm1(fmax(parts->reach * error, log1p(parts->min_effect)) + power_errors * error);
}

static void take_between(const struct fg_proof *proofs, size_t count, const char *benchmark,
			 struct parts *parts)
{
	double *estimates = fg_xcalloc(count + 1, sizeof(estimates[0]));
	double within = 0;
	size_t found = 0;

	for (size_t i = 0; i < count; i++) {
		const struct fg_proof *proof = &proofs[i];

		if (strcmp(proof->benchmark, benchmark) != 0 || proof->is_hidden ||
		    !fg_proof_counts(proof) || proof->arm == FG_PROOF_PLANTED ||
		    proof->arm == FG_PROOF_STORED || !isfinite(proof->estimate))
			continue;
		estimates[found++] = proof->estimate;
		within += pow(error_of(parts->noise.pair, parts->noise.exponent, proof->pairs), 2);
	}
	parts->between = 0;
	if (found >= BETWEEN_MIN)
		parts->between =
			sqrt(fmax(0, fg_variance(estimates, found) - within / (double)found));
	free(estimates);
}

static bool take_parts(const struct fg_proof *proofs, size_t count, struct parts *parts)
{
	double *rows = fg_xcalloc(6 * (count + 1), sizeof(rows[0]));
	double *columns[6];
	size_t n = 0;

	for (size_t i = 0; i < FG_ARRAY_SIZE(columns); i++)
		columns[i] = rows + i * (count + 1);
	for (size_t i = 0; i < count; i++) {
		const struct fg_proof *proof = &proofs[i];

		if (strcmp(proof->benchmark, parts->plan->benchmark) != 0 || proof->is_hidden ||
		    !fg_proof_counts(proof) || !(proof->noise.pair > 0))
			continue;
		columns[0][n] = proof->noise.pair;
		columns[1][n] = proof->noise.quiet;
		columns[2][n] = proof->noise.exponent;
		columns[3][n] = proof->half / (proof->noise.pair / sqrt(proof->pairs));
		columns[4][n] = proof->seconds / proof->pairs;
		columns[5][n++] = proof->level_ns;
		parts->pairs = fmax(parts->pairs, proof->pairs);
		parts->min_effect = proof->min_effect;
		parts->in_layouts = parts->in_layouts || proof->layouts > 1;
	}
	parts->noise.pair = median_of(columns[0], n);
	parts->noise.quiet = median_of(columns[1], n);
	parts->noise.exponent = median_of(columns[2], n);
	parts->reach = median_of(columns[3], n);
	parts->pair_s = median_of(columns[4], n);
	parts->level_ns = median_of(columns[5], n);
	free(rows);
	if (!isfinite(parts->noise.exponent))
		parts->noise.exponent = 1;
	if (n == 0 || !isfinite(parts->reach))
		return false;
	take_between(proofs, count, parts->plan->benchmark, parts);
	return true;
}

static double now(const struct parts *parts)
{
	return smallest_of(parts, parts->noise.pair, parts->pairs, parts->between);
}

static void add_help(struct fg_proof_card *card, const struct fg_proof_card_help *help)
{
	size_t at = card->help_count;

	if (!isfinite(help->to) || !(help->to < min_gain * help->from))
		return;
	while (at > 0 && card->helps[at - 1].to > help->to) {
		card->helps[at] = card->helps[at - 1];
		at--;
	}
	card->helps[at] = *help;
	card->help_count++;
}

/* Returns the number of pairs that the plan allows. */
static double affordable(const struct parts *parts, double pair_s)
{
	return fmin(parts->plan->max_pairs, floor(parts->plan->budget_s / pair_s));
}

static void add_helps(const struct parts *parts, struct fg_proof_card *card)
{
	const double from = now(parts);
	const double pair = parts->noise.pair;
	const double quiet = parts->noise.quiet;
	const double more = parts->pairs * MORE_PAIRS;
	const double longer = affordable(parts, parts->pair_s * LONGER);
	struct parts lower = *parts;

	lower.min_effect /= 2;
	/* A repetition ten times as long averages noise like ten successive repetitions. */
	const struct fg_proof_card_help helps[] = {
		{FG_LIMIT_LENGTH, parts->level_ns, parts->level_ns * LONGER, from,
		 longer >= BLOCK ? smallest_of(parts, pair, longer * LONGER, parts->between)
				 : (double)NAN},
		{FG_LIMIT_PAIRS, parts->pairs, more, from,
		 smallest_of(parts, pair, more, parts->between)},
		{FG_LIMIT_NOISE, pair, quiet, from,
		 smallest_of(parts, quiet, parts->pairs, parts->between)},
		{FG_LIMIT_LAYOUTS, parts->between, 0, from,
		 parts->in_layouts ? (double)NAN : smallest_of(parts, pair, parts->pairs, 0)},
		{FG_LIMIT_MIN_EFFECT, parts->min_effect, lower.min_effect, from, now(&lower)},
	};

	for (size_t i = 0; i < FG_ARRAY_SIZE(helps); i++)
		add_help(card, &helps[i]);
}

/* Finds remedies for the least sensitive benchmark: its smallest found slowdown is the largest. */
static void find_helps(const struct fg_proof *proofs, size_t count,
		       const struct fg_proof_card_plan *plans, size_t plan_count,
		       struct fg_proof_card *card)
{
	struct parts worst = {0};

	for (size_t i = 0; i < plan_count; i++) {
		struct parts parts = {.plan = &plans[i]};

		if (take_parts(proofs, count, &parts) && (!worst.plan || now(&parts) > now(&worst)))
			worst = parts;
	}
	if (!worst.plan)
		return;
	card->limiting = worst.plan->benchmark;
	add_helps(&worst, card);
}

void fg_proof_card_make(const struct fg_proof *proofs, size_t count,
			const struct fg_proof_card_plan *plans, size_t plan_count,
			struct fg_proof_card *card)
{
	*card = (struct fg_proof_card){0};
	for (size_t i = 0; i < count; i++) {
		if (fg_proof_counts(&proofs[i]) && !proofs[i].is_hidden)
			count_proof(card, &proofs[i]);
	}
	bound(&card->alarms);
	bound(&card->named);
	for (size_t i = 0; i < card->size_count; i++)
		bound(&card->sizes[i].found);
	if (card->runs > 0)
		card->minutes /= (double)card->runs;
	find_smallest(card);
	find_evidence(proofs, count, card);
	find_helps(proofs, count, plans, plan_count, card);
}
