// SPDX-License-Identifier: Apache-2.0
/*
 * Measures how often the ledger calls a neutral attempt faster, and how often it sees a real
 * speed-up after many neutral attempts.
 *
 * usage: bench_referee [LOOPS [ATTEMPTS]]
 */
#include "bench/referee/loop.h"

#include <stdio.h>
#include <stdlib.h>

struct row {
	const char *name;
	double spread;
	double neighbours;
	const char *program;
};

static const struct row rows[] = {
	{"pairs scatter by 0.5 %", 0.005, 0, NULL}, {"pairs scatter by 1 %", 0.01, 0, NULL},
	{"pairs scatter by 2 %", 0.02, 0, NULL},    {"1 %, a tenth disturbed", 0.01, 0.1, NULL},
	{"recorded: integer", 0, 0, "integer"},     {"recorded: memory", 0, 0, "memory"},
};

static size_t number_or(const char *text, size_t otherwise)
{
	const long number = text ? strtol(text, NULL, 10) : 0;

	return number > 0 ? (size_t)number : otherwise;
}

static void print_row(const struct row *row, double last, size_t loops, size_t attempts)
{
	struct loop loop = {.attempts = attempts,
			    .spread = row->spread,
			    .neighbours = row->neighbours,
			    .program = row->program,
			    .last = last};
	size_t wrong = 0;
	size_t claimed = 0;
	size_t proven = 0;
	size_t pairs = 0;

	for (size_t i = 0; i < loops; i++) {
		loop_run(&loop, i + 1);
		wrong += loop.has_false ? 1 : 0;
		claimed += loop.has_claimed ? 1 : 0;
		proven += loop.has_proven ? 1 : 0;
		pairs += loop.pairs;
	}
	printf("%-24s  last %+.0f %%  false \"faster\" in %4zu of %zu loops (verdicts alone: %zu)",
	       row->name, 100 * last, wrong, loops, claimed);
	if (last < 0)
		printf("  proven in %.1f %%", 100.0 * (double)proven / (double)loops);
	printf("  %.0f pairs an attempt\n", (double)pairs / (double)(loops * attempts));
	(void)fflush(stdout);
}

int main(int argc, char **argv)
{
	const size_t loops = number_or(argc > 1 ? argv[1] : NULL, 1000);
	const size_t attempts = number_or(argc > 2 ? argv[2] : NULL, 20);

	for (size_t i = 0; i < FG_ARRAY_SIZE(rows); i++) {
		print_row(&rows[i], 0, loops, attempts);
		print_row(&rows[i], -0.03, loops, attempts);
	}
	return 0;
}
