/* SPDX-License-Identifier: Apache-2.0 */
/* Adds names of kernel functions to new traces, and reports why they are missing. */
#ifndef FG_CLI_RECORD_KERNEL_FUNCTIONS_H
#define FG_CLI_RECORD_KERNEL_FUNCTIONS_H

#include "cli/framework/command.h"

/* Time in the kernel, from the headers of a recording's traces. */
struct fg_cli_kernel_time {
	double share; /* share of the sampled CPU time */
	int refused;  /* errno if the kernel refuses access, otherwise 0 */
};

/* Adds names to the traces in the folder; prints one line if this user may not see them. */
void fg_cli_name_kernel_functions(const struct fg_cli *cli, const char *folder);
/* Prints one line if much time was spent in the kernel but its functions cannot be seen. */
void fg_cli_say_kernel_refused(const struct fg_cli *cli, const struct fg_cli_kernel_time *time);

#endif
