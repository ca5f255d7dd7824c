// SPDX-License-Identifier: Apache-2.0
#include "base/base.h"
#include "profile/calltree.h"
#include "profile/ingest.h"
#include "profile/trace_profile.h"
#include "tests/support/fg_test.h"
#include "tests/support/scratch.h"
#include "tests/support/trace_writer.h"
#include "trace/trace_read.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

/*
 * Used by most tests: the trace being written, the result of reading it, and the folder of its
 * file.
 */
static struct fg_trace_writer writer;
static struct fg_trace trace;
static struct fg_profile profile;
static struct fg_scratch scratch;
static struct fg_symbolizer *symbolizer;
static struct fg_error err;

/*
 * Writes the trace of a process with one thread: 0x100 → 0x200 → 0x300 in a module that does not
 * exist, a region "event/fit", one unit of work, three samples.
 */
static void write_sample_trace(struct fg_trace_writer *w)
{
	fg_trace_writer_init(w);
	fg_trace_writer_text(w, FG_RECORD_EXE, 0, "/bin/app", 8);
	fg_trace_writer_text(w, FG_RECORD_COMMAND, 0, "app\0--fast\0", 11);
	FG_TW(w, FG_RECORD_THREAD_BEGIN, 1, 77, 1000, FG_THREAD_MAIN, FG_CLOCK_PERF_USER);
	fg_trace_writer_text(w, FG_RECORD_THREAD_NAME, 1, "main", 4);
	fg_trace_writer_module(w, 1, "/nowhere/libapp.so", (const uint8_t *)"\x12\x34\x56", 3);
	FG_TW(w, FG_RECORD_FRAME, 1, 1, 0x100, 0);
	FG_TW(w, FG_RECORD_FRAME, 2, 1, 0x200, 0);
	FG_TW(w, FG_RECORD_FRAME, 3, 1, 0x300, FG_FRAME_EXACT);
	FG_TW(w, FG_RECORD_NODE, 1, 0, 1);
	FG_TW(w, FG_RECORD_NODE, 2, 1, 2);
	FG_TW(w, FG_RECORD_NODE, 3, 2, 3);
	fg_trace_writer_text(w, FG_RECORD_NAME, 1, "event", 5);
	fg_trace_writer_text(w, FG_RECORD_NAME, 2, "fit", 3);
	FG_TW(w, FG_RECORD_REGION, 1, 0, 1);
	FG_TW(w, FG_RECORD_REGION, 2, 1, 2);
	FG_TW(w, FG_RECORD_UNIT_BEGIN, 1, 1, 9, 1500);
	fg_trace_writer_sample(w, FG_CLOCK_PERF_USER, 100, 3, 0); /* 1100: before the unit */
	FG_TW(w, FG_RECORD_REGION_SET, 2);
	fg_trace_writer_sample(w, FG_CLOCK_PERF_USER | FG_SAMPLE_TRUNCATED, 500, 3, 7000);
	FG_TW(w, FG_RECORD_REGION_SET, 0);
	FG_TW(w, FG_RECORD_UNIT_END, 1, 1, 9, 1700);
	fg_trace_writer_sample(w, FG_CLOCK_SYSTEM, 1000, 2, 3000);
	FG_TW(w, FG_RECORD_REGION_SPAN, 1, 2, 1550, 1650); /* the inner one ends first */
	FG_TW(w, FG_RECORD_REGION_SPAN, 1, 1, 1550, 1700);
	FG_TW(w, FG_RECORD_REGION_SPAN, 1, 1, 1700, 1550); /* forged: ends before it begins */
	FG_TW(w, FG_RECORD_REGION_TIMES, 1, 2, 4, 400);
	FG_TW(w, FG_RECORD_THREAD_END, 1, 9000, 8, 9, 8, 9);
}

static int begin(void **state)
{
	(void)state;
	write_sample_trace(&writer);
	fg_scratch_init(&scratch);
	symbolizer = fg_symbolizer_new(NULL);
	return 0;
}

static int end(void **state)
{
	(void)state;
	fg_trace_release(&trace);
	fg_profile_release(&profile);
	fg_symbolizer_free(symbolizer);
	fg_scratch_release(&scratch);
	fg_trace_writer_release(&writer);
	return 0;
}

static void start_again(void (*write)(struct fg_trace_writer *))
{
	fg_trace_writer_release(&writer);
	write(&writer);
}

/* Parses the trace written so far. */
static int parse(void)
{
	fg_trace_release(&trace);
	return fg_trace_parse(writer.file.data, writer.file.length, "t", &trace, &err);
}

/* Closes the trace and reads it. */
static void finish_and_parse(void)
{
	(void)fg_trace_writer_finish(&writer, NULL);
	assert_int_equal(parse(), FG_OK);
}

static void write_trace_file(const char *name)
{
	fg_scratch_write(&scratch, name, writer.file.data, writer.file.length);
}

/* Closes the trace and reads it as a profile. */
static void load(void)
{
	(void)fg_trace_writer_finish(&writer, NULL);
	write_trace_file("1.0.fgtrace");
	if (fg_profile_read_traces(scratch.path, symbolizer, &profile, &err) != FG_OK)
		fail_msg("%s", err.message);
}

FG_TEST_IN(a_trace_is_read_back, begin, end)
{
	finish_and_parse();
	assert_string_equal(trace.damage, "");
	assert_string_equal(trace.command, "app --fast");
	assert_string_equal(trace.modules[1].path, "/nowhere/libapp.so");
	assert_int_equal(trace.modules[1].build_id_size, 3);
	assert_int_equal(trace.frames[3].offset, 0x300);
	assert_int_equal(trace.paths[3].parent, 2);
	assert_int_equal(trace.sample_count, 3);
	assert_int_equal(trace.samples[0].weight_ns, 1000000);
	assert_int_equal(trace.samples[1].time_ns, 1600);
	assert_int_equal(trace.samples[1].weight_ns, 7000);
	assert_int_equal(trace.samples[1].region, 2);
	assert_int_equal(trace.samples[1].flags, FG_SAMPLE_TRUNCATED);
	assert_int_equal(trace.samples[2].region, 0);
	assert_int_equal(trace.threads[1].tid, 77);
	assert_int_equal(trace.threads[1].end_ns, 9000);
	assert_int_equal(trace.mark_count, 2);
}

/* Killed between creating the file and its first page. */
FG_TEST_IN(a_process_that_was_killed_as_it_began_has_recorded_nothing, begin, end)
{
	static const uint8_t zeros[2 * FG_TRACE_HEADER_SIZE];

	assert_int_equal(fg_trace_parse("", 0, "7.0", &trace, &err), FG_EPARSE);
	assert_string_equal(err.message, "7.0: the process recorded nothing");
	assert_int_equal(fg_trace_parse(zeros, sizeof(zeros), "8.0", &trace, &err), FG_EPARSE);
	assert_string_equal(err.message, "8.0: the process recorded nothing");
}

FG_TEST_IN(what_a_program_left_in_the_place_of_a_trace_is_not_opened, begin, end)
{
	struct fg_trace_header header;
	int fd = -1;

	(void)fg_trace_writer_finish(&writer, NULL);
	write_trace_file("trace");
	fg_scratch_write_text(&scratch, "text", "a text that is not a trace");
	assert_int_equal(symlink("trace", fg_scratch_path(&scratch, "link")), 0);
	assert_int_equal(mkfifo(fg_scratch_path(&scratch, "pipe"), 0600), 0);
	assert_int_equal(fg_trace_open(fg_scratch_path(&scratch, "text"), O_RDWR, &header), -1);
	assert_int_equal(fg_trace_open(fg_scratch_path(&scratch, "link"), O_RDWR, &header), -1);
	assert_int_equal(fg_trace_open(fg_scratch_path(&scratch, "pipe"), O_RDWR, &header), -1);
	fd = fg_trace_open(fg_scratch_path(&scratch, "trace"), O_RDWR, &header);
	assert_true(fd >= 0);
	assert_int_equal(header.version, FG_TRACE_VERSION);
	assert_int_equal(close(fd), 0);
}

FG_TEST_IN(anything_but_a_trace_is_refused, begin, end)
{
	assert_int_equal(fg_trace_parse("FGTR", 4, "short", &trace, &err), FG_EPARSE);
	assert_string_equal(err.message, "short: 4 bytes are too few for a trace");
	(void)fg_trace_writer_finish(&writer, NULL);
	writer.header.magic[0] = 'X';
	fg_trace_writer_seal(&writer);
	assert_int_equal(parse(), FG_EPARSE);
	assert_non_null(strstr(err.message, "not a fastgate trace"));
	writer.header.magic[0] = 'F';
	writer.header.version = FG_TRACE_VERSION + 1;
	fg_trace_writer_seal(&writer);
	assert_int_equal(parse(), FG_EUNSUPPORTED);
	assert_non_null(strstr(err.message, "version 2"));
	writer.header.version = FG_TRACE_VERSION;
	fg_trace_writer_seal(&writer);
	writer.file.data[offsetof(struct fg_trace_header, period_ns)] ^= 1;
	assert_int_equal(parse(), FG_EPARSE);
	assert_non_null(strstr(err.message, "damaged"));
}

/*
 * Three chunks, the second of which is damaged in several ways: the first is kept, and the position
 * is reported.
 */
FG_TEST_IN(reading_stops_at_the_last_good_chunk_and_says_so, begin, end)
{
	static const struct {
		size_t offset; /* in the second chunk */
		const char *words;
	} CASES[] = {
		{0, "no valid chunk"},
		{offsetof(struct fg_trace_chunk, thread), "damaged chunk header"},
		{sizeof(struct fg_trace_chunk) + 1, "wrong checksum"},
		{offsetof(struct fg_trace_chunk, commit) + 5, "wrong checksum"},
		{offsetof(struct fg_trace_chunk, commit) + 3, "more than its size"},
	};

	for (size_t i = 0; i < FG_ARRAY_SIZE(CASES); i++) {
		size_t second;

		start_again(write_sample_trace);
		fg_trace_writer_chunk(&writer, 1, 0, 9000);
		second = writer.file.length;
		fg_trace_writer_sample(&writer, FG_CLOCK_PERF_USER, 1, 3, 0);
		fg_trace_writer_chunk(&writer, 1, 0, 10000);
		fg_trace_writer_sample(&writer, FG_CLOCK_PERF_USER, 1, 3, 0);
		(void)fg_trace_writer_finish(&writer, NULL);
		writer.file.data[second + CASES[i].offset] ^= 0x40;
		assert_int_equal(parse(), FG_OK);
		if (!strstr(trace.damage, CASES[i].words))
			fail_msg("'%s' for '%s'", trace.damage, CASES[i].words);
		assert_int_equal(trace.sample_count, 3);
	}
}

FG_TEST_IN(a_truncated_trace_is_read_as_far_as_it_goes, begin, end)
{
	fg_trace_writer_chunk(&writer, 1, 0, 9000);
	fg_trace_writer_sample(&writer, FG_CLOCK_PERF_USER, 1, 3, 0);
	(void)fg_trace_writer_finish(&writer, NULL);
	for (size_t cut = 0; cut < writer.file.length; cut += 61) {
		int status;

		fg_trace_release(&trace);
		status = fg_trace_parse(writer.file.data, cut, "t", &trace, &err);
		if (cut < FG_TRACE_HEADER_SIZE) {
			assert_int_equal(status, FG_EPARSE);
			continue;
		}
		assert_int_equal(status, FG_OK);
		assert_int_equal(trace.missing_bytes, writer.file.length - cut);
	}
}

FG_TEST_IN(gaps_are_passed_over, begin, end)
{
	fg_trace_writer_gap(&writer);
	fg_trace_writer_chunk(&writer, 1, 0, 9000);
	fg_trace_writer_sample(&writer, FG_CLOCK_PERF_USER, 1, 3, 0);
	fg_trace_writer_gap(&writer);
	finish_and_parse();
	assert_int_equal(trace.gap_count, 2);
	assert_int_equal(trace.sample_count, 4);
	assert_string_equal(trace.damage, "");
}

FG_TEST_IN(huge_ids_do_not_make_huge_tables, begin, end)
{
	static const uint8_t KINDS[] = {FG_RECORD_FRAME, FG_RECORD_NODE, FG_RECORD_REGION,
					FG_RECORD_THREAD_BEGIN};

	for (size_t i = 0; i < FG_ARRAY_SIZE(KINDS); i++) {
		start_again(fg_trace_writer_init);
		FG_TW(&writer, KINDS[i], UINT64_C(1) << 31, 0, 0, 0, 0);
		finish_and_parse();
		assert_non_null(strstr(trace.damage, "breaks the format"));
	}
}

FG_TEST_IN(unknown_records_and_longer_ones_are_passed_over, begin, end)
{
	FG_TW(&writer, 100, 1, 2, 3);
	FG_TW(&writer, FG_RECORD_FRAME, 4, 1, 0x400, 99, 98, 97);
	finish_and_parse();
	assert_int_equal(trace.unknown_records, 1);
	assert_int_equal(trace.frames[4].offset, 0x400);
	assert_string_equal(trace.damage, "");
}

FG_TEST_IN(a_trace_becomes_a_profile_with_nothing_lost, begin, end)
{
	const struct fg_frame *leaf;

	load();
	assert_int_equal(profile.sample_count, 3);
	assert_float_equal(profile.measures[0].total, 1010000, 0);
	assert_float_equal(profile.measures[0].truncated, 7000, 0);
	assert_string_equal(profile.title, "app --fast");
	assert_string_equal(profile.threads[profile.samples[0].thread].name, "main");
	assert_int_equal(profile.samples[0].time_ns, 100);
	assert_int_equal(profile.samples[0].unit, 0);
	assert_int_equal(profile.samples[1].unit, 1);
	assert_string_equal(profile.units[1].kind, "event");
	assert_int_equal(profile.units[1].end_ns, 700);
	assert_string_equal(profile.regions[profile.samples[1].region].path, "event/fit");
	assert_int_equal(profile.span_count, 2);
	assert_string_equal(profile.regions[profile.spans[0].region].path, "event");
	assert_int_equal(profile.spans[0].start_ns, 550);
	assert_int_equal(profile.spans[0].end_ns, 700);
	assert_string_equal(profile.regions[profile.spans[1].region].path, "event/fit");
	assert_int_equal(profile.spans[1].end_ns, 650);
	assert_int_equal(profile.regions[profile.samples[1].region].count, 4);
	/* the leaf is exact, its caller one byte before the return address */
	leaf = &profile.frames[profile.stacks[profile.samples[0].stack].frame];
	assert_string_equal(profile.functions[leaf->function].name, "libapp.so+0x300");
	leaf = &profile.frames[profile.stacks[profile.stacks[profile.samples[0].stack].parent]
				       .frame];
	assert_string_equal(profile.functions[leaf->function].name, "libapp.so+0x1ff");
	/* system time is a separate leaf */
	leaf = &profile.frames[profile.stacks[profile.samples[2].stack].frame];
	assert_string_equal(profile.functions[leaf->function].name, "[kernel]");
	assert_true(profile.note_count >= 1); /* the file of the module does not exist */
	assert_non_null(strstr(profile.notes[0], "libapp.so"));
}

static const struct fg_profile_function *function_of(uint32_t stack)
{
	return &profile.functions[profile.frames[profile.stacks[stack].frame].function];
}

FG_TEST_IN(the_kernel_is_named_by_the_trace_and_programs_are_outermost, begin, end)
{
	const uint64_t kernel[FG_TRACE_MODULE_NUMBERS] = {7, 0, 0, 0, 0, FG_MODULE_KERNEL};
	uint32_t stack = 0;

	writer.header.clock_user = FG_CLOCK_MACHINE;
	fg_trace_writer_mapping(&writer, kernel, NULL, 0, "[kernel]");
	fg_trace_writer_symbol(&writer, 7, 0xffff1000, 0x100, "vfs_read");
	fg_trace_writer_symbol(&writer, 7, 0xffff0000, 0x100, "do_syscall_64");
	FG_TW(&writer, FG_RECORD_FRAME, 20, 7, 0xffff0100, 0); /* return address of vfs_read */
	FG_TW(&writer, FG_RECORD_FRAME, 21, 7, 0xffff1000, FG_FRAME_EXACT);
	FG_TW(&writer, FG_RECORD_FRAME, 22, 7, 0xffff1100, FG_FRAME_EXACT); /* in neither module */
	FG_TW(&writer, FG_RECORD_NODE, 20, 3, 20);
	FG_TW(&writer, FG_RECORD_NODE, 21, 20, 21);
	FG_TW(&writer, FG_RECORD_NODE, 22, 20, 22);
	fg_trace_writer_sample(&writer, FG_CLOCK_SYSTEM, 5000, 21, 1000);
	fg_trace_writer_sample(&writer, FG_CLOCK_SYSTEM, 1, 22, 1000);
	load();
	stack = profile.samples[3].stack;
	assert_string_equal(function_of(stack)->name, "vfs_read");
	assert_string_equal(function_of(stack)->library, "[kernel]");
	stack = profile.stacks[stack].parent;
	assert_string_equal(function_of(stack)->name, "do_syscall_64");
	stack = profile.stacks[stack].parent;
	assert_string_equal(function_of(stack)->name, "libapp.so+0x300");
	while (profile.stacks[stack].parent)
		stack = profile.stacks[stack].parent;
	assert_string_equal(function_of(stack)->name, "app");
	assert_string_equal(function_of(profile.samples[4].stack)->name, "[kernel]");
}

FG_TEST_IN(system_time_without_a_stack_is_the_kernels, begin, end)
{
	fg_trace_writer_sample(&writer, FG_CLOCK_SYSTEM | FG_SAMPLE_TRUNCATED, 5000, 0, 1000);
	load();
	assert_string_equal(function_of(profile.samples[3].stack)->name, "[kernel]");
	assert_true(profile.samples[3].truncated);
}

/* Expects a stack with these names, from its leaf. */
static void expect_stack(uint32_t stack, const char *const *names)
{
	for (; *names; names++, stack = profile.stacks[stack].parent)
		assert_string_equal(function_of(stack)->name, *names);
	assert_int_equal(stack, 0);
}

/*
 * Writes three stacks: 0x100 → interpreter → outer → interpreter → inner → interpreter; 0x100 →
 * interpreter → outer → interpreter → 0x200 → interpreter; 0x100 → interpreter.
 */
static void write_python(void)
{
	const uint64_t outer[] = {1, 10};
	const uint64_t inner[] = {2, 20};

	fg_trace_writer_module(&writer, 2, "/nowhere/python", (const uint8_t *)"\x22", 1);
	FG_TW(&writer, FG_RECORD_PYTHON, 2, 0x030b02f0);
	/* The second part comes first; each instruction has its own line. */
	fg_trace_writer_texts(&writer, FG_RECORD_PYTHON_LINES, (const uint64_t[]){1, 4},
			      "\xe8\x02\xe8\x02", "");
	fg_trace_writer_texts(&writer, FG_RECORD_PYTHON_LINES, (const uint64_t[]){1, 0},
			      "\xe8\x02\xe8\x02", "");
	fg_trace_writer_texts(&writer, FG_RECORD_PYTHON_CODE, outer, "Model.outer",
			      "/tree/train.py");
	fg_trace_writer_texts(&writer, FG_RECORD_PYTHON_CODE, inner, "inner",
			      "/tree/pkg/__init__.py");
	FG_TW(&writer, FG_RECORD_FRAME, 20, 2, 0x40, 0);
	FG_TW(&writer, FG_RECORD_PYTHON_FRAME, 21, 1, 4);
	FG_TW(&writer, FG_RECORD_PYTHON_FRAME, 22, 2, 0);
	FG_TW(&writer, FG_RECORD_NODE, 20, 1, 20);
	FG_TW(&writer, FG_RECORD_NODE, 21, 20, 21);
	FG_TW(&writer, FG_RECORD_NODE, 22, 21, 20);
	FG_TW(&writer, FG_RECORD_NODE, 23, 22, 22);
	FG_TW(&writer, FG_RECORD_NODE, 24, 23, 20);
	FG_TW(&writer, FG_RECORD_NODE, 25, 22, 2);
	FG_TW(&writer, FG_RECORD_NODE, 26, 25, 20);
}

FG_TEST_IN(python_functions_replace_their_interpreter, begin, end)
{
	const char *const in_inner[] = {"inner", "Model.outer", "libapp.so+0xff", NULL};
	const char *const native[] = {"python+0x3f", "libapp.so+0x1ff", "Model.outer",
				      "libapp.so+0xff", NULL};
	const char *const before[] = {"python+0x3f", "libapp.so+0xff", NULL};
	const struct fg_frame *frame = NULL;
	uint32_t stack = 0;

	write_python();
	for (uint64_t path = 24; path >= 20; path -= 4)
		fg_trace_writer_sample(&writer, FG_CLOCK_PERF_USER, 5000, path, 1000);
	fg_trace_writer_sample(&writer, FG_CLOCK_PERF_USER, 5000, 26, 1000);
	writer.header.end = FG_END_EXIT;
	load();
	/* Neither module has a file, which is noted; nothing else is reported. */
	assert_int_equal(profile.note_count, 2);
	stack = profile.samples[3].stack;
	expect_stack(stack, in_inner);
	expect_stack(profile.samples[4].stack, before);
	expect_stack(profile.samples[5].stack, native);
	assert_string_equal(function_of(stack)->library, "pkg/__init__.py");
	assert_int_equal(profile.frames[profile.stacks[stack].frame].line, 20);
	frame = &profile.frames[profile.stacks[profile.stacks[stack].parent].frame];
	assert_int_equal(frame->line, 14);
	assert_string_equal(frame->file, "/tree/train.py");
	assert_string_equal(profile.functions[frame->function].library, "train.py");
	assert_int_equal(profile.functions[frame->function].line, 10);
}

FG_TEST_IN(python_stacks_that_made_no_sense_are_reported, begin, end)
{
	write_python();
	writer.header.python_stacks = 1000;
	writer.header.python_missed = 20;
	writer.header.end = FG_END_EXIT;
	load();
	assert_int_equal(profile.note_count, 3);
	assert_non_null(strstr(profile.notes[2], "20 of 1020 stacks have no Python"));
}

/* The kernel's names may be hidden from the user who made the recording. */
FG_TEST_IN(a_kernel_without_names_is_one_frame_however_deep, begin, end)
{
	const uint64_t kernel[FG_TRACE_MODULE_NUMBERS] = {7, 0, 0, 0, 0, FG_MODULE_KERNEL};
	uint32_t stack = 0;

	fg_trace_writer_mapping(&writer, kernel, NULL, 0, "[kernel]");
	for (uint64_t i = 20; i < 24; i++) {
		FG_TW(&writer, FG_RECORD_FRAME, i, 7, 0xffff0000 + 0x100 * i,
		      i == 23 ? FG_FRAME_EXACT : 0u);
		FG_TW(&writer, FG_RECORD_NODE, i, i == 20 ? 3 : i - 1, i);
	}
	fg_trace_writer_sample(&writer, FG_CLOCK_SYSTEM, 5000, 23, 1000);
	load();
	stack = profile.samples[3].stack;
	assert_string_equal(function_of(stack)->name, "[kernel]");
	assert_int_equal(profile.frames[profile.stacks[stack].frame].flags, FG_FRAME_KERNEL);
	stack = profile.stacks[stack].parent;
	assert_string_equal(function_of(stack)->name, "libapp.so+0x300");
	/* the same row as time in a kernel that was not sampled */
	assert_ptr_equal(function_of(profile.samples[2].stack),
			 function_of(profile.samples[3].stack));
}

FG_TEST_IN(references_to_nothing_and_circles_are_shown_as_unknown, begin, end)
{
	struct fg_calltree tree;

	FG_TW(&writer, FG_RECORD_NODE, 10, 11, 1); /* 10 ↔ 11 */
	FG_TW(&writer, FG_RECORD_NODE, 11, 10, 2);
	FG_TW(&writer, FG_RECORD_NODE, 12, 12, 3);
	FG_TW(&writer, FG_RECORD_NODE, 13, 900000, 999999);
	FG_TW(&writer, FG_RECORD_NODE, 14, 3, 0, 250); /* a cut */
	FG_TW(&writer, FG_RECORD_REGION, 10, 10, 999);
	FG_TW(&writer, FG_RECORD_REGION_SET, 10);
	for (uint64_t path = 10; path < 16; path++)
		fg_trace_writer_sample(&writer, FG_CLOCK_PERF_USER, 1, path, 1000);
	fg_trace_writer_sample(&writer, FG_CLOCK_PERF_USER, 1, 4000000000u, 1000);
	fg_trace_writer_chunk(&writer, 900, 901, 20000);
	fg_trace_writer_sample(&writer, FG_CLOCK_PERF_USER, 1, 3, 1000);
	FG_TW(&writer, FG_RECORD_UNIT_END, 900, 901, 1, 1);
	load();
	assert_int_equal(profile.sample_count, 11);
	assert_int_equal(fg_calltree_build(&profile, &(struct fg_calltree_query){0}, &tree, &err),
			 FG_OK);
	assert_float_equal(tree.inclusive[0][0].value, 1018000, 0);
	fg_calltree_release(&tree);
}

FG_TEST_IN(a_folder_of_traces_is_one_profile, begin, end)
{
	(void)fg_trace_writer_finish(&writer, NULL);
	write_trace_file("1.0.fgtrace");
	writer.header.start_monotonic_ns = 400;
	fg_trace_writer_seal(&writer);
	write_trace_file("2.0.fgtrace");
	fg_scratch_write_text(&scratch, "3.0.fgtrace", "rubbish");
	fg_scratch_write_text(&scratch, "notes.txt", "rubbish");
	assert_int_equal(fg_profile_read_traces(scratch.path, symbolizer, &profile, &err), FG_OK);
	assert_int_equal(profile.process_count, 2);
	assert_int_equal(profile.thread_count, 2);
	assert_int_equal(profile.sample_count, 6);
	assert_int_equal(profile.samples[0].time_ns, 700); /* since the earlier start */
	assert_non_null(strstr(profile.notes[0], "3.0.fgtrace"));
	/* frames of both processes are the same */
	assert_int_equal(profile.samples[0].stack, profile.samples[3].stack);
}

FG_TEST_IN(an_empty_folder_and_a_missing_file_are_refused, begin, end)
{
	assert_int_equal(fg_profile_read_traces(scratch.path, symbolizer, &profile, &err),
			 FG_ENOENT);
	fg_scratch_write_text(&scratch, "x.txt", "hello");
	assert_int_equal(fg_profile_read_traces(fg_scratch_path(&scratch, "x.txt"), symbolizer,
						&profile, &err),
			 FG_EPARSE);
	assert_int_equal(fg_profile_read_traces("no-such-run", symbolizer, &profile, &err),
			 FG_ENOENT);
}

FG_TEST_IN(a_repetition_becomes_a_row, begin, end)
{
	const struct fg_ingest_row key = {.arm = 1, .pair = 3, .aside = 2};
	struct fg_ingest_result result;
	struct fg_profile_set set;
	double sum = 0;

	(void)fg_trace_writer_finish(&writer, NULL);
	write_trace_file("1.0.fgtrace");
	fg_profile_set_init(&set, "app");
	for (int i = 0; i < 2; i++) {
		assert_int_equal(
			fg_profile_ingest(&set, scratch.path, symbolizer, &key, &result, &err),
			FG_OK);
		assert_int_equal(result.samples, 3);
		assert_non_null(result.first_note);
		fg_ingest_result_release(&result);
	}
	assert_int_equal(set.row_count, 2);
	assert_int_equal(set.rows[1].pair, 3);
	assert_int_equal(set.rows[1].arm, 1);
	assert_int_equal(set.rows[1].count, set.rows[0].count);
	for (uint32_t i = 0; i < set.rows[0].count; i++) {
		assert_true(i == 0 || set.rows[0].nodes[i] > set.rows[0].nodes[i - 1]);
		sum += set.rows[0].values[i];
	}
	assert_float_equal(sum, set.rows[0].total, 1e-6);
	/* program, [no symbol in libapp.so], [kernel]: unnamed code is one function per library */
	assert_int_equal(set.function_count, 3);
	assert_string_equal(set.functions[1].name, "[no symbol in libapp.so]");
	assert_string_equal(set.functions[1].library, "libapp.so");
	assert_int_equal(set.node_count, 3);   /* three unnamed frames in a row are one node */
	assert_int_equal(set.region_count, 3); /* event, event/fit, unit of work: event */
	assert_string_equal(set.regions[2], "unit of work: event");
	for (size_t i = 0; i < set.region_row_count; i++)
		assert_float_equal(set.region_rows[i].cpu_ns, 7000, 0);
	assert_int_equal(fg_profile_ingest(&set, "/nowhere", symbolizer, &key, NULL, &err),
			 FG_ENOENT);
	assert_int_equal(set.row_count, 2);
	fg_profile_set_release(&set);
}
