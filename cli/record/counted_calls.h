/* SPDX-License-Identifier: Apache-2.0 */
/* What a recording of named functions brought, in a few lines. */
#ifndef FG_CLI_RECORD_COUNTED_CALLS_H
#define FG_CLI_RECORD_COUNTED_CALLS_H

#include "cli/framework/command.h"

/* From the traces in the folder: how often was each function called, which were not reached? */
void fg_cli_say_calls(const struct fg_cli *cli, const char *folder);

#endif
