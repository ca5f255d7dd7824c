/* SPDX-License-Identifier: Apache-2.0 */
/* The programs of a project that may be benchmarks. */
#ifndef FG_CLI_INIT_PROGRAMS_H
#define FG_CLI_INIT_PROGRAMS_H

#include "cli/init/project.h"

/*
 * Built programs, or before the first build those that CMakeLists.txt and meson.build declare; the
 * likeliest benchmark first.  Needs the project's build folder.
 */
void fg_project_find_programs(const char *root, struct fg_arena *arena, struct fg_project *project);
/*
 * The program at this path, which the build system calls a benchmark: the entry that is there
 * already, if it has no arguments of its own yet, or a new one.  NULL: it is no program.
 */
struct fg_project_program *fg_project_add(const char *root, struct fg_arena *arena,
					  struct fg_project *project, const char *path);
/* The best first. */
void fg_project_sort(struct fg_project *project);

/*
 * Benchmarks that the build system knows by name and with their arguments: CTest's tests whose name
 * or label says so, Meson's benchmarks, what `make bench` would run.  The tree must be built.
 * (build_lists.c)
 */
void fg_project_read_lists(const char *root, struct fg_arena *arena, struct fg_project *project);
/*
 * The target of a makefile that makes benchmark programs, or the programs that it would run, to be
 * built as well; NULL: there is none.
 */
const char *fg_project_make_target(const char *root, struct fg_arena *arena,
				   struct fg_project *project);

#endif
