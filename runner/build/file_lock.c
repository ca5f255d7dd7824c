// SPDX-License-Identifier: Apache-2.0
#include "runner/build/file_lock.h"

#include "base/clock.h"
#include "base/fs.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

enum {
	RETRY_MS = 100
};

static int open_lock(const char *path)
{
	return fg_fs_is_folder(path) ? open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
				     : open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0644);
}

/* Polls in small steps, so that Ctrl-C takes effect. */
int fg_file_lock(const char *path, int how, const struct fg_lock_wait *wait, int *fd,
		 struct fg_error *err)
{
	const struct timespec pause = {.tv_nsec = RETRY_MS * FG_NS_PER_MS};
	const int opened = open_lock(path);
	bool announced = false;

	if (opened < 0)
		return fg_error_errno(err, FG_EIO, "cannot create the lock '%s'", path);
	while (flock(opened, how | LOCK_NB) != 0) {
		if (errno != EWOULDBLOCK && errno != EINTR) {
			const int status = fg_error_errno(err, FG_EIO, "cannot lock '%s'", path);

			(void)close(opened);
			return status;
		}
		if (wait->interrupted && *wait->interrupted) {
			(void)close(opened);
			return fg_error_set(err, FG_EINTERRUPTED, "interrupted");
		}
		if (!announced && wait->on_note)
			wait->on_note(wait->context, wait->note);
		announced = true;
		(void)nanosleep(&pause, NULL);
	}
	*fd = opened;
	return FG_OK;
}

bool fg_file_try_lock(const char *path, int *fd)
{
	const int opened = open_lock(path);

	if (opened >= 0 && flock(opened, LOCK_EX | LOCK_NB) == 0) {
		*fd = opened;
		return true;
	}
	if (opened >= 0)
		(void)close(opened);
	return false;
}
