// SPDX-License-Identifier: Apache-2.0
/* Until SIGTERM, threads compute, wait and signal each other, and check that nothing is lost. */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static volatile sig_atomic_t running = 1;
static volatile sig_atomic_t got;
static pthread_t receiver;
static int pipes[2];

static void count(int signal)
{
	(void)signal;
	got++;
}

static void end(int signal)
{
	(void)signal;
	running = 0;
}

/* Each signal is sent when the previous one has arrived: none may be missing. */
static void *send(void *unused)
{
	long sent = 0;

	while (running) {
		(void)pthread_kill(receiver, SIGUSR1);
		sent++;
		for (long spins = 0; got < sent; spins++)
			if (spins > 20000000000) {
				puts("a signal was lost");
				_exit(9);
			}
	}
	return unused;
}

static void *receive(void *unused)
{
	while (running)
		for (volatile int i = 0; i < 1000; i++)
			;
	return unused;
}

/* Writes bytes to a pipe and reads each of them back. */
static void *talk(void *unused)
{
	unsigned char next = 0;

	while (running) {
		unsigned char back = 0;

		if (write(pipes[1], &next, 1) != 1 || read(pipes[0], &back, 1) != 1 ||
		    back != next++) {
			puts("a byte was lost");
			_exit(9);
		}
		if (poll(NULL, 0, 1) != 0 && errno != EINTR)
			_exit(8);
	}
	return unused;
}

int main(void)
{
	pthread_t threads[3];

	signal(SIGUSR1, count);
	signal(SIGTERM, end);
	if (pipe(pipes) != 0 || pthread_create(&receiver, NULL, receive, NULL) != 0)
		return 7;
	pthread_create(&threads[0], NULL, send, NULL);
	pthread_create(&threads[1], NULL, talk, NULL);
	pthread_create(&threads[2], NULL, receive, NULL);
	pthread_join(receiver, NULL);
	for (int i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
