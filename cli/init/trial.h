/* SPDX-License-Identifier: Apache-2.0 */
/* Executes a program once, and searches for its input. Private to init/. */
#ifndef FG_CLI_INIT_TRIAL_H
#define FG_CLI_INIT_TRIAL_H

#include "cli/init/project.h"

enum {
	FG_PROJECT_TRY_SECONDS = 20,
	FG_PROJECT_INPUT_SECONDS = 5,
};

/* a shorter execution is mostly program start */
#define FG_PROJECT_SHORT_S 0.02
/* inputs and executions are repeated until they take this long together */
#define FG_PROJECT_WANTED_S 0.3

struct fg_project_seen {
	double wall_s;
	double cpu_s;
	double queued_s; /* runnable but waiting for a CPU */
};

struct fg_project_trying {
	struct fg_cli *cli;
	struct fg_project *project;
	const char *tree;
	char *launcher; /* fastgate-launch, which measures how long a program waited for a CPU */
	int64_t ends_ns;
	size_t timeouts; /* executions ended at their time limit, of the program that gets files */
};

/* Executes the program once. If it fails, program->why has the reason. (execution.c) */
bool fg_project_execute(struct fg_project_trying *t, struct fg_project_program *program,
			const char *line, const char *input, int seconds,
			struct fg_project_seen *seen);
bool fg_project_is_over(const struct fg_project_trying *t);
/*
 * Finds an input, and the words around it, that keep the program busy for longer than `cpu_s`, its
 * CPU time without an input. Returns false if no input does. (trial_inputs.c)
 */
bool fg_project_find_input(struct fg_project_trying *t, struct fg_project_program *program,
			   double cpu_s);

#endif
