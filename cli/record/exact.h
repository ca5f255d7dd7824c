/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `fastgate record --exact`: runs the command under callgrind, which counts every instruction and
 * every call, and keeps its output as one file in the folder.
 */
#ifndef FG_CLI_RECORD_EXACT_H
#define FG_CLI_RECORD_EXACT_H

#include "cli/framework/command.h"
#include "cli/record/options.h"

int fg_record_exact(struct fg_cli *cli, const struct fg_recording *given, int *exit_code,
		    struct fg_error *err) FG_NODISCARD;

#endif
