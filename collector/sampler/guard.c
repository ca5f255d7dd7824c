// SPDX-License-Identifier: Apache-2.0
/*
 * Intercepts calls that would affect the collector by accident: they close or replace descriptors,
 * unload libraries or enter sandboxes. To the program, our descriptors look as if they were not
 * open.
 */
#include "collector/counting/count_hooks.h"
#include "collector/process/pthreads.h"
#include "collector/process/real.h"
#include "collector/process/threads.h"
#include "collector/sampler/clocks.h"
#include "collector/sampler/introduce.h"
#include "collector/sampler/state.h"
#include "collector/sampler/writer.h"
#include "collector/unwind/modules.h"

#include <dlfcn.h>
#include <linux/close_range.h>
#include <stdarg.h>
#include <sys/prctl.h>
#include <unistd.h>

FG_EXPORT int close(int fd)
{
	FG_REAL(close);
	if (FG_UNLIKELY(fg_fd_is_ours(fd)) && fg_alive()) {
		errno = EBADF;
		return -1;
	}
	if (FG_UNLIKELY(fg_fd_hooks != NULL) && fd >= 0)
		fg_fd_hooks->closing((unsigned)fd, (unsigned)fd);
	return real_close(fd);
}

/* Closes a range except for our descriptors. */
FG_EXPORT int close_range(unsigned first, unsigned last, int flags)
{
	FG_REAL(close_range);
	unsigned from = first;

	if (FG_UNLIKELY(fg_fd_hooks != NULL) && !(flags & (int)CLOSE_RANGE_CLOEXEC))
		fg_fd_hooks->closing(first, last);
	if (!fg_alive() || atomic_load(&fg_g.lowest_fd) > last || first > last)
		return real_close_range(first, last, flags);
	for (unsigned fd = first > atomic_load(&fg_g.lowest_fd) ? first
								: atomic_load(&fg_g.lowest_fd);
	     fd <= last && fd < FG_FDS_MAX; fd++) {
		if (!fg_fd_is_ours((int)fd))
			continue;
		if (fd > from && real_close_range(from, fd - 1, flags) != 0)
			return -1;
		from = fd + 1;
	}
	return from <= last ? real_close_range(from, last, flags) : 0;
}

FG_EXPORT void closefrom(int first)
{
	const int from = first > 0 ? first : 0;

	if (close_range((unsigned)from, ~0u, 0) == 0)
		return;
	/* A glibc before 2.34 lacks close_range(), and the kernel may lack it as well. */
	for (int fd = from; fd < FG_FDS_MAX; fd++)
		(void)close(fd);
}

FG_EXPORT int dup2(int from, int to)
{
	FG_REAL(dup2);
	if (FG_UNLIKELY(fg_fd_is_ours(to)) && fg_alive())
		fg_fd_move(to);
	const int fd = real_dup2(from, to);

	return FG_UNLIKELY(fg_fd_hooks != NULL) && from != to ? fg_fd_hooks->opened(fd) : fd;
}

FG_EXPORT int dup3(int from, int to, int flags)
{
	FG_REAL(dup3);
	if (FG_UNLIKELY(fg_fd_is_ours(to)) && fg_alive())
		fg_fd_move(to);
	const int fd = real_dup3(from, to, flags);

	return FG_UNLIKELY(fg_fd_hooks != NULL) ? fg_fd_hooks->opened(fd) : fd;
}

/*
 * Handlers also read copies of earlier stacks, which may lead through code that is about to be
 * unloaded. During an unload, handlers do not read these copies. The unload waits for a handler
 * that is already reading a copy, but not forever.
 *
 * dlopen() is not wrapped, because the loader looks at its caller. New libraries are noticed when a
 * sample lies in them, here, and when the process ends.
 */
FG_EXPORT int dlclose(void *handle)
{
	FG_REAL(dlclose);
	struct fg_thread *thread = fg_self;

	if (!fg_alive() || !thread || !fg_thread_enter(thread))
		return real_dlclose(handle);
	if (fg_ensure_file(thread))
		fg_modules_scan(thread);
	(void)atomic_fetch_add(&fg_g.unloading, 1);
	fg_threads_wait_for_handlers(thread);
	fg_thread_leave(thread);
	const pid_t pid = fg_g.pid;
	int status = real_dlclose(handle);

	/* in a child made by a destructor the counter starts at 0 */
	if (fg_g.pid == pid)
		(void)atomic_fetch_sub(&fg_g.unloading, 1);
	if (fg_thread_enter(thread)) {
		fg_modules_check(thread);
		fg_thread_leave(thread);
	}
	return status;
}

FG_EXPORT int prctl(int option, ...)
{
	FG_REAL(prctl);
	va_list list;
	unsigned long more[4];

	va_start(list, option);
	more[0] = va_arg(list, unsigned long);
	more[1] = va_arg(list, unsigned long);
	more[2] = va_arg(list, unsigned long);
	more[3] = va_arg(list, unsigned long);
	va_end(list);
	/* Either option may lead to a filter that kills the process for our system calls. */
	if ((option == PR_SET_NO_NEW_PRIVS || option == PR_SET_SECCOMP) && fg_alive()) {
		fg_threads_enter_sandbox();
		fg_file_enter_sandbox();
	}
	const int status = real_prctl(option, more[0], more[1], more[2], more[3]);

	if (option == PR_SET_NAME && status == 0)
		fg_pthreads_renamed();
	return status;
}
