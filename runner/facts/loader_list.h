/* SPDX-License-Identifier: Apache-2.0 */
/* The libraries that glibc's dynamic linker would load for a program, by its own --list. */
#ifndef FG_RUNNER_LOADER_LIST_H
#define FG_RUNNER_LOADER_LIST_H

#include "base/error.h"

struct fg_loader {
	const char *path; /* the dynamic linker that the program names */
	const char *program;
	char *const *environment; /* NULL: ours */
	const char *working_directory;
	/*
	 * Gets each library: the name asked for, NULL for the linker itself, and the path, ""
	 * where it was not found.  A relative path is relative to the working directory.
	 */
	void (*add)(void *context, const char *name, const char *path);
	void *context;
};

/*
 * FG_EUNSUPPORTED: another dynamic linker, which might run the program, or one that failed; it may
 * have listed some libraries before.
 */
int fg_loader_list(const struct fg_loader *loader, struct fg_error *err) FG_NODISCARD;

#endif
