/* SPDX-License-Identifier: Apache-2.0 */
/* Locks between processes of fastgate (flock), which end with their process. */
#ifndef FG_RUNNER_FILE_LOCK_H
#define FG_RUNNER_FILE_LOCK_H

#include "base/base.h"
#include "base/error.h"

#include <signal.h>

struct fg_lock_wait {
	const volatile sig_atomic_t *interrupted; /* may be NULL */
	void *context;
	void (*on_note)(void *context, const char *note); /* may be NULL */
	const char *note;                                 /* told once, if it has to wait */
};

/*
 * `how`: LOCK_SH or LOCK_EX. A folder must be there, a file is made. Closing `fd` gives it back.
 * FG_EINTERRUPTED: the wait was ended.
 */
int fg_file_lock(const char *path, int how, const struct fg_lock_wait *wait, int *fd,
		 struct fg_error *err) FG_NODISCARD;
/* Without waiting: false if another process holds it. */
bool fg_file_try_lock(const char *path, int *fd);

#endif
