// SPDX-License-Identifier: Apache-2.0
/*
 * Wraps the exec family, posix_spawn and _exit. Before an exec the calling thread's clocks are
 * removed, so that no signal of ours reaches the next image, and the totals are written. If the
 * exec fails, everything resumes.
 *
 * A child of vfork() or posix_spawn() shares the parent's memory but is another thread to the
 * kernel. It may add a note to the parent's trace, but must not change anything else of the
 * parent's: fg_process_end() recognises such a child by the thread id.
 */
#include "collector/process/environment.h"
#include "collector/process/process.h"
#include "collector/process/real.h"
#include "collector/sampler/introduce.h"
#include "collector/sampler/signals.h"
#include "collector/sampler/writer.h"

#include <alloca.h>
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/*
 * A coverage build (./dev coverage) writes its counters when a program exits, but not before exec
 * or _exit. Other builds have no counters.
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

/*
 * Restores the collector's variables that the next program's environment lacks. Only the stack is
 * written, so this also works in a child of vfork.
 */
#define COMPLETED(environment)                                                                    \
 (fg_alive() ? fg_environment_complete(environment, alloca(fg_environment_room(environment) + 1)) \
	     : (environment))

/*
 * Does the program run with privileges that the caller lacks? The dynamic linker then does not
 * preload our library.
 */
static bool gains_privileges(const char *path)
{
	struct statx about;

	if (syscall(SYS_statx, AT_FDCWD, path, 0, STATX_MODE | STATX_UID | STATX_GID, &about) != 0)
		return false;
	return ((about.stx_mode & S_ISUID) && about.stx_uid != geteuid()) ||
	       ((about.stx_mode & S_ISGID) && about.stx_gid != getegid());
}

/*
 * Reads the path of the dynamic linker that an ELF program of our width names; "" if it names none.
 * Returns false if the file is not such a program.
 */
static bool read_linker(const char *path, char *linker, size_t size)
{
	const int fd = (int)syscall(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC);
	ElfW(Ehdr) elf;
	ElfW(Phdr) header;
	bool result = false;

	if (fd < 0)
		return false;
	if (syscall(SYS_read, fd, &elf, sizeof(elf)) == (long)sizeof(elf) &&
	    memcmp(elf.e_ident, ELFMAG, SELFMAG) == 0 && elf.e_phentsize == sizeof(header) &&
	    lseek(fd, (off_t)elf.e_phoff, SEEK_SET) >= 0) {
		linker[0] = '\0';
		result = true;
		header.p_type = PT_NULL;
		for (unsigned i = 0; i < elf.e_phnum && result && header.p_type != PT_INTERP; i++)
			result = syscall(SYS_read, fd, &header, sizeof(header)) ==
				 (long)sizeof(header);
		if (result && header.p_type == PT_INTERP &&
		    lseek(fd, (off_t)header.p_offset, SEEK_SET) >= 0) {
			const long got = syscall(SYS_read, fd, linker, size - 1);

			linker[got > 0 ? got : 0] = '\0';
		}
	}
	(void)syscall(SYS_close, fd);
	return result;
}

/* Returns the reason why this program cannot be sampled; NULL: none is known. */
static const char *why_escapes(const char *path)
{
	char linker[64];

	if (gains_privileges(path))
		return " runs with the privileges of another user or group and was not sampled";
	if (!read_linker(path, linker, sizeof(linker)))
		return NULL;
	return linker[0] ? NULL : " is linked statically and ran without being sampled";
}

/* Adds a note to the trace if the program about to start cannot be sampled. */
static void note_escape(const char *path)
{
	struct fg_thread *thread = fg_self;
	const char *why = path && strchr(path, '/') ? why_escapes(path) : NULL;

	if (!why || !fg_thread_enter(thread))
		return;
	if (fg_ensure_file(thread)) {
		fg_record_begin(thread, FG_RECORD_NOTE);
		fg_record_texts(thread, path, why);
		(void)fg_record_write(thread);
	}
	fg_thread_leave(thread);
}

static bool before_exec(const char *path)
{
	const int saved_errno = errno;
	const bool ours = is_this_process();

	/* A child of vfork() also writes a note: its parent, which owns the trace, is suspended. */
	if (fg_alive() && !fg_g.sandboxed && fg_self)
		note_escape(path);
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
	const bool ours = before_exec(path);

	(void)real_execve(path, arguments, COMPLETED(environment));
	return after_failed_exec(ours);
}

FG_EXPORT int execv(const char *path, char *const arguments[])
{
	return execve(path, arguments, environ);
}

FG_EXPORT int execvpe(const char *file, char *const arguments[], char *const environment[])
{
	FG_REAL(execvpe);
	const bool ours = before_exec(file);

	(void)real_execvpe(file, arguments, COMPLETED(environment));
	return after_failed_exec(ours);
}

FG_EXPORT int execvp(const char *file, char *const arguments[])
{
	return execvpe(file, arguments, environ);
}

FG_EXPORT int fexecve(int fd, char *const arguments[], char *const environment[])
{
	FG_REAL(fexecve);
	const bool ours = before_exec(NULL);

	(void)real_fexecve(fd, arguments, COMPLETED(environment));
	return after_failed_exec(ours);
}

FG_EXPORT int execveat(int folder, const char *path, char *const arguments[],
		       char *const environment[], int flags)
{
	FG_REAL(execveat);
	const bool ours = before_exec(NULL);

	(void)real_execveat(folder, path, arguments, COMPLETED(environment), flags);
	return after_failed_exec(ours);
}

/*
 * Copies the arguments of execl and its relatives, up to the final NULL, into an array on the
 * caller's stack.
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
 } while (0) /* execle's environment follows the NULL */

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

/*
 * Only adds a note: the child shares our memory until its exec, so the collector must not be shut
 * down.
 */
static void before_spawn(const char *path)
{
	const int saved_errno = errno;

	if (is_this_process())
		note_escape(path);
	errno = saved_errno;
}

FG_EXPORT int posix_spawn(pid_t *pid, const char *path, const posix_spawn_file_actions_t *actions,
			  const posix_spawnattr_t *attributes, char *const arguments[],
			  char *const environment[])
{
	FG_REAL(posix_spawn);

	before_spawn(path);
	return real_posix_spawn(pid, path, actions, attributes, arguments, COMPLETED(environment));
}

FG_EXPORT int posix_spawnp(pid_t *pid, const char *file, const posix_spawn_file_actions_t *actions,
			   const posix_spawnattr_t *attributes, char *const arguments[],
			   char *const environment[])
{
	FG_REAL(posix_spawnp);

	before_spawn(file);
	return real_posix_spawnp(pid, file, actions, attributes, arguments, COMPLETED(environment));
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
