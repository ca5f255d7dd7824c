/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jitting ROUNDS: generates two functions, calls them, and names them in /tmp/perf-PID.map, as a
 * JIT compiler does.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum {
	PAGE = 4096,
};

/* push rbp; mov rbp, rsp; mov ecx, edi; again: dec ecx; jnz again; pop rbp; ret */
static const uint8_t code[] = {0x55, 0x48, 0x89, 0xe5, 0x89, 0xf9,
			       0xff, 0xc9, 0x75, 0xfc, 0x5d, 0xc3};

static void *make(FILE *map, const char *name)
{
	void *page = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (page == MAP_FAILED)
		exit(1);
	memcpy(page, code, sizeof(code));
	(void)mprotect(page, PAGE, PROT_READ | PROT_EXEC);
	(void)fprintf(map, "%lx %zx %s\n", (unsigned long)(uintptr_t)page, sizeof(code), name);
	return page;
}

int main(int count, char **words)
{
	void (*load)(unsigned) = NULL;
	void (*refine)(unsigned) = NULL;
	char path[64];
	void *made = NULL;
	FILE *map = NULL;

	if (count < 2)
		return 2;
	(void)snprintf(path, sizeof(path), "/tmp/perf-%d.map", (int)getpid());
	map = fopen(path, "w");
	if (!map)
		return 1;
	made = make(map, "made_to_load");
	memcpy(&load, &made, sizeof(made));
	made = make(map, "made_to_refine");
	memcpy(&refine, &made, sizeof(made));
	(void)fclose(map);
	for (long i = strtol(words[1], NULL, 10); i > 0; i--) {
		load(200000);
		refine(REFINE);
	}
	return 0;
}
