/* SPDX-License-Identifier: Apache-2.0 */
/* The programs of a project that may be benchmarks. */
#ifndef FG_CLI_SESSION_PROJECT_PROGRAMS_H
#define FG_CLI_SESSION_PROJECT_PROGRAMS_H

#include "cli/session/project.h"

/*
 * Built programs, or before the first build those that CMakeLists.txt and meson.build declare; the
 * likeliest benchmark first.  Needs the project's build folder.
 */
void fg_project_find_programs(const char *root, struct fg_arena *arena, struct fg_project *project);

#endif
