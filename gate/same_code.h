/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Facts about unchanged code. A function whose machine code, and that of its callees, is the same
 * in both builds got slower for a reason outside of it: its place, its callers, its inputs. It is
 * not guilty if changed code takes time. The fact build.functions lists the functions of both
 * builds. Private to gate/.
 */
#ifndef FG_GATE_SAME_CODE_H
#define FG_GATE_SAME_CODE_H

#include "model/profile_set.h"
#include "model/run.h"
#include "model/verdict.h"

enum fg_code_state {
	FG_CODE_UNKNOWN,
	FG_CODE_SAME,           /* as is all that it calls */
	FG_CODE_REACHES_CHANGE, /* the same, but it calls changed code */
	FG_CODE_CHANGED,
};

struct fg_code_fact {
	enum fg_code_state state;
	unsigned offset[FG_ARM_COUNT]; /* within a page */
};

/* Per function, to be freed; NULL: nothing is known. */
struct fg_code_fact *fg_same_code_facts(const struct fg_profile_set *set,
					const struct fg_series *series);
/*
 * The only changed function that takes time.  0 if no, or more than one, such function changed, or
 * if the code of another one that takes time is unknown.
 */
size_t fg_same_code_only_changed(const struct fg_profile_set *set, const struct fg_series *series);
/*
 * A note for each function whose change is sure and whose code is the same.  If the whole changed
 * and no function is guilty, the only hot function that changed is named.
 */
void fg_same_code_note(const struct fg_profile_set *set, const struct fg_series *series,
		       bool whole_changed, struct fg_arena *arena,
		       struct fg_benchmark_verdict *verdict);
/*
 * Is every function that takes time known to have the same code in both builds, including
 * everything it names? False also if nothing is known.
 */
bool fg_same_code_takes_all_time(const struct fg_profile_set *set, const struct fg_series *series);

#endif
