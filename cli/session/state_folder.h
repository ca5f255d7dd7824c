/* SPDX-License-Identifier: Apache-2.0 */
/* The folder beside fastgate.yml that holds what is measured: runs, builds, uploads to come. */
#ifndef FG_CLI_SESSION_STATE_FOLDER_H
#define FG_CLI_SESSION_STATE_FOLDER_H

#include "base/error.h"

#define FG_STATE_FOLDER ".fastgate"

/*
 * Git can check out a link in its place, or in it, so that files would be written elsewhere: that
 * is FG_EINVAL.  `root`: the folder that it lies in.
 */
int fg_state_folder_check(const char *root, struct fg_error *err) FG_NODISCARD;

/*
 * Makes it, with a .gitignore of its own, so that nobody commits or stashes it by mistake.  Where
 * that is impossible nothing is said: who needs the folder finds out.
 */
void fg_state_folder_make(const char *path);

#endif
