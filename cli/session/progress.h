/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Progress on stderr: one line that is redrawn on a terminal; elsewhere a plain line when a
 * benchmark begins and every half minute after. Nothing with --quiet.
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
	const struct fg_measuring *measure; /* this benchmark's */
	bool is_paired;                     /* with a baseline, that is until it is decided */
	int64_t drawn_ns;                   /* when, by the monotonic clock */
	bool is_drawn;
	bool told_too_long;
};

void fg_progress_begin(struct fg_progress *progress, const char *benchmark);
void fg_progress_show(struct fg_progress *progress, const struct fg_runner_progress *runner,
		      const struct fg_gate_progress *gate);
/* Removes the line, before other output. */
void fg_progress_clear(struct fg_progress *progress);

#endif
