// SPDX-License-Identifier: Apache-2.0
#include "cli/record/kernel_functions.h"

#include "profile/attach/kernel_traces.h"

#include <errno.h>

/* Smaller shares are not worth a line. */
static const double share_to_report = 0.1;

void fg_cli_name_kernel_functions(const struct fg_cli *cli, const char *folder)
{
	struct fg_kernel_naming naming = {0};

	fg_kernel_naming_add(&naming, folder);
	if (naming.is_hidden)
		fg_cli_say(cli, "functions of the kernel have no names: their addresses are hidden "
				"from this user (kernel.kptr_restrict)");
	fg_kernel_naming_release(&naming);
}

void fg_cli_say_kernel_refused(const struct fg_cli *cli, const struct fg_cli_kernel_time *time)
{
	if ((time->refused != EACCES && time->refused != EPERM) || time->share < share_to_report)
		return;
	fg_cli_say(cli,
		   "%.0f %% of that in the kernel: naming its functions needs root, CAP_PERFMON, "
		   "or kernel.perf_event_paranoid below 2",
		   100 * time->share);
}
