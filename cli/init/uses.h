/* SPDX-License-Identifier: Apache-2.0 */
/* Calls of a program in the project's tests, build files and documentation. */
#ifndef FG_CLI_INIT_USES_H
#define FG_CLI_INIT_USES_H

#include "cli/init/project.h"

enum {
	FG_PROJECT_MAX_USES = 16
};

/*
 * Stands for the files that a call writes; such files are removed when all programs have been
 * tried.
 */
#define FG_PROJECT_OUTPUT_NAME "fastgate-input-result"

struct fg_project_use {
	const char *before; /* words before the input */
	const char *input;  /* a file below the root, or NULL */
	const char *after;
	int64_t size;     /* size of the input in bytes */
	bool wants_file;  /* the call needs an input but names no existing file */
	bool is_argument; /* the input is passed by name, not on standard input */
};

struct fg_project_uses {
	struct fg_project_use items[FG_PROJECT_MAX_USES]; /* largest input first */
	size_t count;
	size_t calls; /* lines that name the program, even if the call was not understood */
};

/* Finds the calls in the tracked files of the tree. */
void fg_project_uses_find(const char *tree, struct fg_arena *arena,
			  const struct fg_project_program *program, struct fg_project_uses *uses);

#endif
