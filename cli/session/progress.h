/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Progress on stderr: on a terminal, one line that is redrawn; elsewhere, a plain line when a
 * benchmark begins and every half minute after. Prints nothing with --quiet.
 */
#ifndef FG_CLI_SESSION_PROGRESS_H
#define FG_CLI_SESSION_PROGRESS_H

#include "cli/framework/command.h"
#include "gate/gate.h"
#include "runner/runner.h"

struct fg_progress {
	const struct fg_cli *cli;
	size_t index; /* of this benchmark, from 1 */
	size_t total;
	const struct fg_measuring *measure; /* of this benchmark */
	bool is_paired;                     /* has a baseline, so it is measured until decided */
	int64_t drawn_ns;                   /* time of the last redraw, monotonic clock */
	bool is_drawn;
	bool told_too_long;
};

void fg_progress_begin(struct fg_progress *progress, const char *benchmark);
void fg_progress_show(struct fg_progress *progress, const struct fg_runner_progress *runner,
		      const struct fg_gate_progress *gate);
/* Removes the line so that other output can follow. */
void fg_progress_clear(struct fg_progress *progress);

#endif
