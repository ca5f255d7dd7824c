/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jitting FOLDER ROUNDS [fork]: makes two functions at run time and calls them (in a child), and
 * describes them as a JIT compiler does: in jit-PID.dump in FOLDER, of which it maps a page as
 * executable.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
	HEADER_BYTES = 40,
	LOAD_BYTES = 56, /* before the name */
	CODE_LOAD = 0,
	PAGE = 4096,
};

static FILE *dump;

/* push rbp; mov rbp, rsp; mov ecx, edi; again: dec ecx; jnz again; pop rbp; ret */
static const uint8_t code[] = {0x55, 0x48, 0x89, 0xe5, 0x89, 0xf9,
			       0xff, 0xc9, 0x75, 0xfc, 0x5d, 0xc3};

static void put(uint64_t number, size_t bytes)
{
	(void)fwrite(&number, bytes, 1, dump);
}

static void open_dump(const char *folder)
{
	char path[PAGE];

	(void)snprintf(path, sizeof(path), "%s/jit-%d.dump", folder, (int)getpid());
	dump = fopen(path, "w+");
	if (!dump ||
	    mmap(NULL, PAGE, PROT_READ | PROT_EXEC, MAP_PRIVATE, fileno(dump), 0) == MAP_FAILED)
		exit(1);
	put(0x4a695444, 4);
	put(1, 4);
	put(HEADER_BYTES, 4);
	put(62, 4); /* x86-64 */
	put(0, 4);
	put((uint64_t)getpid(), 4);
	put(0, 8);
	put(0, 8);
}

static void *make(const char *name)
{
	static uint64_t number;
	void *page = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (page == MAP_FAILED)
		exit(1);
	memcpy(page, code, sizeof(code));
	(void)mprotect(page, PAGE, PROT_READ | PROT_EXEC);
	put(CODE_LOAD, 4);
	put(LOAD_BYTES + strlen(name) + 1 + sizeof(code), 4);
	put(0, 8);
	put((uint64_t)getpid(), 4);
	put((uint64_t)getpid(), 4);
	put((uintptr_t)page, 8);
	put((uintptr_t)page, 8);
	put(sizeof(code), 8);
	put(number++, 8);
	(void)fwrite(name, strlen(name) + 1, 1, dump);
	(void)fwrite(code, sizeof(code), 1, dump);
	return page;
}

int main(int count, char **words)
{
	void (*load)(unsigned) = NULL;
	void (*refine)(unsigned) = NULL;
	void *made = NULL;

	if (count < 3)
		return 2;
	open_dump(words[1]);
	made = make("made_to_load");
	memcpy(&load, &made, sizeof(made));
	made = make("made_to_refine");
	memcpy(&refine, &made, sizeof(made));
	(void)fclose(dump);
	if (count > 3 && fork() != 0)
		return wait(NULL) < 0;
	for (long i = strtol(words[2], NULL, 10); i > 0; i--) {
		load(200000);
		refine(REFINE);
	}
	return 0;
}
