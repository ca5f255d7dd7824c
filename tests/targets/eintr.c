// SPDX-License-Identifier: Apache-2.0
/*
 * Many calls that a signal would cut short: none may ever return EINTR, and none may return too
 * early.
 */
#include "work.h"

#include <errno.h>
#include <poll.h>
#include <semaphore.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <unistd.h>

static unsigned interrupted;
static unsigned early;

static void judge(int result, uint64_t begin, uint64_t min_ns)
{
	if (result == -1 && errno == EINTR)
		interrupted++;
	if (now_ns(CLOCK_MONOTONIC) - begin < min_ns)
		early++;
}

int main(int argc, char **argv)
{
	const unsigned rounds = argc > 1 ? (unsigned)atoi(argv[1]) : 200;
	const int epoll = epoll_create1(0);
	int pipes[2];
	sem_t semaphore;

	check(pipe(pipes) == 0 && sem_init(&semaphore, 0, 0) == 0, "set-up");
	for (unsigned i = 0; i < rounds; i++) {
		struct pollfd wait_for = {pipes[0], POLLIN, 0};
		struct epoll_event event;
		struct timespec half = {0, 500000};
		struct timeval half_us = {0, 500};
		struct timespec until;
		fd_set set;

		spin(3000);
		uint64_t begin = now_ns(CLOCK_MONOTONIC);

		judge(poll(&wait_for, 1, 1), begin, 900000);
		begin = now_ns(CLOCK_MONOTONIC);
		judge(nanosleep(&half, NULL), begin, 500000);
		begin = now_ns(CLOCK_MONOTONIC);
		judge(usleep(500), begin, 500000);
		begin = now_ns(CLOCK_MONOTONIC);
		judge(epoll_wait(epoll, &event, 1, 1), begin, 900000);
		FD_ZERO(&set);
		FD_SET(pipes[0], &set);
		begin = now_ns(CLOCK_MONOTONIC);
		judge(select(pipes[0] + 1, &set, NULL, NULL, &half_us), begin, 500000);
		(void)clock_gettime(CLOCK_REALTIME, &until);
		until.tv_nsec += 500000;
		if (until.tv_nsec >= 1000000000) {
			until.tv_nsec -= 1000000000;
			until.tv_sec++;
		}
		begin = now_ns(CLOCK_MONOTONIC);
		judge(sem_timedwait(&semaphore, &until), begin, 0);
		/* without any wait, like a busy program */
		for (unsigned k = 0; k < 20; k++)
			judge(poll(&wait_for, 1, 0), begin, 0);
	}
	/* The program has slept nearly all the time; this part can be sampled. */
	spin_us(20000);
	print_value("interrupted", interrupted);
	print_value("early", early);
	return interrupted || early ? 1 : 0;
}
