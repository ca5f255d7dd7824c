/* SPDX-License-Identifier: Apache-2.0 */
/* Files of a project that one of its programs could be given as input. */
#ifndef FG_CLI_INIT_INPUTS_H
#define FG_CLI_INIT_INPUTS_H

#include "cli/init/project.h"

#include <time.h>

enum {
	FG_PROJECT_FOUND_INPUTS = 20,
	FG_PROJECT_MADE_INPUTS = 4,
	FG_PROJECT_MAX_INPUTS = FG_PROJECT_FOUND_INPUTS + FG_PROJECT_MADE_INPUTS
};

/* In the order in which they are tried. */
enum fg_project_input_kind {
	FG_INPUT_TEXT,
	FG_INPUT_BINARY,
	FG_INPUT_MADE,   /* of a simple format; no copies of it are joined */
	FG_INPUT_SOURCE, /* source or build file: a patch would change that side's work */
	FG_INPUT_KIND_COUNT
};

struct fg_project_input {
	const char *path; /* relative to the root */
	const char *made; /* the command that makes it, or NULL */
	int64_t size;
	struct timespec written;
	enum fg_project_input_kind kind;
};

struct fg_project_inputs {
	struct fg_project_input items[FG_PROJECT_MAX_INPUTS];
	size_t count;
};

/* The largest tracked file of each kind and ending, largest first. */
void fg_project_inputs_find(const char *tree, struct fg_arena *arena,
			    struct fg_project_inputs *inputs);
/* Adds a sound, a picture, a table and a list, none of which exists until its command has run. */
void fg_project_inputs_make(struct fg_project_inputs *inputs);
/* The file that holds the copies, or what was made; its name begins with this. */
#define FG_PROJECT_INPUT_NAME "fastgate-input"
const char *fg_project_input_name(const char *path, struct fg_arena *arena);
/* The command that makes that file. */
const char *fg_project_input_setup(const struct fg_project_program *program,
				   struct fg_arena *arena);

#endif
