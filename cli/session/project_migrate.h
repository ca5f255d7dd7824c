/* SPDX-License-Identifier: Apache-2.0 */
/* Benchmarks of another tool as those of a project's first fastgate.yml. */
#ifndef FG_CLI_SESSION_PROJECT_MIGRATE_H
#define FG_CLI_SESSION_PROJECT_MIGRATE_H

#include "cli/session/migrate.h"
#include "cli/session/project.h"

/* All of them, instead of programs that were found. */
void fg_project_take_over(struct fg_project *project, const struct fg_migration *migration,
			  struct fg_arena *arena);

#endif
