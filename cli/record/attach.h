/* SPDX-License-Identifier: Apache-2.0 */
/* `fastgate record` from outside: a running process, the machine, or a static program. */
#ifndef FG_CLI_RECORD_ATTACH_H
#define FG_CLI_RECORD_ATTACH_H

#include "cli/framework/command.h"
#include "cli/record/options.h"

/* Is this command's program static, so that no library can be preloaded? */
bool fg_record_is_outside(const char *command);
/* `exit_code` is the command's, if one was started. */
int fg_record_outside(struct fg_cli *cli, const struct fg_recording *options, int *exit_code,
		      struct fg_error *err) FG_NODISCARD;

#endif
