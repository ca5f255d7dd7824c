/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A function whose machine code is the same in both builds, as is that of all it calls, got slower
 * for a reason outside of it: its place, its callers, its inputs.  The fact build.functions tells.
 * Private to gate/.
 */
#ifndef FG_GATE_SAME_CODE_H
#define FG_GATE_SAME_CODE_H

#include "model/profile_set.h"
#include "model/run.h"
#include "model/verdict.h"

/*
 * A note for each function whose change is sure and whose code is the same.  Such a one is not
 * guilty beside a function that did change and is guilty as well, nor where one that did change
 * takes time and does not call it.  Where the whole changed and no function is guilty, the only hot
 * one that changed is named.
 */
void fg_same_code_settle(const struct fg_profile_set *set, const struct fg_series *series,
			 bool whole_changed, struct fg_arena *arena,
			 struct fg_benchmark_verdict *verdict);
/*
 * Are all functions that take time known to be the same code, in both builds, as is all they name?
 * False also where nothing is known.
 */
bool fg_same_code_takes_all_time(const struct fg_profile_set *set, const struct fg_series *series);

#endif
