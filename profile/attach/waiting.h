/* SPDX-License-Identifier: Apache-2.0 */
/* The system call that a stopped thread waits in. */
#ifndef FG_OUTSIDE_WAITING_H
#define FG_OUTSIDE_WAITING_H

#include <sys/user.h>

/* Its name as in "read", or "a system call"; NULL: our stop interrupted none. */
const char *fg_waiting_call(const struct user_regs_struct *registers);

#endif
