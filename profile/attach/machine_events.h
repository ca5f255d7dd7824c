/* SPDX-License-Identifier: Apache-2.0 */
/* Inside of machine.c: perf events of all CPUs, read as records. */
#ifndef FG_OUTSIDE_MACHINE_EVENTS_H
#define FG_OUTSIDE_MACHINE_EVENTS_H

#include "base/base.h"
#include "base/error.h"

#include <sys/types.h>
#include <sys/user.h>

struct fg_machine_record {
	enum fg_machine_record_kind {
		FG_MACHINE_SAMPLE,
		FG_MACHINE_NAME, /* a thread has a new name; `is_exec`: and a new program */
		FG_MACHINE_EXIT,
		FG_MACHINE_LOST,
	} kind;
	pid_t pid, tid; /* 0: a process that our namespace does not have */
	uint64_t time_ns;
	uint64_t lost;
	const char *name;
	bool is_exec;
	/* fields of a sample */
	bool in_kernel;
	const uint64_t *kernel; /* the leaf first; only the leaf's address is exact */
	size_t kernel_count;
	bool has_registers; /* a 64-bit program's; false: a kernel thread, or 32 bits */
	struct user_regs_struct registers;
	const uint8_t *stack; /* from the stack pointer upwards */
	size_t stack_size;
};

struct fg_machine_events;

int fg_machine_events_open(int64_t period_ns, struct fg_machine_events **events,
			   struct fg_error *err) FG_NODISCARD;
/* Nothing more is sampled; what is in the rings can still be read. */
void fg_machine_events_stop(struct fg_machine_events *events);
/* Waits until a record may be there, or for this long. */
void fg_machine_events_wait(const struct fg_machine_events *events, int milliseconds);
/* Calls back for each record, CPU by CPU; a record's pointers are valid only during the call. */
void fg_machine_events_read(struct fg_machine_events *events,
			    void (*take)(void *context, const struct fg_machine_record *record),
			    void *context);
void fg_machine_events_close(struct fg_machine_events *events);

#endif
