// SPDX-License-Identifier: Apache-2.0
/*
 * Reads and writes known numbers of bytes in known numbers of calls. The first call fails, which
 * marks the start in another tool's record.
 *
 * usage: transfers [plain | fork | signal]
 */
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>
#include <wchar.h>

#define FAR_FROM_OPTIMISED __attribute__((noinline))

static char bytes[4096];

static void must(int ok)
{
	if (!ok)
		abort();
}

FAR_FROM_OPTIMISED void write_plain(int fd, int times)
{
	for (int i = 0; i < times; i++)
		must(write(fd, bytes, 100) == 100);
	__asm__ volatile("");
}

FAR_FROM_OPTIMISED void read_plain(int fd)
{
	char room[1000];

	/* the last call reads the end of the file */
	while (pread(fd, room, sizeof(room), lseek(fd, 0, SEEK_CUR)) > 0)
		must(lseek(fd, sizeof(room), SEEK_CUR) > 0);
	__asm__ volatile("");
}

FAR_FROM_OPTIMISED void use_vectors(int fd)
{
	struct iovec parts[2] = {{bytes, 30}, {bytes, 12}};

	must(pwritev(fd, parts, 2, 0) == 42);
	must(preadv(fd, parts, 2, 0) == 42);
	__asm__ volatile("");
}

FAR_FROM_OPTIMISED void use_sockets(void)
{
	struct iovec part = {bytes, 50};
	struct mmsghdr messages[2] = {{.msg_hdr = {.msg_iov = &part, .msg_iovlen = 1}},
				      {.msg_hdr = {.msg_iov = &part, .msg_iovlen = 1}}};
	int ends[2];

	must(socketpair(AF_UNIX, SOCK_DGRAM, 0, ends) == 0);
	must(send(ends[0], bytes, 7, 0) == 7 && recv(ends[1], bytes, 100, 0) == 7);
	must(sendmmsg(ends[0], messages, 2, 0) == 2 &&
	     recvmmsg(ends[1], messages, 2, 0, NULL) == 2);
	(void)close(ends[0]);
	(void)close(ends[1]);
	__asm__ volatile("");
}

FAR_FROM_OPTIMISED void copy_in_kernel(int from, int to)
{
	off_t at = 0;

	must(sendfile(to, from, &at, 300) == 300);
	__asm__ volatile("");
}

/* Sends a file's bytes to another kind of descriptor. */
FAR_FROM_OPTIMISED void send_file(int from)
{
	off_t at = 0;
	int ends[2];

	must(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0);
	must(sendfile(ends[0], from, &at, 200) == 200);
	(void)close(ends[0]);
	(void)close(ends[1]);
	__asm__ volatile("");
}

FAR_FROM_OPTIMISED void use_pipe(void)
{
	int ends[2];

	must(pipe(ends) == 0);
	must(write(ends[1], bytes, 33) == 33 && read(ends[0], bytes, 100) == 33);
	(void)close(ends[0]);
	(void)close(ends[1]);
	__asm__ volatile("");
}

FAR_FROM_OPTIMISED void use_device(void)
{
	const int device = open("/dev/zero", O_RDONLY);

	must(device >= 0 && read(device, bytes, 64) == 64);
	(void)close(device);
	__asm__ volatile("");
}

/* A stream writes its bytes in pieces of its buffer's size. */
FAR_FROM_OPTIMISED void print_lines(FILE *stream, int times)
{
	for (int i = 0; i < times; i++)
		must(fprintf(stream, "%-99d\n", i) == 100);
	must(fflush(stream) == 0);
	__asm__ volatile("");
}

FAR_FROM_OPTIMISED void read_lines(const char *path)
{
	char buffer[1024];
	char line[200];
	FILE *stream = fopen(path, "r");

	must(stream && setvbuf(stream, buffer, _IOFBF, sizeof(buffer)) == 0);
	while (fgets(line, sizeof(line), stream))
		;
	(void)fclose(stream);
	__asm__ volatile("");
}

FAR_FROM_OPTIMISED void print_wide(const char *path)
{
	FILE *stream = fopen(path, "w");

	must(stream && fputws(L"twelve bytes", stream) >= 0);
	(void)fclose(stream);
	__asm__ volatile("");
}

FAR_FROM_OPTIMISED void fail(void)
{
	must(write(-1, bytes, 1) < 0);
	__asm__ volatile("");
}

static int file;

static void on_signal(int number)
{
	(void)number;
	write_plain(file, 1);
}

static void *work(void *argument)
{
	write_plain(file, 200);
	return argument;
}

int main(int argc, char **argv)
{
	const char *mode = argc > 1 ? argv[1] : "plain";
	pthread_t threads[3];
	FILE *stream = NULL;
	int other = -1;

	fail();
	file = open("transfers.out", O_RDWR | O_CREAT | O_TRUNC, 0600);
	other = open("transfers.other", O_RDWR | O_CREAT | O_TRUNC, 0600);
	stream = fopen("transfers.lines", "w");
	must(file >= 0 && other >= 0 && stream);
	write_plain(file, 40);
	(void)lseek(file, 0, SEEK_SET);
	read_plain(file);
	use_vectors(other);
	use_sockets();
	copy_in_kernel(file, other);
	send_file(file);
	use_pipe();
	use_device();
	print_lines(stream, 50);
	(void)fclose(stream);
	read_lines("transfers.lines");
	print_wide("transfers.wide");
	for (int i = 0; i < 3; i++)
		must(pthread_create(&threads[i], NULL, work, NULL) == 0);
	for (int i = 0; i < 3; i++)
		(void)pthread_join(threads[i], NULL);
	if (strcmp(mode, "fork") == 0) {
		pid_t child = fork();

		if (child == 0) {
			write_plain(file, 70);
			exit(0);
		}
		(void)waitpid(child, NULL, 0);
	}
	if (strcmp(mode, "signal") == 0) {
		(void)signal(SIGUSR1, on_signal);
		for (int i = 0; i < 10; i++)
			(void)raise(SIGUSR1);
	}
	return 0;
}
