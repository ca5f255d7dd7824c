// SPDX-License-Identifier: Apache-2.0
/*
 * In front of mmap, munmap, mremap, brk and sbrk: who maps memory, and who holds how much of it?
 * Only in the counting library.  What the C library maps for malloc it maps inside itself, past
 * us; so it does for the stacks of threads, which are told by pthread_create.
 *
 * Parts of mappings can be unmapped, and mapped over.  So what is mapped is kept as ranges, each
 * with the site that mapped it.  The system call and the change to the ranges are one step: no
 * other thread gets an address before its last owner has lost it.  The kernel lets one thread at a
 * time change the mappings of a process anyway.
 */
#include "collector/counting/count_hooks.h"
#include "collector/counting/count_probe.h"
#include "collector/counting/live.h"
#include "collector/counting/own_memory.h"
#include "collector/sampler/introduce.h"

#include <stdarg.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* clang-format off */
#define REALS(X) X(mmap) X(mmap64) X(munmap) X(mremap) X(brk) X(sbrk)
/* clang-format on */

static struct {
	REALS(FG_REAL_MEMBER)
} reals;

enum {
	CALLS,
	BYTES,
	STACKS,
};

enum {
	RANGES_FIRST = 4096,
	PAGE = 4096,
};

static void introduce(struct fg_thread *writer)
{
	fg_live_introduce(writer, FG_HELD_MAPS);
}

static void forget(void);

static struct fg_counted counted = {
	.names =
		{
			[CALLS] = "maps.calls",
			[BYTES] = "maps.bytes",
			[STACKS] = "maps.stacks",
		},
	.introduce = introduce,
	.forget = forget,
};

/* ---- ranges ---- */

struct range {
	uintptr_t begin;
	uintptr_t end;
	uint32_t site;
};

/* In order of addresses, none over another. */
static struct range *ranges;
static size_t range_count;
static size_t range_capacity;
static _Atomic bool is_locked;

/* Under `busy`, so that no handler of the same thread comes here meanwhile. */
static void lock(void)
{
	while (atomic_exchange_explicit(&is_locked, true, memory_order_acquire))
		continue;
}

static void unlock(void)
{
	atomic_store_explicit(&is_locked, false, memory_order_release);
}

static uintptr_t pages_of(size_t size)
{
	return ((uintptr_t)size + PAGE - 1) & ~(uintptr_t)(PAGE - 1);
}

/* The first range that ends above `address`. */
static size_t range_above(uintptr_t address)
{
	size_t low = 0;
	size_t high = range_count;

	while (low < high) {
		const size_t middle = low + (high - low) / 2;

		if (ranges[middle].end <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static bool make_room(void)
{
	const size_t capacity = range_capacity ? 2 * range_capacity : RANGES_FIRST;
	struct range *larger = NULL;

	if (range_count < range_capacity)
		return true;
	larger = fg_own_map(capacity * sizeof(*larger), 0);
	if (!larger)
		return false;
	if (ranges)
		memcpy(larger, ranges, range_count * sizeof(*larger));
	ranges = larger;
	range_capacity = capacity;
	return true;
}

static void insert(size_t at, struct range range)
{
	if (!make_room())
		return; /* as if it had been unmapped at once */
	memmove(&ranges[at + 1], &ranges[at], (range_count - at) * sizeof(ranges[0]));
	ranges[at] = range;
	range_count++;
	fg_live_grow(range.site, range.end - range.begin);
}

static void drop(size_t at)
{
	fg_live_shrink(ranges[at].site, ranges[at].end - ranges[at].begin);
	memmove(&ranges[at], &ranges[at + 1], (range_count - at - 1) * sizeof(ranges[0]));
	range_count--;
}

/* What lay there is there no longer. */
static void cut(uintptr_t begin, uintptr_t end)
{
	size_t at = range_above(begin);

	while (at < range_count && ranges[at].begin < end) {
		const struct range range = ranges[at];

		drop(at);
		if (range.begin < begin)
			insert(at++, (struct range){range.begin, begin, range.site});
		if (range.end > end)
			insert(at++, (struct range){end, range.end, range.site});
	}
}

static void put(struct range range)
{
	cut(range.begin, range.end);
	insert(range_above(range.begin), range);
}

static void forget(void)
{
	range_count = 0;
	unlock();
}

/* ---- counting ---- */

/* A call that may be counted: the thread is inside the collector until it is over. */
struct call {
	struct fg_thread *thread; /* NULL: nothing is kept of this one */
	uint32_t path;
	bool is_counting; /* otherwise what goes is still noticed */
};

static struct call begin_call(const ucontext_t *context)
{
	struct call call = {0};

	if (!fg_is_counted(FG_COUNTER_MAPS) || !fg_alive() || !fg_self || !fg_thread_enter(fg_self))
		return call;
	call.thread = fg_self;
	call.is_counting = fg_is_counting(FG_COUNTER_MAPS) && fg_ensure_file(call.thread);
	if (call.is_counting)
		call.path = fg_counts_path(call.thread, context);
	lock();
	return call;
}

static void end_call(const struct call *call)
{
	if (!call->thread)
		return;
	unlock();
	fg_thread_leave(call->thread);
}

/* In the range there is memory now, of which `asked` bytes were asked for. */
static void count_range(const struct call *call, struct range range, size_t asked)
{
	struct fg_counted_path *counts = NULL;

	if (!call->is_counting) {
		cut(range.begin, range.end);
		return;
	}
	counts = fg_counts_at(call->thread, FG_COUNTER_MAPS, call->path);
	counts->counts.values[CALLS]++;
	counts->counts.values[BYTES] += asked;
	if (!counts->own) {
		const struct fg_live_owner owner = {
			.what = FG_HELD_MAPS,
			.slot = call->thread->index,
			.thread = call->thread->id,
			.region = call->thread->regions.current,
			.path = call->path,
		};

		counts->own = fg_live_site(&owner);
	}
	range.site = counts->own;
	put(range);
}

static void count_map(const struct call *call, const void *at, size_t size)
{
	const uintptr_t begin = (uintptr_t)at;

	if (call->thread && at != MAP_FAILED)
		count_range(call, (struct range){.begin = begin, .end = begin + pages_of(size)},
			    size);
}

static void count_unmap(const struct call *call, const void *at, size_t size)
{
	if (call->thread)
		cut((uintptr_t)at, (uintptr_t)at + pages_of(size));
}

/* ---- what maps ---- */

/* NOLINTBEGIN(readability-function-size): parameters of libc's */

FG_EXPORT void *mmap(void *where, size_t size, int protection, int flags, int fd, off_t offset)
{
	FG_NEED_REAL(mmap, MAP_FAILED);
	FG_HERE(context);
	const struct call call = begin_call(&context);
	void *at = reals.mmap(where, size, protection, flags, fd, offset);
	const int saved_errno = errno;

	count_map(&call, at, size);
	end_call(&call);
	errno = saved_errno;
	return at;
}

FG_EXPORT void *mmap64(void *where, size_t size, int protection, int flags, int fd, off64_t offset)
{
	FG_NEED_REAL(mmap64, MAP_FAILED);
	FG_HERE(context);
	const struct call call = begin_call(&context);
	void *at = reals.mmap64(where, size, protection, flags, fd, offset);
	const int saved_errno = errno;

	count_map(&call, at, size);
	end_call(&call);
	errno = saved_errno;
	return at;
}

/* NOLINTEND(readability-function-size) */

FG_EXPORT int munmap(void *at, size_t size)
{
	FG_NEED_REAL(munmap, -1);
	FG_HERE(context);
	const struct call call = begin_call(&context);
	const int status = reals.munmap(at, size);
	const int saved_errno = errno;

	if (status == 0)
		count_unmap(&call, at, size);
	end_call(&call);
	errno = saved_errno;
	return status;
}

FG_EXPORT void *mremap(void *from, size_t size, size_t new_size, int flags, ...)
{
	void *where = NULL;

	FG_NEED_REAL(mremap, MAP_FAILED);
	if (flags & MREMAP_FIXED) {
		va_list list;

		va_start(list, flags);
		/* NOLINTNEXTLINE(clang-analyzer-valist.Uninitialized): clang 14 loses it */
		where = va_arg(list, void *);
		va_end(list);
	}
	FG_HERE(context);
	const struct call call = begin_call(&context);
	void *at = reals.mremap(from, size, new_size, flags, where);
	const int saved_errno = errno;

	if (at != MAP_FAILED && !(flags & MREMAP_DONTUNMAP))
		count_unmap(&call, from, size);
	count_map(&call, at, new_size);
	end_call(&call);
	errno = saved_errno;
	return at;
}

/* The break has moved, by any number of bytes. */
static void count_break(const struct call *call, uintptr_t before, uintptr_t after)
{
	if (!call->thread)
		return;
	if (after > before)
		count_range(call, (struct range){.begin = before, .end = after}, after - before);
	else
		cut(after, before);
}

FG_EXPORT int brk(void *end)
{
	FG_NEED_REAL(brk, -1);
	FG_NEED_REAL(sbrk, -1);
	FG_HERE(context);
	const struct call call = begin_call(&context);
	const uintptr_t before = (uintptr_t)reals.sbrk(0);
	const int status = reals.brk(end);
	const int saved_errno = errno;

	if (status == 0)
		count_break(&call, before, (uintptr_t)end);
	end_call(&call);
	errno = saved_errno;
	return status;
}

/* NOLINTNEXTLINE(performance-no-int-to-ptr): what libc returns on failure */
#define NO_BREAK ((void *)-1)

FG_EXPORT void *sbrk(intptr_t by)
{
	FG_NEED_REAL(sbrk, NO_BREAK);
	if (by == 0)
		return reals.sbrk(0);
	FG_HERE(context);
	const struct call call = begin_call(&context);
	void *before = reals.sbrk(by);
	const int saved_errno = errno;

	if (before != NO_BREAK)
		count_break(&call, (uintptr_t)before, (uintptr_t)before + (uintptr_t)by);
	end_call(&call);
	errno = saved_errno;
	return before;
}

/* ---- stacks ---- */

static void on_thread_made(size_t stack_size)
{
	const struct fg_counts seen = {.values = {[STACKS] = stack_size}};
	FG_HERE(context);

	fg_counts_see(FG_COUNTER_MAPS, &context, &seen);
}

static const struct fg_map_hooks hooks = {.thread_made = on_thread_made};

/* Before the constructor that starts the collector. */
__attribute__((constructor(101))) static void join_in(void)
{
	REALS(FG_REAL_LOOK_UP)
	fg_counted[FG_COUNTER_MAPS] = &counted;
	fg_map_hooks = &hooks;
}
