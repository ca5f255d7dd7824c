// SPDX-License-Identifier: Apache-2.0
/* How a command of perfdb ends when it failed. */
#include "perfdb/server/options.h"

#include <stdio.h>

int fg_perfdb_fail(const struct fg_error *err)
{
	(void)fprintf(stderr, "perfdb: %s\n", err->message);
	return err->code == FG_EINVAL || err->code == FG_EPARSE ? FG_PERFDB_USAGE
								: FG_PERFDB_FAILED;
}
