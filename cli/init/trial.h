/* SPDX-License-Identifier: Apache-2.0 */
/* Executes a program once, and searches for its input. Private to init/. */
#ifndef FG_CLI_INIT_TRIAL_H
#define FG_CLI_INIT_TRIAL_H

#include "cli/init/project.h"

enum {
	FG_PROJECT_TRY_SECONDS = 20,
	FG_PROJECT_INPUT_SECONDS = 5,
};

/* Inputs and executions are repeated until the program's own work takes this long. */
#define FG_PROJECT_WANTED_S 0.1
/* A smaller ratio of two durations may be due to chance. */
#define FG_PROJECT_CLEARLY 2

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
	size_t timeouts; /* executions that hit the time limit while the program was offered files */
};

/* Executes the program once. If it fails, program->why has the reason. (execution.c) */
bool fg_project_execute(struct fg_project_trying *t, struct fg_project_program *program,
			const char *line, const char *input, int seconds,
			struct fg_project_seen *seen);
/* Runs the command that makes the program's input, if there is such a command. */
bool fg_project_prepare(struct fg_project_trying *t, const struct fg_project_program *program);
bool fg_project_is_over(const struct fg_project_trying *t);
/* Measures program->work_s and ->seconds. Returns false if the program fails. (execution.c) */
bool fg_project_measure(struct fg_project_trying *t, struct fg_project_program *program,
			int seconds);
/* Sets program->work_s from the CPU time of an execution. */
void fg_project_set_work(struct fg_project_trying *t, struct fg_project_program *program,
			 double cpu_s);
bool fg_project_is_short(const struct fg_project_program *program);
bool fg_project_is_longer(const struct fg_project_program *a, const struct fg_project_program *b);
/*
 * Finds an input, and the words around it, that keep the program busy for clearly longer than
 * program->work_s, its work without an input. Returns false if none is found. (trial_inputs.c)
 */
bool fg_project_find_input(struct fg_project_trying *t, struct fg_project_program *program);

#endif
