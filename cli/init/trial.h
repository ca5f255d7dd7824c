/* SPDX-License-Identifier: Apache-2.0 */
/* One execution of a program, and the search for its input. Private to init/. */
#ifndef FG_CLI_INIT_TRIAL_H
#define FG_CLI_INIT_TRIAL_H

#include "cli/init/project.h"

enum {
	FG_PROJECT_TRY_SECONDS = 20,
	FG_PROJECT_INPUT_SECONDS = 5,
};

/* below this, mostly the program's start is timed */
#define FG_PROJECT_SHORT_S 0.02

struct fg_project_seen {
	double wall_s;
	double cpu_s;
	double queued_s; /* runnable but waiting for a CPU */
};

struct fg_project_trying {
	struct fg_cli *cli;
	struct fg_project *project;
	const char *tree;
	char *launcher; /* measures how long a program waited for a CPU */
	int64_t ends_ns;
};

/* One execution. False if it failed; program->why has the reason. (execution.c) */
bool fg_project_execute(struct fg_project_trying *t, struct fg_project_program *program,
			const char *line, const char *input, int seconds,
			struct fg_project_seen *seen);
bool fg_project_is_over(const struct fg_project_trying *t);
/*
 * Finds the input, and the words around it, that keep the program busy for longer than the `cpu_s`
 * that it takes without one. False: no input does. (trial_inputs.c)
 */
bool fg_project_find_input(struct fg_project_trying *t, struct fg_project_program *program,
			   double cpu_s);

#endif
