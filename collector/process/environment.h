/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The variables that start the collector, kept so that they survive `env -i`, the program's own
 * LD_PRELOAD, or a wrapper that begins with an empty environment.
 */
#ifndef FG_COLLECTOR_ENVIRONMENT_H
#define FG_COLLECTOR_ENVIRONMENT_H

#include <stddef.h>

/*
 * Returns the environment, in a constructor: glibc passes it and has not set `environ` yet; musl
 * has set `environ` and passes nothing.
 */
char **fg_environment_at_start(char **passed);
/* Copies the variables at start-up. */
void fg_environment_keep(char *const *environment);
/*
 * Returns how many bytes fg_environment_complete() needs; 0: nothing is missing, or the environment
 * cannot be completed.
 */
size_t fg_environment_room(char *const *environment);
/*
 * Returns the environment with the missing variables restored, built in `memory`. A library that
 * the program preloads stays in front of ours.
 */
char *const *fg_environment_complete(char *const *environment, void *memory);

#endif
