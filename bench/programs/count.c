// SPDX-License-Identifier: Apache-2.0
/*
 * A counting allocator for LD_PRELOAD: successful calls and requested bytes. Each process image
 * keeps its figures in a mapped file in $COUNT_FOLDER, so that none are lost however the process
 * ends. It shares no code with the library that it checks.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))

enum {
	EARLY_BYTES = 1 << 16,
	PATH_BYTES = 4096,
};

struct figures {
	_Atomic uint64_t calls;
	_Atomic uint64_t bytes;
	char program[PATH_BYTES];
};

static struct figures first;
static struct figures *figures = &first;
static _Alignas(16) char early[EARLY_BYTES];
static size_t early_used;
static __thread volatile int looking_up; /* dlsym() calls back, despite its declaration */

static void *next(const char *name)
{
	void *found = NULL;

	looking_up++;
	found = dlsym(RTLD_NEXT, name);
	looking_up--;
	return found;
}

#define NEXT(name)              \
 static __typeof__(&name) real; \
 if (!real && !looking_up)      \
 real = __extension__(__typeof__(&name)) next(#name)

static void *count(void *block, size_t bytes)
{
	if (block) {
		atomic_fetch_add(&figures->calls, 1);
		atomic_fetch_add(&figures->bytes, bytes);
	}
	return block;
}

/* The loader allocates while functions are looked up. */
static void *early_block(size_t size)
{
	char *block = early + early_used;

	early_used += (size + 15) & ~(size_t)15;
	if (early_used > EARLY_BYTES)
		abort();
	return block;
}

EXPORT void *malloc(size_t size)
{
	NEXT(malloc);
	return real ? count(real(size), size) : early_block(size);
}

EXPORT void *calloc(size_t times, size_t size)
{
	NEXT(calloc);
	return real ? count(real(times, size), times * size) : early_block(times * size);
}

EXPORT void *realloc(void *block, size_t size)
{
	NEXT(realloc);
	if ((char *)block >= early && (char *)block < early + EARLY_BYTES) {
		void *moved = malloc(size);

		return moved ? memcpy(moved, block, size) : NULL;
	}
	return count(real(block, size), size);
}

EXPORT void free(void *block)
{
	NEXT(free);
	if (real && ((char *)block < early || (char *)block >= early + EARLY_BYTES))
		real(block);
}

EXPORT int posix_memalign(void **block, size_t alignment, size_t size)
{
	NEXT(posix_memalign);
	const int status = real(block, alignment, size);

	if (status == 0)
		(void)count(*block, size);
	return status;
}

EXPORT void *aligned_alloc(size_t alignment, size_t size)
{
	NEXT(aligned_alloc);
	return count(real(alignment, size), size);
}

EXPORT void *memalign(size_t alignment, size_t size);
EXPORT void *memalign(size_t alignment, size_t size)
{
	NEXT(memalign);
	return count(real(alignment, size), size);
}

static void open_file(void)
{
	const char *folder = getenv("COUNT_FOLDER");
	char path[PATH_BYTES];
	struct timespec now;
	void *at = MAP_FAILED;
	int fd = -1;

	if (!folder)
		return;
	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	(void)snprintf(path, sizeof(path), "%s/%d.%lld%09ld", folder, (int)getpid(),
		       (long long)now.tv_sec, now.tv_nsec);
	fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	if (fd >= 0 && ftruncate(fd, sizeof(struct figures)) == 0)
		at = mmap(NULL, sizeof(struct figures), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (fd >= 0)
		(void)close(fd);
	if (at == MAP_FAILED)
		return;
	figures = at;
	(void)readlink("/proc/self/exe", figures->program, PATH_BYTES - 1);
}

static void in_child(void)
{
	figures = &first;
	atomic_store(&first.calls, 0);
	atomic_store(&first.bytes, 0);
	open_file();
}

__attribute__((constructor)) static void begin(void)
{
	open_file();
	if (figures != &first) {
		atomic_fetch_add(&figures->calls, atomic_load(&first.calls));
		atomic_fetch_add(&figures->bytes, atomic_load(&first.bytes));
	}
	(void)pthread_atfork(NULL, NULL, in_child);
}
