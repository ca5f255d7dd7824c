// SPDX-License-Identifier: Apache-2.0
#include "profile/attach/kernel_traces.h"

#include "base/clock.h"
#include "base/fs.h"
#include "base/map.h"
#include "base/text.h"
#include "trace/trace_read.h"
#include "trace/trace_writer.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

static const int64_t same_start_ns = 5 * FG_NS_PER_S; /* no host boots twice within this time */

/* Names to be added to one trace. */
struct addition {
	const struct fg_trace *trace;
	const struct fg_kernel_names *names;
	struct fg_trace_writer writer;
	struct fg_map functions; /* by start address */
	struct fg_map libraries; /* modules of the kernel: their number in the trace */
	uint32_t looked_at;
};

/* ---- checks ---- */

/* Kernel addresses may change with each boot. */
static bool is_of_this_kernel(const struct fg_trace_header *header)
{
	struct timespec real;
	int64_t started_ns = 0;

	if (clock_gettime(CLOCK_REALTIME, &real) != 0)
		return false;
	started_ns = (int64_t)real.tv_sec * FG_NS_PER_S + real.tv_nsec - fg_clock_monotonic_ns();
	started_ns -= (int64_t)(header->start_realtime_ns - header->start_monotonic_ns);
	return started_ns > -same_start_ns && started_ns < same_start_ns;
}

/* The collector appends to the file until its process ends. */
static bool is_finished(const struct fg_trace_header *header)
{
	return header->end != FG_END_UNKNOWN ||
	       (kill((pid_t)header->pid, 0) != 0 && errno == ESRCH);
}

static bool wants_names(const struct fg_trace_header *header)
{
	return header->kernel_frames > 0 && header->allocated >= FG_TRACE_HEADER_SIZE &&
	       header->allocated % FG_TRACE_ALIGN == 0 && header->allocated < FG_TRACE_MAX_BYTES &&
	       is_of_this_kernel(header) && is_finished(header);
}

static bool read_names(struct fg_kernel_naming *naming)
{
	if (!naming->is_read)
		naming->is_hidden =
			fg_kernel_names_read(naming->path ? naming->path : "/proc/kallsyms",
					     &naming->names, NULL) != FG_OK;
	naming->is_read = true;
	return !naming->is_hidden;
}

/* ---- names ---- */

/*
 * Returns the number of a kernel module in the trace. The kernel itself already has a number from
 * the collector.
 */
static uint32_t library_of(struct addition *a, uint32_t kernel, const char *library)
{
	const size_t next = a->trace->module_count + a->libraries.count;
	bool is_new = false;
	uint64_t id = 0;

	if (strcmp(library, FG_KERNEL_LIBRARY) == 0 || next > FG_TRACE_MODULES_MAX)
		return kernel;
	id = *fg_map_add_text(&a->libraries, library, next, &is_new);
	if (is_new) {
		const uint64_t numbers[FG_TRACE_MODULE_NUMBERS] = {
			id, a->trace->header.start_monotonic_ns, 0, 0, 0, FG_MODULE_KERNEL};

		fg_trace_writer_mapping(&a->writer, numbers, NULL, 0, library);
	}
	return (uint32_t)id;
}

/* Names a frame. A frame in a kernel module is defined again, with that module. */
static void name_frame(struct addition *a, size_t id)
{
	const struct fg_trace_address *at = &a->trace->frames[id];
	const struct fg_kernel_function *function =
		fg_kernel_names_find(a->names, at->offset - !at->exact);
	uint32_t library = 0;
	bool is_new = false;

	a->looked_at++;
	if (!function)
		return;
	library = library_of(a, at->module, function->library);
	if (library != at->module)
		FG_TW(&a->writer, FG_RECORD_FRAME, id, library, at->offset,
		      at->exact ? FG_FRAME_EXACT : 0u);
	(void)fg_map_add(&a->functions, &function->start, sizeof(function->start), 0, &is_new);
	if (is_new)
		fg_trace_writer_symbol(&a->writer, library, function->start,
				       function->end - function->start, function->name);
}

static bool is_nameless(const struct fg_trace *trace, const struct fg_trace_address *at)
{
	return at->defined && at->module < trace->module_count &&
	       (trace->modules[at->module].flags & FG_MODULE_KERNEL) &&
	       !fg_trace_symbol_at(trace, at->module, at->offset - !at->exact);
}

static bool write_at(int fd, const void *data, size_t size, uint64_t at)
{
	return pwrite(fd, data, size, (off_t)at) == (ssize_t)size;
}

/* Writes the chunks first, and the header that counts them last. */
static void append(int fd, const struct fg_trace_header *before, struct addition *a)
{
	size_t size = 0;
	const char *bytes = fg_trace_writer_finish(&a->writer, &size);
	const size_t added = size - FG_TRACE_HEADER_SIZE;
	const uint64_t allocated = before->allocated + added;
	const uint32_t left =
		before->kernel_frames > a->looked_at ? before->kernel_frames - a->looked_at : 0;

	if (write_at(fd, bytes + FG_TRACE_HEADER_SIZE, added, before->allocated) &&
	    write_at(fd, &allocated, sizeof(allocated),
		     offsetof(struct fg_trace_header, allocated)))
		(void)write_at(fd, &left, sizeof(left),
			       offsetof(struct fg_trace_header, kernel_frames));
}

static void name_frames(int fd, const struct fg_trace *trace, const struct fg_kernel_names *names)
{
	struct addition a = {.trace = trace, .names = names};

	fg_trace_writer_init(&a.writer);
	a.writer.sequence = (uint32_t)(trace->chunk_count + trace->gap_count);
	fg_trace_writer_chunk(&a.writer, 0, 0, trace->header.start_monotonic_ns);
	for (size_t i = 1; i < trace->frame_count; i++)
		if (is_nameless(trace, &trace->frames[i]))
			name_frame(&a, i);
	append(fd, &trace->header, &a);
	fg_map_release(&a.functions);
	fg_map_release(&a.libraries);
	fg_trace_writer_release(&a.writer);
}

static void name_trace(void *context, const char *path)
{
	struct fg_kernel_naming *naming = context;
	struct fg_trace_header header;
	struct fg_trace trace;
	const int fd = fg_text_ends_with(path, FG_TRACE_SUFFIX)
			       ? fg_trace_open(path, O_RDWR, &header)
			       : -1;

	if (fd < 0)
		return;
	if (wants_names(&header) && read_names(naming) &&
	    fg_trace_read(path, &trace, NULL) == FG_OK) {
		if (!*trace.damage && trace.missing_bytes == 0)
			name_frames(fd, &trace, &naming->names);
		fg_trace_release(&trace);
	}
	(void)close(fd);
}

void fg_kernel_naming_add(struct fg_kernel_naming *naming, const char *folder)
{
	(void)fg_fs_each(folder, name_trace, naming, NULL);
}

void fg_kernel_naming_release(struct fg_kernel_naming *naming)
{
	fg_kernel_names_release(&naming->names);
	*naming = (struct fg_kernel_naming){0};
}
