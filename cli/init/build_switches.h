/* SPDX-License-Identifier: Apache-2.0 */
/* Switches of a project's build that its own files leave off: "-DPARSE_BENCHMARKS=ON". */
#ifndef FG_CLI_INIT_BUILD_SWITCHES_H
#define FG_CLI_INIT_BUILD_SWITCHES_H

#include "cli/init/project.h"

enum fg_project_wanted {
	FG_PROJECT_WANT_BENCHMARKS,
	FG_PROJECT_WANT_PROGRAMS, /* tools, examples, tests: of a library that builds none */
};

/*
 * What CMakeLists.txt or meson_options.txt in the root declares as off, and builds these when it is
 * on.  Each with a blank before it; NULL: there are none.
 */
const char *fg_project_option_flags(const char *root, const struct fg_project *project,
				    enum fg_project_wanted wanted, struct fg_arena *arena);
/* The project's build command with these flags. */
const char *fg_project_command_with(const struct fg_project *project, const char *flags,
				    struct fg_arena *arena);

#endif
