/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rows of the calibration card, and how they are shown: one line per question, one column per
 * condition.
 */
#ifndef FG_BENCH_CALIBRATION_CARD_H
#define FG_BENCH_CALIBRATION_CARD_H

#include "base/base.h"
#include "base/error.h"
#include "base/strbuf.h"

enum card_kind {
	CARD_GOAL,   /* a share with a goal */
	CARD_PART,   /* one program's part of the goal row before it */
	CARD_RIVAL,  /* a share, no goal of ours */
	CARD_TIME,   /* milliseconds with a goal */
	CARD_CHOICE, /* what `auto` chose for one program, and what that costs */
};

struct card_row {
	enum card_kind kind;
	const char *name;
	const char *setting;
	const char *condition; /* of card_conditions; NULL: none, the data are made */
	size_t hits;
	size_t trials; /* 0: not measured */
	bool at_least; /* the goal is a floor, else a ceiling */
	double goal;
	double median_pairs; /* NaN: none */
	unsigned median_goal;
	double load; /* mean load average of the recordings; NaN: not known */
	size_t recorded_pairs;
	double effect; /* what the recording itself shows, relative; NaN: not one recording */
	double effect_error;
	size_t tested; /* functions */
	double milliseconds;
	size_t chosen[2]; /* duet, ABBA */
	double ratio;     /* duet's time until a verdict / ABBA's */
	double ratio_low; /* 95 % of draws from the recordings */
	double ratio_high;
};

struct card {
	struct card_row *rows;
	size_t count;
	size_t capacity;
};

/* "asfound", "busy1", "busy3": as the host is, and with one and three busy processes a CPU. */
enum {
	CARD_CONDITIONS = 3,
	CARD_KINDS = 4,
};
extern const char *const card_conditions[CARD_CONDITIONS];
/* The programs: integer work, memory, C++ allocation, a branchy interpreter. */
extern const char *const card_kinds[CARD_KINDS];

void card_add(struct card *card, const struct card_row *row);
/* Decisions about functions of a condition, where they were recorded. */
void card_add_functions(const char *folder, const char *condition, size_t decisions,
			struct card *card);
/*
 * What `schedule: auto` chose in a condition, held against what the recordings show; and chosen
 * again on stretches of them.
 */
void card_add_auto(const char *folder, const char *condition, size_t decisions, struct card *card);
/* Pairs and histories that are made, not recorded: what autocorrelation and outliers do. */
void card_add_made(size_t decisions, struct card *card);
/* How long one decision takes: 5,000 functions, 200 pairs. */
void card_add_cost(struct card *card);

/* "met", "MISSED", "not measured", or "" where there is no goal. */
const char *card_state(const struct card_row *row);
void card_print(const struct card *card, FILE *out);
/* card.txt, card.json and card.svg into the folder. */
int card_write(const struct card *card, const char *folder, struct fg_error *err);
void card_draw(const struct card *card, struct fg_strbuf *text);
void card_release(struct card *card);

#endif
