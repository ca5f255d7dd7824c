// SPDX-License-Identifier: Apache-2.0
/*
 * Spends most of its time in the kernel: reads zeros, touches fresh pages, or reads and works in
 * turn.
 *
 * usage: kernel [zeros|faults|mixed [MILLISECONDS]]
 */
#include "work.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

enum {
	BLOCK = 1 << 18,
	PAGES = 2048
};

static char block[BLOCK];

NOINLINE static void read_zeros(int fd)
{
	for (unsigned i = 0; i < 200; i++)
		check(read(fd, block, sizeof(block)) == (ssize_t)sizeof(block), "read");
	KEEP_FRAME();
}

NOINLINE static void touch_pages(void)
{
	const size_t size = (size_t)PAGES * 4096;
	char *at = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	check(at != MAP_FAILED, "mmap");
	(void)madvise(at, size, MADV_NOHUGEPAGE);
	for (size_t i = 0; i < size; i += 4096)
		((volatile char *)at)[i] = 1;
	(void)munmap(at, size);
	KEEP_FRAME();
}

/*
 * Random counts: constant intervals could fall into step with the kernel's ticks, at which system
 * time may be sampled.
 */
static unsigned below(unsigned limit)
{
	static uint32_t state = 1;

	state = state * 1664525u + 1013904223u;
	return (state >> 16) % limit;
}

NOINLINE static void read_in_turn(int fd)
{
	const unsigned times = 4 + below(9);

	for (unsigned i = 0; i < times; i++)
		check(read(fd, block, sizeof(block)) == (ssize_t)sizeof(block), "read");
	KEEP_FRAME();
}

NOINLINE static void work_in_turn(void)
{
	spin(100000 + below(400000));
	KEEP_FRAME();
}

/* Measured with a clock, so the kernel's split into user and system time does not matter. */
static uint64_t reading_ns;
static uint64_t working_ns;

static void read_and_work(int fd)
{
	const uint64_t begin = cpu_ns();

	read_in_turn(fd);
	const uint64_t middle = cpu_ns();

	work_in_turn();
	reading_ns += middle - begin;
	working_ns += cpu_ns() - middle;
}

int main(int argc, char **argv)
{
	const int faults = argc > 1 && strcmp(argv[1], "faults") == 0;
	const int mixed = argc > 1 && strcmp(argv[1], "mixed") == 0;
	const uint64_t work_ns = argument(argc, argv, 2, 1000) * 1000000;
	const uint64_t begin = now_ns(CLOCK_PROCESS_CPUTIME_ID);
	int fd = open("/dev/zero", O_RDONLY);
	struct rusage usage;

	while (now_ns(CLOCK_PROCESS_CPUTIME_ID) - begin < work_ns) {
		if (faults)
			touch_pages();
		else if (mixed)
			read_and_work(fd);
		else
			read_zeros(fd);
	}
	(void)getrusage(RUSAGE_SELF, &usage);
	print_value("user",
		    (double)usage.ru_utime.tv_sec * 1e9 + (double)usage.ru_utime.tv_usec * 1e3);
	if (mixed) {
		print_value("read_in_turn", (double)reading_ns);
		print_value("work_in_turn", (double)working_ns);
	}
	print_value("system",
		    (double)usage.ru_stime.tv_sec * 1e9 + (double)usage.ru_stime.tv_usec * 1e3);
	return 0;
}
