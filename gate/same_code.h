/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A function whose machine code, including everything that it calls, is the same in both builds got
 * slower for an external reason: its address, its callers or its inputs. It is not guilty if
 * changed code is hot. Private to gate/.
 */
#ifndef FG_GATE_SAME_CODE_H
#define FG_GATE_SAME_CODE_H

#include "model/profile_set.h"
#include "model/run.h"
#include "model/verdict.h"

struct fg_code_fact {
	enum fg_compared state;
	unsigned offset[FG_ARM_COUNT]; /* offset within a page */
	struct fg_code_form form[FG_ARM_COUNT];
};

/* Returns one fact per function; NULL if nothing is known. The caller frees the array. */
struct fg_code_fact *fg_same_code_facts(const struct fg_profile_set *set,
					const struct fg_series *series);
/*
 * Returns the only function that changed, if it is hot; 0 if none or several changed, or if the
 * code of another hot function is unknown. Hot: at least 0.5 % of the samples.
 */
size_t fg_same_code_only_changed(const struct fg_profile_set *set, const struct fg_series *series);
/*
 * Adds a note for each function whose change is significant although its code is the same. If the
 * whole changed and no function is guilty, sets the verdict's `only_changed`.
 */
void fg_same_code_note(const struct fg_profile_set *set, const struct fg_series *series,
		       bool total_changed, struct fg_arena *arena,
		       struct fg_benchmark_verdict *verdict);
/*
 * Does every hot function have the same code in both builds, including everything it refers to?
 * False if unknown.
 */
bool fg_same_code_takes_all_time(const struct fg_profile_set *set, const struct fg_series *series);
/* Did a function on a hot call path change? True also if the list of changed functions was cut. */
bool fg_same_code_has_changed_caller(const struct fg_profile_set *set,
				     const struct fg_series *series);

#endif
