/* SPDX-License-Identifier: Apache-2.0 */
/* A project is built once to look at what the build makes, and its programs are tried. */
#ifndef FG_CLI_INIT_BUILD_H
#define FG_CLI_INIT_BUILD_H

#include "cli/framework/command.h"
#include "cli/init/project.h"
#include "runner/worktree.h"

/*
 * Builds a snapshot of the work tree where `fastgate run --against` builds it, so that nothing in
 * the work tree changes, and sets project->tree and the programs in it. Switches that build its
 * benchmarks are turned on where it builds with them. The worktree is to be closed when `tree` is
 * set.  FG_ECHILD: it does not build.
 */
int fg_project_build(struct fg_cli *cli, struct fg_project *project, struct fg_worktree *worktree,
		     struct fg_error *err) FG_NODISCARD;

/*
 * Runs the likeliest programs in project->tree until a few are found that can be measured, gives a
 * program of the project's own an input from the project's files where it needs one, and notes
 * length, busy share and spread.  Sorts them by that.  (trial.c)
 */
void fg_project_try(struct fg_cli *cli, struct fg_project *project);

#endif
