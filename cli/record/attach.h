/* SPDX-License-Identifier: Apache-2.0 */
/* `fastgate record` from outside: of a process that runs, or of a static program. */
#ifndef FG_CLI_RECORD_ATTACH_H
#define FG_CLI_RECORD_ATTACH_H

#include "cli/framework/command.h"

#include <sys/types.h>

struct fg_record_outside {
	bool is_machine;  /* every process */
	pid_t pid;        /* 0: the command is started */
	unsigned rate_hz; /* 0: the default */
	bool elapsed;     /* waiting counts, too */
	bool no_python;   /* the frames of Python functions are left out */
	int64_t duration_ns;
	double budget;
	const char *folder;
};

/* Has this command no room for a library? */
bool fg_record_is_static(const char *command);
/* `exit_code` is that of the command, if there is one. */
int fg_record_outside(const struct fg_cli *cli, const struct fg_record_outside *given,
		      int *exit_code, struct fg_error *err) FG_NODISCARD;

#endif
