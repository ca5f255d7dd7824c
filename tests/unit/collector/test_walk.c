// SPDX-License-Identifier: Apache-2.0
/*
 * Walks of a stack that grows and shrinks at random, through functions with different frame layouts
 * and through signal handlers. Each walk continues from the frames kept by the previous one, and
 * must find the same frames as libunwind. The collector is linked into this program, switched on by
 * its environment, and paused.
 */
#include "collector/process/threads.h"
#include "collector/sampler/collector_env.h"
#include "collector/sampler/handler.h"
#include "collector/sampler/kernel.h"
#include "collector/sampler/sampling.h"
#include "collector/unwind/modules.h"
#include "collector/unwind/paths.h"
#include "collector/unwind/walk.h"
#include "collector/unwind/walk_copy.h"
#include "tests/support/fg_test.h"
#include "tests/support/scratch.h"

#include <alloca.h>
#include <dlfcn.h>
#include <linux/perf_event.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#define UNW_LOCAL_ONLY
#include <libunwind.h>

enum {
	CHECKS = 3000,
	CUT = (int)FG_TRACE_FRAMES_MAX / 2, /* calls, each of which has two frames */
	NEAR = 4,
	FRAMES = 4 * CUT,
	SIGNALS_MAX = 8, /* nested signals */
	COPY_RING = 16384,
	COPY_MAX = 4096, /* bytes of a deep stack */
	COPIES = 1000,
};

static struct {
	uint64_t random;
	unsigned target; /* the depth that the stack reaches next */
	unsigned checks; /* remaining checks */
	unsigned signals;
	unsigned whole;
	unsigned cut;
	unsigned next_depth;
	uint64_t frames;
	uint64_t frames_reused;
	uint64_t frames_reused_from_caller;
	bool shallow;
	unsigned copies_joined; /* copies joined with the kept stack */
	unsigned copies_whole;
} now;

static uint32_t draw(uint32_t below)
{
	now.random ^= now.random << 13;
	now.random ^= now.random >> 7;
	now.random ^= now.random << 17;
	return (uint32_t)(now.random >> 32) % below;
}

static struct fg_regs regs_of(const ucontext_t *context)
{
	return (struct fg_regs){.pc = fg_arch_register(context, FG_DWARF_RA),
				.sp = fg_arch_register(context, FG_DWARF_SP),
				.bp = fg_arch_register(context, FG_DWARF_BP)};
}

/*
 * A copy of the innermost part of the stack, of any length and anywhere in a ring, leads to the
 * same path: its walk ends at a kept frame or at the outermost one.
 */
static void check_copy(const ucontext_t *context, uint32_t path)
{
	static uint8_t ring[COPY_RING];
	const struct fg_regs regs = regs_of(context);
	struct fg_stack_copy copy = {
		.regs = regs,
		.link = fg_arch_link(context),
		.ring = ring,
		.ring_bytes = COPY_RING,
		.begin = draw(COPY_RING / 8) * 8,
		.bytes = now.shallow ? COPY_RING : draw(draw(4) ? COPY_MAX / 8 + 1 : 16) * 8,
	};
	const uint32_t kept = fg_self->kept.count;
	uint32_t alone = 0;
	uint32_t new_frames = 0;

	if (copy.bytes > fg_self->stack_high - regs.sp)
		copy.bytes = (uint32_t)(fg_self->stack_high - regs.sp);
	for (uint32_t i = 0; i < copy.bytes; i++)
		ring[(copy.begin + i) % COPY_RING] = ((const uint8_t *)regs.sp)[i];
	assert_int_equal(fg_stack_walk_copy(fg_self, &copy, &new_frames), path);
	fg_self->kept.count = 0;
	alone = fg_stack_walk_copy(fg_self, &copy, &new_frames);
	fg_self->kept.count = kept;
	assert_true(alone == path || alone == 0);
	now.copies_joined += alone == 0;
	now.copies_whole += alone == path;
	/* an empty copy has no path */
	copy.bytes = 0;
	fg_self->kept.count = 0;
	assert_int_equal(fg_stack_walk_copy(fg_self, &copy, &new_frames), 0);
	fg_self->kept.count = kept;
}

/*
 * Returns the address that libunwind reports for a frame: on some architectures it lies within the
 * call.
 */
static uintptr_t as_libunwind(const struct fg_walk_frame *frame)
{
	return frame->regs.pc - (FG_ARCH_LINK_REGISTER && !frame->exact);
}

static __attribute__((noinline)) void check(void)
{
	static void *expected[FRAMES];
	const struct fg_regs caller = FG_ARCH_CALLER;
	const uint32_t left_out = draw(2); /* leaves out this function's own frame */
	struct fg_walk_result result;
	ucontext_t context;

	assert_int_equal(getcontext(&context), 0);
	if (left_out)
		result = fg_stack_walk_caller(fg_self, &caller);
	else
		result = fg_stack_walk(fg_self, &context);
	const int count = unw_backtrace(expected, FRAMES) - (int)left_out;
	const struct fg_trail *kept = &fg_self->stack->trails[fg_self->kept.trail];
	const uint32_t first = fg_self->kept.end - fg_self->kept.count;
	uint32_t path = 0;

	assert_true(result.path != 0);
	assert_false(result.truncated);
	assert_false(result.needs_registers);
	now.frames += result.frames;
	now.frames_reused += result.frames_reused;
	now.frames_reused_from_caller += left_out ? result.frames_reused : 0;
	if (count > (int)FG_TRACE_FRAMES_MAX) {
		assert_int_equal(fg_self->kept.count, 0);
		now.cut++;
		return;
	}
	assert_int_equal(fg_self->kept.count, count);
	for (uint32_t i = fg_self->kept.count; i-- > 0;) {
		const struct fg_walk_frame *frame = &kept->frames[first + i];

		if (i + left_out > 0) /* except this function, which has continued since */
			assert_ptr_equal(as_libunwind(frame), expected[i + left_out]);
		path = fg_path_extend(fg_self, path, frame->id);
		assert_int_equal(frame->node, path);
	}
	assert_int_equal(result.path, path);
	if (!left_out)
		check_copy(&context, path);
	now.whole++;
}

static void go(unsigned depth);

static __attribute__((noinline)) void plain(unsigned depth)
{
	go(depth);
	__asm__ volatile("" ::: "memory");
}

#if defined(__aarch64__)
# define USE_REGISTERS() __asm__ volatile("" ::: "x19", "x29", "x20", "memory")
#else
# define USE_REGISTERS() __asm__ volatile("" ::: "rbx", "rbp", "r12", "memory")
#endif

/*
 * The CFA comes from the stack pointer, but the frame pointer's register is in use and must be
 * saved.
 */
static __attribute__((noinline)) void saving(unsigned depth)
{
	USE_REGISTERS();
	go(depth);
	USE_REGISTERS();
}

/* The CFA comes from the frame pointer. */
static __attribute__((noinline)) void sized(unsigned depth)
{
	volatile char *room = alloca(16 + draw(200));

	room[0] = 0;
	go(depth);
	room[1] = 0;
}

/* The CFA comes from a word in memory. */
static __attribute__((noinline)) void aligned(unsigned depth)
{
	__attribute__((aligned(64))) volatile char room[64 * 2];
	volatile char *more = alloca(16 + draw(200));

	room[0] = more[0] = 0;
	go(depth);
	room[1] = more[1] = 0;
}

/* Has the same size as `plain`, so that one can replace the other. */
static __attribute__((noinline)) void other(unsigned depth)
{
	go(depth);
	__asm__ volatile("nop" ::: "memory");
}

static void on_signal(int number)
{
	(void)number;
	go(now.next_depth);
}

static __attribute__((noinline)) void interrupted(unsigned depth)
{
	if (now.signals >= SIGNALS_MAX) {
		plain(depth);
		return;
	}
	now.signals++;
	now.next_depth = depth;
	assert_int_equal(raise(SIGUSR2), 0);
	now.signals--;
}

/*
 * Draws the next depth: usually close by, sometimes far away, and occasionally so deep that the
 * stack is cut.
 */
static void choose_target(void)
{
	const uint32_t kind = draw(100);

	if (now.shallow)
		now.target = draw(20);
	else if (kind < 2)
		now.target = CUT + draw(400);
	else if (kind < 10 || now.target > CUT)
		now.target = draw(CUT);
	else
		now.target = (now.target > NEAR ? now.target - NEAR : 0) + draw(2 * NEAR + 1);
}

static __attribute__((noinline)) void go(unsigned depth)
{
	static void (*const calls[])(unsigned) = {plain, saving, sized,  aligned,
						  other, plain,  saving, other};

	while (now.checks > 0) {
		if (depth == now.target) {
			/*
			 * Check only some of the visits, so that kept frames are replaced by other
			 * calls.
			 */
			if (draw(3) == 0) {
				check();
				now.checks--;
			}
			choose_target();
		} else if (now.target < depth) {
			return;
		} else if (draw(2000) == 0) {
			interrupted(depth + 1);
		} else {
			calls[draw(sizeof(calls) / sizeof(calls[0]))](depth + 1);
		}
	}
}

static void walks_from_kept_frames_agree_with_libunwind(void **state)
{
	struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_NODEFER};
	const struct fg_trace_header *header = atomic_load(&fg_g.header);

	(void)state;
	assert_int_equal(sigaction(SIGUSR2, &action, NULL), 0);
	now.random = UINT64_C(88172645463325252);
	now.target = 100;
	now.checks = CHECKS;
	go(0);
	assert_true(now.whole > CHECKS * 8 / 10);
	assert_true(now.cut > 10);
	assert_true(now.copies_joined > CHECKS / 10);
	assert_true(now.frames_reused > now.frames / 3);
	assert_true(now.frames_reused_from_caller > now.frames_reused / 3);
	assert_true(header->losses[FG_LOSS_TRUNCATED] == 0);
}

/* The stacks are short enough for a copy to hold a whole stack. */
static void copies_of_a_whole_stack_need_nothing_else(void **state)
{
	(void)state;
	now.random = UINT64_C(88172645463325252);
	now.copies_whole = 0;
	now.shallow = true;
	now.target = 20;
	now.checks = COPIES;
	go(0);
	assert_true(now.copies_whole > COPIES / 20);
}

/* ---- the work of one handler is bounded ---- */

/*
 * Even while paused, the collector's handler occasionally looks at its clocks and tables. libunwind
 * unblocks samples: it restores the mask that the collector shows it.
 */
static void block_samples(int how)
{
	const uint64_t set = UINT64_C(1) << (SIGPROF - 1);

	assert_int_equal(syscall(SYS_rt_sigprocmask, how, &set, NULL, sizeof(set)), 0);
}

/* If neither the program counter nor the stack pointer is of use, the leaf remains. */
static void a_sample_has_its_leaf_at_least(void **state)
{
	static const uintptr_t places[] = {2, 0x1000, UINTPTR_MAX, (uintptr_t)&now};
	ucontext_t context;

	(void)state;
	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		for (size_t j = 0; j < sizeof(places) / sizeof(places[0]); j++) {
			struct fg_walk_result result;

			memset(&context, 0, sizeof(context));
#if defined(__aarch64__)
			context.uc_mcontext.pc = places[i];
			context.uc_mcontext.sp = places[j];
#else
			context.uc_mcontext.gregs[REG_RIP] = (greg_t)places[i];
			context.uc_mcontext.gregs[REG_RSP] = (greg_t)places[j];
#endif
			result = fg_stack_walk(fg_self, &context);
			if (!result.path || !result.truncated)
				fail_msg("pc %#lx, sp %#lx", (unsigned long)places[i],
					 (unsigned long)places[j]);
		}
	}
}

/* The bytes of the tables that have memory; `whole` gets the size of the tables. */
static size_t bytes_of_tables(size_t *whole)
{
	static unsigned char is_there[4096];
	size_t pages = 0;

	*whole = 0;
	for (unsigned exact = 0; exact < 2; exact++) {
		const struct fg_table_level *level =
			&fg_frame_levels[exact][atomic_load(&fg_frame_current[exact])];
		const size_t size = (level->mask + (size_t)1) * sizeof(struct fg_frame_entry);
		const size_t count = (size + fg_page - 1) / fg_page;

		assert_true(count <= sizeof(is_there));
		assert_int_equal(mincore(level->entries, size, is_there), 0);
		for (size_t i = 0; i < count; i++)
			pages += is_there[i] & 1u;
		*whole += count * fg_page;
	}
	return pages * fg_page;
}

/* Does the kernel populate pages on request, and report which ones exist? Emulators do not. */
static bool pages_can_be_seen(void)
{
	unsigned char is_there = 0;
	void *page = mmap(NULL, 1, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	assert_ptr_not_equal(page, MAP_FAILED);
	(void)madvise(page, 1, MADV_POPULATE_WRITE);
	return mincore(page, 1, &is_there) == 0 && is_there & 1u && munmap(page, 1) == 0;
}

/* Tables get memory before they need it, a little at a time. */
static void a_handler_makes_few_pages_of_tables(void **state)
{
	enum {
		HANDLERS = 1000
	};
	const size_t few = fg_page > 16384 ? fg_page : 16384;
	size_t whole = 0;
	size_t last = 0;

	(void)state;
	if (!pages_can_be_seen())
		skip();
	block_samples(SIG_BLOCK);
	fg_paths_clear();
	fg_self->kept.count = 0;
	assert_true(fg_frame_find(fg_self, (uintptr_t)bytes_of_tables, true).id != 0);
	assert_true(fg_frame_find(fg_self, (uintptr_t)bytes_of_tables, false).id != 0);
	last = bytes_of_tables(&whole);
	for (unsigned i = 0; i < HANDLERS; i++) {
		fg_paths_prepare();
		const size_t bytes = bytes_of_tables(&whole);

		assert_true(bytes <= last + few);
		last = bytes;
	}
	assert_int_equal(last, whole);
	block_samples(SIG_UNBLOCK);
}

/* ---- records of the kernel's event ---- */

enum {
	RING_PAGES = 256,
	RECORD_PERIOD_NS = 1125000,
	RING = RING_PAGES * (int)FG_ARCH_PAGE,
	RECORD_WORDS = 64, /* words of the stack */
};

/* The layout follows perf_event_open(2). */
struct ring {
	struct fg_thread *thread;
	uint8_t *memory;
	uint64_t head;
};

static void put(struct ring *ring, uint64_t word)
{
	memcpy(ring->memory + fg_page + ring->head % RING, &word, sizeof(word));
	ring->head += sizeof(word);
}

static void put_record(struct ring *ring, const struct fg_regs *regs, unsigned stack_words,
		       uint64_t time_ns)
{
	const uint64_t words =
		1 + 1 + 1 + 2 + 1 + 3 + FG_ARCH_LINK_REGISTER + 1 + stack_words + (stack_words > 0);
	const struct perf_event_header header = {.type = PERF_RECORD_SAMPLE,
						 .size = (uint16_t)(8 * words)};
	uint64_t bits = 0;

	memcpy(&bits, &header, sizeof(bits));
	put(ring, bits);
	put(ring, time_ns);
	put(ring, 2);
	put(ring, (uint64_t)PERF_CONTEXT_KERNEL);
	put(ring, UINT64_C(0xffffffff81000000));
	put(ring, PERF_SAMPLE_REGS_ABI_64);
	put(ring, regs->bp);
	if (FG_ARCH_LINK_REGISTER)
		put(ring, 0);
	put(ring, regs->sp);
	put(ring, regs->pc);
	put(ring, 8 * stack_words);
	for (unsigned i = 0; i < stack_words; i++)
		put(ring, ((const uint64_t *)regs->sp)[i]);
	if (stack_words > 0)
		put(ring, 8 * stack_words);
	((struct perf_event_mmap_page *)(void *)ring->memory)->data_head = ring->head;
}

static void begin_ring(struct ring *ring)
{
	*ring = (struct ring){.thread = fg_self,
			      .memory = mmap(NULL, fg_page + RING, PROT_READ | PROT_WRITE,
					     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)};
	assert_ptr_not_equal(ring->memory, MAP_FAILED);
	block_samples(SIG_BLOCK);
	assert_true(fg_thread_enter(fg_self));
	fg_self->clocks.kernel_ring_bytes = RING;
	fg_self->clocks.kernel_seen = 0;
	fg_self->clocks.kernel_unknown_ns = 0;
	fg_self->clocks.kernel_period_ns = RECORD_PERIOD_NS;
	fg_self->clocks.kernel_stacks = true;
	fg_self->clocks.kernel_ring = ring->memory;
}

static void end_ring(struct ring *ring)
{
	fg_self->clocks.kernel_ring = NULL;
	fg_self->clocks.kernel_stacks = false;
	fg_thread_leave(fg_self);
	block_samples(SIG_UNBLOCK);
	assert_int_equal(munmap(ring->memory, fg_page + RING), 0);
}

/*
 * Many records are taken in portions; each has the path of its stack, with the kernel's functions
 * below.
 */
static void records_are_taken_a_few_at_a_time(void **state)
{
	static struct fg_kernel_hits hits;
	struct fg_walk_result result;
	struct ring ring;
	ucontext_t context;

	(void)state;
	assert_int_equal(getcontext(&context), 0);
	begin_ring(&ring);
	result = fg_stack_walk(fg_self, &context);
	const struct fg_regs regs = regs_of(&context);

	assert_true(result.path != 0);
	assert_false(fg_kernel_has_new_hits(fg_self));
	for (unsigned i = 0; i < FG_KERNEL_HITS_MAX + 5; i++)
		put_record(&ring, &regs, RECORD_WORDS, 1000 + i);
	assert_true(fg_kernel_has_new_hits(fg_self));
	fg_kernel_collect_hits(fg_self, &hits);
	assert_int_equal(hits.count, FG_KERNEL_HITS_MAX);
	const uint32_t path = hits.hit[0].path;

	assert_true(path != 0 && path != result.path);
	for (unsigned i = 0; i < hits.count; i++) {
		assert_int_equal(hits.hit[i].path, path);
		assert_int_equal(hits.hit[i].time_ns, 1000 + i);
	}
	assert_true(fg_kernel_has_new_hits(fg_self));
	assert_int_equal(hits.count, FG_KERNEL_HITS_MAX);
	fg_kernel_collect_hits(fg_self, &hits);
	assert_int_equal(hits.count, FG_KERNEL_HITS_MAX);
	assert_true(fg_kernel_has_new_hits(fg_self));
	hits.count = 0;
	fg_kernel_collect_hits(fg_self, &hits);
	assert_int_equal(hits.count, 5);
	assert_int_equal(hits.hit[4].time_ns, 1000 + FG_KERNEL_HITS_MAX + 4);
	assert_false(fg_kernel_has_new_hits(fg_self));
	assert_true(fg_self->clocks.kernel_unknown_ns == 0);
	end_ring(&ring);
}

/* Samples never exceed the CPU time: a record has no weight unless system time is owed. */
static void a_record_waits_until_something_is_owed(void **state)
{
	const struct fg_kernel_hits *hits = &fg_self->stack->hits;
	const struct fg_trace_header *header = atomic_load(&fg_g.header);
	const int64_t owed_ns = (int64_t)(3 * (uint64_t)RECORD_PERIOD_NS);
	struct fg_account *account = &fg_self->account;
	struct ring ring;
	ucontext_t context;

	(void)state;
	assert_int_equal(getcontext(&context), 0);
	const struct fg_regs regs = regs_of(&context);

	block_samples(SIG_BLOCK);
	fg_sampling_set(true);
	assert_true(fg_stack_walk(fg_self, &context).path != 0);
	begin_ring(&ring);
	for (unsigned i = 0; i < 3; i++)
		put_record(&ring, &regs, RECORD_WORDS, 1000 + i);
	fg_thread_times(&account->last);
	account->on = true;
	account->switches = atomic_load(&fg_g.switches);
	account->sampled_ns = 0;
	account->owed_ns = -1000 * owed_ns;
	fg_take_last_hits(fg_self);
	assert_true(header->kernel_ns == 0);
	assert_int_equal(hits->count, 3);
	account->owed_ns = owed_ns;
	fg_take_last_hits(fg_self);
	assert_true(header->kernel_ns >= (uint64_t)owed_ns);
	assert_int_equal(hits->count, 0);
	assert_true(llabs(account->owed_ns) < 3);
	fg_sampling_set(false);
	end_ring(&ring);
}

/* Stacks without the needed data are left to the ticks; invalid records are skipped. */
static void records_that_lead_nowhere_are_left_to_ticks(void **state)
{
	static struct fg_kernel_hits hits;
	struct ring ring;
	ucontext_t context;

	(void)state;
	assert_int_equal(getcontext(&context), 0);
	const struct fg_regs regs = regs_of(&context);

	begin_ring(&ring);
	fg_self->kept.count = 0;
	put_record(&ring, &regs, 1, 1000);
	put_record(&ring, &regs, 0, 1001);
	fg_kernel_collect_hits(fg_self, &hits);
	assert_int_equal(hits.count, 0);
	assert_true(fg_self->clocks.kernel_unknown_ns == 2 * (uint64_t)RECORD_PERIOD_NS);
	/* a header with size 0 */
	put(&ring, 0);
	((struct perf_event_mmap_page *)(void *)ring.memory)->data_head = ring.head;
	assert_true(fg_kernel_has_new_hits(fg_self));
	fg_kernel_collect_hits(fg_self, &hits);
	assert_int_equal(hits.count, 0);
	assert_false(fg_kernel_has_new_hits(fg_self));
	end_ring(&ring);
}

/* A library, and the address range of its unwind tables. */
struct library {
	void *handle;
	struct fg_regs regs; /* registers in its code */
	uintptr_t stack[2];
	struct fg_tables tables;
};

static void open_library(struct library *library)
{
	library->handle = dlopen(WALK_LIBRARY, RTLD_LAZY | RTLD_LOCAL);
	if (!library->handle)
		fail_msg("%s", dlerror());
	library->regs = (struct fg_regs){.pc = (uintptr_t)dlsym(library->handle, "chain_0"),
					 .sp = (uintptr_t)library->stack};
	assert_true(library->regs.pc != 0);
	assert_true(fg_thread_enter(fg_self));
	library->tables = fg_module(fg_module_find(fg_self, library->regs.pc))->tables;
	fg_thread_leave(fg_self);
	assert_non_null(library->tables.hdr);
}

/*
 * The kernel sampled code that is being unloaded; the loader still returns the addresses of its
 * tables after the tables are gone.
 */
static void records_of_unloaded_code_are_left_to_ticks(void **state)
{
	static struct fg_kernel_hits hits;
	struct library library = {0};
	struct ring ring;

	(void)state;
	open_library(&library);
	const uintptr_t low = fg_page_down((uintptr_t)library.tables.low);
	const size_t size = fg_page_up((uintptr_t)library.tables.high) - low;

	begin_ring(&ring);
	fg_self->kept.count = 0;
	put_record(&ring, &library.regs, 2, 1000);
	atomic_store(&fg_g.unloading, 1);
	fg_kernel_collect_hits(fg_self, &hits);
	assert_true(fg_kernel_has_new_hits(fg_self));
	atomic_store(&fg_g.unloading, 0);
	/* simulates an unloading without a notification */
	void *const gone =
		mmap((void *)low, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);

	assert_ptr_equal(gone, (void *)low);
	assert_int_equal(munmap(gone, size), 0);
	fg_kernel_collect_hits(fg_self, &hits);
	assert_int_equal(hits.count, 0);
	assert_false(fg_kernel_has_new_hits(fg_self));
	assert_true(fg_self->clocks.kernel_unknown_ns == (uint64_t)RECORD_PERIOD_NS);
	end_ring(&ring);
	/* the library is never closed, because the loader would access the unmapped tables */
}

/* The hint of a path is its most recent child; a request for another child does not return it. */
static void children_of_a_path_are_distinguished(void **state)
{
	const uint32_t one = fg_path_extend(fg_self, 0, 1);
	const uint32_t two = fg_path_extend(fg_self, 0, 2);
	const uint32_t below = fg_path_extend(fg_self, one, 2);

	(void)state;
	assert_true(one != two && one != below && two != below);
	for (unsigned i = 0; i < 3; i++) {
		assert_int_equal(fg_path_extend(fg_self, 0, 1), one);
		assert_int_equal(fg_path_extend(fg_self, 0, 2), two);
		assert_int_equal(fg_path_extend(fg_self, one, 2), below);
		assert_int_equal(fg_path_extend(fg_self, 0, 0), 0);
	}
}

/* A stack of 128 new functions, each with its own code. */
#define LINKS_4(X, n)  X(n##0) X(n##1) X(n##2) X(n##3)
#define LINKS_16(X, n) LINKS_4(X, n##0) LINKS_4(X, n##1) LINKS_4(X, n##2) LINKS_4(X, n##3)
#define LINKS_64(X, n) LINKS_16(X, n##0) LINKS_16(X, n##1) LINKS_16(X, n##2) LINKS_16(X, n##3)
#define LINKS(X)       LINKS_64(X, 0) LINKS_64(X, 1)
#define LINK(n)                                                 \
 static __attribute__((noinline)) void link_##n(unsigned depth) \
 {                                                              \
  go_down(depth);                                               \
  __asm__ volatile("" ::: "memory");                            \
 }
#define LINK_ROW(n) link_##n,

static void go_down(unsigned depth);
LINKS(LINK)
static void (*const links[])(unsigned) = {LINKS(LINK_ROW)};

static struct fg_walk_result met[8];
static void (*at_the_end)(void);

static __attribute__((noinline)) void walk_repeatedly(void)
{
	for (unsigned i = 0; i < sizeof(met) / sizeof(met[0]); i++) {
		ucontext_t context;

		assert_int_equal(getcontext(&context), 0);
		met[i] = fg_stack_walk(fg_self, &context);
	}
}

/* The function's frame is small, so many frames fit into a record. */
static __attribute__((noinline)) void go_down(unsigned depth)
{
	if (depth < sizeof(links) / sizeof(links[0]))
		links[depth](depth + 1);
	else
		at_the_end();
	__asm__ volatile("" ::: "memory");
}

/* A handler's time is limited, and the next samples continue the walk. */
static void a_stack_of_new_functions_is_walked_in_parts(void **state)
{
	const unsigned calls = 2 * sizeof(links) / sizeof(links[0]);
	const struct fg_walk_result *last = &met[sizeof(met) / sizeof(met[0]) - 1];
	unsigned parts = 1;

	(void)state;
	at_the_end = walk_repeatedly;
	go_down(0);
	assert_true(met[0].truncated);
	assert_true(met[0].frames >= 40 && met[0].frames < calls);
	assert_true(met[0].path != 0);
	for (; met[parts].truncated; parts++)
		assert_true(met[parts].frames > met[parts - 1].frames);
	assert_in_range(parts, 1, 3);
	assert_false(last->truncated);
	assert_true(last->frames > calls);
	assert_true(last->frames_reused > calls / 2);
}

static uint64_t slow_frames(void)
{
	return atomic_load(&fg_g.header)->frames_slow;
}

static void look_at_new_functions(void)
{
	enum {
		RECORDS = 3,
		DEEP = 7000 /* words */
	};
	static struct fg_kernel_hits hits;
	struct ring ring;
	ucontext_t context;
	unsigned looks = 0;
	uint64_t most = 0;

	assert_int_equal(getcontext(&context), 0);
	const struct fg_regs regs = regs_of(&context);
	const uintptr_t words = (fg_self->stack_high - regs.sp) / FG_WORD;

	begin_ring(&ring);
	fg_paths_clear();
	fg_self->kept.count = 0;
	for (unsigned i = 0; i < RECORDS; i++)
		put_record(&ring, &regs, words < DEEP ? (unsigned)words : DEEP, 1000 + i);
	for (looks = 0; fg_kernel_has_new_hits(fg_self); looks++) {
		const uint64_t before = slow_frames();

		fg_kernel_collect_hits(fg_self, &hits);
		most = slow_frames() - before > most ? slow_frames() - before : most;
	}
	end_ring(&ring);
	assert_in_range(most, 10, 40);
	assert_in_range(looks, 2, RECORDS);
}

/* The rules of new functions are computed a few per handler. */
static void records_in_new_functions_are_walked_a_few_frames_at_a_time(void **state)
{
	(void)state;
	at_the_end = look_at_new_functions;
	go_down(0);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_stack_of_new_functions_is_walked_in_parts),
		cmocka_unit_test(walks_from_kept_frames_agree_with_libunwind),
		cmocka_unit_test(copies_of_a_whole_stack_need_nothing_else),
		cmocka_unit_test(a_sample_has_its_leaf_at_least),
		cmocka_unit_test(records_are_taken_a_few_at_a_time),
		cmocka_unit_test(records_in_new_functions_are_walked_a_few_frames_at_a_time),
		cmocka_unit_test(a_record_waits_until_something_is_owed),
		cmocka_unit_test(records_that_lead_nowhere_are_left_to_ticks),
		cmocka_unit_test(records_of_unloaded_code_are_left_to_ticks),
		cmocka_unit_test(children_of_a_path_are_distinguished),
		cmocka_unit_test(a_handler_makes_few_pages_of_tables),
	};
	struct fg_scratch scratch;

	(void)argc;
	if (!getenv(FG_ENV_OUTPUT)) {
		fg_scratch_init(&scratch);
		(void)setenv(FG_ENV_OUTPUT, scratch.path, 1);
		(void)setenv(FG_ENV_PAUSED, "1", 1);
		(void)execv("/proc/self/exe", argv);
		return 1;
	}
	(void)snprintf(scratch.path, sizeof(scratch.path), "%s", getenv(FG_ENV_OUTPUT));
	const int failed = fg_alive() ? cmocka_run_group_tests(tests, NULL, NULL) : 1;

	fg_scratch_release(&scratch);
	return failed;
}
