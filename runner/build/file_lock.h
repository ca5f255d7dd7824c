/* SPDX-License-Identifier: Apache-2.0 */
/* Locks between fastgate processes (flock). The kernel releases a lock when the process ends. */
#ifndef FG_RUNNER_FILE_LOCK_H
#define FG_RUNNER_FILE_LOCK_H

#include "base/base.h"
#include "base/error.h"

#include <signal.h>

struct fg_lock_wait {
	const volatile sig_atomic_t *interrupted; /* may be NULL */
	void *context;
	void (*on_note)(void *context, const char *note); /* may be NULL */
	/* passed to on_note once if the lock is contended */
	const char *note;
};

/*
 * `how`: LOCK_SH or LOCK_EX. A folder must exist; a file is created. Closing `fd` releases the
 * lock. FG_EINTERRUPTED: the wait was interrupted.
 */
int fg_file_lock(const char *path, int how, const struct fg_lock_wait *wait, int *fd,
		 struct fg_error *err) FG_NODISCARD;
/* Does not wait: returns false if another process holds the lock. */
bool fg_file_try_lock(const char *path, int *fd);

#endif
