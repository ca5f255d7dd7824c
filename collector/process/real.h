/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The real functions that ours wrap, and functions that musl or an older glibc (from 2.17 on)
 * lacks. They are looked up at start-up if possible: a later lookup could be in a child of fork,
 * where the loader's lock may be held by a thread that does not exist there.
 */
#ifndef FG_COLLECTOR_REAL_H
#define FG_COLLECTOR_REAL_H

#include <stdatomic.h>
#include <stdbool.h>

/* clang-format off */
#define FG_REALS(X) \
	X(sigaction) X(signal) X(sysv_signal) X(sigset) \
	X(sigprocmask) X(pthread_sigmask) X(sigsuspend) X(sigwait) \
	X(sigtimedwait) X(sigpending) X(signalfd) X(raise) X(pthread_kill) X(ppoll) \
	X(pselect) X(epoll_wait) X(epoll_pwait) X(epoll_pwait2) \
	X(pthread_create) X(thrd_create) X(pthread_setname_np) X(close) X(close_range) \
	X(dup2) X(dup3) X(dlclose) X(prctl) \
	X(posix_spawn) X(posix_spawnp) X(execve) X(execvpe) X(fexecve) X(execveat) \
	X(_exit) X(quick_exit) \
	X(dlopen) X(_dl_find_object) X(_r_debug) \
	X(_dl_debug_addr) X(__register_atfork) X(pthread_atfork) \
	X(pthread_attr_getstack) X(pthread_attr_getstacksize) \
	X(pthread_attr_setstacksize) X(pthread_getattr_default_np) \
	X(pthread_getspecific) X(pthread_key_create) \
	X(pthread_setspecific)
/* clang-format on */

#define FG_REAL_INDEX(name) FG_REAL_##name,
enum fg_real {
	FG_REALS(FG_REAL_INDEX) FG_REAL_COUNT
};

/*
 * Looks up all functions not found so far. Called at start-up, and again in case libpthread was
 * loaded later.
 */
void fg_reals_find(void);
/*
 * Returns the real function; if libc lacks it, a function that sets ENOSYS and returns -1.
 * Signal-safe after start-up.
 */
void *fg_real(enum fg_real index);
bool fg_real_exists(enum fg_real index);
/* Is this program's libc musl? Signal-safe. */
bool fg_is_musl(void);

/* NOLINTBEGIN(bugprone-macro-parentheses): a name, and a name in a declaration */
/* Declares `real_NAME`, a pointer to the real NAME. */
#define FG_REAL(name) \
 __typeof__(&name) real_##name = __extension__(__typeof__(&name)) fg_real(FG_REAL_##name)
/* NOLINTEND(bugprone-macro-parentheses) */

#endif
