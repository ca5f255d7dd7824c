/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The smallest change that can be detected on this host: a program is measured against itself, and
 * the gate's own rule is applied.
 */
#ifndef FG_CLI_SESSION_CALIBRATE_H
#define FG_CLI_SESSION_CALIBRATE_H

#include "cli/framework/command.h"
#include "model/plan.h"

enum {
	FG_CALIBRATION_ROWS = 2
};

/* Result of one schedule. */
struct fg_calibration {
	const char *benchmark;
	struct fg_calibration_row {
		enum fg_schedule schedule;
		unsigned pairs;
		unsigned aside; /* repetitions of a duet that did not overlap in time */
		double seconds;
		double smallest_cpu_time; /* relative; NaN: unknown */
		double smallest_wall_time;
		char *failure; /* NULL if it was measured */
	} rows[FG_CALIBRATION_ROWS];
};

struct fg_calibrate_options {
	const struct fg_benchmark *benchmark; /* NULL: a shell loop */
	const char *root;                     /* its command is relative to this folder */
	unsigned pairs;                       /* per schedule */
	int64_t budget_ns;                    /* per schedule */
};

/* Measures the benchmark against itself.  FG_EINTERRUPTED when the user stopped it. */
int fg_calibrate(struct fg_cli *cli, const struct fg_calibrate_options *options,
		 struct fg_calibration *calibration, struct fg_error *err) FG_NODISCARD;
void fg_calibration_release(struct fg_calibration *calibration);

#endif
