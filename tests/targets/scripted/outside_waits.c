// SPDX-License-Identifier: Apache-2.0
/* Prints the time spent in each function; exits with 9 if a call is cut short. */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>
static int epoll, sockets[2];
static long now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000L + t.tv_nsec;
}
static void must(int done)
{
	if (!done) {
		puts("cut short");
		_exit(9);
	}
}
__attribute__((noinline)) static long sleeps(void)
{
	long a = now();
	struct timespec t = {0, 30000000};
	must(nanosleep(&t, NULL) == 0);
	return now() - a;
}
__attribute__((noinline)) static long polls(void)
{
	struct epoll_event e;
	long a = now();
	must(epoll_wait(epoll, &e, 1, 20) == 0);
	return now() - a;
}
__attribute__((noinline)) static long spins(void)
{
	long a = now();
	while (now() < a + 10000000) {
	}
	return now() - a;
}
static void *receives(void *unused)
{
	char byte;
	struct timeval limit = {.tv_sec = 3600};
	setsockopt(sockets[0], SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
	must(read(sockets[0], &byte, 1) == 1);
	return unused;
}
int main(void)
{
	long in[3] = {0};
	pthread_t thread;
	epoll = epoll_create1(0);
	must(socketpair(AF_UNIX, SOCK_STREAM, 0, sockets) == 0 &&
	     pthread_create(&thread, NULL, receives, NULL) == 0);
	for (long begin = now(); now() < begin + 2000000000L;) {
		in[0] += sleeps();
		in[1] += polls();
		in[2] += spins();
	}
	must(write(sockets[1], "", 1) == 1 && pthread_join(thread, NULL) == 0);
	printf("sleeps %ld polls %ld spins %ld\n", in[0], in[1], in[2]);
	return 0;
}
