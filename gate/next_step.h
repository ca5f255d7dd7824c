/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Chooses the next step for a benchmark: measure more pairs, measure in several layouts, start
 * over, or stop. No other code makes this choice; docs/statistics.md has a drawing of the states.
 *
 *	struct fg_next_step machine = {0};
 *	enum fg_step_result result = FG_STEP_DONE;
 *
 *	do {
 *		fg_next_step(&machine, &situation, result, &step);
 *		result = carry out `step`
 *	} while (step.action != FG_STEP_STOP);
 *
 * Does no I/O, reads no clock, and keeps no state except in the machine.
 */
#ifndef FG_GATE_NEXT_STEP_H
#define FG_GATE_NEXT_STEP_H

#include "gate/gate.h"
#include "model/profile_set.h"
#include "model/run.h"

enum fg_step_action {
	FG_STEP_STOP,
	FG_STEP_SAY,              /* only show the text */
	FG_STEP_PAIRS,            /* measure until `pairs` pairs are valid */
	FG_STEP_BEGIN_IN_LAYOUTS, /* link both sides in several layouts before the first pair */
	/* link both sides in several layouts, and set aside the pairs measured so far */
	FG_STEP_LAYOUTS,
};

/* Result of the last step. */
enum fg_step_result {
	FG_STEP_DONE,
	FG_STEP_REFUSED,   /* layouts cannot be linked: fg_situation.why */
	FG_STEP_EXHAUSTED, /* max_pairs or the budget is used up */
	FG_STEP_GIVEN_UP,  /* the schedule and its pairs were given up */
	FG_STEP_ENDED,     /* the benchmark failed, or the user interrupted it */
};

enum fg_step_state {
	FG_STATE_NEW,
	FG_STATE_ALONE,      /* no baseline, so nothing to decide */
	FG_STATE_BEGINNING,  /* links layouts before the first pair */
	FG_STATE_DECIDING,   /* measures from look to look */
	FG_STATE_SUSPECTING, /* finds out whether code placement may have caused the failure */
	FG_STATE_VARYING,    /* links layouts, because placement may have caused the failure */
	FG_STATE_IN_LAYOUTS, /* measures from look to look in several layouts */
	FG_STATE_FINISHING,  /* exceeds the budget to complete the pairs that can decide */
	FG_STATE_EXPLAINING, /* finds out whether the slower function can be named */
	FG_STATE_NAMING,     /* measures pairs that do not change the verdict */
	FG_STATE_LAST, /* measures from look to look: the schedule was given up while naming */
	FG_STATE_OVER,
};

enum {
	FG_STEP_TEXT_SIZE = 640
};

struct fg_next_step {
	enum fg_step_state state;
	/* latest look at the last undecided series, or at the first series if all are decided */
	struct fg_gate_progress look;
	bool has_look;
	bool is_open; /* with `until_sure`: the budget ended before the decision */
	/* private */
	unsigned reached; /* the last look that pairs were measured for */
};

struct fg_situation {
	const struct fg_run *run;
	const size_t *series; /* indexes of the benchmark's series: one, or one per harness case */
	size_t series_count;
	const struct fg_profile_set *profile; /* profile of the first series, or NULL */
	const struct fg_policy *policy;
	const struct fg_measuring *measure;
	bool has_baseline;
	unsigned pairs;  /* pairs that count so far */
	int64_t pair_ns; /* mean wall time of a pair; 0: not known yet */
	const char *why; /* reason, with FG_STEP_REFUSED */
};

struct fg_step {
	enum fg_step_action action;
	unsigned pairs;
	bool exceeds_budget; /* FG_STEP_PAIRS: measure even beyond the budget */
	/* FG_STEP_BEGIN_IN_LAYOUTS: the user did not ask for layouts */
	bool only_if_cheap;
	bool is_detail;               /* `text` is for --verbose */
	char text[FG_STEP_TEXT_SIZE]; /* reason for the user; may be empty */
};

/* `result` is FG_STEP_DONE in the first call. After FG_STEP_STOP every further call also stops. */
void fg_next_step(struct fg_next_step *machine, const struct fg_situation *now,
		  enum fg_step_result result, struct fg_step *step);

/* ---- naming_pairs.c ---- */

/*
 * Returns the number of pairs at which a function that carries a change to `ratio` stands out from
 * the scatter of its samples, at most `most`; 0 if `pairs` are enough or nothing was sampled.
 */
unsigned fg_naming_pairs(const struct fg_profile_set *set, const struct fg_series *series,
			 double ratio, unsigned pairs, unsigned most);

#endif
