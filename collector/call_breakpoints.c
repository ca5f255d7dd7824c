// SPDX-License-Identifier: Apache-2.0
#include "collector/call_breakpoints.h"

#include "collector/calls.h"
#include "collector/state.h"
#include "collector/threads.h"
#include "collector/writer.h"

#include <link.h>
#include <linux/hw_breakpoint.h>
#include <linux/perf_event.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
	REGISTERS = FG_BREAKPOINT_PLACES_MAX,
	FUNCTIONS_MAX = 64,   /* that are told of, with those that are refused */
	HOLD_TRIES = 1 << 16, /* while another thread reads our events */
	REFUSED = -1,         /* in place of a descriptor */
};

/* A function that was proposed. */
struct function {
	char name[FG_CALL_NAME_MAX];
	uint32_t order; /* as it was asked for */
	uint32_t index; /* in fg_called; set if the state is not one of refusal */
	_Atomic uint32_t state;
	_Atomic uint32_t why;    /* errno */
	_Atomic uint64_t calls;  /* so far */
	_Atomic uint64_t missed; /* threads in which it is not counted */
	_Atomic uint64_t events; /* that were opened */
	uint64_t written;        /* of `calls` */
	struct fg_breakpoint_place places[REGISTERS];
	char paths[REGISTERS][FG_CALL_NAME_MAX];
	unsigned place_count;
	uintptr_t proposed[REGISTERS + 1];
	unsigned proposed_count;
};

struct breakpoint {
	_Atomic uintptr_t address; /* 0: free */
	struct function *function;
};

/* A breakpoint in a thread. */
struct event {
	int fd; /* 0: none yet */
	uint64_t id;
	uint64_t seen; /* of what it has counted */
};

/* All of a thread, by its slot in fg_g.threads. */
struct events {
	_Atomic uint32_t held; /* a thread is at them */
	_Atomic pid_t tid;     /* whose they are; 0: nobody's */
	struct event events[REGISTERS];
};

static bool wanted;
static struct function functions[FUNCTIONS_MAX];
static unsigned function_count;
static struct breakpoint breakpoints[REGISTERS];
static struct events slots[FG_THREADS_MAX];

void fg_breakpoints_init(void)
{
	wanted = true;
}

bool fg_breakpoints_wanted(void)
{
	return wanted;
}

bool fg_breakpoint_is_at(uintptr_t address)
{
	for (unsigned i = 0; i < REGISTERS; i++)
		if (address && atomic_load(&breakpoints[i].address) == address)
			return true;
	return false;
}

/* ---- events ---- */

/* A descriptor, or a negative errno. */
static int open_event(uintptr_t address, pid_t tid)
{
	struct perf_event_attr attr;
	long fd = 0;

	memset(&attr, 0, sizeof(attr));
	attr.size = sizeof(attr);
	attr.type = PERF_TYPE_BREAKPOINT;
	attr.bp_type = HW_BREAKPOINT_X;
	attr.bp_addr = address;
	attr.bp_len = sizeof(long);
	attr.sample_period = FG_BREAKPOINT_CALLS_MAX;
	attr.disabled = 1;
	attr.exclude_kernel = 1;
	attr.exclude_hv = 1;
	fd = syscall(SYS_perf_event_open, &attr, tid, -1, -1, (unsigned long)PERF_FLAG_FD_CLOEXEC);
	if (fd < 0)
		return -errno;
	fd = fg_fd_keep((int)fd);
	return fd < 0 ? -EMFILE : (int)fd; /* high: never 0 */
}

/* Is the descriptor still what we opened?  Whoever closes what it does not know may have ours. */
static bool is_ours(const struct event *event)
{
	uint64_t id = 0;

	return event->fd > 0 && syscall(SYS_ioctl, event->fd, PERF_EVENT_IOC_ID, &id) == 0 &&
	       id == event->id;
}

static void stop_event(struct event *event)
{
	if (is_ours(event))
		fg_fd_drop(event->fd);
	*event = (struct event){.fd = 0};
}

/* Adds what it has counted since the last look. */
static void look_at(struct event *event, struct function *function)
{
	uint64_t value = 0;

	if (!is_ours(event)) {
		/* Somebody has closed it behind our back. */
		event->fd = REFUSED;
		(void)atomic_fetch_add(&function->missed, 1);
		return;
	}
	if (syscall(SYS_read, event->fd, &value, sizeof(value)) != (long)sizeof(value) ||
	    value < event->seen)
		return;
	(void)atomic_fetch_add(&function->calls, value - event->seen);
	event->seen = value;
	if (value >= FG_BREAKPOINT_CALLS_MAX)
		atomic_store(&function->state, FG_BREAKPOINT_TOO_OFTEN);
}

static void start_event(struct event *event, struct breakpoint *breakpoint, pid_t tid)
{
	struct function *function = breakpoint->function;
	const uint32_t state = atomic_load(&function->state);
	int fd = 0;

	if (state == FG_BREAKPOINT_REFUSED || state == FG_BREAKPOINT_TOO_OFTEN ||
	    atomic_load(&function->calls) >= FG_BREAKPOINT_CALLS_MAX) {
		if (state == FG_BREAKPOINT_COUNTED)
			atomic_store(&function->state, FG_BREAKPOINT_TOO_OFTEN);
		return;
	}
	fd = open_event(atomic_load(&breakpoint->address), tid);
	*event = (struct event){.fd = fd > 0 ? fd : 0};
	if (fd >= 0 && (syscall(SYS_ioctl, fd, PERF_EVENT_IOC_ID, &event->id) != 0 ||
			syscall(SYS_ioctl, fd, PERF_EVENT_IOC_REFRESH, 1) != 0)) {
		fd = -errno;
		fg_fd_drop(event->fd);
	}
	if (fd >= 0) {
		(void)atomic_fetch_add(&function->events, 1);
		return;
	}
	event->fd = REFUSED;
	atomic_store(&function->why, (uint32_t)-fd);
	if (fd == -ESRCH)
		return; /* the thread has ended */
	/* Where it does not work for the first thread it will for none. */
	if (atomic_load(&function->events) == 0)
		atomic_store(&function->state, FG_BREAKPOINT_REFUSED);
	else
		(void)atomic_fetch_add(&function->missed, 1);
}

/* ---- by thread ---- */

static bool hold(struct events *events)
{
	for (unsigned tries = 0; tries < HOLD_TRIES; tries++) {
		uint32_t nobody = 0;

		if (atomic_compare_exchange_strong(&events->held, &nobody, 1))
			return true;
	}
	return false;
}

static void let_go(struct events *events)
{
	atomic_store(&events->held, 0);
}

/* Those that it does not have yet. */
static void start_events(struct events *events, pid_t tid)
{
	for (unsigned i = 0; i < REGISTERS; i++)
		if (atomic_load(&breakpoints[i].address) && events->events[i].fd == 0)
			start_event(&events->events[i], &breakpoints[i], tid);
}

static void end_events(struct events *events)
{
	for (unsigned i = 0; i < REGISTERS; i++) {
		if (events->events[i].fd > 0)
			look_at(&events->events[i], breakpoints[i].function);
		stop_event(&events->events[i]);
	}
	atomic_store(&events->tid, 0);
}

void fg_breakpoints_thread_begin(struct fg_thread *thread)
{
	struct events *events = &slots[thread->index];

	if (!wanted || fg_g.sandboxed || !hold(events))
		return;
	if (atomic_load(&events->tid))
		end_events(events);
	atomic_store(&events->tid, fg_tid(thread));
	start_events(events, fg_tid(thread));
	let_go(events);
	/* It was found while it ran: what it called before is not known. */
	for (unsigned i = 0; thread->kind == FG_THREAD_RAW && i < REGISTERS; i++)
		if (atomic_load(&breakpoints[i].address))
			(void)atomic_fetch_add(&breakpoints[i].function->missed, 1);
}

void fg_breakpoints_thread_end(const struct fg_thread *thread)
{
	struct events *events = &slots[thread->index];

	if (!wanted || !hold(events))
		return;
	if (atomic_load(&events->tid))
		end_events(events);
	let_go(events);
}

void fg_breakpoints_forked(void)
{
	for (uint32_t slot = 0; wanted && slot < atomic_load(&fg_g.thread_high); slot++) {
		struct events *events = &slots[slot];

		atomic_store(&events->held, 0); /* whoever did is not here */
		atomic_store(&events->tid, 0);
		for (unsigned i = 0; i < REGISTERS; i++)
			stop_event(&events->events[i]);
	}
	for (unsigned i = 0; i < function_count; i++) {
		struct function *function = &functions[i];
		const uint32_t state = atomic_load(&function->state);

		atomic_store(&function->calls, 0);
		atomic_store(&function->missed, 0);
		function->written = 0;
		if (state == FG_BREAKPOINT_TOO_OFTEN)
			atomic_store(&function->state, FG_BREAKPOINT_COUNTED);
	}
}

void fg_breakpoints_fd_moved(int from, int to)
{
	for (uint32_t slot = 0; slot < atomic_load(&fg_g.thread_high); slot++) {
		struct events *events = &slots[slot];

		if (!atomic_load(&events->tid) || !hold(events))
			continue;
		for (unsigned i = 0; i < REGISTERS; i++)
			if (events->events[i].fd == from)
				events->events[i].fd = to;
		let_go(events);
	}
}

/* In all threads that have begun; one that begins now does it itself, or is met here. */
static void start_everywhere(void)
{
	for (uint32_t slot = 0; slot < atomic_load(&fg_g.thread_high); slot++) {
		struct events *events = &slots[slot];

		if (!atomic_load(&events->tid) || !hold(events))
			continue;
		if (atomic_load(&events->tid))
			start_events(events, atomic_load(&events->tid));
		let_go(events);
	}
}

/* ---- which functions ---- */

static struct function *function_of(const char *name)
{
	for (unsigned i = 0; i < function_count; i++)
		if (strcmp(functions[i].name, name) == 0)
			return &functions[i];
	if (function_count == FUNCTIONS_MAX || strlen(name) >= FG_CALL_NAME_MAX)
		return NULL;
	memcpy(functions[function_count].name, name, strlen(name) + 1);
	return &functions[function_count++];
}

void fg_breakpoint_propose(const char *name, uint32_t order, uintptr_t address)
{
	struct function *function = function_of(name);

	if (!function || fg_breakpoint_is_at(address))
		return;
	function->order = order;
	for (unsigned i = 0; i < function->proposed_count; i++)
		if (function->proposed[i] == address)
			return;
	if (function->proposed_count < REGISTERS + 1)
		function->proposed[function->proposed_count++] = address;
}

static unsigned free_registers(void)
{
	unsigned count = 0;

	for (unsigned i = 0; i < REGISTERS; i++)
		count += atomic_load(&breakpoints[i].address) == 0;
	return count;
}

static void note_place(struct function *function, const struct fg_breakpoint_host *host,
		       uintptr_t address)
{
	const unsigned index = function->place_count;
	struct fg_breakpoint_place *place = &function->places[index];

	if (index == REGISTERS || !host->place_of(address, place))
		return;
	const char *path = *place->path ? place->path : fg_g.program;

	for (unsigned i = 0; i < index; i++)
		if (function->places[i].address == place->address &&
		    strcmp(function->paths[i], path) == 0)
			return;
	if (strlen(path) >= sizeof(function->paths[0]))
		return;
	memcpy(function->paths[index], path, strlen(path) + 1);
	function->place_count++;
}

static void take_register(struct function *function, uintptr_t address)
{
	for (unsigned i = 0; i < REGISTERS; i++) {
		if (atomic_load(&breakpoints[i].address))
			continue;
		breakpoints[i].function = function;
		atomic_store(&breakpoints[i].address, address);
		return;
	}
}

static enum fg_breakpoint_state judge(const struct function *function,
				      const struct fg_breakpoint_host *host)
{
	for (unsigned i = 0; i < function->proposed_count; i++)
		if (host->is_used_by_us(function->proposed[i]))
			return FG_BREAKPOINT_OURS;
	return function->proposed_count > free_registers() ? FG_BREAKPOINT_NO_MORE
							   : FG_BREAKPOINT_COUNTED;
}

/* All its addresses or none: half a number is none. */
static void set(struct function *function, const struct fg_breakpoint_host *host)
{
	const enum fg_breakpoint_state state = judge(function, host);

	if (state != FG_BREAKPOINT_COUNTED) {
		atomic_store(&function->state, state);
		return;
	}
	if (!host->add(function->name, function->proposed[0], &function->index)) {
		atomic_store(&function->state, FG_BREAKPOINT_NO_MORE);
		return;
	}
	for (unsigned i = 0; i < function->proposed_count; i++) {
		note_place(function, host, function->proposed[i]);
		take_register(function, function->proposed[i]);
	}
}

static struct function *first_proposed(void)
{
	struct function *first = NULL;

	for (unsigned i = 0; i < function_count; i++)
		if (functions[i].proposed_count > 0 &&
		    (!first || functions[i].order < first->order))
			first = &functions[i];
	return first;
}

void fg_breakpoints_set(const struct fg_breakpoint_host *host)
{
	for (struct function *next = first_proposed(); next; next = first_proposed()) {
		set(next, host);
		next->proposed_count = 0;
	}
	if (!fg_g.sandboxed)
		start_everywhere();
}

/* What has counted so far stays counted. */
static void clear(unsigned index)
{
	for (uint32_t slot = 0; slot < atomic_load(&fg_g.thread_high); slot++) {
		struct events *events = &slots[slot];

		if (!atomic_load(&events->tid) || !hold(events))
			continue;
		if (events->events[index].fd > 0)
			look_at(&events->events[index], breakpoints[index].function);
		stop_event(&events->events[index]);
		let_go(events);
	}
}

void fg_breakpoints_sweep(bool (*is_loaded)(uintptr_t address))
{
	for (unsigned i = 0; i < REGISTERS; i++) {
		const uintptr_t address = atomic_load(&breakpoints[i].address);

		if (!address || is_loaded(address) || fg_g.sandboxed)
			continue;
		atomic_store(&breakpoints[i].address, 0); /* no thread that begins sets it */
		clear(i);
	}
}

struct sought {
	uintptr_t address;
	bool is_found;
};

static int seek(struct dl_phdr_info *info, size_t size, void *data)
{
	struct sought *sought = data;

	(void)size;
	for (size_t i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *header = &info->dlpi_phdr[i];

		sought->is_found |=
			header->p_type == PT_LOAD &&
			sought->address - info->dlpi_addr - header->p_vaddr < header->p_memsz;
	}
	return sought->is_found;
}

static bool is_still_loaded(uintptr_t address)
{
	struct sought sought = {.address = address};

	(void)dl_iterate_phdr(seek, &sought);
	return sought.is_found;
}

void fg_breakpoints_unloaded(void)
{
	if (wanted)
		fg_breakpoints_sweep(is_still_loaded);
}

/* ---- what is told ---- */

bool fg_breakpoints_collect(void)
{
	bool any = false;

	for (uint32_t slot = 0; wanted && slot < atomic_load(&fg_g.thread_high); slot++) {
		struct events *events = &slots[slot];

		if (!atomic_load(&events->tid) || !hold(events))
			continue;
		for (unsigned i = 0; i < REGISTERS; i++)
			if (events->events[i].fd > 0)
				look_at(&events->events[i], breakpoints[i].function);
		let_go(events);
	}
	for (unsigned i = 0; i < function_count; i++) {
		const uint64_t calls = atomic_load(&functions[i].calls);

		any |= calls != functions[i].written;
		/* Whichever threads made them: it must not depend on which began when. */
		if (calls >= FG_BREAKPOINT_CALLS_MAX)
			atomic_store(&functions[i].state, FG_BREAKPOINT_TOO_OFTEN);
	}
	return any;
}

void fg_breakpoints_write(struct fg_thread *writer,
			  void (*count)(struct fg_thread *writer, uint32_t function,
					uint64_t calls))
{
	for (unsigned i = 0; i < function_count; i++) {
		struct function *function = &functions[i];
		const uint64_t calls = atomic_load(&function->calls);
		const uint64_t missed = atomic_load(&function->missed);
		uint32_t state = atomic_load(&function->state);

		if (state == FG_BREAKPOINT_COUNTED && missed > 0)
			state = FG_BREAKPOINT_MISSED;
		if (state == FG_BREAKPOINT_COUNTED)
			count(writer, function->index, calls - function->written);
		function->written = calls;
		fg_record_begin(writer, FG_RECORD_BREAKPOINT);
		fg_record_number(writer, state);
		fg_record_number(writer, atomic_load(&function->why));
		fg_record_number(writer, calls);
		fg_record_number(writer, missed);
		fg_record_text(writer, function->name, strlen(function->name));
		for (unsigned n = 0; n < function->place_count; n++) {
			fg_record_path(writer, function->paths[n]);
			fg_record_number(writer, function->places[n].address);
		}
		(void)fg_record_write(writer);
	}
}
