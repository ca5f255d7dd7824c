// SPDX-License-Identifier: Apache-2.0
/*
 * Simulated histories, with simulated pairs and with pairs recorded from four programs: how many
 * pairs and builds does the search need, and how often is it right?  `git bisect run` with a test
 * of fixed size searches the same histories.
 *
 * usage: simulate [RUNS [COMMITS [SEED]]]
 */
#include "base/base.h"
#include "base/random.h"
#include "bench/recorded.h"
#include "gate/bisect.h"

#include <stdio.h>
#include <stdlib.h>

enum {
	COMMITS = 128,
	COMMITS_MAX = 512,
	RUNS = 400,
};

struct history {
	double effect;       /* in standard deviations of a pair */
	double spread;       /* standard deviation of a pair */
	const char *program; /* use the recorded pairs of this program; NULL: simulate pairs */
	struct stretch stretch;
	size_t measured; /* index of a commit in the range */
	unsigned ends;   /* pairs spent on comparing the two ends, before either search */
	double build;    /* cost of a build, in pairs */
	bool has_prior;
	size_t culprit;
	double weight[COMMITS_MAX];
	size_t count;
	struct fg_random random;
};

struct tally {
	unsigned runs;
	unsigned right;
	unsigned wrong;
	double pairs;
	double builds;
	double visits;
};

/*
 * A tenth of the commits touch a function that the comparison of the ends blames, and are 16 times
 * as likely to be the culprit.
 */
static void make_history(struct history *history)
{
	double all = 0;
	double at = 0;

	for (size_t i = 0; i < history->count; i++) {
		const bool touches =
			history->has_prior && fg_random_uniform(&history->random) < 0.1;

		history->weight[i] = touches ? 16 : 1;
		all += history->weight[i];
	}
	at = fg_random_uniform(&history->random) * all;
	history->culprit = 0;
	while (history->culprit + 1 < history->count && at >= history->weight[history->culprit])
		at -= history->weight[history->culprit++];
}

static double pair_of(struct history *history, size_t commit)
{
	const double level = commit >= history->culprit ? history->effect : 0;

	if (!history->program)
		return history->spread * (level + fg_random_normal(&history->random));
	if (commit != history->measured)
		stretch_begin(&history->stretch, history->program, &history->random);
	history->measured = commit;
	return history->spread * level + stretch_next(&history->stretch, &history->random);
}

static void search(struct history *history, struct tally *tally)
{
	struct fg_bisect bisect = {.commits = fg_xcalloc(history->count, sizeof(bisect.commits[0])),
				   .count = history->count,
				   .build_seconds = history->build,
				   .visit_seconds = 1,
				   .pair_seconds = 1};
	struct fg_bisect_look look = {0};

	for (size_t i = 0; i < history->count; i++)
		bisect.commits[i].weight = history->weight[i];
	for (size_t i = 0; i < history->ends; i++)
		fg_bisect_add(&bisect.commits[history->count - 1],
			      pair_of(history, history->count - 1));
	bisect.commits[history->count - 1].is_built = true;
	tally->runs++;
	while (fg_bisect_look(&bisect, &look, NULL) == FG_OK && look.state == FG_BISECT_MEASURE) {
		struct fg_bisect_commit *next = &bisect.commits[look.next];

		tally->builds += !next->is_built;
		tally->visits++;
		tally->pairs += look.pairs;
		next->is_built = true;
		for (unsigned i = 0; i < look.pairs; i++)
			fg_bisect_add(next, pair_of(history, look.next));
		fg_bisect_look_release(&look);
	}
	if (look.state == FG_BISECT_FOUND && look.steps[0].first == history->culprit)
		tally->right++;
	else if (look.state == FG_BISECT_FOUND)
		tally->wrong++;
	fg_bisect_look_release(&look);
	fg_bisect_release(&bisect);
}

/* Halves the range by the mean of `pairs` pairs, as a script for `git bisect run` does. */
static void halve(struct history *history, unsigned pairs, struct tally *tally)
{
	size_t good = 0; /* commits before this one are good */
	size_t bad = history->count - 1;

	tally->runs++;
	while (good < bad) {
		const size_t middle = good + (bad - good) / 2;
		double sum = 0;

		for (unsigned i = 0; i < pairs; i++)
			sum += pair_of(history, middle);
		tally->pairs += pairs;
		tally->builds++;
		if (sum / pairs > history->spread * history->effect / 2)
			bad = middle;
		else
			good = middle + 1;
	}
	tally->right += good == history->culprit;
	tally->wrong += good != history->culprit;
}

static void print(const char *name, const struct tally *tally)
{
	const double n = tally->runs;

	printf("  %-34s %7.1f %7.2f %7.1f %6.1f %% %6.1f %%\n", name, tally->pairs / n,
	       tally->builds / n, tally->visits / n, 100 * tally->right / n,
	       100 * tally->wrong / n);
}

/* Returns the number of pairs after which the gate most probably decides that the ends differ. */
static unsigned ends_of(double effect)
{
	return effect < 0.75 ? 62 : effect < 1.5 ? 18 : 12;
}

static void compare(struct history history, unsigned runs)
{
	/* pairs per step with which 95 % of searches of 7 steps are right */
	const unsigned fixed = (unsigned)ceil(pow(2 * 2.44 / history.effect, 2));
	struct tally ours = {0};
	struct tally peer = {0};
	char name[64];

	history.ends = ends_of(history.effect);
	history.measured = SIZE_MAX;
	for (unsigned i = 0; i < runs; i++) {
		make_history(&history);
		search(&history, &ours);
		halve(&history, fixed, &peer);
	}
	printf("%s, effect %.1f sd of a pair (ends: %u pairs), a build costs %.0f pairs%s\n",
	       history.program ? history.program : "simulated pairs", history.effect, history.ends,
	       history.build, history.has_prior ? ", prior from touched files" : "");
	print("fastgate bisect", &ours);
	peer.visits = peer.builds;
	(void)snprintf(name, sizeof(name), "git bisect run, %u pairs per step", fixed);
	print(name, &peer);
	(void)fflush(stdout);
}

int main(int argc, char **argv)
{
	const unsigned runs = argc > 1 ? (unsigned)strtoul(argv[1], NULL, 10) : RUNS;
	const size_t commits = argc > 2 ? strtoul(argv[2], NULL, 10) : COMMITS;
	const uint64_t seed = argc > 3 ? strtoul(argv[3], NULL, 10) : 1;
	static const double effects[] = {0.5, 1, 2};
	static const char *const programs[] = {"integer", "allocation", "memory", "interpreter"};

	if (commits < 2 || commits > COMMITS_MAX)
		return 2;
	printf("%u histories of %zu commits with one culprit; the ends' pairs come on top\n", runs,
	       commits);
	printf("  %-34s %7s %7s %7s %8s %8s\n", "", "pairs", "builds", "visits", "right", "wrong");
	for (size_t row = 0; row < 2 * FG_ARRAY_SIZE(effects); row++) {
		struct history history = {.effect = effects[row / 2],
					  .build = 20,
					  .has_prior = row % 2,
					  .spread = 0.02,
					  .count = commits};

		fg_random_seed(&history.random, seed);
		compare(history, runs);
	}
	for (size_t i = 0; i < FG_ARRAY_SIZE(programs); i++) {
		struct history history = {.effect = 1,
					  .build = 20,
					  .has_prior = true,
					  .program = programs[i],
					  .spread = recorded_spread(programs[i]),
					  .count = commits};

		fg_random_seed(&history.random, seed);
		compare(history, runs);
	}
	return 0;
}
