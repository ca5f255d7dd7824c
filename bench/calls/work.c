// SPDX-License-Identifier: Apache-2.0
/*
 * work DEPTH CALLS: calls exp below DEPTH calls; prints CPU nanoseconds per call. work DEPTH CALLS
 * half: calls a function of this program instead. work tracks EVENTS: moves particles in a field;
 * each step calls exp, sin, cos, atan2 and log.
 */
#define _GNU_SOURCE
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static volatile double sink;

__attribute__((noinline)) static void call(long calls)
{
	for (long i = 1; i <= calls; i++)
		sink = exp(1.0 / (double)i);
	__asm__ volatile("");
}

__attribute__((noinline)) static double half(double x)
{
	__asm__ volatile("");
	return 0.5 * x;
}

__attribute__((noinline)) static void call_half(long calls)
{
	for (long i = 1; i <= calls; i++)
		sink = half((double)i);
	__asm__ volatile("");
}

__attribute__((noinline)) static void descend(int left, long calls, bool is_half)
{
	if (left > 0)
		descend(left - 1, calls, is_half);
	else if (is_half)
		call_half(calls);
	else
		call(calls);
	__asm__ volatile("");
}

struct track {
	double x, y, angle, energy;
};

__attribute__((noinline)) static void step(struct track *track)
{
	const double length = 0.01 * exp(-track->energy);

	for (int i = 0; i < 24; i++) {
		const double field = 1.0 + 0.1 * track->x * track->x + 0.05 * track->y;

		track->angle += length * field / (1.0 + track->energy);
		track->x += length * (1.0 - 0.5 * track->angle * track->angle);
		track->y += length * track->angle;
	}
	track->angle = atan2(sin(track->angle), cos(track->angle));
	track->energy -= 0.001 * log(1.0 + track->energy);
}

__attribute__((noinline)) static void follow(long events)
{
	for (long i = 0; i < events; i++) {
		struct track track = {.angle = 0.001 * (double)i, .energy = 2.0};

		for (int n = 0; n < 100; n++)
			step(&track);
		sink = sqrt(track.x * track.x + track.y * track.y);
	}
	__asm__ volatile("");
}

int main(int argc, char **argv)
{
	struct timespec begin;
	struct timespec end;
	double units = 1;

	if (argc < 3)
		return 2;
	(void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &begin);
	if (strcmp(argv[1], "tracks") == 0) {
		follow(atol(argv[2]));
	} else {
		units = (double)atol(argv[2]);
		descend(atoi(argv[1]), atol(argv[2]), argc > 3);
	}
	(void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &end);
	printf("%.2f\n",
	       ((double)(end.tv_sec - begin.tv_sec) * 1e9 + (double)(end.tv_nsec - begin.tv_nsec)) /
		       units);
	return 0;
}
