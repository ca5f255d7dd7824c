/* SPDX-License-Identifier: Apache-2.0 */
/* Names of kernel functions in new traces, and the reason if they have no names. */
#ifndef FG_CLI_RECORD_KERNEL_FUNCTIONS_H
#define FG_CLI_RECORD_KERNEL_FUNCTIONS_H

#include "cli/framework/command.h"

/* Time in the kernel, from the headers of a recording's traces. */
struct fg_cli_kernel_time {
	double share; /* of the sampled CPU time */
	int refused;  /* errno if the kernel does not let us look; 0: it does */
};

/* Adds names to the traces of the folder; prints one line if they are hidden from this user. */
void fg_cli_name_kernel_functions(const struct fg_cli *cli, const char *folder);
/* Prints one line if much time was spent in the kernel and its functions cannot be seen. */
void fg_cli_say_kernel_refused(const struct fg_cli *cli, const struct fg_cli_kernel_time *time);

#endif
