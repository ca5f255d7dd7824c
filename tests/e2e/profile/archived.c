/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Works in a compiled function, and in generated code that a map names. With an argument, it then
 * works in the compiled function until it is killed, or for two minutes.
 */
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum {
	TURNS = 60000000
};

static volatile unsigned sink;

static inline unsigned mix(unsigned value)
{
	return value * 2654435761u + (value >> 3);
}

__attribute__((noinline)) static void seldom(unsigned value)
{
	sink = value;
}

__attribute__((noinline)) static void in_the_program(void)
{
	unsigned value = 1;

	for (unsigned i = 0; i < TURNS; i++) {
		value = mix(value);
		if ((i & 0xfffff) == 0)
			seldom(value);
	}
	sink = value;
}

static void in_made_code(void)
{
#if defined(__x86_64__)
	/* mov ecx, edi; again: dec ecx; jnz again; ret */
	static const uint8_t code[] = {0x89, 0xf9, 0xff, 0xc9, 0x75, 0xfc, 0xc3};
	void *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	void (*made)(unsigned) = NULL;
	char path[64];
	FILE *map = NULL;

	if (page == MAP_FAILED)
		return;
	memcpy(page, code, sizeof(code));
	(void)mprotect(page, 4096, PROT_READ | PROT_EXEC);
	memcpy(&made, &page, sizeof(made));
	(void)snprintf(path, sizeof(path), "/tmp/perf-%d.map", (int)getpid());
	map = fopen(path, "w");
	if (map) {
		(void)fprintf(map, "%llx %zx made_while_running\n",
			      (unsigned long long)(uintptr_t)page, sizeof(code));
		(void)fclose(map);
	}
	made(2 * TURNS);
#endif
}

int main(int argc, char **argv)
{
	(void)argv;
	if (argc > 1)
		(void)alarm(120);
	for (unsigned turn = 0; argc > 1 || turn == 0; turn++)
		in_the_program();
	in_made_code();
	return 0;
}
