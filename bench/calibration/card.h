/* SPDX-License-Identifier: Apache-2.0 */
/* The rows of the calibration card, and how they are shown. */
#ifndef FG_BENCH_CALIBRATION_CARD_H
#define FG_BENCH_CALIBRATION_CARD_H

#include "base/base.h"
#include "base/error.h"

struct card_row {
	const char *name;
	const char *setting; /* NULL: setting_text */
	char setting_text[64];
	const char *condition;
	size_t hits;
	size_t trials; /* 0: not measured */
	bool at_least; /* the goal is a floor, else a ceiling */
	double goal;
	double median_pairs; /* NaN: none */
	unsigned median_goal;
	double load; /* mean load average of the recordings; NaN: not known */
	size_t recorded_pairs;
	size_t tested; /* functions */
	bool rival;    /* no goal of ours */
	int permille;
	size_t runs;         /* of a rival, per side */
	double milliseconds; /* instead of hits, where `is_time` */
	bool is_time;
};

struct card {
	struct card_row *rows;
	size_t count;
	size_t capacity;
};

void card_add(struct card *card, const struct card_row *row);
/* Decisions about functions of a condition, where they were recorded. */
void card_add_functions(const char *folder, const char *condition, struct card *card);
/* How long one decision takes: 5,000 functions, 200 pairs. */
void card_add_cost(struct card *card);

void card_print(const struct card *card, FILE *out);
/* card.json and card.svg into the folder. */
int card_write(const struct card *card, const char *folder, struct fg_error *err);
void card_release(struct card *card);

#endif
