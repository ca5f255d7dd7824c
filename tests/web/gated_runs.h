/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs of a C++ project, commit by commit, judged by the gate as `fastgate run` judges them. The
 * host drifts by a fifth from run to run; the program does not, but for two steps, or many small
 * ones.
 */
#ifndef FG_TESTS_GATED_RUNS_H
#define FG_TESTS_GATED_RUNS_H

#include "store/store.h"

enum {
	FG_GATED_RUNS = 14,
	FG_GATED_FASTER = 5, /* this run's commit makes the first benchmark faster, ... */
};

enum fg_gated_end {
	FG_GATED_PASSES,
	FG_GATED_FAILS,  /* one benchmark in fifty, or the first of a few */
	FG_GATED_CREEPS, /* each commit makes one function a little slower; none fails */
};

/* `number` from 0.  To be released with fg_stored_run_release(). */
int fg_gated_run(struct fg_stored_run *stored, unsigned number, unsigned benchmarks,
		 enum fg_gated_end end, struct fg_error *err) FG_NODISCARD;

#endif
