// SPDX-License-Identifier: Apache-2.0
/*
 * Pages of the file are taken many at a time, so that few handlers have to take any. The collector
 * is linked into this program and off.
 */
#include "collector/sampler/writer.h"
#include "tests/support/fg_test.h"
#include "tests/support/scratch.h"

#include <stdio.h>
#include <sys/mman.h>

enum {
	AT_START = 16,
	AT_A_TIME = 42,
	PAGE = FG_TRACE_ALIGN,
};

static struct fg_scratch scratch;
static struct fg_thread thread;

static int set_up(void **state)
{
	(void)state;
	fg_scratch_init(&scratch);
	thread = (struct fg_thread){0};
	(void)snprintf(fg_g.options.output, sizeof(fg_g.options.output), "%s", scratch.path);
	assert_int_equal(fg_file_open(), 0);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	(void)munmap(fg_g.file, (size_t)fg_g.capacity);
	fg_file_detach();
	fg_g.populated = 0;
	fg_scratch_release(&scratch);
	return 0;
}

static bool write_page(void)
{
	static const char text[PAGE - 128];

	return fg_text_write(&thread, FG_RECORD_NOTE, text, sizeof(text));
}

static void write_up_to(uint64_t page)
{
	const struct fg_trace_header *header = fg_g.header;

	while (header->allocated < page * PAGE)
		assert_true(write_page());
}

FG_TEST_IN(pages_are_made_many_at_once, set_up, tear_down)
{
	write_up_to(AT_START);
	assert_int_equal(fg_g.populated, AT_START * PAGE);
	write_up_to(AT_START + 1);
	assert_int_equal(fg_g.populated, (AT_START + AT_A_TIME) * PAGE);
	write_up_to(AT_START + AT_A_TIME);
	assert_int_equal(fg_g.populated, (AT_START + AT_A_TIME) * PAGE);
	write_up_to(AT_START + AT_A_TIME + 1);
	assert_int_equal(fg_g.populated, (AT_START + 2 * AT_A_TIME) * PAGE);
}

FG_TEST_IN(no_page_is_made_beyond_the_end, set_up, tear_down)
{
	write_up_to(fg_g.capacity / PAGE);
	assert_int_equal(fg_g.populated, fg_g.capacity);
	assert_false(write_page());
}
