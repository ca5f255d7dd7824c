/* SPDX-License-Identifier: Apache-2.0 */
/* fastgate's own files in lib/fastgate: the collector library and the launcher. */
#ifndef FG_RUNNER_INSTALLED_H
#define FG_RUNNER_INSTALLED_H

/*
 * Returns the absolute path of the file, or NULL if not found. The caller frees the path. Searches
 * relative to the running program (installed or in a build tree), then in the configured
 * installation folder.
 */
char *fg_installed_find(const char *name);

#endif
