// SPDX-License-Identifier: Apache-2.0
/*
 * In front of read, write and their relatives: who asks the system to transfer bytes, and how many?
 * A call counts when it has returned, whatever it returned; its bytes are those that moved.  Only
 * in the counting library.
 *
 * libc's streams (fread, printf, std::cout) call read and write inside libc, past every library
 * before it.  They do so through a table of functions, and that table is found: a stream's last
 * member points to it.  Where its entries are the two functions that libc exports by name, ours
 * take their place; where they are not, the trace says that streams are not counted.
 */
#include "collector/counting/io.h"

#include "collector/counting/count_probe.h"
#include "collector/sampler/introduce.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

/* NOLINTBEGIN(bugprone-reserved-identifier,readability-identifier-naming): names of libc's */
/* NOLINTBEGIN(readability-function-size): and its parameters */

/* What the checked variants of a fortified program are called by; in no header without it. */
ssize_t __read_chk(int fd, void *to, size_t size, size_t room);
ssize_t __pread_chk(int fd, void *to, size_t size, off_t at, size_t room);
ssize_t __pread64_chk(int fd, void *to, size_t size, off64_t at, size_t room);
ssize_t __recv_chk(int fd, void *to, size_t size, size_t room, int flags);
ssize_t __recvfrom_chk(int fd, void *to, size_t size, size_t room, int flags, __SOCKADDR_ARG from,
		       socklen_t *restrict from_size);
ssize_t _IO_file_read(FILE *stream, void *to, ssize_t size);
ssize_t _IO_file_write(FILE *stream, const void *from, ssize_t size);

/* clang-format off */
#define REALS(X) \
	X(read) X(__read_chk) X(pread) X(__pread_chk) X(pread64) X(__pread64_chk) X(readv) X(preadv) X(preadv64) X(preadv2) \
	X(preadv64v2) X(recv) X(__recv_chk) X(recvfrom) X(__recvfrom_chk) X(recvmsg) X(recvmmsg) \
	X(write) X(pwrite) X(pwrite64) X(writev) X(pwritev) X(pwritev64) X(pwritev2) X(pwritev64v2) X(send) X(sendto) X(sendmsg) \
	X(sendmmsg) X(vmsplice) X(sendfile) X(sendfile64) X(copy_file_range) X(splice) X(_IO_file_read) X(_IO_file_write)
/* clang-format on */

static struct {
	REALS(FG_REAL_MEMBER)
} reals;

enum {
	CALLS,
	BYTES_READ,
	BYTES_WRITTEN,
};

static struct fg_counted counted = {
	.names =
		{
			[CALLS] = "io.calls",
			[BYTES_READ] = "io.bytes_read",
			[BYTES_WRITTEN] = "io.bytes_written",
		},
};

/* What a descriptor leads to; each kind has a table of its own, after that of all. */
enum kind {
	KIND_FILE,
	KIND_PIPE,
	KIND_SOCKET,
	KIND_OTHER,
	KIND_COUNT,
};

_Static_assert((int)KIND_COUNT == (int)FG_COUNT_IO_KINDS, "a table for each kind");

#define NAMES_OF(kind)                                \
 {                                                    \
  .names = {                                          \
	  [CALLS] = "io.calls." kind,                 \
	  [BYTES_READ] = "io.bytes_read." kind,       \
	  [BYTES_WRITTEN] = "io.bytes_written." kind, \
  },                                                  \
 }

static struct fg_counted kinds[KIND_COUNT] = {
	[KIND_FILE] = NAMES_OF("file"),
	[KIND_PIPE] = NAMES_OF("pipe"),
	[KIND_SOCKET] = NAMES_OF("socket"),
	[KIND_OTHER] = NAMES_OF("other"),
};

/* From one descriptor to another, or between one and the program. */
struct transfer {
	int from;
	int to;
	ssize_t moved;
};

#define PROGRAM (-2) /* no descriptor, not even a wrong one */

/* In a 32-bit program the call that fills this struct has another name. */
#ifdef SYS_fstat64
# define CALL_FSTAT SYS_fstat64
#else
# define CALL_FSTAT SYS_fstat
#endif

static enum kind kind_of(int fd)
{
	struct stat64 status = {0};

	if (fg_g.sandboxed || syscall(CALL_FSTAT, fd, &status) != 0)
		return KIND_OTHER;
	switch (status.st_mode & S_IFMT) {
	case S_IFREG:
		return KIND_FILE;
	case S_IFIFO:
		return KIND_PIPE;
	case S_IFSOCK:
		return KIND_SOCKET;
	default:
		return KIND_OTHER;
	}
}

/* Counts one call, in total and by kind. */
struct seen {
	struct fg_counts all;
	struct fg_counts of[KIND_COUNT];
	bool is[KIND_COUNT];
};

static enum kind see_end(struct seen *seen, int fd, unsigned value, uint64_t bytes)
{
	const enum kind kind = kind_of(fd);

	seen->is[kind] = true;
	seen->all.values[value] = bytes;
	seen->of[kind].values[value] = bytes;
	return kind;
}

/* A call belongs to the kind that it writes to: so the calls of kinds add up to all calls. */
static void see(const struct transfer *transfer, struct seen *seen)
{
	const uint64_t bytes = transfer->moved > 0 ? (uint64_t)transfer->moved : 0;
	enum kind kind = KIND_OTHER;

	if (transfer->from != PROGRAM)
		kind = see_end(seen, transfer->from, BYTES_READ, bytes);
	if (transfer->to != PROGRAM)
		kind = see_end(seen, transfer->to, BYTES_WRITTEN, bytes);
	seen->of[kind].values[CALLS] = 1;
	seen->all.values[CALLS] = 1;
}

static enum fg_counter table_of(unsigned kind)
{
	return (enum fg_counter)(FG_COUNT_IO + kind);
}

static void add(struct fg_thread *thread, const ucontext_t *context, const struct seen *seen)
{
	uint32_t path = 0;

	if (!fg_ensure_file(thread))
		return;
	path = fg_counts_path(thread, context);
	fg_counts_add(thread, FG_COUNTER_IO, path, &seen->all);
	for (unsigned i = 0; i < KIND_COUNT; i++)
		if (seen->is[i])
			fg_counts_add(thread, table_of(i), path, &seen->of[i]);
}

static void add_unplaced(const struct seen *seen)
{
	fg_counts_add_unplaced(FG_COUNTER_IO, &seen->all);
	for (unsigned i = 0; i < KIND_COUNT; i++)
		if (seen->is[i])
			fg_counts_add_unplaced(table_of(i), &seen->of[i]);
}

/* errno is the program's. */
static void count(const ucontext_t *context, struct transfer transfer)
{
	struct fg_thread *thread = fg_self;
	const int saved_errno = errno;
	struct seen seen = {0};

	if (!fg_is_counting(FG_COUNTER_IO))
		return;
	see(&transfer, &seen);
	if (thread && fg_thread_enter(thread)) {
		add(thread, context, &seen);
		fg_thread_leave(thread);
	} else {
		add_unplaced(&seen);
	}
	errno = saved_errno;
}

#define FROM(fd) .from = (fd), .to = PROGRAM
#define TO(fd)   .from = PROGRAM, .to = (fd)
#define BOTH     .from = from, .to = to

/* They differ in nothing but their arguments. */
#define COUNTED(ends, name, parameters, arguments)          \
 FG_EXPORT ssize_t name parameters                          \
 {                                                          \
  FG_NEED_REAL(name, -1);                                   \
  const ssize_t moved = reals.name arguments;               \
  FG_HERE(context);                                         \
                                                            \
  count(&context, (struct transfer){ends, .moved = moved}); \
  return moved;                                             \
 }

/* clang-format off */
COUNTED(FROM(fd), read, (int fd, void *to, size_t size), (fd, to, size))
COUNTED(FROM(fd), __read_chk, (int fd, void *to, size_t size, size_t room), (fd, to, size, room))
COUNTED(FROM(fd), pread, (int fd, void *to, size_t size, off_t at), (fd, to, size, at))
COUNTED(FROM(fd), __pread_chk, (int fd, void *to, size_t size, off_t at, size_t room), (fd, to, size, at, room))
COUNTED(FROM(fd), pread64, (int fd, void *to, size_t size, off64_t at), (fd, to, size, at))
COUNTED(FROM(fd), __pread64_chk, (int fd, void *to, size_t size, off64_t at, size_t room), (fd, to, size, at, room))
COUNTED(FROM(fd), readv, (int fd, const struct iovec *to, int count_of), (fd, to, count_of))
COUNTED(FROM(fd), preadv, (int fd, const struct iovec *to, int count_of, off_t at), (fd, to, count_of, at))
COUNTED(FROM(fd), preadv64, (int fd, const struct iovec *to, int count_of, off64_t at), (fd, to, count_of, at))
COUNTED(FROM(fd), preadv2, (int fd, const struct iovec *to, int count_of, off_t at, int flags), (fd, to, count_of, at, flags))
COUNTED(FROM(fd), preadv64v2, (int fd, const struct iovec *to, int count_of, off64_t at, int flags), (fd, to, count_of, at, flags))
COUNTED(FROM(fd), recv, (int fd, void *to, size_t size, int flags), (fd, to, size, flags))
COUNTED(FROM(fd), __recv_chk, (int fd, void *to, size_t size, size_t room, int flags), (fd, to, size, room, flags))
COUNTED(FROM(fd), recvfrom, (int fd, void *restrict to, size_t size, int flags, __SOCKADDR_ARG from, socklen_t *restrict from_size),
	(fd, to, size, flags, from, from_size))
COUNTED(FROM(fd), __recvfrom_chk,
	(int fd, void *to, size_t size, size_t room, int flags, __SOCKADDR_ARG from, socklen_t *restrict from_size),
	(fd, to, size, room, flags, from, from_size))
COUNTED(FROM(fd), recvmsg, (int fd, struct msghdr *message, int flags), (fd, message, flags))
COUNTED(TO(fd), write, (int fd, const void *from, size_t size), (fd, from, size))
COUNTED(TO(fd), pwrite, (int fd, const void *from, size_t size, off_t at), (fd, from, size, at))
COUNTED(TO(fd), pwrite64, (int fd, const void *from, size_t size, off64_t at), (fd, from, size, at))
COUNTED(TO(fd), writev, (int fd, const struct iovec *from, int count_of), (fd, from, count_of))
COUNTED(TO(fd), pwritev, (int fd, const struct iovec *from, int count_of, off_t at), (fd, from, count_of, at))
COUNTED(TO(fd), pwritev64, (int fd, const struct iovec *from, int count_of, off64_t at), (fd, from, count_of, at))
COUNTED(TO(fd), pwritev2, (int fd, const struct iovec *from, int count_of, off_t at, int flags), (fd, from, count_of, at, flags))
COUNTED(TO(fd), pwritev64v2, (int fd, const struct iovec *from, int count_of, off64_t at, int flags), (fd, from, count_of, at, flags))
COUNTED(TO(fd), send, (int fd, const void *from, size_t size, int flags), (fd, from, size, flags))
COUNTED(TO(fd), sendto, (int fd, const void *from, size_t size, int flags, __CONST_SOCKADDR_ARG to, socklen_t to_size),
	(fd, from, size, flags, to, to_size))
COUNTED(TO(fd), sendmsg, (int fd, const struct msghdr *message, int flags), (fd, message, flags))
COUNTED(TO(fd), vmsplice, (int fd, const struct iovec *from, size_t count_of, unsigned flags), (fd, from, count_of, flags))
COUNTED(BOTH, sendfile, (int to, int from, off_t *at, size_t size), (to, from, at, size))
COUNTED(BOTH, sendfile64, (int to, int from, off64_t *at, size_t size), (to, from, at, size))
COUNTED(BOTH, copy_file_range, (int from, off64_t *from_at, int to, off64_t *to_at, size_t size, unsigned flags),
	(from, from_at, to, to_at, size, flags))
COUNTED(BOTH, splice, (int from, off64_t *from_at, int to, off64_t *to_at, size_t size, unsigned flags),
	(from, from_at, to, to_at, size, flags))
/* clang-format on */

static ssize_t sum_of(const struct mmsghdr *messages, int count_of)
{
	ssize_t sum = 0;

	for (int i = 0; i < count_of; i++)
		sum += (ssize_t)messages[i].msg_len;
	return sum;
}

FG_EXPORT int recvmmsg(int fd, struct mmsghdr *messages, unsigned size, int flags,
		       struct timespec *timeout)
{
	FG_NEED_REAL(recvmmsg, -1);
	const int got = reals.recvmmsg(fd, messages, size, flags, timeout);
	FG_HERE(context);

	count(&context, (struct transfer){FROM(fd), .moved = sum_of(messages, got)});
	return got;
}

FG_EXPORT int sendmmsg(int fd, struct mmsghdr *messages, unsigned size, int flags)
{
	FG_NEED_REAL(sendmmsg, -1);
	const int sent = reals.sendmmsg(fd, messages, size, flags);
	FG_HERE(context);

	count(&context, (struct transfer){TO(fd), .moved = sum_of(messages, sent)});
	return sent;
}

/* ---- streams ---- */

static ssize_t stream_read(FILE *stream, void *to, ssize_t size)
{
	const ssize_t moved = reals._IO_file_read(stream, to, size);
	FG_HERE(context);

	count(&context, (struct transfer){FROM(fileno(stream)), .moved = moved});
	return moved;
}

static ssize_t stream_write(FILE *stream, const void *from, ssize_t size)
{
	const ssize_t moved = reals._IO_file_write(stream, from, size);
	FG_HERE(context);

	count(&context, (struct transfer){TO(fileno(stream)), .moved = moved});
	return moved;
}

/* NOLINTEND(readability-function-size) */
/* NOLINTEND(bugprone-reserved-identifier,readability-identifier-naming) */

/* As libc lays it out: struct _IO_jump_t, whose members before these are of no concern. */
struct stream_functions {
	size_t sizes[2];
	void (*others[12])(void);
	ssize_t (*read)(FILE *stream, void *to, ssize_t size);
	ssize_t (*write)(FILE *stream, const void *from, ssize_t size);
};

static bool take_over(struct stream_functions *functions)
{
	const uintptr_t page = (uintptr_t)&functions->read & ~(uintptr_t)(FG_TRACE_ALIGN - 1);
	const size_t size = (uintptr_t)(functions + 1) - page;

	if (functions->read == stream_read)
		return true;
	if (functions->read != reals._IO_file_read || functions->write != reals._IO_file_write ||
	    mprotect((void *)page, size, PROT_READ | PROT_WRITE) != 0)
		return false;
	functions->read = stream_read;
	functions->write = stream_write;
	(void)mprotect((void *)page, size, PROT_READ);
	return true;
}

/* The member after what the public type shows. */
static struct stream_functions *functions_of(FILE *stream)
{
	struct stream_functions *functions = NULL;

	memcpy(&functions, stream + 1, sizeof(functions));
	return functions;
}

void fg_io_watch_stream(FILE *stream)
{
	(void)take_over(functions_of(stream));
}

static void begin(void)
{
	struct stream_functions *wide = dlsym(RTLD_NEXT, "_IO_wfile_jumps");

	fg_g.options.counters |= ((1u << KIND_COUNT) - 1) << FG_COUNT_IO;
	if (!take_over(functions_of(stdout)) || (wide && !take_over(wide)))
		counted.note =
			"what libc's streams (fread, printf) read and write is not counted here";
}

/* Before the constructor that starts the collector. */
__attribute__((constructor(101))) static void join_in(void)
{
	REALS(FG_REAL_LOOK_UP)
	counted.begin = begin;
	fg_counted[FG_COUNTER_IO] = &counted;
	for (unsigned i = 0; i < KIND_COUNT; i++)
		fg_counted[FG_COUNT_IO + i] = &kinds[i];
}
