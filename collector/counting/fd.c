// SPDX-License-Identifier: Apache-2.0
/*
 * Intercepts the functions that open and close descriptors, to count how many each call path opens
 * and holds. Built only into the counting library.
 *
 * A descriptor counts as open after the real call has made it, and as closed before the real call
 * closes it: right after the call, another thread may get the same number. libc opens the
 * descriptors of streams and folders internally, so fopen(), opendir() and their variants are
 * intercepted as well. The collector intercepts close(), dup2() and a few more functions anyway,
 * and reports their calls through fg_fd_hooks.
 *
 * A child of vfork() shares its parent's memory but has its own descriptors, so nothing is counted
 * in the child.
 */
#include "collector/counting/count_hooks.h"
#include "collector/counting/count_probe.h"
#include "collector/counting/counts.h"
#include "collector/counting/live.h"
#include "collector/sampler/introduce.h"

#include <dirent.h>
#include <fcntl.h>
#include <mqueue.h>
#include <pty.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/fanotify.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/pidfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <unistd.h>

/* NOLINTBEGIN(bugprone-reserved-identifier,readability-identifier-naming): libc's names */

/* Called by fortified programs; glibc declares them only for such programs. */
int __open_2(const char *path, int flags);
int __open64_2(const char *path, int flags);
int __openat_2(int folder, const char *path, int flags);
int __openat64_2(int folder, const char *path, int flags);

/* clang-format off */
#define REALS(X) \
	X(open) X(open64) X(openat) X(openat64) X(__open_2) \
	X(__open64_2) X(__openat_2) X(__openat64_2) X(creat) X(creat64) \
	X(mkstemp) X(mkstemp64) X(mkostemp) X(mkostemp64) \
	X(mkstemps) X(mkstemps64) X(mkostemps) X(mkostemps64) \
	X(shm_open) X(memfd_create) X(mq_open) X(mq_close) \
	X(posix_openpt) X(getpt) X(openpty) X(open_by_handle_at) \
	X(socket) X(socketpair) X(accept) X(accept4) X(pipe) X(pipe2) X(dup) X(fcntl) X(fcntl64) \
	X(epoll_create) X(epoll_create1) X(eventfd) X(timerfd_create) \
	X(inotify_init) X(inotify_init1) X(fanotify_init) \
	X(pidfd_open) X(pidfd_getfd) \
	X(fopen) X(fopen64) X(freopen) X(freopen64) X(tmpfile) X(tmpfile64) \
	X(fclose) X(popen) X(pclose) X(opendir) X(closedir)
/* clang-format on */

static struct {
	REALS(FG_REAL_MEMBER)
} reals;

enum {
	OPENED,
};

static _Atomic uint32_t sites[FG_FDS_MAX]; /* site that opened the descriptor; 0: not seen */
static _Atomic uint32_t fds_end;           /* all known descriptors are below this */

static void release(uint32_t site)
{
	if (site)
		fg_live_shrink(site, 1);
}

static void hold(int fd, uint32_t site)
{
	uint32_t end = atomic_load_explicit(&fds_end, memory_order_relaxed);

	if (fd >= FG_FDS_MAX)
		return;
	while (end <= (uint32_t)fd &&
	       !atomic_compare_exchange_weak(&fds_end, &end, (uint32_t)fd + 1))
		continue;
	release(atomic_exchange(&sites[fd], site)); /* dup2() closes its target silently */
	fg_live_grow(site, 1);
}

/* ---- counting ---- */

static bool is_counting(void)
{
	return fg_is_counting(FG_COUNTER_FD) &&
	       (!fg_self || fg_tid(fg_self) == (pid_t)syscall(SYS_gettid));
}

static uint32_t site_here(struct fg_thread *thread, const ucontext_t *context)
{
	const struct fg_live_owner owner = {
		.what = FG_HELD_FDS,
		.slot = thread->index,
		.thread = thread->id,
		.region = thread->regions.current,
		.path = fg_counts_path(thread, context),
	};
	struct fg_counted_path *at = fg_counts_at(thread, FG_COUNTER_FD, owner.path);

	at->counts.values[OPENED]++;
	if (!at->own)
		at->own = fg_live_site(&owner);
	return at->own;
}

/* Returns the descriptor, like the wrapped function. Keeps errno. */
static int opened(int fd)
{
	static const struct fg_counts seen = {.values = {[OPENED] = 1}};
	const int saved_errno = errno;
	struct fg_thread *thread = fg_self;
	uint32_t site = fg_live_unplaced(FG_HELD_FDS);

	if (fd < 0 || !is_counting())
		return fd;
	FG_HERE(context);
	if (thread && fg_thread_enter(thread)) {
		if (fg_ensure_file(thread))
			site = site_here(thread, &context);
		fg_thread_leave(thread);
	} else {
		fg_counts_add_unplaced(FG_COUNTER_FD, &seen);
	}
	hold(fd, site);
	errno = saved_errno;
	return fd;
}

/* Runs even while counting is paused: a descriptor counted earlier may be closed then. */
static void closing(unsigned first, unsigned last)
{
	const unsigned end = atomic_load_explicit(&fds_end, memory_order_relaxed);
	const int saved_errno = errno;

	if (first >= end || !fg_is_counted(FG_COUNTER_FD) || !fg_alive() || !fg_self ||
	    fg_tid(fg_self) != (pid_t)syscall(SYS_gettid))
		return;
	for (unsigned fd = first; fd <= last && fd < end; fd++)
		release(atomic_exchange(&sites[fd], 0));
	errno = saved_errno;
}

static int opened_two(int status, const int fds[2])
{
	if (status == 0) {
		(void)opened(fds[0]);
		(void)opened(fds[1]);
	}
	return status;
}

/* Returns the stream's descriptor; -1: it has none. Keeps errno. */
static int number_of(FILE *stream)
{
	const int saved_errno = errno;
	const int fd = stream ? fileno(stream) : -1;

	errno = saved_errno;
	return fd;
}

static FILE *opened_stream(FILE *stream)
{
	(void)opened(number_of(stream));
	return stream;
}

static void closing_one(int fd)
{
	if (fd >= 0)
		closing((unsigned)fd, (unsigned)fd);
}

/* ---- opening ---- */

/* NOLINTBEGIN(bugprone-macro-parentheses): a name, its parameters, its arguments */
/* NOLINTBEGIN(clang-analyzer-valist.Uninitialized): the lists are started; clang 14 misses it */

/* Functions that open one descriptor differ only in their arguments. */
#define OPENS(name, parameters, arguments) \
 FG_EXPORT int name parameters             \
 {                                         \
  FG_NEED_REAL(name, -1);                  \
  return opened(reals.name arguments);     \
 }

/* If a file may be created, its mode follows the flags. */
#define OPENS_WITH_MODE(name, parameters, ...)               \
 FG_EXPORT int name parameters                               \
 {                                                           \
  mode_t mode = 0;                                           \
                                                             \
  FG_NEED_REAL(name, -1);                                    \
  if (flags & O_CREAT || (flags & O_TMPFILE) == O_TMPFILE) { \
   va_list list;                                             \
                                                             \
   va_start(list, flags);                                    \
   mode = va_arg(list, mode_t);                              \
   va_end(list);                                             \
  }                                                          \
  return opened(reals.name(__VA_ARGS__, mode));              \
 }

#define OPENS_TWO(name, parameters, arguments)  \
 FG_EXPORT int name parameters                  \
 {                                              \
  FG_NEED_REAL(name, -1);                       \
  return opened_two(reals.name arguments, fds); \
 }

#define OPENS_STREAM(name, parameters, arguments) \
 FG_EXPORT FILE *name parameters                  \
 {                                                \
  FG_NEED_REAL(name, NULL);                       \
  return opened_stream(reals.name arguments);     \
 }

/* clang-format off */
OPENS_WITH_MODE(open, (const char *path, int flags, ...), path, flags)
OPENS_WITH_MODE(open64, (const char *path, int flags, ...), path, flags)
OPENS_WITH_MODE(openat, (int folder, const char *path, int flags, ...), folder, path, flags)
OPENS_WITH_MODE(openat64, (int folder, const char *path, int flags, ...), folder, path, flags)
OPENS(__open_2, (const char *path, int flags), (path, flags))
OPENS(__open64_2, (const char *path, int flags), (path, flags))
OPENS(__openat_2, (int folder, const char *path, int flags), (folder, path, flags))
OPENS(__openat64_2, (int folder, const char *path, int flags), (folder, path, flags))
OPENS(creat, (const char *path, mode_t mode), (path, mode))
OPENS(creat64, (const char *path, mode_t mode), (path, mode))
OPENS(open_by_handle_at, (int mount, struct file_handle *handle, int flags), (mount, handle, flags))
OPENS(mkstemp, (char *name), (name))
OPENS(mkstemp64, (char *name), (name))
OPENS(mkostemp, (char *name, int flags), (name, flags))
OPENS(mkostemp64, (char *name, int flags), (name, flags))
OPENS(mkstemps, (char *name, int end), (name, end))
OPENS(mkstemps64, (char *name, int end), (name, end))
OPENS(mkostemps, (char *name, int end, int flags), (name, end, flags))
OPENS(mkostemps64, (char *name, int end, int flags), (name, end, flags))
OPENS(shm_open, (const char *name, int flags, mode_t mode), (name, flags, mode))
OPENS(memfd_create, (const char *name, unsigned flags), (name, flags))
OPENS(posix_openpt, (int flags), (flags))
OPENS(getpt, (void), ())
OPENS(socket, (int domain, int type, int protocol), (domain, type, protocol))
OPENS(accept, (int fd, __SOCKADDR_ARG from, socklen_t *restrict size), (fd, from, size))
OPENS(accept4,
	(int fd, __SOCKADDR_ARG from, socklen_t *restrict size, int flags), (fd, from, size, flags))
OPENS(dup, (int fd), (fd))
OPENS(epoll_create, (int size), (size))
OPENS(epoll_create1, (int flags), (flags))
OPENS(eventfd, (unsigned value, int flags), (value, flags))
OPENS(timerfd_create, (clockid_t clock, int flags), (clock, flags))
OPENS(inotify_init, (void), ())
OPENS(inotify_init1, (int flags), (flags))
OPENS(fanotify_init, (unsigned flags, unsigned of_files), (flags, of_files))
OPENS(pidfd_open, (pid_t pid, unsigned flags), (pid, flags))
OPENS(pidfd_getfd, (int pidfd, int fd, unsigned flags), (pidfd, fd, flags))
OPENS_TWO(pipe, (int fds[2]), (fds))
OPENS_TWO(pipe2, (int fds[2], int flags), (fds, flags))
OPENS_TWO(socketpair, (int domain, int type, int protocol, int fds[2]), (domain, type, protocol, fds))
OPENS_STREAM(fopen, (const char *restrict path, const char *restrict mode), (path, mode))
OPENS_STREAM(fopen64, (const char *restrict path, const char *restrict mode), (path, mode))
OPENS_STREAM(tmpfile, (void), ())
OPENS_STREAM(tmpfile64, (void), ())
/* clang-format on */

FG_EXPORT FILE *popen(const char *command, const char *mode)
{
	FG_NEED_REAL(popen, NULL);
	FILE *stream = opened_stream(reals.popen(command, mode));

	if (stream && fg_is_counted(FG_COUNTER_IO))
		fg_io_watch_stream(stream);
	return stream;
}

FG_EXPORT int openpty(int *outer, int *inner, char *name, const struct termios *terminal,
		      const struct winsize *size)
{
	FG_NEED_REAL(openpty, -1);
	const int status = reals.openpty(outer, inner, name, terminal, size);
	const int fds[2] = {status == 0 ? *outer : -1, status == 0 ? *inner : -1};

	return opened_two(status, fds);
}

FG_EXPORT mqd_t mq_open(const char *name, int flags, ...)
{
	mode_t mode = 0;
	struct mq_attr *attributes = NULL;

	FG_NEED_REAL(mq_open, -1);
	if (flags & O_CREAT) {
		va_list list;

		va_start(list, flags);
		mode = va_arg(list, mode_t);
		attributes = va_arg(list, struct mq_attr *);
		va_end(list);
	}
	return opened(reals.mq_open(name, flags, mode, attributes));
}

/* The command's argument is a number or a pointer: one word either way. */
#define DUPLICATES(name)                                \
 FG_EXPORT int name(int fd, int command, ...)           \
 {                                                      \
  va_list list;                                         \
  unsigned long argument = 0;                           \
  int result = -1;                                      \
                                                        \
  FG_NEED_REAL(name, -1);                               \
  va_start(list, command);                              \
  argument = va_arg(list, unsigned long);               \
  va_end(list);                                         \
  result = reals.name(fd, command, argument);           \
  if (command == F_DUPFD || command == F_DUPFD_CLOEXEC) \
   (void)opened(result);                                \
  return result;                                        \
 }

DUPLICATES(fcntl)
DUPLICATES(fcntl64)

/* NOLINTEND(clang-analyzer-valist.Uninitialized) */
/* NOLINTEND(bugprone-macro-parentheses) */
/* NOLINTEND(bugprone-reserved-identifier,readability-identifier-naming) */

FG_EXPORT DIR *opendir(const char *path)
{
	FG_NEED_REAL(opendir, NULL);
	DIR *folder = reals.opendir(path);

	if (folder)
		(void)opened(dirfd(folder));
	return folder;
}

/* ---- closing ---- */

/* NOLINTBEGIN(bugprone-macro-parentheses): a parameter, a name */
#define CLOSES(name, parameter, given, fd) \
 FG_EXPORT int name(parameter)             \
 {                                         \
  FG_NEED_REAL(name, -1);                  \
  closing_one(fd);                         \
  return reals.name(given);                \
 }

#define REOPENS(name)                                                                              \
 FG_EXPORT FILE *name(const char *restrict path, const char *restrict mode, FILE *restrict stream) \
 {                                                                                                 \
  FG_NEED_REAL(name, NULL);                                                                        \
  closing_one(number_of(stream));                                                                  \
  return opened_stream(reals.name(path, mode, stream));                                            \
 }

CLOSES(fclose, FILE *stream, stream, number_of(stream))
CLOSES(pclose, FILE *stream, stream, number_of(stream))
CLOSES(mq_close, mqd_t queue, queue, queue)
REOPENS(freopen)
REOPENS(freopen64)
/* NOLINTEND(bugprone-macro-parentheses) */

FG_EXPORT int closedir(DIR *folder)
{
	FG_NEED_REAL(closedir, -1);
	DIR *volatile given = folder; /* the compiler assumes that it is never NULL */

	if (given)
		closing_one(dirfd(given));
	return reals.closedir(given);
}

/* ---- registration ---- */

static void forget(void)
{
	const uint32_t end = atomic_load(&fds_end);

	for (uint32_t i = 0; i < end; i++)
		atomic_store_explicit(&sites[i], 0, memory_order_relaxed);
	atomic_store(&fds_end, 0);
}

static void introduce(struct fg_thread *writer)
{
	fg_live_introduce(writer, FG_HELD_FDS);
}

static struct fg_counted counted = {
	.names = {[OPENED] = "fd.opened"},
	.introduce = introduce,
	.forget = forget,
};
static const struct fg_fd_hooks hooks = {.opened = opened, .closing = closing};

/* Runs before the constructor that starts the collector. */
__attribute__((constructor(101))) static void join_in(void)
{
	FG_REALS_LOOK_UP(REALS);
	fg_counted[FG_COUNTER_FD] = &counted;
	fg_fd_hooks = &hooks;
}
