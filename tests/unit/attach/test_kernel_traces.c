// SPDX-License-Identifier: Apache-2.0
#include "base/clock.h"
#include "base/fs.h"
#include "profile/attach/kernel_traces.h"
#include "tests/support/fg_test.h"
#include "tests/support/scratch.h"
#include "trace/trace_read.h"
#include "trace/trace_writer.h"

#include <string.h>
#include <time.h>
#include <unistd.h>

static const char symbols[] = "ffffffff81000100 T do_syscall_64\n"
			      "ffffffff81000200 t vfs_read\n"
			      "ffffffff81000300 t after\n"
			      "ffffffffc0001000 t ext4_read\t[ext4]\n";

enum {
	PROGRAM = 1,
	KERNEL = 2,
	FRAMES = 4
};

static struct fg_scratch scratch;
static struct fg_trace_writer w;
static struct fg_trace trace;

/* Writes a program's frame, and below it do_syscall_64, vfs_read and a function of a module. */
static void write_frames(void)
{
	const uint64_t program[FG_TRACE_MODULE_NUMBERS] = {PROGRAM, 0, 4096, 8192, 4096, 0};
	const uint64_t kernel[FG_TRACE_MODULE_NUMBERS] = {KERNEL, 0, 0, 0, 0, FG_MODULE_KERNEL};

	fg_trace_writer_chunk(&w, 0, 0, w.header.start_monotonic_ns);
	fg_trace_writer_mapping(&w, program, NULL, 0, "/bin/program");
	fg_trace_writer_mapping(&w, kernel, NULL, 0, "[kernel]");
	FG_TW(&w, FG_RECORD_FRAME, 1, PROGRAM, 100, 0);
	/* the return address of a call at the very end of the function */
	FG_TW(&w, FG_RECORD_FRAME, 2, KERNEL, 0xffffffff81000200, 0);
	FG_TW(&w, FG_RECORD_FRAME, 3, KERNEL, 0xffffffff81000200, FG_FRAME_EXACT);
	FG_TW(&w, FG_RECORD_FRAME, 4, KERNEL, 0xffffffffc0001010, FG_FRAME_EXACT);
	for (uint64_t i = 1; i <= FRAMES; i++)
		FG_TW(&w, FG_RECORD_NODE, i, i - 1, i);
	fg_trace_writer_sample(&w, FG_CLOCK_SYSTEM, 1000, FRAMES, 0);
}

static int begin(void **state)
{
	struct timespec real;

	(void)state;
	fg_scratch_init(&scratch);
	(void)clock_gettime(CLOCK_REALTIME, &real);
	fg_trace_writer_init(&w);
	w.header.start_monotonic_ns = (uint64_t)fg_clock_monotonic_ns();
	w.header.start_realtime_ns = (uint64_t)real.tv_sec * FG_NS_PER_S + (uint64_t)real.tv_nsec;
	w.header.end = FG_END_EXIT;
	w.header.kernel_frames = 3;
	return 0;
}

static int end(void **state)
{
	(void)state;
	fg_trace_release(&trace);
	fg_trace_writer_release(&w);
	fg_scratch_release(&scratch);
	return 0;
}

static void finish(void)
{
	size_t size = 0;

	write_frames();
	const char *bytes = fg_trace_writer_finish(&w, &size);

	fg_scratch_write(&scratch, "1.0.fgtrace", bytes, size);
	fg_scratch_write_text(&scratch, "kallsyms", symbols);
}

static bool add_names(const char *names)
{
	char *path = fg_fs_join(fg_scratch_path(&scratch, ""), names);
	struct fg_kernel_naming naming = {.path = path};
	bool is_hidden = false;

	fg_kernel_naming_add(&naming, fg_scratch_path(&scratch, ""));
	is_hidden = naming.is_hidden;
	fg_kernel_naming_release(&naming);
	free(path);
	return !is_hidden;
}

static void read_back(void)
{
	fg_trace_release(&trace);
	assert_int_equal(fg_trace_read(fg_scratch_path(&scratch, "1.0.fgtrace"), &trace, NULL),
			 FG_OK);
	assert_string_equal(trace.damage, "");
	assert_int_equal(trace.sample_count, 1);
}

static const char *name_at(size_t frame)
{
	const struct fg_trace_address *at = &trace.frames[frame];

	return fg_trace_symbol_at(&trace, at->module, at->offset - !at->exact);
}

FG_TEST_IN(names_are_in_the_trace_afterwards, begin, end)
{
	size_t chunks = 0;

	finish();
	assert_true(add_names("kallsyms"));
	read_back();
	assert_null(name_at(1));
	assert_string_equal(name_at(2), "do_syscall_64");
	assert_string_equal(name_at(3), "vfs_read");
	assert_string_equal(name_at(4), "ext4_read");
	assert_string_equal(trace.modules[trace.frames[3].module].path, "[kernel]");
	assert_string_equal(trace.modules[trace.frames[4].module].path, "[ext4]");
	assert_true(trace.frames[4].exact);
	assert_int_equal(trace.header.kernel_frames, 0);
	chunks = trace.chunk_count;
	assert_true(add_names("kallsyms"));
	read_back();
	assert_int_equal(trace.chunk_count, chunks);
}

static void assert_left_alone(const char *names)
{
	finish();
	fg_scratch_write_text(&scratch, "hidden", "0000000000000000 T _text\n");
	assert_int_equal(add_names(names), strcmp(names, "hidden") != 0);
	read_back();
	assert_int_equal(trace.symbol_count, 0);
	assert_int_equal(trace.header.kernel_frames, 3);
}

FG_TEST_IN(hidden_names_leave_the_trace_as_it_is, begin, end)
{
	assert_left_alone("hidden");
}

/* The trace's addresses are from another boot: the current kernel's symbols do not apply. */
FG_TEST_IN(a_trace_from_before_the_kernels_start_gets_no_names, begin, end)
{
	w.header.start_realtime_ns -= 3600 * (uint64_t)FG_NS_PER_S;
	assert_left_alone("kallsyms");
}

FG_TEST_IN(a_process_that_still_writes_is_not_disturbed, begin, end)
{
	w.header.end = FG_END_UNKNOWN;
	w.header.pid = (uint32_t)getpid();
	assert_left_alone("kallsyms");
}
