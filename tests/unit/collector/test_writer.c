// SPDX-License-Identifier: Apache-2.0
/*
 * Pages of the file are taken many at a time, so that few handlers have to take any. The collector
 * is linked into this program and off.
 */
#include "collector/sampler/writer.h"
#include "tests/support/fg_test.h"
#include "tests/support/scratch.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

enum {
	AT_START = 16,
	AT_A_TIME = 42,
	PAGE = FG_TRACE_ALIGN,
};

struct fixture {
	struct fg_scratch scratch;
	struct fg_thread thread;
};

static int set_up(void **state)
{
	struct fixture *fixture = calloc(1, sizeof(*fixture));

	fg_scratch_init(&fixture->scratch);
	(void)snprintf(fg_g.options.output, sizeof(fg_g.options.output), "%s",
		       fixture->scratch.path);
	assert_non_null(fixture);
	assert_int_equal(fg_file_open(), 0);
	*state = fixture;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *fixture = *state;

	(void)munmap(fg_g.file, (size_t)fg_g.capacity);
	fg_file_detach();
	fg_g.populated = 0;
	fg_scratch_release(&fixture->scratch);
	free(fixture);
	return 0;
}

static bool write_page(struct fixture *fixture)
{
	static const char text[PAGE - 128];

	return fg_text_write(&fixture->thread, FG_RECORD_NOTE, text, sizeof(text));
}

static void write_up_to(struct fixture *fixture, uint64_t page)
{
	const struct fg_trace_header *header = fg_g.header;

	while (header->allocated < page * PAGE)
		assert_true(write_page(fixture));
}

FG_TEST_IN(pages_are_made_many_at_once, set_up, tear_down)
{
	struct fixture *fixture = *state;

	write_up_to(fixture, AT_START);
	assert_int_equal(fg_g.populated, AT_START * PAGE);
	write_up_to(fixture, AT_START + 1);
	assert_int_equal(fg_g.populated, (AT_START + AT_A_TIME) * PAGE);
	write_up_to(fixture, AT_START + AT_A_TIME);
	assert_int_equal(fg_g.populated, (AT_START + AT_A_TIME) * PAGE);
	write_up_to(fixture, AT_START + AT_A_TIME + 1);
	assert_int_equal(fg_g.populated, (AT_START + 2 * AT_A_TIME) * PAGE);
}

FG_TEST_IN(no_page_is_made_beyond_the_end, set_up, tear_down)
{
	struct fixture *fixture = *state;

	write_up_to(fixture, fg_g.capacity / PAGE);
	assert_int_equal(fg_g.populated, fg_g.capacity);
	assert_false(write_page(fixture));
}
