/* SPDX-License-Identifier: Apache-2.0 */
/* The libraries that glibc's dynamic linker would load for a program, as its --list prints them. */
#ifndef FG_RUNNER_LOADER_LIST_H
#define FG_RUNNER_LOADER_LIST_H

#include "base/error.h"

struct fg_loader {
	const char *path; /* the program's dynamic linker */
	const char *program;
	char *const *environment; /* NULL: ours */
	const char *working_directory;
	/*
	 * Called for each library: `name` is the requested name (NULL for the linker itself),
	 * `path` the file found ("" if none). A relative path is relative to the working directory.
	 */
	void (*add)(void *context, const char *name, const char *path);
	void *context;
};

/*
 * FG_EUNSUPPORTED: the dynamic linker is not glibc's, so it might run the program; or it failed,
 * perhaps after it listed some libraries.
 */
int fg_loader_list(const struct fg_loader *loader, struct fg_error *err) FG_NODISCARD;

#endif
