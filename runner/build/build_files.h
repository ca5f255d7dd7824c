/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Files that define how a project is built. Few makefiles recompile when flags change, so a tree
 * that is kept between builds starts from scratch when one of these files has changed.
 */
#ifndef FG_RUNNER_BUILD_FILES_H
#define FG_RUNNER_BUILD_FILES_H

#include "model/plan.h"

/*
 * `path` is relative to the top of the repository; a script that `build` names is also a build
 * file.
 */
bool fg_is_build_file(const char *path, const struct fg_command *build);

#endif
