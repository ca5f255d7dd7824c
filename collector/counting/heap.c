// SPDX-License-Identifier: Apache-2.0
/*
 * Intercepts malloc and its relatives, to count the calls and the requested bytes. Built only into
 * the counting library.
 *
 * A block counts as allocated after the real call has made it, and as freed before the real call
 * frees it: right after the call, another thread may get the same address. realloc() frees one
 * block and allocates another.
 *
 * The real functions are the next ones in the loader's search order, so the program keeps the
 * allocator that it is linked with. While they are looked up, allocations come from a small array
 * that is never freed, because the loader may allocate memory during the search.
 */
#include "collector/counting/count_probe.h"
#include "collector/counting/dumps.h"
#include "collector/counting/live.h"
#include "collector/sampler/introduce.h"

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
	X(malloc) X(calloc) X(realloc) X(free) X(posix_memalign) X(aligned_alloc) X(memalign) X(valloc) \
	X(pvalloc) X(malloc_usable_size)
/* clang-format on */

enum {
	ALLOCATIONS,
	BYTES,
	LARGEST,
	ROUNDING,
};

/* Are live blocks tracked, or only calls and bytes counted? */
static inline bool keeps_blocks(void)
{
	return !fg_is_counted(FG_COUNTER_ALLOCATIONS);
}

static void introduce(struct fg_thread *writer)
{
	if (keeps_blocks())
		fg_live_introduce(writer, FG_HELD_HEAP);
}

static struct fg_counted counted = {
	.names =
		{
			[ALLOCATIONS] = "heap.allocations",
			[BYTES] = "heap.bytes",
			[LARGEST] = "heap.largest",
			[ROUNDING] = "heap.rounding",
		},
	.introduce = introduce,
};
static struct fg_counted frees = {.names = {"heap.frees"}};
/* FG_COUNTER_ALLOCATIONS counts nothing itself: it only turns the tracking of live blocks off. */
static struct fg_counted nothing_more;

static struct {
	REALS(FG_REAL_MEMBER)
} reals;
static _Atomic int state; /* 0: not looked up, 1: in progress, 2: done */
static _Alignas(EARLY_ALIGN) uint8_t early[EARLY_BYTES];
static _Atomic size_t early_used;

/* Returns false if the caller must use memory from `early`. */
static bool have_reals(void)
{
	int none = 0;

	if (FG_LIKELY(atomic_load_explicit(&state, memory_order_acquire) == 2))
		return true;
	if (!atomic_compare_exchange_strong(&state, &none, 1))
		return atomic_load(&state) == 2;
	FG_REALS_LOOK_UP(REALS);
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

struct request {
	const void *block;
	size_t requested;
	size_t rounding;
};

static inline void count_on(struct fg_thread *thread, const struct fg_regs *caller,
			    const struct request *request)
{
	struct fg_live_owner owner = {
		.slot = thread->index, .thread = thread->id, .region = thread->regions.current};
	struct fg_counted_path *at = NULL;

	if (!fg_ensure_file(thread))
		return;
	owner.path = fg_counts_caller(thread, caller);
	at = fg_counts_at(thread, FG_COUNTER_HEAP, owner.path);
	at->counts.values[ALLOCATIONS]++;
	at->counts.values[BYTES] += request->requested;
	at->counts.values[ROUNDING] += request->rounding;
	if (at->counts.values[LARGEST] < request->requested)
		at->counts.values[LARGEST] = request->requested;
	if (!keeps_blocks())
		return;
	if (FG_UNLIKELY(!at->own))
		at->own = fg_live_site(&owner);
	fg_live_add(thread, at->own, request->block, request->requested);
}

/* Counts a request from inside the collector, or on an unknown thread. */
static void count_unplaced(const struct request *request)
{
	const struct fg_counts seen = {.values = {
					       [ALLOCATIONS] = 1,
					       [BYTES] = request->requested,
					       [ROUNDING] = request->rounding,
				       }};

	fg_counts_add_unplaced(FG_COUNTER_HEAP, &seen);
	if (keeps_blocks())
		fg_live_add(NULL, fg_live_unplaced(FG_HELD_HEAP), request->block,
			    request->requested);
}

/*
 * In musl, calloc() and functions for aligned memory call the first malloc() in search order, which
 * is ours. Set while such a function runs: our malloc() then counts nothing.
 */
static _Thread_local bool is_within __attribute__((tls_model("initial-exec")));

/* NOLINTBEGIN(bugprone-macro-parentheses): a call */
#define WITHIN(call)           \
 do {                          \
  const bool was_ = is_within; \
                               \
  is_within = true;            \
  call;                        \
  is_within = was_;            \
 } while (0)
/* NOLINTEND(bugprone-macro-parentheses) */

/* Counts an allocation. Keeps errno. */
static void count(const struct fg_regs *caller, void *block, size_t requested)
{
	struct fg_thread *thread = fg_self;
	struct request request = {.block = block, .requested = requested};
	const int saved_errno = errno;
	size_t usable = 0;

	if (is_within || !fg_is_counting(FG_COUNTER_HEAP))
		return;
	usable = reals.malloc_usable_size ? reals.malloc_usable_size(block) : requested;
	request.rounding = usable > requested ? usable - requested : 0;
	if (thread && fg_thread_enter(thread)) {
		count_on(thread, caller, &request);
		fg_thread_leave(thread);
	} else {
		count_unplaced(&request);
	}
	errno = saved_errno;
}

static void count_free(const struct fg_regs *caller)
{
	static const struct fg_counts one = {.values = {1}};
	struct fg_thread *thread = fg_self;
	const int saved_errno = errno;

	if (!fg_is_counting(FG_COUNTER_FREES))
		return;
	if (thread && fg_thread_enter(thread)) {
		if (fg_ensure_file(thread))
			fg_counts_at(thread, FG_COUNTER_FREES, fg_counts_caller(thread, caller))
				->counts.values[0]++;
		fg_thread_leave(thread);
	} else {
		fg_counts_add_unplaced(FG_COUNTER_FREES, &one);
	}
	errno = saved_errno;
}

/* Runs even while counting is paused: a block counted earlier may be freed then. */
static struct fg_memory_block release_block(const void *block)
{
	struct fg_thread *thread = fg_self;
	struct fg_memory_block was = {0};

	if (!block || !fg_is_counted(FG_COUNTER_HEAP) || !keeps_blocks() || !fg_alive())
		return was;
	if (!thread || !fg_thread_enter(thread))
		return fg_live_remove(NULL, block);
	if (FG_UNLIKELY(fg_dump_is_due()))
		fg_dumps_take(thread);
	was = fg_live_remove(thread, block);
	fg_thread_leave(thread);
	return was;
}

static void take_back(const void *block, struct fg_memory_block was)
{
	struct fg_thread *thread = fg_self;

	if (!was.site)
		return;
	if (thread && fg_thread_enter(thread)) {
		fg_live_restore(thread, block, was);
		fg_thread_leave(thread);
	} else {
		fg_live_restore(NULL, block, was);
	}
}

FG_EXPORT void *malloc(size_t size)
{
	if (!have_reals())
		return early_alloc(EARLY_ALIGN, size);
	void *block = reals.malloc(size);

	if (block) {
		const struct fg_regs caller = FG_ARCH_CALLER;

		count(&caller, block, size);
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
	void *block;

	WITHIN(block = reals.calloc(count_of, size));
	if (block) {
		const struct fg_regs caller = FG_ARCH_CALLER;

		count(&caller, block, count_of * size);
	}
	return block;
}

/*
 * Moves a block from `early` to the heap. Its size is not known, so the copy may extend to the end
 * of `early`.
 */
static void *move_early(const void *block, size_t size)
{
	const size_t most = (size_t)(early + EARLY_BYTES - (const uint8_t *)block);
	void *moved = reals.malloc(size);

	if (moved)
		memcpy(moved, block, size < most ? size : most);
	return moved;
}

static inline void *resize(void *block, size_t size, const struct fg_regs *caller)
{
	const struct fg_memory_block before = release_block(block);
	void *moved = is_early(block) ? move_early(block, size) : reals.realloc(block, size);

	if (moved) {
		if (block)
			count_free(caller);
		count(caller, moved, size);
	} else if (size > 0) {
		take_back(block, before);
	}
	return moved;
}

FG_EXPORT void *realloc(void *block, size_t size)
{
	const struct fg_regs caller = FG_ARCH_CALLER;

	if (!have_reals())
		return block ? NULL : early_alloc(EARLY_ALIGN, size);
	return resize(block, size, &caller);
}

FG_EXPORT void *reallocarray(void *block, size_t count_of, size_t size)
{
	const struct fg_regs caller = FG_ARCH_CALLER;
	size_t bytes = 0;

	if (__builtin_mul_overflow(count_of, size, &bytes) || !have_reals()) {
		errno = ENOMEM;
		return NULL;
	}
	return resize(block, bytes, &caller);
}

static inline void give_back(void *block, const struct fg_regs *caller)
{
	if (!block || is_early(block) || !have_reals())
		return;
	fg_live_look(release_block(block), block);
	count_free(caller);
	reals.free(block);
}

FG_EXPORT void free(void *block)
{
	const struct fg_regs caller = FG_ARCH_CALLER;

	give_back(block, &caller);
}

/* C23 adds these functions; each works like free(), whichever function allocated the block. */
void free_sized(void *block, size_t size);
void free_aligned_sized(void *block, size_t alignment, size_t size);

FG_EXPORT void free_sized(void *block, size_t size)
{
	const struct fg_regs caller = FG_ARCH_CALLER;

	(void)size;
	give_back(block, &caller);
}

FG_EXPORT void free_aligned_sized(void *block, size_t alignment, size_t size)
{
	const struct fg_regs caller = FG_ARCH_CALLER;

	(void)alignment;
	(void)size;
	give_back(block, &caller);
}

FG_EXPORT int posix_memalign(void **block, size_t alignment, size_t size)
{
	if (!have_reals())
		return ENOMEM;
	int status;

	WITHIN(status = reals.posix_memalign(block, alignment, size));
	if (status == 0) {
		const struct fg_regs caller = FG_ARCH_CALLER;

		count(&caller, *block, size);
	}
	return status;
}

/* The other functions that return aligned memory differ only in their arguments. */
#define ALIGNED(name, parameters, arguments, size) \
 FG_EXPORT void *name parameters                   \
 {                                                 \
  if (!have_reals() || !reals.name) {              \
   errno = ENOMEM;                                 \
   return NULL;                                    \
  }                                                \
  void *block;                                     \
                                                   \
  WITHIN(block = reals.name arguments);            \
  if (block) {                                     \
   const struct fg_regs caller = FG_ARCH_CALLER;   \
   count(&caller, block, size);                    \
  }                                                \
  return block;                                    \
 }

ALIGNED(aligned_alloc, (size_t alignment, size_t size), (alignment, size), size)
ALIGNED(memalign, (size_t alignment, size_t size), (alignment, size), size)
ALIGNED(valloc, (size_t size), (size), size)
ALIGNED(pvalloc, (size_t size), (size), size)

/*
 * Does another malloc come before ours in search order, and serve every object? A
 * position-dependent program may have a stub named malloc that leads to ours.
 */
static bool is_bypassed(void)
{
	return !fg_symbol_is_own(fg_symbol_find(FG_SYMBOL_ANY, NULL, "malloc"));
}

/* Runs before the constructor that starts the collector. */
__attribute__((constructor(101))) static void join_in(void)
{
	(void)have_reals();
	fg_counted[FG_COUNTER_HEAP] = &counted;
	fg_counted[FG_COUNTER_FREES] = &frees;
	fg_counted[FG_COUNTER_ALLOCATIONS] = &nothing_more;
	if (is_bypassed())
		counted.note = "the program has its own malloc, whose allocations are not counted";
}
