// SPDX-License-Identifier: Apache-2.0
/*
 * Makes the pages of the traces in a folder, as fastgate does for a program that it waits for;
 * until SIGTERM.  Says what that took.
 *
 * usage: make_pages FOLDER
 */
#include "runner/pages_ahead.h"

#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <time.h>

static double now_s(clockid_t clock)
{
	struct timespec now = {0, 0};

	(void)clock_gettime(clock, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

int main(int argc, char **argv)
{
	const struct timespec wait = {.tv_nsec = FG_PAGES_AHEAD_LOOK_MS * 1000000L};
	const double begin_s = now_s(CLOCK_MONOTONIC);
	struct fg_pages_ahead *ahead = NULL;
	unsigned looks = 0;
	double cpu_s = 0;
	sigset_t end;

	if (argc != 2)
		return 2;
	(void)prctl(PR_SET_PDEATHSIG, SIGTERM);
	(void)sigemptyset(&end);
	(void)sigaddset(&end, SIGTERM);
	(void)sigprocmask(SIG_BLOCK, &end, NULL);
	cpu_s = now_s(CLOCK_PROCESS_CPUTIME_ID);
	ahead = fg_pages_ahead_new(argv[1]);
	for (; sigtimedwait(&end, NULL, &wait) < 0; looks++)
		fg_pages_ahead_look(ahead);
	fg_pages_ahead_free(ahead);
	cpu_s = now_s(CLOCK_PROCESS_CPUTIME_ID) - cpu_s;
	(void)printf("  making pages ahead took %.1f us of CPU time a second, %u looks in %.0f s\n",
		     cpu_s * 1e6 / (now_s(CLOCK_MONOTONIC) - begin_s), looks,
		     now_s(CLOCK_MONOTONIC) - begin_s);
	return 0;
}
