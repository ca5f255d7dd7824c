/* SPDX-License-Identifier: Apache-2.0 */
/* Names of the kernel's functions in traces that were just taken, and why they have none. */
#ifndef FG_CLI_RECORD_KERNEL_FUNCTIONS_H
#define FG_CLI_RECORD_KERNEL_FUNCTIONS_H

#include "cli/framework/command.h"

/* What the traces of a recording say, in their headers, of the time in the kernel. */
struct fg_cli_kernel_time {
	double share; /* of the CPU time that was sampled */
	int refused;  /* errno of the kernel where it does not let us look; 0: it does */
};

/* Adds names to the traces of the folder; one line if they are hidden from this user. */
void fg_cli_name_kernel_functions(const struct fg_cli *cli, const char *folder);
/* One line, where much time was spent in the kernel and nobody may see in what. */
void fg_cli_say_kernel_refused(const struct fg_cli *cli, const struct fg_cli_kernel_time *time);

#endif
