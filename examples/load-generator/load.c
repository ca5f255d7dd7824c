// SPDX-License-Identifier: Apache-2.0
/*
 * load REQUESTS BYTES SERVER: starts SERVER, sends it REQUESTS lines of BYTES bytes, one after the
 * other, and stops it. Prints the median and the 99th percentile of the response time.
 */
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static double now_us(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec * 1e6 + (double)time.tv_nsec / 1e3;
}

static int by_value(const void *a, const void *b)
{
	const double x = *(const double *)a;
	const double y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Starts the server; *port gets the port that it prints. */
static pid_t start(char *server, int *port)
{
	int channel[2];
	pid_t child = -1;
	FILE *said = NULL;

	if (pipe(channel) != 0)
		return -1;
	child = fork();
	if (child == 0) {
		dup2(channel[1], STDOUT_FILENO);
		close(channel[0]);
		close(channel[1]);
		execl(server, server, (char *)NULL);
		_exit(127);
	}
	close(channel[1]);
	said = fdopen(channel[0], "r");
	if (!said || fscanf(said, "%d", port) != 1)
		*port = 0;
	if (said)
		fclose(said);
	return child;
}

static int ask(int connection, const char *line, size_t size)
{
	char answer[16];
	size_t got = 0;

	if (write(connection, line, size) != (ssize_t)size)
		return -1;
	while (got == 0 || answer[got - 1] != '\n') {
		const ssize_t more = read(connection, answer + got, sizeof(answer) - got);

		if (more <= 0)
			return -1;
		got += (size_t)more;
	}
	return 0;
}

static int measure(int port, size_t requests, size_t size)
{
	struct sockaddr_in address = {.sin_family = AF_INET,
				      .sin_port = htons((unsigned short)port),
				      .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	const int connection = socket(AF_INET, SOCK_STREAM, 0);
	double *times = calloc(requests, sizeof(times[0]));
	char *line = malloc(size);
	const int yes = 1;

	if (!times || !line || connection < 0 ||
	    connect(connection, (struct sockaddr *)&address, sizeof(address)) != 0)
		return 1;
	setsockopt(connection, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof(yes));
	memset(line, 'x', size);
	line[size - 1] = '\n';
	for (size_t i = 0; i < requests; i++) {
		const double before = now_us();

		if (ask(connection, line, size) != 0)
			return 1;
		times[i] = now_us() - before;
	}
	qsort(times, requests, sizeof(times[0]), by_value);
	printf("p50 %.2f us\np99 %.2f us\n", times[requests / 2], times[requests * 99 / 100]);
	close(connection);
	free(times);
	free(line);
	return 0;
}

int main(int argc, char **argv)
{
	const size_t requests = argc == 4 ? strtoul(argv[1], NULL, 10) : 0;
	const size_t size = argc == 4 ? strtoul(argv[2], NULL, 10) : 0;
	int port = 0;
	int result = 1;
	pid_t server = -1;

	if (requests == 0 || size == 0 || size > 4096) {
		fprintf(stderr, "usage: load REQUESTS BYTES SERVER\n");
		return 2;
	}
	server = start(argv[3], &port);
	if (server > 0 && port > 0)
		result = measure(port, requests, size);
	if (server > 0) {
		kill(server, SIGTERM);
		waitpid(server, NULL, 0);
	}
	return result;
}
