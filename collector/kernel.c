// SPDX-License-Identifier: Apache-2.0
/*
 * A record of the ring belongs to a sample if the program entered the kernel at the same
 * instruction with the same stack pointer: at the system call behind which the sample stands, or at
 * the instruction that faulted.  Of a fault the stack pointer suffices where no record has the
 * instruction: a loop over fresh pages faults at several.
 *
 * Every record since the last look stands for a period of the event and gets that much of the
 * sample's weight; the last one gets what is left: system time that no sample has met, be it at
 * other places.  Without a new one, the last that is still in the ring tells what the kernel does
 * at this place.  Up to half of the ring is kept for that.
 */
#include "collector/kernel.h"

#include "collector/arch.h"
#include "collector/paths.h"
#include "collector/writer.h"

#include <linux/perf_event.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
	RING_BYTES = 16384, /* a power of two, and of pages; the control page comes on top */
	RING_WORDS = RING_BYTES / 8,
	KEPT_BYTES = RING_BYTES / 2,
	FRAMES_MAX = 40,
	PERIOD_SHARE = 8, /* its period is longer by this part, lest it keep step with the clock */
	RECORD_WORDS_MIN = 3,
	CALM_NS = 250000, /* CPU time for each time that a calm thread leaves its CPU, */
	CALM_FIRST = 20,  /* who may do so this often in any case */
	/* asm/perf_regs.h numbers them for x86, whatever the width */
	REGISTER_SP = 7,
	REGISTER_IP = 8,
};

static const uint64_t markers = (uint64_t)-4096; /* between the addresses of a call chain */

/* Where a record's parts lie, in words from the beginning of time. */
struct record {
	uint64_t chain;
	uint64_t count;
	uint64_t sp, ip; /* of the program */
};

struct matches {
	uint64_t at[FG_KERNEL_PIECES_MAX]; /* the latest ones, in a circle */
	uint64_t count;
};

static struct perf_event_mmap_page *control(const struct fg_thread *thread)
{
	return thread->clocks.kernel_ring;
}

static uint64_t word(const struct fg_thread *thread, uint64_t at)
{
	const uint8_t *data = (const uint8_t *)thread->clocks.kernel_ring + FG_ARCH_PAGE;

	return ((const uint64_t *)(const void *)data)[at % RING_WORDS];
}

/* ---- the event ---- */

static int open_event(uint64_t period_ns)
{
	struct perf_event_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.size = sizeof(attr);
	attr.type = PERF_TYPE_SOFTWARE;
	attr.config = PERF_COUNT_SW_TASK_CLOCK;
	attr.sample_period = period_ns;
	attr.sample_type = PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_REGS_USER;
	attr.sample_regs_user = UINT64_C(1) << REGISTER_SP | UINT64_C(1) << REGISTER_IP;
	attr.sample_max_stack = FRAMES_MAX;
	attr.exclude_user = 1;
	attr.exclude_hv = 1;
	attr.exclude_callchain_user = 1;
	attr.watermark = 1;
	attr.wakeup_watermark = RING_BYTES;
	const long fd =
		syscall(SYS_perf_event_open, &attr, 0, -1, -1, (unsigned long)PERF_FLAG_FD_CLOEXEC);

	return fd < 0 ? -errno : (int)fd;
}

/* For want of descriptors or memory one thread goes without; what is forbidden is so for all. */
static void refuse(struct fg_thread *thread, int error)
{
	struct fg_trace_header *header = atomic_load(&fg_g.header);

	thread->clocks.kernel_refused = true;
	if (error != EMFILE && error != ENFILE && error != ENOMEM)
		atomic_store(&fg_g.kernel_errno, (uint32_t)error);
	if (header)
		__atomic_store_n(&header->kernel_errno, (uint32_t)error, __ATOMIC_RELAXED);
}

static uint64_t period_of_event(void)
{
	return fg_g.period_ns + fg_g.period_ns / PERIOD_SHARE;
}

/* A second timer to stop and to start makes each switch to another thread dearer. */
static bool is_calm(const struct fg_thread *thread)
{
	const struct fg_times *now = &thread->account.last;
	const uint64_t cpu_ns = now->cpu_ns - thread->begin.cpu_ns;

	return now->departures - thread->begin.departures < CALM_FIRST + cpu_ns / CALM_NS;
}

void fg_kernel_watch(struct fg_thread *thread)
{
	struct fg_thread_clocks *clocks = &thread->clocks;

	clocks->kernel_idle = 0;
	if (!is_calm(thread)) {
		fg_kernel_unwatch(thread);
		return;
	}
	if (clocks->kernel_ring || clocks->kernel_refused || fg_g.options.no_kernel ||
	    fg_g.sandboxed)
		return;
	if (atomic_load_explicit(&fg_g.kernel_errno, memory_order_relaxed)) {
		refuse(thread, (int)atomic_load(&fg_g.kernel_errno));
		return;
	}
	const int fd = open_event(period_of_event());

	if (fd < 0) {
		refuse(thread, -fd);
		return;
	}
	void *ring =
		mmap(NULL, FG_ARCH_PAGE + RING_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	const int error = errno;

	(void)syscall(SYS_close, fd);
	if (ring == MAP_FAILED) {
		refuse(thread, error == EPERM ? ENOMEM : error);
		return;
	}
	clocks->kernel_seen = 0;
	clocks->kernel_ring = ring;
}

void fg_kernel_unwatch(struct fg_thread *thread)
{
	void *ring = thread->clocks.kernel_ring;

	thread->clocks.kernel_ring = NULL;
	if (ring && !fg_g.sandboxed)
		(void)munmap(ring, FG_ARCH_PAGE + RING_BYTES);
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
	if (!thread->clocks.kernel_ring)
		return;
	thread->clocks.kernel_seen = ring_head(thread);
	give_back(thread, thread->clocks.kernel_seen);
}

/* The header and its size in bytes; 0: nothing that the kernel would write. */
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
	const uint64_t count = words >= RECORD_WORDS_MIN ? word(thread, first) : 0;

	/* header, count, chain, width of the registers, sp, ip */
	if (count == 0 || count > words || count + 5 > words)
		return false;
	record->chain = first + 1;
	record->count = count;
	record->sp = word(thread, record->chain + count + 1);
	record->ip = word(thread, record->chain + count + 2);
	return word(thread, record->chain + count) != PERF_SAMPLE_REGS_ABI_NONE;
}

static void add(struct matches *matches, uint64_t at)
{
	matches->at[matches->count++ % FG_KERNEL_PIECES_MAX] = at;
}

struct search {
	uint64_t ip, sp;
	struct matches exact; /* since the last look, same instruction */
	struct matches near;  /* since then, same stack pointer */
	uint64_t old_exact;   /* before it, the last one, or 0 */
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

/* Goes through all that is in the ring. */
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

/* Afterwards: old records make room, whole ones. */
static void make_room(struct fg_thread *thread, uint64_t head)
{
	uint64_t tail = control(thread)->data_tail;

	while (head - tail > KEPT_BYTES) {
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

/* The call path of a record, `path` if there is no room for it. */
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
		/* the leaf follows the marker that says whose addresses these are */
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
	const uint64_t each_ns = period_of_event() * matches->count / count;
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
	/* no room for even one frame of the kernel: as if nothing were known */
	return count > 0 && pieces[0].path != path ? count : 0;
}
