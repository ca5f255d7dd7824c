// SPDX-License-Identifier: Apache-2.0
/*
 * If samples of system time are taken at kernel ticks, each record has a copy of the innermost part
 * of the program's stack, from which the call path is found although no signal stopped the thread
 * there.
 *
 * Otherwise, or if the path leads beyond the copy, a record of the ring belongs to a sample if the
 * program entered the kernel at the same instruction with the same stack pointer: at the system
 * call after which the sample was taken, or at the instruction that faulted.  For a fault the stack
 * pointer suffices if no record has the instruction: a loop over fresh pages faults at several
 * instructions.
 *
 * Every new record stands for a period of the event and gets that share of the sample's weight; the
 * last record gets the remainder: system time that no sample found, possibly at other places.
 * Without a new record, the last old record in the ring shows what the kernel does at this place.
 * Up to half of the ring, or an eighth if records have stacks, is kept for old records.
 */
#include "collector/sampler/kernel.h"

#include "collector/arch/arch.h"
#include "collector/python/python.h"
#include "collector/sampler/writer.h"
#include "collector/unwind/paths.h"
#include "collector/unwind/walk_copy.h"

#include <linux/perf_event.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum {
	/* multiples of a page and powers of two; the control page comes on top */
	RING_BYTES = 16384,        /* size without stacks */
	RING_BYTES_STACKS = 65536, /* smallest size with stacks */
	RING_BYTES_MAX = 262144,   /* largest size */
	STACK_BYTES = 4096,        /* bytes of the program's stack */
	RECORD_BYTES = STACK_BYTES + 512,
	KEPT = 2,        /* 1 / KEPT of a ring is for records that were already read */
	KEPT_STACKS = 8, /* 1 / KEPT_STACKS of a ring with stacks is for records already read */
	FRAMES_MAX = 40,
	/* makes the event's period 1/8 longer than the clock's, to stay out of step */
	PERIOD_SHARE = 8,
	RECORD_WORDS_MIN = 4,
	CALM_NS = 200000, /* a calm thread uses at least this much CPU time per context switch */
	CALM_FIRST = 20,  /* context switches that a calm thread may have in addition */
};

/* The registers of a record, in the order in which the kernel writes them. */
enum {
	AT_BP,
#ifdef FG_ARCH_PERF_LR
	AT_LINK,
#endif
	AT_SP,
	AT_IP,
	REGISTERS,
};

static const uint64_t registers_wanted = UINT64_C(1) << FG_ARCH_PERF_BP |
#ifdef FG_ARCH_PERF_LR
					 UINT64_C(1) << FG_ARCH_PERF_LR |
#endif
					 UINT64_C(1) << FG_ARCH_PERF_SP |
					 UINT64_C(1) << FG_ARCH_PERF_IP;

static const uint64_t markers = (uint64_t)-4096; /* markers between the addresses of a call chain */

/* A record; positions are in words since the ring began. */
struct record {
	uint64_t time_ns;
	uint64_t chain;
	uint64_t count;
	uint64_t bp, link, sp, ip; /* registers of the program */
	uint64_t stack;
	uint64_t stack_bytes;
};

struct matches {
	uint64_t at[FG_KERNEL_PIECES_MAX]; /* positions of the newest matches, a ring */
	uint64_t count;
};

static struct perf_event_mmap_page *control(const struct fg_thread *thread)
{
	return thread->clocks.kernel_ring;
}

static const uint8_t *ring_data(const struct fg_thread *thread)
{
	return (const uint8_t *)thread->clocks.kernel_ring + fg_page;
}

static uint64_t word(const struct fg_thread *thread, uint64_t at)
{
	return ((const uint64_t *)(const void *)ring_data(
		thread))[at % (thread->clocks.kernel_ring_bytes / 8)];
}

/* ---- the event ---- */

/*
 * Should records have the program's stack? They need it if ticks alone would find system time. A
 * copied stack lacks Python's frames.
 */
static bool wants_stacks(void)
{
	return fg_g.clock_system == FG_CLOCK_SYSTEM && !fg_python_is_on();
}

static uint64_t period_of_event(const struct fg_thread *thread)
{
	return thread->clocks.period_ns + thread->clocks.period_ns / PERIOD_SHARE;
}

/*
 * Returns the size of a ring that holds the records between two ticks, up to RING_BYTES_MAX: when a
 * ring is full, the kernel drops further records.
 */
static uint32_t bytes_of_ring(bool with_stacks, uint64_t period_ns)
{
	const uint64_t records = fg_g.tick_ns / period_ns + 2;
	uint32_t bytes = RING_BYTES_STACKS;

	if (!with_stacks)
		return fg_page > RING_BYTES ? (uint32_t)fg_page : RING_BYTES;
	while (bytes - bytes / KEPT_STACKS < records * RECORD_BYTES && bytes < RING_BYTES_MAX)
		bytes *= 2;
	return bytes;
}

static int open_event(uint64_t period_ns, bool with_stacks, uint32_t ring_bytes)
{
	struct perf_event_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.size = sizeof(attr);
	attr.type = PERF_TYPE_SOFTWARE;
	attr.config = PERF_COUNT_SW_TASK_CLOCK;
	attr.sample_period = period_ns;
	attr.sample_type = PERF_SAMPLE_TIME | PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_REGS_USER;
	attr.sample_regs_user = registers_wanted;
	attr.use_clockid = 1;
	attr.clockid = CLOCK_MONOTONIC;
	if (with_stacks) {
		attr.sample_type |= PERF_SAMPLE_STACK_USER;
		attr.sample_stack_user = STACK_BYTES;
	}
	attr.sample_max_stack = FRAMES_MAX;
	attr.exclude_user = 1;
	attr.exclude_hv = 1;
	attr.exclude_callchain_user = 1;
	attr.watermark = 1;
	attr.wakeup_watermark = ring_bytes;
	const long fd =
		syscall(SYS_perf_event_open, &attr, 0, -1, -1, (unsigned long)PERF_FLAG_FD_CLOEXEC);

	return fd < 0 ? -errno : (int)fd;
}

/*
 * Gives up the event: for this thread if descriptors or memory are short, and for all threads
 * otherwise.
 */
static void refuse(struct fg_thread *thread, int error)
{
	struct fg_trace_header *header = atomic_load(&fg_g.header);

	thread->clocks.kernel_refused = true;
	if (error != EMFILE && error != ENFILE && error != ENOMEM)
		atomic_store(&fg_g.kernel_errno, (uint32_t)error);
	if (header)
		__atomic_store_n(&header->kernel_errno, (uint32_t)error, __ATOMIC_RELAXED);
}

/* Does the thread leave its CPU rarely? A second timer makes each context switch more expensive. */
static bool is_calm(const struct fg_thread *thread)
{
	const struct fg_times *now = &thread->account.last;
	const uint64_t cpu_ns = now->cpu_ns - thread->begin.cpu_ns;

	return now->departures - thread->begin.departures < CALM_FIRST + cpu_ns / CALM_NS;
}

/* Returns 0 or an errno. */
static int start_to_look(struct fg_thread *thread, bool with_stacks)
{
	struct fg_thread_clocks *clocks = &thread->clocks;
	const uint64_t period_ns = period_of_event(thread);
	const uint32_t bytes = bytes_of_ring(with_stacks, period_ns);
	const int fd = open_event(period_ns, with_stacks, bytes);

	if (fd < 0)
		return -fd;
	void *ring = mmap(NULL, fg_page + bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	const int error = errno;

	(void)syscall(SYS_close, fd);
	if (ring == MAP_FAILED)
		return error == EPERM ? ENOMEM : error;
	clocks->kernel_seen = 0;
	clocks->kernel_unknown_ns = 0;
	clocks->kernel_ring_bytes = bytes;
	clocks->kernel_stacks = with_stacks;
	clocks->kernel_period_ns = period_ns;
	clocks->kernel_since_ns = fg_clock_ns(CLOCK_THREAD_CPUTIME_ID);
	clocks->kernel_ring = ring;
	return 0;
}

/* Has the thread's period changed by more than a factor of 2 since the event was opened? */
static bool is_of_another_rate(const struct fg_thread *thread)
{
	const uint64_t period_ns = period_of_event(thread);
	const uint64_t is_ns = thread->clocks.kernel_period_ns;

	return thread->clocks.kernel_ring && (is_ns < period_ns / 2 || is_ns > 2 * period_ns);
}

void fg_kernel_watch(struct fg_thread *thread)
{
	struct fg_thread_clocks *clocks = &thread->clocks;
	int error = 0;

	if (!is_calm(thread)) {
		fg_kernel_unwatch(thread);
		return;
	}
	if (is_of_another_rate(thread))
		fg_kernel_unwatch(thread);
	if (clocks->kernel_ring || clocks->kernel_refused || fg_g.options.no_kernel ||
	    fg_g.sandboxed)
		return;
	if (atomic_load_explicit(&fg_g.kernel_errno, memory_order_relaxed)) {
		refuse(thread, (int)atomic_load(&fg_g.kernel_errno));
		return;
	}
	error = start_to_look(thread, wants_stacks());
	/* records without stacks need less locked memory */
	if (error == ENOMEM && wants_stacks())
		error = start_to_look(thread, false);
	if (error)
		refuse(thread, error);
}

void fg_kernel_unwatch(struct fg_thread *thread)
{
	void *ring = thread->clocks.kernel_ring;

	if (!fg_g.sandboxed)
		fg_kernel_count_interrupts(thread);
	thread->clocks.kernel_ring = NULL;
	if (ring && !fg_g.sandboxed)
		(void)munmap(ring, fg_page + thread->clocks.kernel_ring_bytes);
}

void fg_kernel_count_interrupts(struct fg_thread *thread)
{
	struct fg_trace_header *header = atomic_load(&fg_g.header);
	struct fg_thread_clocks *clocks = &thread->clocks;

	if (!clocks->kernel_ring || thread != fg_self || !header)
		return;
	const uint64_t count = (fg_clock_ns(CLOCK_THREAD_CPUTIME_ID) - clocks->kernel_since_ns) /
			       clocks->kernel_period_ns;

	clocks->kernel_since_ns += count * clocks->kernel_period_ns;
	fg_count(&header->kernel_interrupts, count);
}

/* ---- the ring ---- */

static uint64_t ring_head(const struct fg_thread *thread)
{
	return __atomic_load_n(&control(thread)->data_head, __ATOMIC_ACQUIRE);
}

static void give_back(struct fg_thread *thread, uint64_t tail)
{
	__atomic_store_n(&control(thread)->data_tail, tail, __ATOMIC_RELEASE);
}

void fg_kernel_skip(struct fg_thread *thread)
{
	thread->stack->hits.count = 0;
	if (!thread->clocks.kernel_ring)
		return;
	thread->clocks.kernel_seen = ring_head(thread);
	give_back(thread, thread->clocks.kernel_seen);
}

/* Reads a record's header. Returns its size in bytes; 0: not a record that the kernel writes. */
static uint64_t record_size(const struct fg_thread *thread, uint64_t at, uint32_t *type)
{
	struct perf_event_header header;
	const uint64_t bits = word(thread, at / 8);

	memcpy(&header, &bits, sizeof(header));
	*type = header.type;
	return header.size % 8 == 0 ? header.size : 0;
}

static bool read_record(const struct fg_thread *thread, uint64_t at, uint64_t size,
			struct record *record)
{
	const uint64_t first = at / 8 + 1;
	const uint64_t words = size / 8;
	const uint64_t count = words >= RECORD_WORDS_MIN ? word(thread, first + 1) : 0;

	/*
	 * words of a record: header, time, count, chain, width of the registers, registers[, bytes,
	 * stack, bytes]
	 */
	if (count == 0 || count > words || count + 4 + REGISTERS > words)
		return false;
	*record =
		(struct record){.time_ns = word(thread, first), .chain = first + 2, .count = count};
	const uint64_t registers = record->chain + count + 1;

	record->bp = word(thread, registers + AT_BP);
	record->sp = word(thread, registers + AT_SP);
	record->ip = word(thread, registers + AT_IP);
#ifdef FG_ARCH_PERF_LR
	record->link = word(thread, registers + AT_LINK);
#endif
	if (word(thread, registers - 1) == PERF_SAMPLE_REGS_ABI_NONE)
		return false;
	if (count + 5 + REGISTERS > words)
		return true;
	const uint64_t stack_words = word(thread, registers + REGISTERS) / 8;

	if (stack_words > 0 && stack_words <= words &&
	    count + 6 + REGISTERS + stack_words <= words) {
		record->stack = registers + REGISTERS + 1;
		record->stack_bytes = word(thread, record->stack + stack_words);
		if (record->stack_bytes > 8 * stack_words)
			record->stack_bytes = 0;
	}
	return true;
}

static void add(struct matches *matches, uint64_t at)
{
	matches->at[matches->count++ % FG_KERNEL_PIECES_MAX] = at;
}

struct search {
	uint64_t ip, sp;
	struct matches exact; /* new records with the same instruction */
	struct matches near;  /* new records with only the same stack pointer */
	uint64_t old_exact;   /* position + 1 of the last match among old records; 0: none */
	uint64_t old_near;
};

static void consider(const struct fg_thread *thread, uint64_t at, uint64_t size,
		     struct search *search)
{
	const bool is_new = at >= thread->clocks.kernel_seen;
	struct record record;

	if (!read_record(thread, at, size, &record) || record.sp != search->sp)
		return;
	if (is_new)
		add(record.ip == search->ip ? &search->exact : &search->near, at);
	else
		*(record.ip == search->ip ? &search->old_exact : &search->old_near) = at + 1;
}

/* Considers each sample in the ring. */
static void look(struct fg_thread *thread, uint64_t head, struct search *search)
{
	uint64_t at = control(thread)->data_tail;

	while (at < head) {
		uint32_t type = 0;
		const uint64_t size = record_size(thread, at, &type);

		if (size == 0 || size > head - at)
			break;
		if (type == PERF_RECORD_SAMPLE)
			consider(thread, at, size, search);
		at += size;
	}
}

/* Frees room in the ring, whole records at a time, oldest first. */
static void make_room(struct fg_thread *thread, uint64_t head)
{
	uint64_t tail = control(thread)->data_tail;

	const uint32_t kept = thread->clocks.kernel_ring_bytes /
			      (thread->clocks.kernel_stacks ? KEPT_STACKS : KEPT);

	while (head - tail > kept) {
		uint32_t type = 0;
		const uint64_t size = record_size(thread, tail, &type);

		if (size == 0 || size > head - tail)
			tail = head;
		else
			tail += size;
	}
	thread->clocks.kernel_seen = head;
	give_back(thread, tail);
}

/* ---- pieces ---- */

/* Extends `path` by the kernel's frames of a record, as far as the table has room. */
static uint32_t path_of(struct fg_thread *thread, uint64_t at, uint32_t path)
{
	struct record record;
	uint32_t type = 0;
	bool is_leaf = false;

	if (!read_record(thread, at, record_size(thread, at, &type), &record))
		return path;
	for (uint64_t i = record.count; i-- > 0;) {
		const uint64_t address = word(thread, record.chain + i);
		uint32_t frame = 0;

		if (address >= markers)
			continue;
		/* the leaf follows the marker of its address space */
		is_leaf = i == 0 || word(thread, record.chain + i - 1) >= markers;
		frame = fg_frame_of_kernel(thread, address, is_leaf);
		const uint32_t longer = frame ? fg_path_extend(thread, path, frame) : 0;

		if (!longer)
			break;
		path = longer;
	}
	return path;
}

static unsigned split(struct fg_thread *thread, const struct matches *matches, uint32_t path,
		      uint64_t weight_ns, struct fg_kernel_piece *pieces)
{
	const uint64_t count =
		matches->count < FG_KERNEL_PIECES_MAX ? matches->count : FG_KERNEL_PIECES_MAX;
	const uint64_t each_ns = thread->clocks.kernel_period_ns * matches->count / count;
	unsigned used = 0;

	for (uint64_t i = matches->count - count; i < matches->count && weight_ns > 0; i++) {
		const bool is_last = i + 1 == matches->count || weight_ns < 2 * each_ns;

		pieces[used].path = path_of(thread, matches->at[i % FG_KERNEL_PIECES_MAX], path);
		pieces[used].weight_ns = is_last ? weight_ns : each_ns;
		weight_ns -= pieces[used].weight_ns;
		used++;
	}
	return used;
}

unsigned fg_kernel_pieces(struct fg_thread *thread, const ucontext_t *context, uint32_t path,
			  uint64_t weight_ns, struct fg_kernel_piece pieces[FG_KERNEL_PIECES_MAX])
{
	struct search search = {.ip = fg_arch_register(context, FG_DWARF_RA),
				.sp = fg_arch_register(context, FG_DWARF_SP)};
	const bool behind = fg_arch_behind_syscall((const uint8_t *)(uintptr_t)search.ip);
	const struct matches *found = &search.exact;
	unsigned count = 0;

	const uint64_t head = ring_head(thread);

	look(thread, head, &search);
	if (search.exact.count == 0 && search.old_exact)
		add(&search.exact, search.old_exact - 1);
	if (search.exact.count == 0 && !behind) {
		if (search.near.count == 0 && search.old_near)
			add(&search.near, search.old_near - 1);
		found = &search.near;
	}
	if (found->count > 0)
		count = split(thread, found, path, weight_ns, pieces);
	make_room(thread, head);
	/* no room for even one frame of the kernel: treat the place as unknown */
	return count > 0 && pieces[0].path != path ? count : 0;
}

/* ---- records with a stack ---- */

bool fg_kernel_has_new_hits(const struct fg_thread *thread)
{
	return fg_kernel_is_clock(thread) && ring_head(thread) != thread->clocks.kernel_seen;
}

/*
 * Returns the path of a record, from the program's outermost frame to the kernel's innermost frame,
 * or 0.
 */
static uint32_t whole_path(struct fg_thread *thread, uint64_t at, uint64_t size,
			   struct record *record, uint32_t *new_frames)
{
	uint32_t path = 0;

	if (!read_record(thread, at, size, record))
		return 0;
	if (record->stack_bytes > 0) {
		const struct fg_stack_copy copy = {
			.regs = {.pc = (uintptr_t)record->ip,
				 .sp = (uintptr_t)record->sp,
				 .bp = (uintptr_t)record->bp},
			.link = (uintptr_t)record->link,
			.ring = ring_data(thread),
			.ring_bytes = thread->clocks.kernel_ring_bytes,
			.begin = (uint32_t)(8 * record->stack % thread->clocks.kernel_ring_bytes),
			.bytes = (uint32_t)record->stack_bytes,
		};

		path = fg_stack_walk_copy(thread, &copy, new_frames);
	}
	return path ? path_of(thread, at, path) : 0;
}

void fg_kernel_collect_hits(struct fg_thread *thread, struct fg_kernel_hits *hits)
{
	const uint64_t head = ring_head(thread);
	uint64_t at = thread->clocks.kernel_seen;
	uint32_t new_frames = 0;

	if (atomic_load(&fg_g.unloading))
		return;
	while (at < head && hits->count < FG_KERNEL_HITS_MAX &&
	       new_frames < FG_COPY_NEW_FRAMES_MAX) {
		struct record record = {0};
		uint32_t type = 0;
		const uint64_t size = record_size(thread, at, &type);

		if (size == 0 || size > head - at) {
			at = head;
			break;
		}
		if (type == PERF_RECORD_SAMPLE) {
			const uint32_t path = whole_path(thread, at, size, &record, &new_frames);

			if (path)
				hits->hit[hits->count++] =
					(struct fg_kernel_hit){record.time_ns, path, 0};
			else
				thread->clocks.kernel_unknown_ns += thread->clocks.kernel_period_ns;
		}
		at += size;
	}
	thread->clocks.kernel_seen = at;
	if (at == head)
		make_room(thread, head);
}
