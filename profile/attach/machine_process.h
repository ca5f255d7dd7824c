/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Private to the files of machine.h: records of the kernel, and a process between two execs with
 * its threads and their samples.
 */
#ifndef FG_ATTACH_MACHINE_PROCESS_H
#define FG_ATTACH_MACHINE_PROCESS_H

#include "base/base.h"
#include "base/error.h"
#include "profile/attach/kernel_names.h"
#include "profile/attach/mappings.h"
#include "profile/attach/paths.h"
#include "profile/attach/sample_weight.h"
#include "profile/attach/stacks.h"

#include <sys/types.h>
#include <sys/user.h>

/* ---- machine_events.c ---- */

struct fg_machine_record {
	enum fg_machine_record_kind {
		FG_MACHINE_SAMPLE,
		FG_MACHINE_NAME, /* a thread has a new name and, if `is_exec`, a new program */
		FG_MACHINE_EXIT,
		FG_MACHINE_LOST,
	} kind;
	pid_t pid, tid; /* 0: the process is outside fastgate's namespace */
	uint64_t time_ns;
	uint64_t lost;
	const char *name;
	bool is_exec;
	/* fields of a sample */
	bool in_kernel;
	const uint64_t *kernel; /* leaf first; only the leaf's address is exact */
	size_t kernel_count;
	bool has_registers; /* false: a kernel thread, or a 32-bit program */
	struct user_regs_struct registers;
	const uint8_t *stack; /* from the stack pointer upwards */
	size_t stack_size;
};

struct fg_machine_events;

int fg_machine_events_open(int64_t period_ns, struct fg_machine_events **events,
			   struct fg_error *err) FG_NODISCARD;
/* Stops sampling. The records in the rings can still be read. */
void fg_machine_events_stop(struct fg_machine_events *events);
/* Waits for records, at most this long. */
void fg_machine_events_wait(const struct fg_machine_events *events, int milliseconds);
/* Calls back for each record, CPU by CPU; a record's pointers are valid only during the call. */
void fg_machine_events_read(struct fg_machine_events *events,
			    void (*take)(void *context, const struct fg_machine_record *record),
			    void *context);
void fg_machine_events_close(struct fg_machine_events *events);

/* ---- machine_process.c ---- */

struct fg_machine_thread {
	pid_t tid;
	char name[32];
	struct fg_sampled *samples;
	size_t sample_count, sample_capacity;
};

struct fg_machine_process {
	pid_t pid;
	bool is_read; /* the mappings were read, or the process was already gone */
	bool is_gone;
	struct fg_mapping_looks looks;
	struct fg_memory *memory; /* shared by all processes */
	struct fg_mappings mappings;
	struct fg_stack_walker *walker;
	struct fg_trace_writer writer;
	struct fg_paths paths;
	struct fg_machine_thread *threads;
	size_t thread_count, thread_capacity;
	size_t last_thread;
};

struct fg_machine_process *fg_machine_process_new(pid_t pid, uint64_t image, int64_t period_ns,
						  int64_t started_ns, struct fg_memory *memory);
void fg_machine_process_free(struct fg_machine_process *process);
void fg_machine_process_sample(struct fg_machine_process *process,
			       const struct fg_machine_record *record,
			       const struct fg_kernel_names *kernel);
void fg_machine_process_rename(struct fg_machine_process *process, pid_t tid, const char *name);
/* Marks the process as ended: its memory can no longer be read. */
void fg_machine_process_end(struct fg_machine_process *process);
int fg_machine_process_write(struct fg_machine_process *process, const char *folder,
			     struct fg_error *err) FG_NODISCARD;

#endif
