/* SPDX-License-Identifier: Apache-2.0 */
/* `fastgate record` of a command that the collector is loaded into. */
#ifndef FG_CLI_RECORD_INSIDE_H
#define FG_CLI_RECORD_INSIDE_H

#include "cli/framework/command.h"
#include "cli/record/options.h"

/*
 * Starts the command in cli->arguments and waits for it. `signal` requests a dump of what is held;
 * 0: none. `exit_code` is the command's.
 */
int fg_record_inside(struct fg_cli *cli, const struct fg_recording *given, int signal,
		     int *exit_code, struct fg_error *err) FG_NODISCARD;

#endif
