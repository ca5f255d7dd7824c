/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs of a C++ project, commit by commit, judged by the gate as in `fastgate run`. The host drifts
 * by a fifth between runs; the program does not, except for two steps, or many small ones.
 */
#ifndef FG_TESTS_GATED_RUNS_H
#define FG_TESTS_GATED_RUNS_H

#include "store/store.h"

enum {
	FG_GATED_RUNS = 14,
	FG_GATED_FASTER = 5, /* the commit of this run makes the first benchmark faster */
};

enum fg_gated_end {
	FG_GATED_PASSES,
	FG_GATED_FAILS,  /* one benchmark in fifty fails, or the first of a few */
	FG_GATED_CREEPS, /* each commit makes one function slightly slower; no run fails */
};

/* `number` counts from 0. The caller releases the run with fg_stored_run_release(). */
int fg_gated_run(struct fg_stored_run *stored, unsigned number, unsigned benchmarks,
		 enum fg_gated_end end, struct fg_error *err) FG_NODISCARD;

#endif
