// SPDX-License-Identifier: Apache-2.0
#include "profile/attach/machine_process.h"

#include "base/sort.h"
#include "profile/attach/sampled.h"

/* ---- the process ---- */

/*
 * Names the root of the call paths of a process without a known program: a kernel thread, without
 * its number ("kworker/0:1-events"), or a process that ended before it could be inspected.
 */
static void write_name(struct fg_machine_process *process)
{
	struct fg_thread_state state;
	char name[48];

	fg_thread_read_state(process->pid, process->pid, &state);
	if (process->pid == 0)
		(void)snprintf(name, sizeof(name), "[other processes]");
	else
		(void)snprintf(name, sizeof(name), "[%.*s]", (int)strcspn(state.name, "/:"),
			       state.name);
	fg_trace_writer_text(&process->writer, FG_RECORD_EXE, 0, name, strlen(name));
}

struct fg_machine_process *fg_machine_process_new(pid_t pid, uint64_t image, int64_t period_ns,
						  int64_t started_ns, struct fg_memory *memory)
{
	struct fg_machine_process *process = fg_xcalloc(1, sizeof(*process));
	const struct fg_outside_sampling sampling = {.pid = pid, .period_ns = period_ns};

	process->pid = pid;
	process->memory = memory;
	process->is_gone = pid == 0;
	if (!fg_sampled_trace_begin(&process->writer, &sampling, started_ns))
		write_name(process);
	process->writer.header.clock_user = FG_CLOCK_MACHINE;
	process->writer.header.image = image;
	fg_paths_init(&process->paths, &process->writer);
	return process;
}

void fg_machine_process_end(struct fg_machine_process *process)
{
	fg_stack_walker_free(process->walker);
	process->walker = NULL;
	process->is_gone = true;
}

void fg_machine_process_free(struct fg_machine_process *process)
{
	if (!process)
		return;
	fg_machine_process_end(process);
	for (size_t i = 0; i < process->thread_count; i++)
		free(process->threads[i].samples);
	free(process->threads);
	fg_mappings_release(&process->mappings);
	fg_paths_release(&process->paths);
	fg_trace_writer_release(&process->writer);
	free(process);
}

/* ---- threads ---- */

static struct fg_machine_thread *thread_of(struct fg_machine_process *process, pid_t tid)
{
	struct fg_thread_state state;
	struct fg_machine_thread *thread = NULL;

	if (process->last_thread < process->thread_count &&
	    process->threads[process->last_thread].tid == tid)
		return &process->threads[process->last_thread];
	for (size_t i = 0; i < process->thread_count; i++) {
		if (process->threads[i].tid != tid)
			continue;
		process->last_thread = i;
		return &process->threads[i];
	}
	process->last_thread = process->thread_count;
	thread = &FG_APPEND(process->threads, process->thread_count, process->thread_capacity);
	thread->tid = tid;
	fg_thread_read_state(process->pid, tid, &state);
	memcpy(thread->name, state.name, sizeof(thread->name));
	return thread;
}

void fg_machine_process_rename(struct fg_machine_process *process, pid_t tid, const char *name)
{
	struct fg_machine_thread *thread = thread_of(process, tid);

	(void)snprintf(thread->name, sizeof(thread->name), "%s", name);
}

/* ---- samples ---- */

static void read_mappings(struct fg_machine_process *process)
{
	struct fg_mappings fresh = {0};

	process->is_read = true;
	fg_mapping_looks_note(&process->looks);
	if (fg_mappings_read(process->memory, &fresh, NULL) != FG_OK || fresh.count == 0) {
		fg_mappings_release(&fresh);
		return;
	}
	fg_mappings_release(&process->mappings);
	process->mappings = fresh;
	fg_stack_walker_free(process->walker);
	process->walker = fg_stack_walker_new(process->memory, &process->mappings);
}

/*
 * Walks the program's part of the stack: no frame for a kernel thread or without mappings, one
 * frame if the stack cannot be walked.
 */
static void walk(struct fg_machine_process *process, const struct fg_machine_record *record,
		 struct fg_walked_stack *stack)
{
	stack->count = 0;
	stack->truncated = false;
	if (!record->has_registers)
		return;
	process->memory->pid = process->pid;
	fg_memory_forget(process->memory);
	if (!process->is_gone &&
	    (!process->is_read ||
	     (!fg_mappings_is_code(&process->mappings, record->registers.rip) &&
	      fg_mapping_looks_allow(&process->looks))))
		read_mappings(process);
	if (process->walker) {
		fg_memory_put(process->memory, record->registers.rsp, record->stack,
			      record->stack_size);
		fg_stack_walk(process->walker, &record->registers, stack);
	} else if (process->mappings.count > 0) {
		stack->frames[stack->count++] =
			(struct fg_stack_frame){.address = record->registers.rip, .exact = true};
		stack->truncated = true;
	} else {
		stack->truncated = true;
	}
}

void fg_machine_process_sample(struct fg_machine_process *process,
			       const struct fg_machine_record *record,
			       const struct fg_kernel_names *kernel)
{
	struct fg_trace_header *header = &process->writer.header;
	struct fg_machine_thread *thread = thread_of(process, record->tid);
	struct fg_walked_stack stack;
	uint64_t node = 0;

	walk(process, record, &stack);
	if (stack.count > 0)
		node = fg_paths_add(&process->paths, &process->mappings, &stack);
	else if (stack.truncated || record->kernel_count == 0)
		node = fg_paths_add_unknown(&process->paths);
	for (size_t i = record->kernel_count; i-- > 0;)
		node = fg_paths_add_kernel(
			&process->paths, node,
			fg_kernel_names_find(kernel, record->kernel[i] - (i > 0)),
			record->kernel[i], i == 0);
	FG_APPEND(thread->samples, thread->sample_count, thread->sample_capacity) =
		(struct fg_sampled){
			.time_ns = (int64_t)record->time_ns,
			.node = node,
			.bits = (uint8_t)((record->in_kernel ? (unsigned)FG_CLOCK_SYSTEM
							     : (unsigned)FG_CLOCK_PERF_USER) |
					  (stack.truncated ? FG_SAMPLE_TRUNCATED : 0u)),
		};
	header->samples++;
	header->losses[FG_LOSS_TRUNCATED] += stack.truncated;
	*(record->in_kernel ? &header->system_ns : &header->user_ns) += header->period_ns;
}

/* ---- the trace ---- */

FG_ORDER_BY(by_time, struct fg_sampled, FG_UP(time_ns))

/* Samples are sorted first: a thread changes CPUs, so they come from several rings. */
static void write_thread(struct fg_machine_process *process, struct fg_machine_thread *thread,
			 uint64_t id)
{
	struct fg_trace_writer *writer = &process->writer;
	const uint64_t started_ns = writer->header.start_monotonic_ns;
	uint64_t before_ns = started_ns;

	if (thread->sample_count > 0)
		qsort(thread->samples, thread->sample_count, sizeof(thread->samples[0]), by_time);
	fg_trace_writer_chunk(writer, (uint32_t)id, 0, started_ns);
	FG_TW(writer, FG_RECORD_THREAD_BEGIN, id, (uint64_t)thread->tid, started_ns,
	      thread->tid == process->pid ? FG_THREAD_MAIN : FG_THREAD_PTHREAD, FG_CLOCK_MACHINE);
	fg_trace_writer_text(writer, FG_RECORD_THREAD_NAME, id, thread->name, strlen(thread->name));
	for (size_t i = 0; i < thread->sample_count; i++) {
		const struct fg_sampled *sample = &thread->samples[i];
		const uint64_t now_ns = (uint64_t)sample->time_ns > before_ns
						? (uint64_t)sample->time_ns
						: before_ns;

		fg_trace_writer_sample(writer, sample->bits, now_ns - before_ns, sample->node, 0);
		before_ns = now_ns;
	}
}

int fg_machine_process_write(struct fg_machine_process *process, const char *folder,
			     struct fg_error *err)
{
	if (process->writer.header.samples == 0)
		return FG_OK;
	process->writer.header.threads = process->thread_count;
	for (size_t i = 0; i < process->thread_count; i++)
		write_thread(process, &process->threads[i], i + 1);
	return fg_sampled_trace_write(&process->writer, folder, err);
}
