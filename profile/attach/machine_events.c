// SPDX-License-Identifier: Apache-2.0
#include "base/fs.h"
#include "profile/attach/machine_process.h"

#include <asm/perf_regs.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum {
	RING_PAGES = 1024,   /* holds the records of one second in which fastgate gets no CPU */
	RING_PAGES_MIN = 64, /* fits into the memory that unprivileged users may lock */
	STACK_BYTES = 16384,
	RECORD_MAX = 65536,
	CPUS_MAX = 4096,
};

/* The registers that a record contains, in the order of the kernel's numbers. */
#define REGISTERS                                                       \
 ((UINT64_C(1) << PERF_REG_X86_AX) | (UINT64_C(1) << PERF_REG_X86_BX) | \
  (UINT64_C(1) << PERF_REG_X86_CX) | (UINT64_C(1) << PERF_REG_X86_DX) | \
  (UINT64_C(1) << PERF_REG_X86_SI) | (UINT64_C(1) << PERF_REG_X86_DI) | \
  (UINT64_C(1) << PERF_REG_X86_BP) | (UINT64_C(1) << PERF_REG_X86_SP) | \
  (UINT64_C(1) << PERF_REG_X86_IP) | (UINT64_C(0xff) << PERF_REG_X86_R8))

static const size_t register_places[] = {
	offsetof(struct user_regs_struct, rax), offsetof(struct user_regs_struct, rbx),
	offsetof(struct user_regs_struct, rcx), offsetof(struct user_regs_struct, rdx),
	offsetof(struct user_regs_struct, rsi), offsetof(struct user_regs_struct, rdi),
	offsetof(struct user_regs_struct, rbp), offsetof(struct user_regs_struct, rsp),
	offsetof(struct user_regs_struct, rip), offsetof(struct user_regs_struct, r8),
	offsetof(struct user_regs_struct, r9),  offsetof(struct user_regs_struct, r10),
	offsetof(struct user_regs_struct, r11), offsetof(struct user_regs_struct, r12),
	offsetof(struct user_regs_struct, r13), offsetof(struct user_regs_struct, r14),
	offsetof(struct user_regs_struct, r15),
};

struct ring {
	int fd;
	struct perf_event_mmap_page *control;
	const uint8_t *data;
	size_t size; /* a power of two, without the control page */
};

struct fg_machine_events {
	struct ring *rings;
	struct pollfd *polled;
	size_t count;
	uint64_t *record; /* a copy of one record, contiguous */
};

/* ---- opening ---- */

static int refuse(int error, struct fg_error *err)
{
	char *level = NULL;
	int status = FG_OK;

	if (error == ENOSYS || error == ENOENT || error == EOPNOTSUPP)
		return fg_error_set(
			err, FG_EUNSUPPORTED,
			"this kernel has no perf events: the machine cannot be sampled");
	if (error != EACCES && error != EPERM) {
		errno = error;
		return fg_error_errno(err, FG_EUNSUPPORTED, "perf events cannot be opened");
	}
	if (fg_fs_read("/proc/sys/kernel/perf_event_paranoid", 64, &level, NULL, NULL) == FG_OK)
		level[strcspn(level, "\n")] = '\0';
	status = fg_error_set(
		err, FG_EUNSUPPORTED,
		"sampling the machine is not permitted: it needs root, CAP_PERFMON, or "
		"kernel.perf_event_paranoid below 1 (it is %s)",
		level ? level : "not known");
	free(level);
	return status;
}

/* EPERM: the ring exceeds the memory that this user may lock. */
static int map_ring(int fd, size_t pages, struct ring *ring)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	void *memory = mmap(NULL, (pages + 1) * page, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	if (memory == MAP_FAILED)
		return errno;
	*ring = (struct ring){.fd = fd,
			      .control = memory,
			      .data = (const uint8_t *)memory + page,
			      .size = pages * page};
	return 0;
}

static int open_cpu(struct fg_machine_events *events, int cpu, int64_t period_ns)
{
	struct perf_event_attr what = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(what),
		.config = PERF_COUNT_SW_CPU_CLOCK,
		.sample_period = (uint64_t)period_ns,
		.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CALLCHAIN |
			       PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER,
		.exclude_idle = 1,
		.exclude_callchain_user = 1,
		.comm = 1,
		.comm_exec = 1,
		.task = 1,
		.use_clockid = 1,
		.clockid = CLOCK_MONOTONIC,
		.wakeup_events = 1,
		.sample_regs_user = REGISTERS,
		.sample_stack_user = STACK_BYTES,
	};
	struct ring *ring = &events->rings[events->count];
	const int fd = (int)syscall(SYS_perf_event_open, &what, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);
	int error = EPERM;

	if (fd < 0)
		return errno;
	for (size_t pages = RING_PAGES; error == EPERM && pages >= RING_PAGES_MIN; pages /= 4)
		error = map_ring(fd, pages, ring);
	if (error != 0) {
		(void)close(fd);
		return error;
	}
	events->polled[events->count++] = (struct pollfd){.fd = fd, .events = POLLIN};
	return 0;
}

int fg_machine_events_open(int64_t period_ns, struct fg_machine_events **events,
			   struct fg_error *err)
{
	const long cpus = sysconf(_SC_NPROCESSORS_CONF);
	const size_t count = cpus < 1 ? 1 : fg_min_size((size_t)cpus, CPUS_MAX);
	struct fg_machine_events *made = fg_xcalloc(1, sizeof(*made));
	int error = 0;

	made->record = fg_xcalloc(1, RECORD_MAX);
	made->rings = fg_xcalloc(count, sizeof(made->rings[0]));
	made->polled = fg_xcalloc(count, sizeof(made->polled[0]));
	for (size_t i = 0; i < count && (error == 0 || error == ENODEV); i++)
		error = open_cpu(made, (int)i, period_ns); /* ENODEV: the CPU is offline */
	if (made->count > 0 && (error == 0 || error == ENODEV)) {
		*events = made;
		return FG_OK;
	}
	fg_machine_events_close(made);
	return refuse(error, err);
}

void fg_machine_events_stop(struct fg_machine_events *events)
{
	for (size_t i = 0; i < events->count; i++)
		(void)ioctl(events->rings[i].fd, PERF_EVENT_IOC_DISABLE, 0);
}

void fg_machine_events_wait(const struct fg_machine_events *events, int milliseconds)
{
	(void)poll(events->polled, events->count, milliseconds);
}

void fg_machine_events_close(struct fg_machine_events *events)
{
	if (!events)
		return;
	for (size_t i = 0; i < events->count; i++) {
		(void)munmap(events->rings[i].control,
			     events->rings[i].size + (size_t)sysconf(_SC_PAGESIZE));
		(void)close(events->rings[i].fd);
	}
	free(events->rings);
	free(events->polled);
	free(events->record);
	free(events);
}

/* ---- records ---- */

/* Reads eight bytes at a time: the fields of a record have this size, alone or in pairs. */
struct cursor {
	const uint64_t *at;
	size_t left;
};

static uint64_t take(struct cursor *c)
{
	if (c->left == 0)
		return 0;
	c->left--;
	return *c->at++;
}

static void take_ids(struct cursor *c, struct fg_machine_record *record)
{
	const uint64_t ids = take(c);

	record->pid = (pid_t)(uint32_t)ids;
	record->tid = (pid_t)(uint32_t)(ids >> 32);
	if (record->pid <= 0 || record->tid <= 0)
		record->pid = record->tid = 0;
}

/*
 * Takes the call chain, in which the kernel puts markers between its own addresses and the
 * program's.
 */
static void take_chain(struct cursor *c, struct fg_machine_record *record)
{
	const size_t count = fg_min_size((size_t)take(c), c->left);
	const uint64_t *at = c->at;
	size_t end = 0;

	c->at += count;
	c->left -= count;
	while (end < count && at[end] >= (uint64_t)PERF_CONTEXT_MAX)
		end++;
	record->kernel = at + end;
	while (end + record->kernel_count < count &&
	       at[end + record->kernel_count] < (uint64_t)PERF_CONTEXT_MAX)
		record->kernel_count++;
}

static void take_registers(struct cursor *c, struct fg_machine_record *record)
{
	const uint64_t abi = take(c);

	if (abi == PERF_SAMPLE_REGS_ABI_NONE)
		return;
	for (size_t i = 0; i < FG_ARRAY_SIZE(register_places); i++) {
		const uint64_t value = take(c);

		memcpy((char *)&record->registers + register_places[i], &value, sizeof(value));
	}
	record->has_registers = abi == PERF_SAMPLE_REGS_ABI_64;
}

static void take_stack(struct cursor *c, struct fg_machine_record *record)
{
	const size_t words = fg_min_size((size_t)take(c) / sizeof(uint64_t), c->left);

	record->stack = (const uint8_t *)c->at;
	c->at += words;
	c->left -= words;
	record->stack_size = words > 0 ? fg_min_size((size_t)take(c), words * sizeof(uint64_t)) : 0;
}

static void take_sample(struct cursor *c, struct fg_machine_record *record)
{
	record->kind = FG_MACHINE_SAMPLE;
	take_ids(c, record);
	record->time_ns = take(c);
	take_chain(c, record);
	take_registers(c, record);
	take_stack(c, record);
	if (!record->in_kernel)
		record->kernel_count = 0;
}

/* Returns false for a record of another kind. */
static bool parse(const struct perf_event_header *header, struct fg_machine_record *record)
{
	struct cursor c = {
		.at = (const uint64_t *)(header + 1),
		.left = (header->size - sizeof(*header)) / sizeof(uint64_t),
	};

	*record = (struct fg_machine_record){
		.in_kernel =
			(header->misc & PERF_RECORD_MISC_CPUMODE_MASK) == PERF_RECORD_MISC_KERNEL};
	switch (header->type) {
	case PERF_RECORD_SAMPLE:
		take_sample(&c, record);
		return true;
	case PERF_RECORD_COMM:
		record->kind = FG_MACHINE_NAME;
		take_ids(&c, record);
		record->is_exec = (header->misc & PERF_RECORD_MISC_COMM_EXEC) != 0;
		record->name = c.left > 0 ? (const char *)c.at : "";
		return true;
	case PERF_RECORD_EXIT:
		record->kind = FG_MACHINE_EXIT;
		record->pid = (pid_t)(uint32_t)take(&c);
		record->tid = (pid_t)(uint32_t)take(&c);
		return true;
	case PERF_RECORD_LOST:
		record->kind = FG_MACHINE_LOST;
		(void)take(&c);
		record->lost = take(&c);
		return true;
	default:
		return false;
	}
}

static void copy_out(const struct ring *ring, uint64_t from, void *to, size_t size)
{
	const size_t place = (size_t)(from % ring->size);
	const size_t first = fg_min_size(size, ring->size - place);

	memcpy(to, ring->data + place, first);
	memcpy((char *)to + first, ring->data, size - first);
}

static void read_ring(struct fg_machine_events *events, struct ring *ring,
		      void (*take_record)(void *context, const struct fg_machine_record *record),
		      void *context)
{
	const uint64_t head = __atomic_load_n(&ring->control->data_head, __ATOMIC_ACQUIRE);
	uint64_t tail = ring->control->data_tail;

	while (tail < head) {
		struct perf_event_header *header = (struct perf_event_header *)events->record;
		struct fg_machine_record record;

		copy_out(ring, tail, header, sizeof(*header));
		if (header->size < sizeof(*header) || header->size > head - tail)
			break;
		copy_out(ring, tail, header, header->size);
		tail += header->size;
		/* the kernel gets its space back now, because handling the record is slow */
		__atomic_store_n(&ring->control->data_tail, tail, __ATOMIC_RELEASE);
		if (parse(header, &record))
			take_record(context, &record);
	}
}

void fg_machine_events_read(struct fg_machine_events *events,
			    void (*take_record)(void *context,
						const struct fg_machine_record *record),
			    void *context)
{
	for (size_t i = 0; i < events->count; i++)
		read_ring(events, &events->rings[i], take_record, context);
}
