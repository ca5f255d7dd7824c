/* SPDX-License-Identifier: Apache-2.0 */
/* `fastgate record` from outside: a process that runs, the machine, or a static program. */
#ifndef FG_CLI_RECORD_ATTACH_H
#define FG_CLI_RECORD_ATTACH_H

#include "cli/framework/command.h"
#include "cli/record/options.h"

/* Has this command no room for a library? */
bool fg_record_is_static(const char *command);
/* `exit_code` is that of the command, if there is one. */
int fg_record_outside(struct fg_cli *cli, const struct fg_recording *options, int *exit_code,
		      struct fg_error *err) FG_NODISCARD;

#endif
