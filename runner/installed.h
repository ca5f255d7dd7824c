/* SPDX-License-Identifier: Apache-2.0 */
/* Files of ours that lie in lib/fastgate: the collector library and the launcher. */
#ifndef FG_RUNNER_INSTALLED_H
#define FG_RUNNER_INSTALLED_H

/*
 * Its absolute path, to be freed, or NULL: beside the running program (of an installation or of a
 * build tree), else where it was meant to be installed.
 */
char *fg_installed_find(const char *name);

#endif
