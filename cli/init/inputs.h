/* SPDX-License-Identifier: Apache-2.0 */
/* Files of a project that could be the input of one of its programs. */
#ifndef FG_CLI_INIT_INPUTS_H
#define FG_CLI_INIT_INPUTS_H

#include "cli/init/project.h"

#include <time.h>

enum {
	FG_PROJECT_FOUND_INPUTS = 20,
	FG_PROJECT_MADE_INPUTS = 8,
	FG_PROJECT_MAX_INPUTS = FG_PROJECT_FOUND_INPUTS + FG_PROJECT_MADE_INPUTS
};

/* The kinds of input, in the order in which init tries them. */
enum fg_project_input_kind {
	FG_INPUT_SAMPLE, /* text file in a folder of tests, examples or data */
	FG_INPUT_BINARY_SAMPLE,
	FG_INPUT_TEXT, /* any other text, often about the project */
	FG_INPUT_BINARY,
	FG_INPUT_MADE,   /* made by a command; used once, without copies */
	FG_INPUT_SOURCE, /* source or build file: a patch to it changes one side's input */
	FG_INPUT_KIND_COUNT
};

struct fg_project_input {
	const char *path; /* relative to the root */
	const char *made; /* command that makes the file, or NULL */
	int64_t size;
	struct timespec written;
	enum fg_project_input_kind kind;
};

struct fg_project_inputs {
	struct fg_project_input items[FG_PROJECT_MAX_INPUTS];
	size_t count;
};

/*
 * Finds one tracked file of each kind and ending, largest first. Inputs of benchmarks are preferred
 * to larger files.
 */
void fg_project_inputs_find(const char *tree, struct fg_arena *arena,
			    struct fg_project_inputs *inputs);
/* Adds inputs in simple formats; each exists only after its command has run. */
void fg_project_inputs_make(struct fg_project_inputs *inputs);
/*
 * Prefix of the names of files that init makes: copies of an input, and inputs made by a command.
 */
#define FG_PROJECT_INPUT_NAME "fastgate-input"
const char *fg_project_input_name(const char *path, struct fg_arena *arena);
/*
 * Returns the command that makes the program's input; NULL if the input is a file of the project.
 */
const char *fg_project_input_setup(const struct fg_project_program *program,
				   struct fg_arena *arena);

#endif
