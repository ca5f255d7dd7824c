// SPDX-License-Identifier: Apache-2.0
#include "profile/attach/sampled.h"

#include "base/clock.h"
#include "base/fs.h"
#include "trace/sample_cost.h"

#include <fcntl.h>
#include <unistd.h>

enum {
	COMMAND_MAX_BYTES = FG_TRACE_TEXT_MAX,
	ACCOUNT_BYTES = 96,
	STATE_BYTES = 1024,
	STATE_FIELDS_BEFORE_CPU = 36, /* number of fields in `stat` from the state up to the CPU */
	BLOCKED_BYTES = 256,
};

/* ---- threads ---- */

static int open_of_thread(pid_t pid, pid_t tid, const char *file)
{
	char path[64];

	(void)snprintf(path, sizeof(path), "/proc/%d/task/%d/%s", (int)pid, (int)tid, file);
	return open(path, O_RDONLY | O_CLOEXEC);
}

bool fg_sampled_thread_open(struct fg_sampled_thread *thread,
			    const struct fg_outside_sampling *sampling, pid_t tid)
{
	const pid_t pid = sampling->pid;
	struct fg_cpu_account account;
	struct fg_thread_state state;

	*thread = (struct fg_sampled_thread){.tid = tid,
					     .seen = true,
					     .since_ns = fg_clock_monotonic_ns(),
					     .account_fd = open_of_thread(pid, tid, "schedstat"),
					     .state_fd = open_of_thread(pid, tid, "stat"),
					     .blocked_fd = -1,
					     .cpu = -1};
	thread->until_ns = thread->since_ns;
	if (sampling->elapsed)
		thread->blocked_fd = open_of_thread(pid, tid, "syscall");
	if (thread->state_fd < 0 || !fg_sampled_thread_account(thread, &account)) {
		fg_sampled_thread_close(thread);
		return false;
	}
	thread->started_ns = thread->weighed_ns = account.used_ns;
	fg_thread_read_state(pid, tid, &state);
	memcpy(thread->name, state.name, sizeof(thread->name));
	return true;
}

void fg_sampled_thread_close(struct fg_sampled_thread *thread)
{
	if (thread->account_fd >= 0)
		(void)close(thread->account_fd);
	if (thread->state_fd >= 0)
		(void)close(thread->state_fd);
	if (thread->blocked_fd >= 0)
		(void)close(thread->blocked_fd);
	thread->account_fd = thread->state_fd = thread->blocked_fd = -1;
	thread->over = true;
}

bool fg_sampled_thread_account(struct fg_sampled_thread *thread, struct fg_cpu_account *account)
{
	char text[ACCOUNT_BYTES] = "";

	if (pread(thread->account_fd, text, sizeof(text) - 1, 0) <= 0 ||
	    !fg_cpu_account_parse(text, account))
		return false;
	thread->used_ns = account->used_ns;
	return true;
}

bool fg_sampled_thread_look(struct fg_sampled_thread *thread)
{
	char text[STATE_BYTES] = "";
	const char *at = NULL;

	thread->runs = false;
	thread->cpu = -1;
	if (pread(thread->state_fd, text, sizeof(text) - 1, 0) <= 0)
		return false;
	at = strrchr(text, ')');
	if (!at || at[1] != ' ')
		return false;
	at += 2;
	thread->runs = *at == 'R';
	for (int i = 0; i < STATE_FIELDS_BEFORE_CPU && at; i++) {
		at = strchr(at, ' ');
		at += at != NULL;
	}
	if (at)
		thread->cpu = (int)strtol(at, NULL, 10);
	return true;
}

bool fg_sampled_thread_waits(const struct fg_sampled_thread *thread, struct fg_blocked *blocked)
{
	char text[BLOCKED_BYTES] = "";

	return pread(thread->blocked_fd, text, sizeof(text) - 1, 0) > 0 &&
	       fg_blocked_parse(text, blocked) && blocked->waits;
}

/* ---- the trace ---- */

static enum fg_trace_clock clock_of(const struct fg_outside_sampling *sampling)
{
	return sampling->elapsed ? FG_CLOCK_WALL : FG_CLOCK_JITTER;
}

static bool write_identity(struct fg_trace_writer *writer, pid_t pid)
{
	char path[64];
	char program[4096];
	char *command = NULL;
	size_t size = 0;
	ssize_t length = 0;

	(void)snprintf(path, sizeof(path), "/proc/%d/exe", (int)pid);
	length = readlink(path, program, sizeof(program));
	if (length > 0)
		fg_trace_writer_text(writer, FG_RECORD_EXE, 0, program, (size_t)length);
	(void)snprintf(path, sizeof(path), "/proc/%d/cmdline", (int)pid);
	if (fg_fs_read(path, COMMAND_MAX_BYTES, &command, &size, NULL) == FG_OK)
		fg_trace_writer_text(writer, FG_RECORD_COMMAND, 0, command, size);
	free(command);
	return length > 0;
}

bool fg_sampled_trace_begin(struct fg_trace_writer *writer,
			    const struct fg_outside_sampling *sampling, int64_t started_ns)
{
	struct fg_trace_header *header = &writer->header;

	fg_trace_writer_init(writer);
	header->pid = (uint32_t)sampling->pid;
	header->start_realtime_ns = (uint64_t)fg_clock_wall_ns();
	header->start_monotonic_ns = (uint64_t)started_ns;
	header->clock_user = clock_of(sampling);
	header->period_ns = (uint64_t)sampling->period_ns;
	header->budget = sampling->min_ns ? (uint64_t)(sampling->budget * FG_BUDGET_WHOLE) : 0;
	fg_trace_writer_chunk(writer, 0, 0, (uint64_t)started_ns);
	return write_identity(writer, sampling->pid);
}

void fg_sampled_trace_thread(struct fg_trace_writer *writer,
			     const struct fg_outside_sampling *sampling,
			     struct fg_sampled_thread *thread, uint64_t id)
{
	uint64_t weighed_ns = 0;
	int64_t before_ns = thread->since_ns;

	fg_samples_level(thread->samples, thread->sample_count);
	fg_trace_writer_chunk(writer, (uint32_t)id, 0, (uint64_t)thread->since_ns);
	FG_TW(writer, FG_RECORD_THREAD_BEGIN, id, (uint64_t)thread->tid, (uint64_t)thread->since_ns,
	      thread->tid == sampling->pid ? FG_THREAD_MAIN : FG_THREAD_PTHREAD,
	      clock_of(sampling));
	fg_trace_writer_text(writer, FG_RECORD_THREAD_NAME, id, thread->name, strlen(thread->name));
	for (size_t i = 0; i < thread->sample_count; i++) {
		const struct fg_sampled *sample = &thread->samples[i];

		fg_trace_writer_sample(writer, sample->bits,
				       (uint64_t)(sample->time_ns - before_ns), sample->node,
				       sample->weight_ns + sample->queued_ns);
		before_ns = sample->time_ns;
		if (!sampling->elapsed)
			weighed_ns += sample->weight_ns;
	}
	FG_TW(writer, FG_RECORD_THREAD_END, id, (uint64_t)fg_clock_monotonic_ns(),
	      thread->used_ns - thread->started_ns, 0, weighed_ns, 0);
}

int fg_sampled_trace_write(struct fg_trace_writer *writer, const char *folder, struct fg_error *err)
{
	char name[64];
	char *path = NULL;
	const char *bytes = NULL;
	size_t size = 0;
	int status = FG_OK;

	writer->header.end_monotonic_ns = (uint64_t)fg_clock_monotonic_ns();
	bytes = fg_trace_writer_finish(writer, &size);
	(void)snprintf(name, sizeof(name), "%u.%llu" FG_TRACE_SUFFIX, writer->header.pid,
		       (unsigned long long)writer->header.image);
	path = fg_fs_join(folder, name);
	status = fg_fs_write_atomic(path, bytes, size, 0600, err);
	free(path);
	return status;
}
