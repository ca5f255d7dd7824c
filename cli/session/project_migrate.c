// SPDX-License-Identifier: Apache-2.0
#include "cli/session/project_migrate.h"

void fg_project_take_over(struct fg_project *project, const struct fg_migration *migration,
			  struct fg_arena *arena)
{
	project->programs = fg_arena_array(arena, migration->count, sizeof(project->programs[0]));
	project->program_count = migration->count;
	project->is_taken_over = true;
	for (size_t i = 0; i < migration->count; i++) {
		const struct fg_migrated *item = &migration->items[i];

		project->programs[i] = (struct fg_project_program){
			.path = item->command,
			.name = item->name,
			.harness = item->harness,
			.is_built = true,
			.working_directory = item->working_directory,
			.given =
				{
					.command = item->command,
					.shell = item->shell,
					.stdin_path = item->stdin_path,
					.setup = item->setup,
					.prepare = item->prepare,
					.cleanup = item->cleanup,
				},
		};
	}
}
