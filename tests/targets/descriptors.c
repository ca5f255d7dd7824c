// SPDX-License-Identifier: Apache-2.0
/*
 * Opens, holds and closes known numbers of descriptors in known functions. Prints how many more are
 * open at the end than at the start.
 *
 * usage: descriptors [plain | fork | vfork]
 */
#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#define FAR_FROM_OPTIMISED __attribute__((noinline))

enum {
	FILES = 20,
	FDS_MAX = 256
};

static void must(int ok)
{
	if (!ok)
		abort();
}

/* Tests every number with fcntl(), because reading /proc would open another descriptor. */
static int open_now(void)
{
	int count = 0;

	for (int fd = 0; fd < FDS_MAX; fd++)
		count += fcntl(fd, F_GETFD) >= 0;
	return count;
}

FAR_FROM_OPTIMISED void open_files(int *fds, int count)
{
	for (int i = 0; i < count; i++)
		must((fds[i] = open("/dev/null", O_RDONLY)) >= 0);
	__asm__ volatile("");
}

FAR_FROM_OPTIMISED void close_files(const int *fds, int count)
{
	for (int i = 0; i < count; i++)
		must(close(fds[i]) == 0);
	__asm__ volatile("");
}

/* Four descriptors stay open. */
FAR_FROM_OPTIMISED void open_ends(void)
{
	int fds[2];

	must(pipe(fds) == 0);
	must(pipe2(fds, O_CLOEXEC) == 0);
	(void)close(fds[0]);
	(void)close(fds[1]);
	must(socketpair(AF_UNIX, SOCK_STREAM, 0, fds) == 0);
	__asm__ volatile("");
}

FAR_FROM_OPTIMISED void open_others(void)
{
	sigset_t none;
	const int fds[] = {
		epoll_create1(0),
		eventfd(0, 0),
		memfd_create("descriptors", 0),
		timerfd_create(CLOCK_MONOTONIC, 0),
		inotify_init1(0),
		(sigemptyset(&none), signalfd(-1, &none, 0)),
		socket(AF_UNIX, SOCK_DGRAM, 0),
		creat("descriptors.out", 0600),
		openat(AT_FDCWD, "descriptors.out", O_RDWR | O_CREAT, 0600),
	};

	for (size_t i = 0; i < sizeof(fds) / sizeof(fds[0]); i++)
		must(fds[i] >= 0 && close(fds[i]) == 0);
	__asm__ volatile("");
}

FAR_FROM_OPTIMISED void accept_one(void)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX, .sun_path = "descriptors.socket"};
	const int listener = socket(AF_UNIX, SOCK_STREAM, 0);
	const int client = socket(AF_UNIX, SOCK_STREAM, 0);

	(void)unlink(address.sun_path);
	must(bind(listener, (const struct sockaddr *)&address, sizeof(address)) == 0 &&
	     listen(listener, 1) == 0 &&
	     connect(client, (const struct sockaddr *)&address, sizeof(address)) == 0);
	const int server = accept(listener, NULL, NULL);

	(void)close(server);
	(void)close(client);
	(void)close(listener);
	__asm__ volatile("");
}

/* Six calls: the fifth copy replaces the fourth, the sixth duplicates onto itself. */
FAR_FROM_OPTIMISED void make_copies(void)
{
	must(dup(0) >= 0 && fcntl(0, F_DUPFD, 100) == 100 && fcntl(0, F_DUPFD_CLOEXEC, 101) == 101);
	must(dup2(0, 102) == 102 && dup3(0, 102, O_CLOEXEC) == 102 && dup2(102, 102) == 102);
	must(close_range(100, 102, 0) == 0);
	__asm__ volatile("");
}

FAR_FROM_OPTIMISED void use_streams(void)
{
	FILE *file = fopen("/dev/null", "r");
	FILE *other = tmpfile();
	FILE *command = popen(":", "r"); /* NOLINT(cert-env33-c): the test counts it */
	DIR *folder = opendir("/");
	char *text = NULL;
	size_t size = 0;
	FILE *memory = open_memstream(&text, &size);

	must(file && other && command && folder && memory);
	file = freopen("/dev/zero", "r", file);
	(void)fclose(file);
	(void)fclose(other);
	(void)fclose(memory);
	(void)pclose(command);
	(void)closedir(folder);
	free(text);
	__asm__ volatile("");
}

static void *work(void *argument)
{
	int fds[5];

	open_files(fds, 5);
	close_files(fds, 5);
	return argument;
}

/* The child's descriptors are its own, although it shares the parent's memory. */
static void start_child(void)
{
	const pid_t child = vfork();
	int status = 0;

	if (child == 0) {
		(void)dup2(0, 120);
		(void)close(0);
		(void)execl("/bin/true", "true", (char *)NULL);
		_exit(1);
	}
	must(waitpid(child, &status, 0) == child && status == 0);
}

int main(int argc, char **argv)
{
	const char *mode = argc > 1 ? argv[1] : "plain";
	const int at_start = open_now();
	pthread_t thread;
	int fds[FILES];

	open_files(fds, FILES); /* the peak, while nothing else is open */
	close_files(fds, FILES - 3);
	open_ends();
	open_others();
	accept_one();
	make_copies();
	use_streams();
	must(pthread_create(&thread, NULL, work, NULL) == 0);
	(void)pthread_join(thread, NULL);
	must(open("/nowhere/at/all", O_RDONLY) < 0 && close(-1) < 0);
	if (strcmp(mode, "fork") == 0) {
		const pid_t child = fork();

		if (child == 0) {
			open_files(fds, 2);
			close_files(fds, 1);
			exit(0);
		}
		(void)waitpid(child, NULL, 0);
	}
	if (strcmp(mode, "vfork") == 0)
		start_child();
	printf("%d\n", open_now() - at_start);
	return 0;
}
