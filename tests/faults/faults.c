// SPDX-License-Identifier: Apache-2.0
/*
 * A preloaded library that makes one call fail. It is for tests only and never installed.
 *
 * FG_FAULTS_PROGRAM  file name of the program to affect; other programs are left alone
 * FG_FAULTS_CLASS    the calls to count: a row of the table below
 * FG_FAULTS_AT       the number of the call that fails, from 1
 * FG_FAULTS_ERRNO    the errno to set; SHORT: reads, writes and sends move one byte instead
 *                    of failing
 * FG_FAULTS_STAYS    when set, every later call of the class fails as well (a full disk)
 * FG_FAULTS_LOG      a file for the stack of each failing call; it stays empty if there was no such
 *                    call
 * FG_FAULTS_LIST     a file that gets, when no call is to fail, the number of the first call from
 *                    each different stack
 *
 * Calls that the program and its libraries make by name are counted; calls inside libc are not. A
 * forked child continues its parent's count. A call that does not fail is passed on unchanged.
 */
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <netdb.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))

enum call_class {
	NOTHING,
	MEMORY,
	OPEN,
	READ,
	WRITE,
	CLOSE,
	SYNC,
	RENAME,
	MAP,
	TRUNCATE,
	LOCK,
	SPAWN,
	DATABASE,
	NETWORK
};

static const struct {
	const char *name;
	enum call_class value;
} classes[] = {
	{"memory", MEMORY}, /* malloc, calloc, realloc */
	{"open", OPEN},     /* open, pipe, mkdir, mkstemp, opendir, ... */
	{"read", READ},
	{"write", WRITE},
	/* closes, and reports failure, as a network file system may */
	{"close", CLOSE},
	{"sync", SYNC},
	{"rename", RENAME}, /* rename and unlink */
	{"mmap", MAP},
	{"truncate", TRUNCATE},
	{"lock", LOCK},   /* fcntl(F_SETLK) */
	{"spawn", SPAWN}, /* fork, vfork, exec, pthread_create */
	/* sqlite3_prepare, _step, _exec; FG_FAULTS_ERRNO is SQLite's code */
	{"database", DATABASE},
	/* socket, connect, bind, listen, accept, send, recv, getaddrinfo */
	{"network", NETWORK},
};

enum {
	STACK_DEPTH = 24,
	SEEN_SLOTS = 1 << 16
};

static enum call_class counted;
static long strike_at;
static int strike_errno;
static bool strike_short;
static bool strike_stays;
static const char *log_path;
static int list_fd = -1;
static atomic_long calls;
static _Atomic int database_code;
static _Thread_local bool logging;

static long number_of(const char *name)
{
	const char *text = getenv(name);

	return text ? strtol(text, NULL, 10) : 0;
}

static int open_log(const char *path)
{
	return (int)syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC,
			    0600);
}

__attribute__((constructor)) static void prepare(void)
{
	const char *program = getenv("FG_FAULTS_PROGRAM");
	const char *class_name = getenv("FG_FAULTS_CLASS");
	const char *error = getenv("FG_FAULTS_ERRNO");
	const char *list = NULL;
	void *primed[1];

	if (!program || !class_name || strcmp(program, program_invocation_short_name) != 0)
		return;
	strike_at = number_of("FG_FAULTS_AT");
	strike_short = error && strcmp(error, "SHORT") == 0;
	strike_errno = (int)number_of("FG_FAULTS_ERRNO");
	strike_stays = getenv("FG_FAULTS_STAYS") != NULL;
	log_path = getenv("FG_FAULTS_LOG");
	list = getenv("FG_FAULTS_LIST");
	/* Loads the libraries of backtrace() now, and not in the middle of a call. */
	(void)backtrace(primed, 1);
	if (list)
		list_fd = open_log(list);
	for (size_t i = 0; i < sizeof(classes) / sizeof(classes[0]); i++) {
		if (strcmp(classes[i].name, class_name) == 0)
			counted = classes[i].value;
	}
}

static void keep_log(void)
{
	void *stack[STACK_DEPTH];
	const int depth = backtrace(stack, STACK_DEPTH);
	const int fd = open_log(log_path);

	if (fd < 0)
		return;
	(void)syscall(SYS_write, fd, "call\n", (size_t)5);
	backtrace_symbols_fd(stack + 2, depth > 2 ? depth - 2 : 0, fd);
	(void)syscall(SYS_close, fd);
}

/* FNV-1a over the return addresses: good enough within one process. */
static uint64_t hash_of_stack(void)
{
	void *stack[STACK_DEPTH];
	const int depth = backtrace(stack, STACK_DEPTH);
	uint64_t hash = UINT64_C(0xcbf29ce484222325);

	for (int i = 0; i < depth; i++)
		hash = (hash ^ (uint64_t)(uintptr_t)stack[i]) * UINT64_C(0x100000001b3);
	return hash | 1;
}

static void list_if_new(long number)
{
	static _Atomic uint64_t seen[SEEN_SLOTS];
	const uint64_t hash = hash_of_stack();
	char line[32];
	int length = 0;

	for (size_t slot = hash % SEEN_SLOTS;; slot = (slot + 1) % SEEN_SLOTS) {
		uint64_t free_slot = 0;

		if (atomic_load(&seen[slot]) == hash)
			return;
		if (atomic_compare_exchange_strong(&seen[slot], &free_slot, hash))
			break;
	}
	length = snprintf(line, sizeof(line), "%ld\n", number);
	(void)syscall(SYS_write, list_fd, line, (size_t)length);
}

/* Is this the call to fail? If so, sets errno. */
static bool is_chosen(enum call_class kind)
{
	long number = 0;

	if (kind != counted || logging)
		return false;
	number = atomic_fetch_add(&calls, 1) + 1;
	if (list_fd >= 0) {
		const int kept = errno;

		logging = true;
		list_if_new(number);
		logging = false;
		errno = kept;
	}
	if (number < strike_at || (number > strike_at && !strike_stays))
		return false;
	if (log_path) {
		logging = true;
		keep_log();
		logging = false;
	}
	errno = strike_errno;
	return true;
}

/* Does this call fail? A short call does not. */
static bool strikes(enum call_class kind)
{
	return !strike_short && is_chosen(kind);
}

/* Returns how many bytes a read or write moves; negative if the call fails. */
static ssize_t moved(enum call_class kind, size_t size)
{
	if (!is_chosen(kind))
		return (ssize_t)size;
	if (!strike_short)
		return -1;
	return size > 0 ? 1 : 0;
}

/*
 * ISO C has no cast from an object pointer to a function pointer; POSIX promises that the bits are
 * the same.
 */
#define NEXT(name)                        \
 __typeof__(&(name)) real = NULL;         \
 do {                                     \
  void *found_ = dlsym(RTLD_NEXT, #name); \
  memcpy(&real, &found_, sizeof(real));   \
 } while (0)

/*
 * NOLINTBEGIN(readability-inconsistent-declaration-parameter-name): the library's headers call them
 * __fd and the like.
 */

/* ---- memory ---- */

/*
 * NOLINTBEGIN(bugprone-reserved-identifier): libc's own names for its allocator, which need no
 * look-up before the first call.
 */
extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *old, size_t size);
/* NOLINTEND(bugprone-reserved-identifier) */

EXPORT void *malloc(size_t size)
{
	return strikes(MEMORY) ? NULL : __libc_malloc(size);
}

EXPORT void *calloc(size_t count, size_t size)
{
	return strikes(MEMORY) ? NULL : __libc_calloc(count, size);
}

EXPORT void *realloc(void *old, size_t size)
{
	return strikes(MEMORY) ? NULL : __libc_realloc(old, size);
}

/* ---- files ---- */

/*
 * The mode is passed only if the call may create a file; in other calls, the register's value is
 * meaningless.
 */
#define MODE_AFTER(flags)                                               \
 mode_t mode = 0;                                                       \
 do {                                                                   \
  va_list more_;                                                        \
  va_start(more_, flags);                                               \
  mode = (flags) & (O_CREAT | __O_TMPFILE) ? va_arg(more_, mode_t) : 0; \
  va_end(more_);                                                        \
 } while (0)

static int open_at(int folder, const char *path, int flags, mode_t mode)
{
	return strikes(OPEN) ? -1 : (int)syscall(SYS_openat, folder, path, flags, mode);
}

EXPORT int open(const char *path, int flags, ...)
{
	MODE_AFTER(flags);
	return open_at(AT_FDCWD, path, flags, mode);
}

EXPORT int openat(int folder, const char *path, int flags, ...)
{
	MODE_AFTER(flags);
	return open_at(folder, path, flags, mode);
}

EXPORT int mkostemp(char *path, int flags)
{
	NEXT(mkostemp);
	return strikes(OPEN) ? -1 : real(path, flags);
}

EXPORT char *mkdtemp(char *path)
{
	NEXT(mkdtemp);
	return strikes(OPEN) ? NULL : real(path);
}

EXPORT int mkdir(const char *path, mode_t mode)
{
	return strikes(OPEN) ? -1 : (int)syscall(SYS_mkdirat, AT_FDCWD, path, mode);
}

EXPORT int pipe2(int fds[2], int flags)
{
	return strikes(OPEN) ? -1 : (int)syscall(SYS_pipe2, fds, flags);
}

EXPORT DIR *opendir(const char *path)
{
	NEXT(opendir);
	return strikes(OPEN) ? NULL : real(path);
}

EXPORT FILE *fopen(const char *path, const char *mode)
{
	NEXT(fopen);
	return strikes(OPEN) ? NULL : real(path, mode);
}

EXPORT ssize_t read(int fd, void *to, size_t size)
{
	const ssize_t some = moved(READ, size);

	return some < 0 ? (ssize_t)-1 : (ssize_t)syscall(SYS_read, fd, to, some);
}

EXPORT ssize_t pread(int fd, void *to, size_t size, off_t at)
{
	const ssize_t some = moved(READ, size);

	return some < 0 ? (ssize_t)-1 : (ssize_t)syscall(SYS_pread64, fd, to, some, at);
}

/* The kernel's counters (eventfd and similar) have no file type, and no disk that could be full. */
static bool is_counter(int fd)
{
	struct stat info;

	return counted == WRITE && fstat(fd, &info) == 0 && (info.st_mode & S_IFMT) == 0;
}

EXPORT ssize_t write(int fd, const void *from, size_t size)
{
	const ssize_t some = is_counter(fd) ? (ssize_t)size : moved(WRITE, size);

	return some < 0 ? (ssize_t)-1 : (ssize_t)syscall(SYS_write, fd, from, some);
}

EXPORT ssize_t pwrite(int fd, const void *from, size_t size, off_t at)
{
	const ssize_t some = moved(WRITE, size);

	return some < 0 ? (ssize_t)-1 : (ssize_t)syscall(SYS_pwrite64, fd, from, some, at);
}

EXPORT ssize_t writev(int fd, const struct iovec *parts, int count)
{
	return strikes(WRITE) ? -1 : syscall(SYS_writev, fd, parts, count);
}

EXPORT int close(int fd)
{
	const int status = (int)syscall(SYS_close, fd);

	return status == 0 && strikes(CLOSE) ? -1 : status;
}

EXPORT int fsync(int fd)
{
	return strikes(SYNC) ? -1 : (int)syscall(SYS_fsync, fd);
}

EXPORT int fdatasync(int fd)
{
	return strikes(SYNC) ? -1 : (int)syscall(SYS_fdatasync, fd);
}

EXPORT int rename(const char *from, const char *to)
{
	return strikes(RENAME) ? -1 : (int)syscall(SYS_renameat, AT_FDCWD, from, AT_FDCWD, to);
}

EXPORT int unlink(const char *path)
{
	return strikes(RENAME) ? -1 : (int)syscall(SYS_unlinkat, AT_FDCWD, path, 0);
}

EXPORT int unlinkat(int folder, const char *path, int flags)
{
	return strikes(RENAME) ? -1 : (int)syscall(SYS_unlinkat, folder, path, flags);
}

EXPORT void *mmap(void *at, size_t size, int protection, int flags, int fd, off_t offset)
{
	if (strikes(MAP))
		return MAP_FAILED;
	return (void *)syscall(SYS_mmap, at, size, protection, flags, fd, offset);
}

EXPORT void *mremap(void *old, size_t old_size, size_t size, int flags, ...)
{
	if (strikes(MAP))
		return MAP_FAILED;
	return (void *)syscall(SYS_mremap, old, old_size, size, flags, NULL);
}

EXPORT int ftruncate(int fd, off_t size)
{
	return strikes(TRUNCATE) ? -1 : (int)syscall(SYS_ftruncate, fd, size);
}

EXPORT int fcntl(int fd, int command, ...)
{
	va_list more;
	uintptr_t argument = 0;

	va_start(more, command);
	argument = va_arg(more, uintptr_t);
	va_end(more);
	if (command == F_SETLK && strikes(LOCK))
		return -1;
	return (int)syscall(SYS_fcntl, fd, command, argument);
}

/*
 * Programs compiled for large files call these names; with 64-bit pointers they are the same
 * functions.
 */
EXPORT FILE *fopen64(const char *path, const char *mode) __attribute__((alias("fopen")));
EXPORT int open64(const char *path, int flags, ...) __attribute__((alias("open")));
EXPORT ssize_t pread64(int fd, void *to, size_t size, off64_t at) __attribute__((alias("pread")));
EXPORT ssize_t pwrite64(int fd, const void *from, size_t size, off64_t at)
	__attribute__((alias("pwrite")));
EXPORT void *mmap64(void *at, size_t size, int protection, int flags, int fd, off64_t offset)
	__attribute__((alias("mmap")));
EXPORT int ftruncate64(int fd, off64_t size) __attribute__((alias("ftruncate")));
EXPORT int fcntl64(int fd, int command, ...) __attribute__((alias("fcntl")));

/* ---- processes and threads ---- */

EXPORT pid_t fork(void)
{
	NEXT(fork);
	return strikes(SPAWN) ? -1 : real();
}

/* Calls fork(), because a function that has called the real vfork() must not return. */
EXPORT pid_t vfork(void)
{
	return fork();
}

EXPORT int execve(const char *path, char *const *argv, char *const *environment)
{
	return strikes(SPAWN) ? -1 : (int)syscall(SYS_execve, path, argv, environment);
}

EXPORT int execvpe(const char *name, char *const *argv, char *const *environment)
{
	NEXT(execvpe);
	return strikes(SPAWN) ? -1 : real(name, argv, environment);
}

EXPORT int execvp(const char *name, char *const *argv)
{
	NEXT(execvp);
	return strikes(SPAWN) ? -1 : real(name, argv);
}

EXPORT int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *),
			  void *argument)
{
	NEXT(pthread_create);
	return strikes(SPAWN) ? EAGAIN : real(thread, attributes, run, argument);
}

/* ---- database ---- */

struct sqlite3;
struct sqlite3_stmt;

/* sqlite3_errcode() and sqlite3_errmsg() report on the last call, so every call sets the code. */
static bool strikes_database(void)
{
	const bool struck = strikes(DATABASE);

	atomic_store(&database_code, struck ? strike_errno : 0);
	return struck;
}

EXPORT int sqlite3_step(struct sqlite3_stmt *statement);
EXPORT int sqlite3_exec(struct sqlite3 *db, const char *sql, void *row, void *context,
			char **message);
EXPORT int sqlite3_prepare_v2(struct sqlite3 *db, const char *sql, int size,
			      struct sqlite3_stmt **statement, const char **tail);
EXPORT int sqlite3_prepare_v3(struct sqlite3 *db, const char *sql, int size, unsigned flags,
			      struct sqlite3_stmt **statement, const char **tail);
EXPORT int sqlite3_errcode(struct sqlite3 *db);
EXPORT const char *sqlite3_errmsg(struct sqlite3 *db);

/*
 * SQLite's own calls of sqlite3_step() come here as well. Its sqlite3_exec() ignores their errors
 * until it ends the statement, so a step that never ran would count as success.
 */
static __thread int within_exec;

EXPORT int sqlite3_step(struct sqlite3_stmt *statement)
{
	NEXT(sqlite3_step);
	return !within_exec && strikes_database() ? strike_errno : real(statement);
}

EXPORT int sqlite3_exec(struct sqlite3 *db, const char *sql, void *row, void *context,
			char **message)
{
	int code = 0;

	NEXT(sqlite3_exec);
	/* The failed transaction is rolled back at the latest when SQLite closes the file. */
	if (strikes_database())
		return strike_errno;
	within_exec++;
	code = real(db, sql, row, context, message);
	within_exec--;
	return code;
}

EXPORT int sqlite3_prepare_v2(struct sqlite3 *db, const char *sql, int size,
			      struct sqlite3_stmt **statement, const char **tail)
{
	NEXT(sqlite3_prepare_v2);
	return strikes_database() ? strike_errno : real(db, sql, size, statement, tail);
}

EXPORT int sqlite3_prepare_v3(struct sqlite3 *db, const char *sql, int size, unsigned flags,
			      struct sqlite3_stmt **statement, const char **tail)
{
	NEXT(sqlite3_prepare_v3);
	return strikes_database() ? strike_errno : real(db, sql, size, flags, statement, tail);
}

EXPORT int sqlite3_errcode(struct sqlite3 *db)
{
	NEXT(sqlite3_errcode);
	const int code = atomic_load(&database_code);

	return code ? code : real(db);
}

EXPORT const char *sqlite3_errmsg(struct sqlite3 *db)
{
	NEXT(sqlite3_errmsg);
	if (atomic_load(&database_code))
		return "injected";
	return real(db);
}

/* ---- network ---- */

EXPORT int socket(int domain, int type, int protocol)
{
	return strikes(NETWORK) ? -1 : (int)syscall(SYS_socket, domain, type, protocol);
}

EXPORT int connect(int fd, __CONST_SOCKADDR_ARG address, socklen_t size)
{
	return strikes(NETWORK) ? -1 : (int)syscall(SYS_connect, fd, address.__sockaddr__, size);
}

EXPORT int bind(int fd, __CONST_SOCKADDR_ARG address, socklen_t size)
{
	return strikes(NETWORK) ? -1 : (int)syscall(SYS_bind, fd, address.__sockaddr__, size);
}

EXPORT int listen(int fd, int backlog)
{
	return strikes(NETWORK) ? -1 : (int)syscall(SYS_listen, fd, backlog);
}

EXPORT int accept4(int fd, __SOCKADDR_ARG address, socklen_t *size, int flags)
{
	return strikes(NETWORK) ? -1
				: (int)syscall(SYS_accept4, fd, address.__sockaddr__, size, flags);
}

EXPORT ssize_t send(int fd, const void *from, size_t size, int flags)
{
	const ssize_t some = moved(NETWORK, size);

	return some < 0 ? (ssize_t)-1
			: (ssize_t)syscall(SYS_sendto, fd, from, some, flags, NULL, 0);
}

EXPORT ssize_t sendmsg(int fd, const struct msghdr *message, int flags)
{
	return strikes(NETWORK) ? -1 : syscall(SYS_sendmsg, fd, message, flags);
}

/* Never short: after a short read, edge-triggered libraries may assume that the socket is empty. */
EXPORT ssize_t recv(int fd, void *to, size_t size, int flags)
{
	return strikes(NETWORK) ? (ssize_t)-1
				: (ssize_t)syscall(SYS_recvfrom, fd, to, size, flags, NULL, NULL);
}

EXPORT ssize_t recvfrom(int fd, void *to, size_t size, int flags, __SOCKADDR_ARG from,
			socklen_t *from_size)
{
	return strikes(NETWORK) ? (ssize_t)-1
				: (ssize_t)syscall(SYS_recvfrom, fd, to, size, flags,
						   from.__sockaddr__, from_size);
}

EXPORT int getaddrinfo(const char *node, const char *service, const struct addrinfo *hints,
		       struct addrinfo **found)
{
	NEXT(getaddrinfo);
	return strikes(NETWORK) ? EAI_AGAIN : real(node, service, hints, found);
}

/* NOLINTEND(readability-inconsistent-declaration-parameter-name) */
