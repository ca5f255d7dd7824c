// SPDX-License-Identifier: Apache-2.0
/*
 * The exec family and _exit.  Before an exec the clocks of the calling thread are taken down, so
 * that no signal of ours is left for the next image, and the totals are written; should it fail,
 * everything goes on as before.
 *
 * In a child of vfork() or posix_spawn() we share the parent's memory but are another thread to the
 * kernel: then nothing here may touch the parent's state, and fg_process_end() sees that by the
 * thread id.
 */
#include "collector/process.h"
#include "collector/real.h"
#include "collector/signals.h"

#include <alloca.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

/*
 * A build that counts the lines that are executed (./dev coverage) writes its counters when a
 * program exits, but of an exec and of _exit it knows nothing.  Any other build has none.
 */
#ifdef FG_COVERAGE
extern void __gcov_dump(void);
extern void __gcov_reset(void);
# define KEEP_COUNTS()  __gcov_dump()
# define COUNT_AFRESH() __gcov_reset()
#else
# define KEEP_COUNTS()  ((void)0)
# define COUNT_AFRESH() ((void)0)
#endif

static bool is_this_process(void)
{
	return fg_alive() && !fg_g.sandboxed && fg_self &&
	       fg_tid(fg_self) == (pid_t)syscall(SYS_gettid);
}

static bool before_exec(void)
{
	const int saved_errno = errno;
	const bool ours = is_this_process();

	if (ours) {
		fg_process_end(FG_END_EXEC);
		fg_signal_expose();
		KEEP_COUNTS();
	}
	errno = saved_errno;
	return ours;
}

static int after_failed_exec(bool ours)
{
	const int saved_errno = errno;

	if (ours) {
		COUNT_AFRESH();
		fg_process_resume();
	}
	errno = saved_errno;
	return -1;
}

FG_EXPORT int execve(const char *path, char *const arguments[], char *const environment[])
{
	FG_REAL(execve);
	const bool ours = before_exec();

	(void)real_execve(path, arguments, environment);
	return after_failed_exec(ours);
}

FG_EXPORT int execv(const char *path, char *const arguments[])
{
	return execve(path, arguments, environ);
}

FG_EXPORT int execvp(const char *file, char *const arguments[])
{
	FG_REAL(execvp);
	const bool ours = before_exec();

	(void)real_execvp(file, arguments);
	return after_failed_exec(ours);
}

FG_EXPORT int execvpe(const char *file, char *const arguments[], char *const environment[])
{
	FG_REAL(execvpe);
	const bool ours = before_exec();

	(void)real_execvpe(file, arguments, environment);
	return after_failed_exec(ours);
}

FG_EXPORT int fexecve(int fd, char *const arguments[], char *const environment[])
{
	FG_REAL(fexecve);
	const bool ours = before_exec();

	(void)real_fexecve(fd, arguments, environment);
	return after_failed_exec(ours);
}

FG_EXPORT int execveat(int folder, const char *path, char *const arguments[],
		       char *const environment[], int flags)
{
	FG_REAL(execveat);
	const bool ours = before_exec();

	(void)real_execveat(folder, path, arguments, environment, flags);
	return after_failed_exec(ours);
}

/*
 * The arguments of execl and its kin, up to the NULL that ends them, as an array on the caller's
 * stack.
 */
#define COLLECT_ARGUMENTS(first, list, array)      \
 do {                                              \
  size_t count_ = 1;                               \
  va_start(list, first);                           \
  while (va_arg(list, char *))                     \
   count_++;                                       \
  va_end(list);                                    \
  (array) = alloca((count_ + 1) * sizeof(char *)); \
  (array)[0] = (char *)(uintptr_t)(first);         \
  va_start(list, first);                           \
  for (size_t i_ = 1; i_ <= count_; i_++)          \
   (array)[i_] = va_arg(list, char *);             \
 } while (0) /* the list is left behind the NULL, for execle's environment */

FG_EXPORT int execl(const char *path, const char *first, ...)
{
	va_list list;
	char **arguments;

	COLLECT_ARGUMENTS(first, list, arguments);
	va_end(list);
	return execve(path, arguments, environ);
}

FG_EXPORT int execlp(const char *file, const char *first, ...)
{
	va_list list;
	char **arguments;

	COLLECT_ARGUMENTS(first, list, arguments);
	va_end(list);
	return execvp(file, arguments);
}

FG_EXPORT int execle(const char *path, const char *first, ...)
{
	va_list list;
	char **arguments;
	char *const *environment;

	COLLECT_ARGUMENTS(first, list, arguments);
	environment = va_arg(list, char *const *);
	va_end(list);
	return execve(path, arguments, environment);
}

static void end_here(void)
{
	if (is_this_process()) {
		fg_process_end(FG_END_EXIT);
		KEEP_COUNTS();
	}
}

FG_EXPORT void _exit(int status)
{
	FG_REAL(_exit);
	end_here();
	real__exit(status);
	__builtin_unreachable();
}

FG_EXPORT void _Exit(int status)
{
	_exit(status);
}

FG_EXPORT void quick_exit(int status)
{
	FG_REAL(quick_exit);
	end_here();
	real_quick_exit(status);
	__builtin_unreachable();
}
