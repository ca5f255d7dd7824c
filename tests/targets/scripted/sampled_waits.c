// SPDX-License-Identifier: Apache-2.0
#include <poll.h>
#include <pthread.h>
#include <time.h>
static volatile int done;
static void *busy(void *nothing)
{
	while (!done) {
	}
	return nothing;
}
int main(void)
{
	const struct timespec wait = {0, 30000000};
	pthread_t other;
	int ended = 0;
	if (pthread_create(&other, 0, busy, 0))
		return 99;
	for (int i = 0; i < 10; i++)
		ended += (nanosleep(&wait, 0) != 0) + (poll(0, 0, 30) < 0) +
			 (clock_nanosleep(CLOCK_MONOTONIC, 0, &wait, 0) != 0);
	done = 1;
	return pthread_join(other, 0) ? 99 : ended;
}
