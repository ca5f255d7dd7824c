/* SPDX-License-Identifier: Apache-2.0 */
/* Inside of machine.c: a process between two execs, with its threads and their samples. */
#ifndef FG_OUTSIDE_MACHINE_PROCESS_H
#define FG_OUTSIDE_MACHINE_PROCESS_H

#include "profile/attach/kernel_names.h"
#include "profile/attach/machine_events.h"
#include "profile/attach/mappings.h"
#include "profile/attach/paths.h"
#include "profile/attach/sample_weight.h"
#include "profile/attach/stacks.h"

struct fg_machine_thread {
	pid_t tid;
	char name[32];
	struct fg_sampled *samples;
	size_t sample_count, sample_capacity;
};

struct fg_machine_process {
	pid_t pid;
	bool is_read; /* its mappings were read, or it was already gone */
	bool is_gone;
	struct fg_mapping_looks looks;
	struct fg_memory *memory; /* shared by all */
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
/* It has ended: its memory can no longer be read. */
void fg_machine_process_end(struct fg_machine_process *process);
int fg_machine_process_write(struct fg_machine_process *process, const char *folder,
			     struct fg_error *err) FG_NODISCARD;

#endif
