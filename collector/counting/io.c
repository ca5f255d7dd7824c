// SPDX-License-Identifier: Apache-2.0
/*
 * Intercepts read, write and their relatives, and counts calls and transferred bytes. A call counts
 * when it has returned, even with an error. Built only into the counting library.
 *
 * libc's streams (fread, printf, std::cout) call read and write inside libc, where no library can
 * interpose. The calls go through a table of functions, to which a stream's last member points. If
 * the table has the two functions that libc exports by name, ours replace them. If not, as with
 * musl, a note in the trace reports that streams are not counted.
 */
#include "collector/counting/count_probe.h"
#include "collector/counting/counts.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

/* NOLINTBEGIN(bugprone-reserved-identifier,readability-identifier-naming): libc's names */
/* NOLINTBEGIN(readability-function-size): libc's parameters */

/* Fortified programs call the _chk functions; glibc declares these only for such programs. */
ssize_t __read_chk(int fd, void *to, size_t size, size_t room);
ssize_t __pread_chk(int fd, void *to, size_t size, off_t at, size_t room);
ssize_t __pread64_chk(int fd, void *to, size_t size, off64_t at, size_t room);
ssize_t __recv_chk(int fd, void *to, size_t size, size_t room, int flags);
ssize_t __recvfrom_chk(int fd, void *to, size_t size, size_t room, int flags, __SOCKADDR_ARG from,
		       socklen_t *restrict from_size);
/* in the function table of a FILE; no header declares them */
ssize_t _IO_file_read(FILE *stream, void *to, ssize_t size);
ssize_t _IO_file_write(FILE *stream, const void *from, ssize_t size);

/* clang-format off */
#define REALS(X) \
	X(read) X(__read_chk) X(pread) X(__pread_chk) X(pread64) \
	X(__pread64_chk) X(readv) X(preadv) X(preadv64) X(preadv2) \
	X(preadv64v2) X(recv) X(__recv_chk) X(recvfrom) X(__recvfrom_chk) X(recvmsg) X(recvmmsg) \
	X(write) X(pwrite) X(pwrite64) X(writev) X(pwritev) X(pwritev64) \
	X(pwritev2) X(pwritev64v2) X(send) X(sendto) X(sendmsg) \
	X(sendmmsg) X(vmsplice) X(sendfile) X(sendfile64) \
	X(copy_file_range) X(splice) X(_IO_file_read) X(_IO_file_write)
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

/* The directions in which a call moves bytes. */
enum direction {
	READS = 1,
	WRITES = 2,
	COPIES = READS | WRITES,
};

static void count(const ucontext_t *context, enum direction direction, ssize_t moved)
{
	const uint64_t bytes = moved > 0 ? (uint64_t)moved : 0;
	const struct fg_counts seen = {.values = {
					       [CALLS] = 1,
					       [BYTES_READ] = direction & READS ? bytes : 0,
					       [BYTES_WRITTEN] = direction & WRITES ? bytes : 0,
				       }};

	fg_counts_record(FG_COUNTER_IO, context, &seen);
}

/* Most of the counted functions differ only in their arguments. */
#define COUNTED_AS(name, direction, real, parameters, arguments) \
 ssize_t name parameters                                         \
 {                                                               \
  FG_NEED_REAL(real, -1);                                        \
  const ssize_t moved = reals.real arguments;                    \
  FG_HERE(context);                                              \
                                                                 \
  count(&context, direction, moved);                             \
  return moved;                                                  \
 }
#define COUNTED(direction, name, parameters, arguments) \
 FG_EXPORT COUNTED_AS(name, direction, name, parameters, arguments)

/* clang-format off */
COUNTED(READS, read, (int fd, void *to, size_t size), (fd, to, size))
COUNTED(READS, __read_chk, (int fd, void *to, size_t size, size_t room), (fd, to, size, room))
COUNTED(READS, pread, (int fd, void *to, size_t size, off_t at), (fd, to, size, at))
COUNTED(READS, __pread_chk,
	(int fd, void *to, size_t size, off_t at, size_t room), (fd, to, size, at, room))
COUNTED(READS, pread64, (int fd, void *to, size_t size, off64_t at), (fd, to, size, at))
COUNTED(READS, __pread64_chk,
	(int fd, void *to, size_t size, off64_t at, size_t room), (fd, to, size, at, room))
COUNTED(READS, readv, (int fd, const struct iovec *to, int count_of), (fd, to, count_of))
COUNTED(READS, preadv, (int fd, const struct iovec *to, int count_of, off_t at), (fd, to, count_of, at))
COUNTED(READS, preadv64,
	(int fd, const struct iovec *to, int count_of, off64_t at), (fd, to, count_of, at))
COUNTED(READS, preadv2, (int fd, const struct iovec *to, int count_of, off_t at, int flags),
	(fd, to, count_of, at, flags))
COUNTED(READS, preadv64v2, (int fd, const struct iovec *to, int count_of, off64_t at, int flags),
	(fd, to, count_of, at, flags))
COUNTED(READS, recv, (int fd, void *to, size_t size, int flags), (fd, to, size, flags))
COUNTED(READS, __recv_chk,
	(int fd, void *to, size_t size, size_t room, int flags), (fd, to, size, room, flags))
COUNTED(READS, recvfrom,
	(int fd, void *restrict to, size_t size, int flags, __SOCKADDR_ARG from,
	 socklen_t *restrict from_size),
	(fd, to, size, flags, from, from_size))
COUNTED(READS, __recvfrom_chk,
	(int fd, void *to, size_t size, size_t room, int flags, __SOCKADDR_ARG from,
	 socklen_t *restrict from_size),
	(fd, to, size, room, flags, from, from_size))
COUNTED(READS, recvmsg, (int fd, struct msghdr *message, int flags), (fd, message, flags))
COUNTED(WRITES, write, (int fd, const void *from, size_t size), (fd, from, size))
COUNTED(WRITES, pwrite, (int fd, const void *from, size_t size, off_t at), (fd, from, size, at))
COUNTED(WRITES, pwrite64, (int fd, const void *from, size_t size, off64_t at), (fd, from, size, at))
COUNTED(WRITES, writev, (int fd, const struct iovec *from, int count_of), (fd, from, count_of))
COUNTED(WRITES, pwritev,
	(int fd, const struct iovec *from, int count_of, off_t at), (fd, from, count_of, at))
COUNTED(WRITES, pwritev64,
	(int fd, const struct iovec *from, int count_of, off64_t at), (fd, from, count_of, at))
COUNTED(WRITES, pwritev2, (int fd, const struct iovec *from, int count_of, off_t at, int flags),
	(fd, from, count_of, at, flags))
COUNTED(WRITES, pwritev64v2, (int fd, const struct iovec *from, int count_of, off64_t at, int flags),
	(fd, from, count_of, at, flags))
COUNTED(WRITES, send, (int fd, const void *from, size_t size, int flags), (fd, from, size, flags))
COUNTED(WRITES, sendto,
	(int fd, const void *from, size_t size, int flags, __CONST_SOCKADDR_ARG to, socklen_t to_size),
	(fd, from, size, flags, to, to_size))
COUNTED(WRITES, sendmsg, (int fd, const struct msghdr *message, int flags), (fd, message, flags))
COUNTED(WRITES, vmsplice, (int fd, const struct iovec *from, size_t count_of, unsigned flags),
	(fd, from, count_of, flags))
COUNTED(COPIES, sendfile, (int to, int from, off_t *at, size_t size), (to, from, at, size))
COUNTED(COPIES, sendfile64, (int to, int from, off64_t *at, size_t size), (to, from, at, size))
COUNTED(COPIES, copy_file_range,
	(int from, off64_t *from_at, int to, off64_t *to_at, size_t size, unsigned flags),
	(from, from_at, to, to_at, size, flags))
COUNTED(COPIES, splice,
	(int from, off64_t *from_at, int to, off64_t *to_at, size_t size, unsigned flags),
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

	count(&context, READS, sum_of(messages, got));
	return got;
}

FG_EXPORT int sendmmsg(int fd, struct mmsghdr *messages, unsigned size, int flags)
{
	FG_NEED_REAL(sendmmsg, -1);
	const int sent = reals.sendmmsg(fd, messages, size, flags);
	FG_HERE(context);

	count(&context, WRITES, sum_of(messages, sent));
	return sent;
}

/* ---- streams ---- */

/* clang-format off */
static COUNTED_AS(stream_read, READS, _IO_file_read,
	(FILE *stream, void *to, ssize_t size), (stream, to, size))
static COUNTED_AS(stream_write, WRITES, _IO_file_write,
	(FILE *stream, const void *from, ssize_t size), (stream, from, size))
	/* clang-format on */

	/* NOLINTEND(readability-function-size) */
	/* NOLINTEND(bugprone-reserved-identifier,readability-identifier-naming) */

	/* libc's layout of struct _IO_jump_t, up to the members that are used here. */
	struct stream_functions {
	size_t sizes[2];
	void (*others[12])(void);
	ssize_t (*read)(FILE *stream, void *to, ssize_t size);
	ssize_t (*write)(FILE *stream, const void *from, ssize_t size);
};

static bool take_over(struct stream_functions *functions)
{
	const uintptr_t page = fg_page_down((uintptr_t)&functions->read);
	const size_t size = (uintptr_t)(functions + 1) - page;

	if (!functions)
		return false;
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

/* Returns a stream's table of functions; its address follows the members of the public type. */
static struct stream_functions *functions_of(FILE *stream)
{
	struct stream_functions *functions = NULL;

	if (reals._IO_file_read)
		memcpy(&functions, stream + 1, sizeof(functions));
	return functions;
}

void fg_io_watch_stream(FILE *stream)
{
	(void)take_over(functions_of(stream));
}

static void begin(void)
{
	struct stream_functions *wide = fg_symbol_find(FG_SYMBOL_NEXT, NULL, "_IO_wfile_jumps");

	if (!take_over(functions_of(stdout)) || (wide && !take_over(wide)))
		counted.note =
			"bytes read and written by libc's streams (fread, printf) are not counted "
			"in this program";
}

/* Runs before the constructor that starts the collector. */
__attribute__((constructor(101))) static void join_in(void)
{
	FG_REALS_LOOK_UP(REALS);
	counted.begin = begin;
	fg_counted[FG_COUNTER_IO] = &counted;
}
