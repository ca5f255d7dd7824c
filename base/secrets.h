/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Secrets from the environment, read once and removed from it, so that programs started later, such
 * as the measured programs, do not inherit them. Main thread only.
 */
#ifndef FG_BASE_SECRETS_H
#define FG_BASE_SECRETS_H

/*
 * Removes a variable from the environment, including /proc/PID/environ, and keeps its value. NULL
 * or an unset variable is fine.
 */
void fg_secret_take(const char *name);
/* Returns the value of a variable that was taken; NULL: unset or empty. */
const char *fg_secret(const char *name);

#endif
