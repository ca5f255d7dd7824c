/* SPDX-License-Identifier: Apache-2.0 */
/* The folder next to fastgate.yml that holds fastgate's data: runs, builds, pending uploads. */
#ifndef FG_CLI_SESSION_STATE_FOLDER_H
#define FG_CLI_SESSION_STATE_FOLDER_H

#include "base/error.h"

#define FG_STATE_FOLDER ".fastgate"

/*
 * Git can check out a symbolic link in its place, or inside it, so that files would be written
 * elsewhere; that is FG_EINVAL. `root`: the folder that contains it.
 */
int fg_state_folder_check(const char *root, struct fg_error *err) FG_NODISCARD;

/*
 * Creates it with a .gitignore of its own, so that nobody commits or stashes it by mistake. Failure
 * is silent here: users of the folder will notice.
 */
void fg_state_folder_make(const char *path);

#endif
