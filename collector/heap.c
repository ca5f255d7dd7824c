// SPDX-License-Identifier: Apache-2.0
/*
 * In front of malloc and its relatives: where was it called, and for how much?  Only in the
 * counting library.
 *
 * A block counts as allocated after the real call has made it, and as freed before the real call
 * takes it back: in between another thread may already get the same address.  realloc() frees one
 * block and allocates another.
 *
 * The real functions are the next ones in the loader's search order, so an allocator that the
 * program is linked with stays the one that allocates.  While they are looked up, allocations come
 * from a small array that is never freed: the loader may ask for memory then.
 */
#include "collector/count_probe.h"
#include "collector/introduce.h"
#include "collector/live.h"

#include <dlfcn.h>
#include <errno.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>

enum {
	EARLY_BYTES = 1 << 16,
	EARLY_ALIGN = 16,
};

/* clang-format off */
#define REALS(X) \
	X(malloc) X(calloc) X(realloc) X(reallocarray) X(free) X(posix_memalign) X(aligned_alloc) X(memalign) X(valloc) \
	X(pvalloc) X(malloc_usable_size)
/* clang-format on */

enum {
	ALLOCATIONS,
	BYTES,
	LARGEST,
	ROUNDING,
	FREES,
};

static void introduce(struct fg_thread *writer)
{
	fg_live_introduce(writer, FG_HELD_HEAP);
}

static struct fg_counted counted = {
	.names =
		{
			[ALLOCATIONS] = "heap.allocations",
			[BYTES] = "heap.bytes",
			[LARGEST] = "heap.largest",
			[ROUNDING] = "heap.rounding",
			[FREES] = "heap.frees",
		},
	.largest = 1u << LARGEST,
	.introduce = introduce,
};

static struct {
	REALS(FG_REAL_MEMBER)
} reals;
static _Atomic int state; /* 0: not looked up, 1: at it, 2: done */
static _Alignas(EARLY_ALIGN) uint8_t early[EARLY_BYTES];
static _Atomic size_t early_used;

/* False: the caller is to serve itself from `early`. */
static bool have_reals(void)
{
	int none = 0;

	if (FG_LIKELY(atomic_load_explicit(&state, memory_order_acquire) == 2))
		return true;
	if (!atomic_compare_exchange_strong(&state, &none, 1))
		return atomic_load(&state) == 2;
	REALS(FG_REAL_LOOK_UP)
	atomic_store_explicit(&state, 2, memory_order_release);
	return true;
}

static void *early_alloc(size_t alignment, size_t size)
{
	size_t at = atomic_load(&early_used);
	size_t begin = 0;

	do {
		begin = (at + alignment - 1) & ~(alignment - 1);
		if (size > EARLY_BYTES || begin > EARLY_BYTES - size) {
			errno = ENOMEM;
			return NULL;
		}
	} while (!atomic_compare_exchange_weak(&early_used, &at, begin + size));
	return early + begin;
}

static bool is_early(const void *block)
{
	const uint8_t *at = block;

	return at >= early && at < early + EARLY_BYTES;
}

/* ---- counting ---- */

/* What was seen at the call path of `context`; `block` NULL: nothing was allocated there. */
static void count_on(struct fg_thread *thread, const ucontext_t *context,
		     const struct fg_counts *seen, const void *block)
{
	struct fg_live_owner owner = {
		.what = FG_HELD_HEAP, .thread = thread->id, .region = thread->regions.current};
	uint32_t *site = NULL;

	if (!fg_ensure_file(thread))
		return;
	owner.path = fg_counts_path(thread, context);
	site = fg_counts_add(thread, FG_COUNTER_HEAP, owner.path, seen);
	if (!block)
		return;
	if (!*site)
		*site = fg_live_site(&owner);
	fg_live_add(thread, *site, block, seen->values[BYTES]);
}

/* errno is the program's. */
static void count(const ucontext_t *context, const struct fg_counts *seen, const void *block)
{
	struct fg_thread *thread = fg_self;
	const int saved_errno = errno;

	if (!fg_is_counting(FG_COUNTER_HEAP))
		return;
	if (thread && fg_thread_enter(thread)) {
		count_on(thread, context, seen, block);
		fg_thread_leave(thread);
	} else {
		fg_counts_add_unplaced(FG_COUNTER_HEAP, seen);
		if (block)
			fg_live_add(NULL, fg_live_nobody(FG_HELD_HEAP), block, seen->values[BYTES]);
	}
	errno = saved_errno;
}

/* Also while counting is paused: a block that was counted is no longer held. */
static struct fg_block let_go(const void *block)
{
	return block && fg_is_counted(FG_COUNTER_HEAP) && fg_alive()
		       ? fg_live_remove(fg_self, block)
		       : (struct fg_block){0};
}

static void count_allocation(const ucontext_t *context, void *block, size_t asked, bool frees)
{
	const size_t usable = reals.malloc_usable_size ? reals.malloc_usable_size(block) : asked;
	const struct fg_counts seen = {.values = {
					       [ALLOCATIONS] = 1,
					       [BYTES] = asked,
					       [LARGEST] = asked,
					       [ROUNDING] = usable > asked ? usable - asked : 0,
					       [FREES] = frees,
				       }};

	count(context, &seen, block);
}

FG_EXPORT void *malloc(size_t size)
{
	if (!have_reals())
		return early_alloc(EARLY_ALIGN, size);
	void *block = reals.malloc(size);

	if (block) {
		FG_HERE(context);
		count_allocation(&context, block, size, false);
	}
	return block;
}

FG_EXPORT void *calloc(size_t count_of, size_t size)
{
	size_t bytes = 0;

	if (!have_reals())
		return __builtin_mul_overflow(count_of, size, &bytes)
			       ? NULL
			       : early_alloc(EARLY_ALIGN, bytes);
	void *block = reals.calloc(count_of, size);

	if (block) {
		FG_HERE(context);
		count_allocation(&context, block, count_of * size, false);
	}
	return block;
}

/* A block of `early` moves to the heap with as much as may have been its size. */
static void *move_early(const void *block, size_t size)
{
	const size_t most = (size_t)(early + EARLY_BYTES - (const uint8_t *)block);
	void *moved = reals.malloc(size);

	if (moved)
		memcpy(moved, block, size < most ? size : most);
	return moved;
}

FG_EXPORT void *realloc(void *block, size_t size)
{
	if (!have_reals())
		return block ? NULL : early_alloc(EARLY_ALIGN, size);
	const struct fg_block before = let_go(block);
	void *moved = is_early(block) ? move_early(block, size) : reals.realloc(block, size);

	if (moved) {
		FG_HERE(context);
		count_allocation(&context, moved, size, block != NULL);
	} else if (size > 0) {
		fg_live_restore(block, before);
	}
	return moved;
}

FG_EXPORT void *reallocarray(void *block, size_t count_of, size_t size)
{
	size_t bytes = 0;

	if (__builtin_mul_overflow(count_of, size, &bytes) || !have_reals()) {
		errno = ENOMEM;
		return NULL;
	}
	const struct fg_block before = let_go(block);
	void *moved = is_early(block) ? move_early(block, bytes) : reals.realloc(block, bytes);

	if (moved) {
		FG_HERE(context);
		count_allocation(&context, moved, bytes, block != NULL);
	} else if (bytes > 0) {
		fg_live_restore(block, before);
	}
	return moved;
}

FG_EXPORT void free(void *block)
{
	static const struct fg_counts seen = {.values = {[FREES] = 1}};

	if (!block || is_early(block) || !have_reals())
		return;
	FG_HERE(context);
	(void)let_go(block);
	count(&context, &seen, NULL);
	reals.free(block);
}

FG_EXPORT int posix_memalign(void **block, size_t alignment, size_t size)
{
	if (!have_reals())
		return ENOMEM;
	const int status = reals.posix_memalign(block, alignment, size);

	if (status == 0) {
		FG_HERE(context);
		count_allocation(&context, *block, size, false);
	}
	return status;
}

/* The rest differ in nothing but their arguments. */
#define ALIGNED(name, parameters, arguments, size) \
 FG_EXPORT void *name parameters                   \
 {                                                 \
  if (!have_reals() || !reals.name) {              \
   errno = ENOMEM;                                 \
   return NULL;                                    \
  }                                                \
  void *block = reals.name arguments;              \
                                                   \
  if (block) {                                     \
   FG_HERE(context);                               \
   count_allocation(&context, block, size, false); \
  }                                                \
  return block;                                    \
 }

ALIGNED(aligned_alloc, (size_t alignment, size_t size), (alignment, size), size)
ALIGNED(memalign, (size_t alignment, size_t size), (alignment, size), size)
ALIGNED(valloc, (size_t size), (size), size)
ALIGNED(pvalloc, (size_t size), (size), size)

/* The loader serves everybody from the malloc that it finds first: is it another than ours? */
static bool is_bypassed(void)
{
	Dl_info first;
	Dl_info own;

	return dladdr(dlsym(RTLD_DEFAULT, "malloc"), &first) && dladdr(&reals, &own) &&
	       first.dli_fbase != own.dli_fbase;
}

/* Before the constructor that starts the collector. */
__attribute__((constructor(101))) static void join_in(void)
{
	(void)have_reals();
	fg_counted[FG_COUNTER_HEAP] = &counted;
	if (is_bypassed())
		counted.note =
			"the program has a malloc of its own: its allocations are not counted";
}
