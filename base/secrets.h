/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Secrets from the environment, read once and taken out of it: programs that are started later, the
 * ones under test among them, do not get them.  For the main thread.
 */
#ifndef FG_BASE_SECRETS_H
#define FG_BASE_SECRETS_H

/*
 * Takes a variable out of the environment, also out of what /proc/PID/environ shows, and keeps its
 * value.  One that is not set is fine; so is NULL.
 */
void fg_secret_take(const char *name);
/* The value of a variable that was taken; NULL: it was not set, or is empty. */
const char *fg_secret(const char *name);

#endif
