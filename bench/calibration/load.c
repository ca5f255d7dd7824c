// SPDX-License-Identifier: Apache-2.0
/*
 * A load generator for the calibration: PROCESSES processes that work in bursts, for SECONDS or
 * until the parent exits. Each burst, at random, either computes or writes memory. Bursts and
 * pauses are exponential with means of 1.0 s and 0.1 s, so each process keeps a CPU about nine
 * tenths busy, if it can get one.
 *
 *	bench_calibration_load PROCESSES SECONDS
 */
#include "base/base.h"
#include "base/clock.h"
#include "base/number.h"
#include "base/random.h"

#include <math.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define PROCESSES_MAX 256
#define MEMORY_BYTES  ((size_t)64 << 20)
#define BURST_S       1.0
#define PAUSE_S       0.1

static double draw_exponential(struct fg_random *random, double mean)
{
	return fmin(-mean * log1p(-fg_random_uniform(random)), 4.0 * mean);
}

static void pause_for(double seconds)
{
	struct timespec rest = {.tv_sec = (time_t)seconds};

	rest.tv_nsec = (long)((seconds - floor(seconds)) * 1e9);
	(void)nanosleep(&rest, NULL);
}

static void work(uint64_t seed, int64_t end_ns)
{
	char *memory = fg_xmalloc(MEMORY_BYTES);
	volatile uint64_t sink = 0;
	struct fg_random random;

	fg_random_seed(&random, seed);
	memset(memory, 1, MEMORY_BYTES);
	while (fg_clock_monotonic_ns() < end_ns) {
		int64_t stop = fg_clock_monotonic_ns() +
			       (int64_t)(draw_exponential(&random, BURST_S) * FG_NS_PER_S);
		bool in_memory = fg_random_below(&random, 2) == 1;

		while (fg_clock_monotonic_ns() < stop) {
			if (in_memory)
				memset(memory, (int)fg_random_below(&random, 256),
				       MEMORY_BYTES / 8);
			for (int i = 0; i < 1000000 && !in_memory; i++)
				sink += (uint64_t)i;
		}
		(void)sink;
		pause_for(draw_exponential(&random, PAUSE_S));
	}
	free(memory);
}

int main(int argc, char **argv)
{
	int64_t processes = 0;
	int64_t seconds = 0;

	if (argc != 3 || fg_parse_int64(argv[1], &processes, NULL) != FG_OK ||
	    fg_parse_int64(argv[2], &seconds, NULL) != FG_OK || processes < 1 ||
	    processes > PROCESSES_MAX || seconds < 1) {
		(void)fprintf(stderr, "usage: %s PROCESSES SECONDS\n", argv[0]);
		return 2;
	}
	for (int64_t i = 0; i < processes; i++) {
		pid_t pid = fork();

		if (pid < 0)
			return 1;
		if (pid == 0) {
			(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
			work((uint64_t)i + 1, fg_clock_monotonic_ns() + seconds * FG_NS_PER_S);
			_exit(0);
		}
	}
	while (wait(NULL) > 0)
		;
	return 0;
}
