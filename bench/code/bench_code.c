// SPDX-License-Identifier: Apache-2.0
/* Repeatedly reads and compares two builds of a program; prints CPU time for both sides. */
#include "base/sort.h"
#include "binary/code.h"

#include <stdio.h>
#include <time.h>

enum {
	ROUNDS = 15,
};

static double cpu_ms(void)
{
	struct timespec now = {0};

	(void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

static double once_ms(const char *before_path, const char *after_path, size_t *items, size_t *other)
{
	const double started_ms = cpu_ms();
	struct fg_code_difference difference;
	struct fg_code before;
	struct fg_code after;
	struct fg_error err = {0};
	double took_ms = 0;

	if (fg_code_read(before_path, NULL, &before, &err) != FG_OK ||
	    fg_code_read(after_path, NULL, &after, &err) != FG_OK) {
		(void)fprintf(stderr, "%s\n", err.message);
		exit(1);
	}
	fg_code_compare(&before, &after, &difference);
	took_ms = cpu_ms() - started_ms;
	*items = before.item_count;
	*other = difference.pair_count - difference.counts[FG_CODE_SAME];
	fg_code_difference_release(&difference);
	fg_code_release(&after);
	fg_code_release(&before);
	return took_ms;
}

int main(int argc, char **argv)
{
	double took_ms[ROUNDS];
	size_t items = 0;
	size_t other = 0;

	if (argc != 3) {
		(void)fprintf(stderr, "usage: %s BEFORE AFTER\n", argv[0]);
		return 2;
	}
	for (size_t i = 0; i < ROUNDS; i++)
		took_ms[i] = once_ms(argv[1], argv[2], &items, &other);
	(void)printf("%.1f ms of CPU time, %zu functions and objects, %zu of them not the same\n",
		     fg_middle(took_ms, ROUNDS), items, other);
	return 0;
}
