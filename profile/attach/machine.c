// SPDX-License-Identifier: Apache-2.0
#include "profile/attach/machine.h"

#include "base/clock.h"
#include "base/pair_index.h"
#include "profile/attach/machine_process.h"

enum {
	WAIT_MS = 100,
	IMAGES_MAX = 65536, /* maximum number of images; each gets one trace */
};

/* A process between two execs. */
struct image {
	struct fg_machine_process *process; /* NULL: ended, and the trace is written */
	uint64_t number;
	bool has_ended;
};

struct machine {
	const struct fg_machine_sampling *sampling;
	struct fg_machine_result *result;
	struct fg_machine_events *events;
	struct fg_kernel_names kernel;
	struct fg_memory memory;
	struct image *images;
	size_t image_count, image_capacity;
	struct fg_pair_index by_pid; /* (0, pid) → index of its last image */
	size_t *ended;               /* indexes of images to write */
	size_t ended_count, ended_capacity;
	int64_t started_ns;
};

static struct fg_machine_process *add_image(struct machine *m, pid_t pid, uint64_t number)
{
	struct fg_machine_process *process = fg_machine_process_new(
		pid, number, m->sampling->period_ns, m->started_ns, &m->memory);

	FG_APPEND(m->images, m->image_count, m->image_capacity) =
		(struct image){.process = process, .number = number};
	return process;
}

static void end_image(struct machine *m, size_t index)
{
	struct image *image = &m->images[index];

	if (!image->process || image->has_ended)
		return;
	image->has_ended = true;
	fg_machine_process_end(image->process);
	FG_APPEND(m->ended, m->ended_count, m->ended_capacity) = index;
}

/*
 * Finds or adds a process. `replaces`: the process has just started another program. NULL: too many
 * processes.
 */
static struct fg_machine_process *process_of(struct machine *m, pid_t pid, bool replaces)
{
	bool is_new = false;
	uint32_t *place = NULL;
	uint64_t number = 0;

	if (m->image_count >= IMAGES_MAX)
		return NULL;
	place = fg_pair_index_add(&m->by_pid, 0, (uint32_t)pid, (uint32_t)m->image_count, &is_new);
	if (is_new)
		return add_image(m, pid, 0);
	if (m->images[*place].process && !replaces)
		return m->images[*place].process;
	end_image(m, *place);
	number = m->images[*place].number + 1;
	*place = (uint32_t)m->image_count;
	return add_image(m, pid, number);
}

static void end_process(struct machine *m, pid_t pid)
{
	const uint32_t *place = fg_pair_index_get(&m->by_pid, 0, (uint32_t)pid);

	if (place)
		end_image(m, *place);
}

static void take(void *context, const struct fg_machine_record *record)
{
	struct machine *m = context;
	struct fg_machine_process *process = NULL;
	const bool is_name = record->kind == FG_MACHINE_NAME;

	if (record->kind == FG_MACHINE_LOST) {
		m->result->lost += record->lost;
		return;
	}
	if (record->kind == FG_MACHINE_EXIT) {
		if (record->tid == record->pid)
			end_process(m, record->pid);
		return;
	}
	process = process_of(m, record->pid, is_name && record->is_exec && record->pid > 0);
	if (!process) {
		m->result->lost += !is_name;
	} else if (is_name) {
		fg_machine_process_rename(process, record->tid, record->name);
	} else {
		fg_machine_process_sample(process, record, &m->kernel);
		m->result->samples++;
	}
}

static int write_image(struct machine *m, struct image *image, struct fg_error *err)
{
	int status = FG_OK;

	if (image->process)
		status = fg_machine_process_write(image->process, m->sampling->folder, err);
	fg_machine_process_free(image->process);
	image->process = NULL;
	return status;
}

/*
 * Writes the traces of the first `count` processes that ended. When a process ends, the rings of
 * other CPUs may still hold samples of it, so `count` is the number that had ended before the last
 * round over all rings.
 */
static int write_ended(struct machine *m, size_t count, struct fg_error *err)
{
	int status = FG_OK;

	for (size_t i = 0; i < count && status == FG_OK; i++)
		status = write_image(m, &m->images[m->ended[i]], err);
	m->ended_count -= count;
	memmove(m->ended, m->ended + count, m->ended_count * sizeof(m->ended[0]));
	return status;
}

static bool is_over(const struct machine *m)
{
	const struct fg_machine_sampling *sampling = m->sampling;

	return (sampling->interrupted && *sampling->interrupted) ||
	       (sampling->duration_ns > 0 &&
		fg_clock_monotonic_ns() - m->started_ns >= sampling->duration_ns);
}

/* Returns the time to wait for records, at most until `duration_ns` is over. */
static int wait_ms(const struct machine *m)
{
	const int64_t left_ns = m->started_ns + m->sampling->duration_ns - fg_clock_monotonic_ns();

	if (m->sampling->duration_ns == 0 || left_ns > WAIT_MS * FG_NS_PER_MS)
		return WAIT_MS;
	return left_ns > 0 ? (int)(left_ns / FG_NS_PER_MS) + 1 : 0;
}

static int sample_until_over(struct machine *m, struct fg_error *err)
{
	int status = FG_OK;

	while (status == FG_OK && !is_over(m)) {
		const size_t ended = m->ended_count;

		fg_machine_events_wait(m->events, wait_ms(m));
		fg_machine_events_read(m->events, take, m);
		if (ended > 0)
			status = write_ended(m, ended, err);
	}
	fg_machine_events_stop(m->events);
	fg_machine_events_read(m->events, take, m);
	for (size_t i = 0; i < m->image_count && status == FG_OK; i++)
		status = write_image(m, &m->images[i], err);
	return status;
}

int fg_machine_sample(const struct fg_machine_sampling *sampling, struct fg_machine_result *result,
		      struct fg_error *err)
{
	struct machine m = {.sampling = sampling, .result = result};
	int status = FG_OK;

	*result = (struct fg_machine_result){0};
	fg_memory_init(&m.memory, 0);
	result->has_kernel_names = fg_kernel_names_read("/proc/kallsyms", &m.kernel, NULL) == FG_OK;
	m.started_ns = fg_clock_monotonic_ns();
	FG_TRY_OUT(fg_machine_events_open(sampling->period_ns, &m.events, err));
	status = sample_until_over(&m, err);
out:
	for (size_t i = 0; i < m.image_count; i++)
		fg_machine_process_free(m.images[i].process);
	free(m.images);
	free(m.ended);
	fg_pair_index_release(&m.by_pid);
	fg_machine_events_close(m.events);
	fg_kernel_names_release(&m.kernel);
	fg_memory_release(&m.memory);
	return status;
}
