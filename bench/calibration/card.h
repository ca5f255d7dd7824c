/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rows of the calibration card, shown with one line per question and one column per condition.
 */
#ifndef FG_BENCH_CALIBRATION_CARD_H
#define FG_BENCH_CALIBRATION_CARD_H

#include "base/base.h"
#include "base/error.h"
#include "base/strbuf.h"

enum card_kind {
	CARD_GOAL,  /* share with a goal */
	CARD_PART,  /* one program's share of the preceding goal row */
	CARD_RIVAL, /* share without a goal of ours */
	CARD_TIME,  /* milliseconds with a goal */
};

struct card_row {
	enum card_kind kind;
	const char *name;
	const char *setting;
	const char *condition; /* one of card_conditions; NULL: none, the data are synthetic */
	size_t hits;
	size_t trials; /* 0: not measured */
	bool at_least; /* the goal is a minimum; false: a maximum */
	double goal;
	double median_pairs; /* NaN: none */
	unsigned median_goal;
	double load; /* mean load average of the recordings; NaN: unknown */
	size_t recorded_pairs;
	double effect; /* relative effect within a recording; NaN: the row covers several recordings */
	double effect_error;
	size_t tested; /* number of functions */
	double milliseconds;
};

struct card {
	struct card_row *rows;
	size_t count;
	size_t capacity;
};

/* "asfound", "busy2", "busy6": the host as it is, and with two and six busy processes per CPU. */
enum {
	CARD_CONDITIONS = 3,
	CARD_KINDS = 4,
};
extern const char *const card_conditions[CARD_CONDITIONS];
/* The programs: integer work, memory, C++ allocation, a branchy interpreter. */
extern const char *const card_kinds[CARD_KINDS];

void card_add(struct card *card, const struct card_row *row);
/* Adds decisions about functions in a condition, if it was recorded. */
void card_add_functions(const char *folder, const char *condition, size_t decisions,
			struct card *card);
/* Repeats the choice of `schedule: auto` on a condition's recordings, and compares the costs. */
void card_add_auto(const char *folder, const char *condition, size_t decisions, struct card *card);
/*
 * Adds rows for decisions on synthetic pairs and histories, which show the effects of
 * autocorrelation and outliers.
 */
void card_add_made(size_t decisions, struct card *card);
/* Adds the time of one decision: 5,000 functions, 200 pairs. */
void card_add_cost(struct card *card);

/* Returns "met", "MISSED", "not measured", or "" without a goal. */
const char *card_state(const struct card_row *row);
void card_print(const struct card *card, FILE *out);
/* Writes card.txt and card.json into the folder. */
int card_write(const struct card *card, const char *folder, struct fg_error *err);
void card_release(struct card *card);

#endif
