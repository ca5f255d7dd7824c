// SPDX-License-Identifier: Apache-2.0
/*
 * The index of loaded objects while libraries come and go: threads look up addresses as handlers
 * do, in parallel with dlopen() and dlclose().  ThreadSanitizer sees every access but the loader's.
 */
#include "collector/counting/own_memory.h"
#include "collector/process/real.h"
#include "collector/python/python.h"
#include "collector/sampler/writer.h"
#include "collector/unwind/modules.h"
#include "tests/support/fg_test.h"

#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

enum {
	READERS = 3,
	LIBRARIES = 4,
	ROUNDS = 40,
	LOOKS = 5, /* look-ups by each reader in a library before the library is unloaded */
};

/* ---- stand-ins for the rest of the collector ---- */

struct fg_global fg_g;
static _Atomic uint32_t ends;

void *fg_own_map(size_t size, int flags)
{
	void *at = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | flags, -1,
			0);

	return at == MAP_FAILED ? NULL : at;
}

void *fg_real(enum fg_real index)
{
	/* the loader's own variable, not a program's copy of it */
	return index == FG_REAL__r_debug ? dlsym(RTLD_NEXT, "_r_debug") : NULL;
}

bool fg_real_exists(enum fg_real index)
{
	return index == FG_REAL__r_debug;
}

void fg_python_check_module(struct fg_thread *thread, uint32_t module, uintptr_t bias,
			    const ElfW(Dyn) * dynamic)
{
	(void)thread;
	(void)module;
	(void)bias;
	(void)dynamic;
}

void fg_record_begin(struct fg_thread *thread, enum fg_trace_record kind)
{
	(void)thread;
	if (kind == FG_RECORD_MODULE_GONE)
		(void)atomic_fetch_add(&ends, 1);
}

void fg_record_number(struct fg_thread *thread, uint64_t value)
{
	(void)thread;
	(void)value;
}

void fg_record_text(struct fg_thread *thread, const void *text, size_t size)
{
	(void)thread;
	(void)text;
	(void)size;
}

void fg_record_path(struct fg_thread *thread, const char *path)
{
	(void)thread;
	assert_true(strlen(path) > 0);
}

bool fg_record_write(struct fg_thread *thread)
{
	(void)thread;
	return true;
}

void fg_count_loss(enum fg_trace_loss cause, uint64_t count)
{
	(void)cause;
	(void)count;
}

uint64_t fg_clock_ns(clockid_t clock)
{
	(void)clock;
	return 0;
}

/* ---- readers ---- */

struct reader {
	pthread_t thread;
	_Atomic bool busy;
	_Atomic uint32_t looks; /* look-ups in the loaded library */
	_Atomic uint32_t wrong;
};

static struct reader readers[READERS];
static _Atomic bool done;
static _Atomic uintptr_t loaded; /* an address in the loaded library; 0: no library is loaded */

/* Is the address in the module found for it, which must be readable? */
static bool fits(uintptr_t address)
{
	const uint32_t id = fg_module_find(NULL, address);
	const struct fg_module *module = fg_module(id);

	return id && address - module->start < module->end - module->start &&
	       memcmp((const void *)module->start, "\177ELF", 4) == 0;
}

static void *read_on(void *argument)
{
	struct reader *reader = argument;

	while (!done) {
		reader->busy = true;
		if (!fg_g.unloading) {
			const uintptr_t address = loaded;

			reader->wrong += !fits((uintptr_t)read_on);
			reader->wrong += address && !fits(address);
			reader->looks += address != 0;
		}
		reader->busy = false;
	}
	return NULL;
}

/* ---- the loader ---- */

static void await_looks(void)
{
	for (size_t i = 0; i < READERS; i++)
		for (const uint32_t from = readers[i].looks; readers[i].looks - from < LOOKS;)
			(void)sched_yield();
}

/* Unloads as the collector's dlclose() does. */
static void unload(void *library)
{
	fg_modules_scan(NULL);
	loaded = 0;
	(void)atomic_fetch_add(&fg_g.unloading, 1);
	for (size_t i = 0; i < READERS; i++)
		while (readers[i].busy)
			(void)sched_yield();
	assert_int_equal(dlclose(library), 0);
	(void)atomic_fetch_sub(&fg_g.unloading, 1);
	fg_modules_check(NULL);
}

static void *load(int number)
{
	char path[4096];
	void *library;

	(void)snprintf(path, sizeof(path), "%s/libchain%d.so", LIBRARIES_FOLDER,
		       number % LIBRARIES);
	library = dlopen(path, RTLD_LAZY);
	assert_non_null(library);
	loaded = (uintptr_t)dlsym(library, "chain_0");
	assert_true(loaded != 0);
	return library;
}

FG_TEST(lookups_hold_while_libraries_come_and_go)
{
	fg_g.options.own_index = true;
	assert_int_equal(fg_modules_init(), 0);
	fg_modules_scan(NULL);
	for (size_t i = 0; i < READERS; i++)
		assert_int_equal(pthread_create(&readers[i].thread, NULL, read_on, &readers[i]), 0);
	for (int round = 0; round < ROUNDS; round++) {
		void *library = load(round);

		await_looks();
		unload(library);
	}
	done = true;
	for (size_t i = 0; i < READERS; i++) {
		assert_int_equal(pthread_join(readers[i].thread, NULL), 0);
		assert_int_equal(readers[i].wrong, 0);
	}
	/* Two readers that meet an object at the same time may both add it. */
	assert_in_range(ends, ROUNDS, ROUNDS * READERS);
}

/* libc closes some libraries itself, so the collector sees no dlclose() of the first one. */
FG_TEST(library_in_the_place_of_another_is_noticed)
{
	void *library = load(0);
	const uint32_t before = ends;
	uint32_t first;
	uint32_t second;

	fg_modules_scan(NULL);
	first = fg_module_find(NULL, loaded);
	assert_int_equal(dlclose(library), 0);
	library = load(1);
	fg_modules_scan(NULL);
	second = fg_module_find(NULL, loaded);
	assert_true(first && second && first != second);
	assert_true(fg_module_live(second));
	assert_non_null(strstr(fg_module(second)->path, "libchain1"));
	unload(library);
	assert_true(ends > before);
}
