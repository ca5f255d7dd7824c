/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Files that say how a project is built.  Few makefiles rebuild what was compiled with other flags,
 * so a tree that is kept from build to build begins afresh when one of these has changed.
 */
#ifndef FG_RUNNER_BUILD_FILES_H
#define FG_RUNNER_BUILD_FILES_H

#include "model/plan.h"

/* `path` from the top of the repository; `build` may name scripts of its own. */
bool fg_is_build_file(const char *path, const struct fg_command *build);

#endif
