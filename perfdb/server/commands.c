// SPDX-License-Identifier: Apache-2.0
#include "perfdb/server/options.h"

const struct fg_perfdb_command *const fg_perfdb_commands[] = {
	&fg_perfdb_serve, &fg_perfdb_token,   &fg_perfdb_role,
	&fg_perfdb_limit, &fg_perfdb_migrate, &fg_perfdb_backup,
	&fg_perfdb_gc,    &fg_perfdb_check,   NULL,
};
