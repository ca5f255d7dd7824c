// SPDX-License-Identifier: Apache-2.0
/*
 * Which pages of which trace files are made ahead of the program, and which never.  Files are
 * sparse: what was made is where a file has no hole.
 */
#include "base/fs.h"
#include "collector/trace_format.h"
#include "runner/pages_ahead.h"
#include "tests/support/fg_test.h"
#include "tests/support/scratch.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PAGE     ((uint64_t)FG_TRACE_ALIGN)
#define CAPACITY (UINT64_C(256) << 20)
#define LEAST    ((uint64_t)FG_PAGES_AHEAD_MIN_BYTES)
#define MOST     ((uint64_t)FG_PAGES_AHEAD_MAX_BYTES)

struct fixture {
	struct fg_scratch scratch;
	struct fg_pages_ahead *ahead;
};

static int set_up(void **state)
{
	struct fixture *fixture = fg_xcalloc(1, sizeof(*fixture));

	fg_scratch_init(&fixture->scratch);
	fixture->ahead = fg_pages_ahead_new(fixture->scratch.path);
	*state = fixture;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *fixture = *state;

	fg_pages_ahead_free(fixture->ahead);
	fg_scratch_release(&fixture->scratch);
	free(fixture);
	return 0;
}

static int open_trace(const struct fixture *fixture, const char *name, int flags)
{
	const int fd = open(fg_scratch_path(&fixture->scratch, name), flags | O_CLOEXEC, 0600);

	assert_true(fd >= 0);
	return fd;
}

static void header_is(const struct fixture *fixture, const char *name,
		      const struct fg_trace_header *header)
{
	const int fd = open_trace(fixture, name, O_RDWR | O_CREAT);

	assert_int_equal(pwrite(fd, header, sizeof(*header), 0), sizeof(*header));
	(void)close(fd);
}

static struct fg_trace_header live(void)
{
	struct fg_trace_header header = {.version = FG_TRACE_VERSION,
					 .header_size = FG_TRACE_HEADER_SIZE,
					 .state = FG_STATE_ACTIVE,
					 .capacity = CAPACITY};

	memcpy(header.magic, FG_TRACE_MAGIC, sizeof(header.magic));
	return header;
}

static void size_is(const struct fixture *fixture, const char *name, uint64_t size)
{
	assert_int_equal(truncate(fg_scratch_path(&fixture->scratch, name), (off_t)size), 0);
}

static void trace_begins(const struct fixture *fixture, const char *name)
{
	const struct fg_trace_header header = live();

	header_is(fixture, name, &header);
	size_is(fixture, name, CAPACITY);
}

static void put(const struct fixture *fixture, const char *name, uint64_t at, uint64_t word)
{
	const int fd = open_trace(fixture, name, O_WRONLY);

	assert_int_equal(pwrite(fd, &word, sizeof(word), (off_t)at), sizeof(word));
	(void)close(fd);
}

/* The program goes on, and is looked at. */
static void used(const struct fixture *fixture, const char *name, uint64_t bytes)
{
	put(fixture, name, offsetof(struct fg_trace_header, allocated), bytes);
	fg_pages_ahead_look(fixture->ahead);
}

static uint64_t made(const struct fixture *fixture, const char *name)
{
	struct fg_trace_header header;
	const int fd = open_trace(fixture, name, O_RDONLY);

	assert_int_equal(pread(fd, &header, sizeof(header), 0), sizeof(header));
	(void)close(fd);
	return header.made;
}

/* The file has the pages from `from` to `to` beyond its first, and no others; both 0: none. */
static void only_has(const struct fixture *fixture, const char *name, uint64_t from, uint64_t to)
{
	const int fd = open_trace(fixture, name, O_RDONLY);
	const off_t data = lseek(fd, (off_t)PAGE, SEEK_DATA);

	assert_int_equal(data, from == 0 ? -1 : (off_t)from);
	if (from > 0) {
		assert_int_equal(lseek(fd, data, SEEK_HOLE), (off_t)to);
		if (to < CAPACITY)
			assert_int_equal(lseek(fd, (off_t)to, SEEK_DATA), -1);
	}
	(void)close(fd);
}

static void nothing_is_made_before_a_program_goes_on(void **state)
{
	const struct fixture *fixture = *state;

	trace_begins(fixture, "1.0.fgtrace");
	for (unsigned i = 0; i < 4; i++)
		used(fixture, "1.0.fgtrace", 3 * PAGE);
	only_has(fixture, "1.0.fgtrace", 0, 0);
	assert_int_equal(made(fixture, "1.0.fgtrace"), 0);
}

static void the_pages_behind_what_is_used_are_made(void **state)
{
	const struct fixture *fixture = *state;

	trace_begins(fixture, "1.0.fgtrace");
	used(fixture, "1.0.fgtrace", 18 * PAGE);
	used(fixture, "1.0.fgtrace", 20 * PAGE);
	only_has(fixture, "1.0.fgtrace", 20 * PAGE, 20 * PAGE + LEAST);
	assert_int_equal(made(fixture, "1.0.fgtrace"), 20 * PAGE + LEAST);
}

static void what_is_in_a_page_stays(void **state)
{
	const struct fixture *fixture = *state;
	uint64_t word = 0;
	int fd;

	trace_begins(fixture, "1.0.fgtrace");
	used(fixture, "1.0.fgtrace", 18 * PAGE);
	put(fixture, "1.0.fgtrace", 20 * PAGE, 4711);
	used(fixture, "1.0.fgtrace", 19 * PAGE);
	assert_int_equal(made(fixture, "1.0.fgtrace"), 19 * PAGE + LEAST);
	fd = open_trace(fixture, "1.0.fgtrace", O_RDONLY);
	assert_int_equal(pread(fd, &word, sizeof(word), (off_t)(20 * PAGE)), sizeof(word));
	(void)close(fd);
	assert_int_equal(word, 4711);
}

static void pages_are_made_again_when_half_of_them_are_used(void **state)
{
	const struct fixture *fixture = *state;
	const uint64_t first = 20 * PAGE + LEAST;

	trace_begins(fixture, "1.0.fgtrace");
	used(fixture, "1.0.fgtrace", 18 * PAGE);
	used(fixture, "1.0.fgtrace", 20 * PAGE);
	used(fixture, "1.0.fgtrace", 20 * PAGE + LEAST / 2);
	assert_int_equal(made(fixture, "1.0.fgtrace"), first);
	used(fixture, "1.0.fgtrace", 21 * PAGE + LEAST / 2);
	assert_int_equal(made(fixture, "1.0.fgtrace"), first + LEAST / 2 + PAGE);
	only_has(fixture, "1.0.fgtrace", 20 * PAGE, first + LEAST / 2 + PAGE);
}

static void twice_as_many_as_were_used_since_the_last_look(void **state)
{
	const struct fixture *fixture = *state;

	trace_begins(fixture, "1.0.fgtrace");
	used(fixture, "1.0.fgtrace", PAGE);
	used(fixture, "1.0.fgtrace", 101 * PAGE);
	only_has(fixture, "1.0.fgtrace", 101 * PAGE, 301 * PAGE);
}

static void however_much_is_used_a_limit_holds(void **state)
{
	const struct fixture *fixture = *state;

	trace_begins(fixture, "1.0.fgtrace");
	used(fixture, "1.0.fgtrace", PAGE);
	used(fixture, "1.0.fgtrace", CAPACITY / 2);
	only_has(fixture, "1.0.fgtrace", CAPACITY / 2, CAPACITY / 2 + MOST);
}

static void nothing_is_made_beyond_the_end(void **state)
{
	const struct fixture *fixture = *state;
	struct fg_trace_header small = live();

	trace_begins(fixture, "1.0.fgtrace");
	used(fixture, "1.0.fgtrace", PAGE);
	used(fixture, "1.0.fgtrace", CAPACITY - PAGE);
	only_has(fixture, "1.0.fgtrace", CAPACITY - PAGE, CAPACITY);
	used(fixture, "1.0.fgtrace", CAPACITY);
	used(fixture, "1.0.fgtrace", CAPACITY + PAGE);
	used(fixture, "1.0.fgtrace", UINT64_MAX - 1);
	used(fixture, "1.0.fgtrace", UINT64_MAX);
	only_has(fixture, "1.0.fgtrace", CAPACITY - PAGE, CAPACITY);
	assert_int_equal(made(fixture, "1.0.fgtrace"), CAPACITY);

	small.capacity = 22 * PAGE + 1;
	header_is(fixture, "2.0.fgtrace", &small);
	size_is(fixture, "2.0.fgtrace", CAPACITY);
	used(fixture, "2.0.fgtrace", 19 * PAGE);
	used(fixture, "2.0.fgtrace", 20 * PAGE);
	only_has(fixture, "2.0.fgtrace", 20 * PAGE, 22 * PAGE);
}

static void what_is_no_multiple_of_a_page_is_borne(void **state)
{
	const struct fixture *fixture = *state;

	trace_begins(fixture, "1.0.fgtrace");
	used(fixture, "1.0.fgtrace", 18 * PAGE);
	used(fixture, "1.0.fgtrace", 20 * PAGE + 7);
	only_has(fixture, "1.0.fgtrace", 20 * PAGE, 20 * PAGE + LEAST);
}

/* Each would get pages but for one word of its header. */
static void what_is_no_trace_under_way_is_left_alone(void **state)
{
	const struct fixture *fixture = *state;
	struct fg_trace_header headers[] = {live(), live(), live(), live(), live()};
	static const char *const names[] = {"0.0.fgtrace", "1.0.fgtrace", "2.0.fgtrace",
					    "3.0.fgtrace", "trace"};

	headers[0].magic[0] = 'f';
	headers[1].version = FG_TRACE_VERSION + 1;
	headers[2].state = FG_STATE_REFUSED;
	headers[3].end = FG_END_EXIT;
	for (size_t i = 0; i < FG_ARRAY_SIZE(names); i++) {
		header_is(fixture, names[i], &headers[i]);
		size_is(fixture, names[i], CAPACITY);
		for (uint64_t page = 1; page < 4; page++)
			used(fixture, names[i], page * PAGE);
		only_has(fixture, names[i], 0, 0);
		assert_int_equal(made(fixture, names[i]), 0);
	}
}

static void a_trace_is_found_whenever_it_begins(void **state)
{
	const struct fixture *fixture = *state;
	const int fd = open_trace(fixture, "1.0.fgtrace", O_RDWR | O_CREAT);

	(void)close(fd);
	fg_pages_ahead_look(fixture->ahead); /* it has no header yet */
	trace_begins(fixture, "1.0.fgtrace");
	trace_begins(fixture, "2.0.fgtrace");
	used(fixture, "1.0.fgtrace", PAGE);
	used(fixture, "1.0.fgtrace", 2 * PAGE);
	assert_int_equal(made(fixture, "1.0.fgtrace"), 2 * PAGE + LEAST);
	for (unsigned i = 0; i < 3; i++)
		fg_pages_ahead_look(fixture->ahead);
	trace_begins(fixture, "3.0.fgtrace");
	used(fixture, "3.0.fgtrace", PAGE);
	used(fixture, "3.0.fgtrace", 2 * PAGE);
	assert_int_equal(made(fixture, "3.0.fgtrace"), 2 * PAGE + LEAST);
}

static void a_file_may_be_cut_or_removed_at_any_time(void **state)
{
	const struct fixture *fixture = *state;
	int fd;

	trace_begins(fixture, "1.0.fgtrace");
	trace_begins(fixture, "2.0.fgtrace");
	used(fixture, "1.0.fgtrace", PAGE);
	used(fixture, "2.0.fgtrace", PAGE);
	fd = open_trace(fixture, "1.0.fgtrace", O_RDWR);
	size_is(fixture, "1.0.fgtrace", PAGE);
	used(fixture, "1.0.fgtrace", 4 * PAGE);
	assert_int_equal(made(fixture, "1.0.fgtrace"), 0);
	size_is(fixture, "1.0.fgtrace", 0);
	fg_pages_ahead_look(fixture->ahead);
	assert_true(fg_fs_is_in_use(fd));
	assert_int_equal(unlink(fg_scratch_path(&fixture->scratch, "1.0.fgtrace")), 0);
	used(fixture, "2.0.fgtrace", 4 * PAGE);
	assert_false(fg_fs_is_in_use(fd)); /* its room on the disk is free */
	(void)close(fd);
	assert_int_equal(made(fixture, "2.0.fgtrace"), 4 * PAGE + LEAST);
}

static void what_is_no_file_is_not_touched(void **state)
{
	const struct fixture *fixture = *state;
	struct fg_pages_ahead *nowhere =
		fg_pages_ahead_new(fg_scratch_path(&fixture->scratch, "nowhere"));

	trace_begins(fixture, "aside");
	assert_int_equal(symlink("aside", fg_scratch_path(&fixture->scratch, "1.0.fgtrace")), 0);
	assert_int_equal(mkfifo(fg_scratch_path(&fixture->scratch, "2.0.fgtrace"), 0600), 0);
	assert_int_equal(mkdir(fg_scratch_path(&fixture->scratch, "3.0.fgtrace"), 0700), 0);
	used(fixture, "aside", PAGE);
	used(fixture, "aside", 2 * PAGE);
	only_has(fixture, "aside", 0, 0);
	fg_pages_ahead_look(nowhere);
	fg_pages_ahead_free(nowhere);
}

static void who_does_not_go_on_for_long_is_left_alone(void **state)
{
	const struct fixture *fixture = *state;

	trace_begins(fixture, "1.0.fgtrace");
	for (unsigned i = 0; i < FG_PAGES_AHEAD_IDLE_LOOKS; i++)
		used(fixture, "1.0.fgtrace", PAGE);
	used(fixture, "1.0.fgtrace", 2 * PAGE);
	used(fixture, "1.0.fgtrace", 3 * PAGE);
	assert_int_equal(made(fixture, "1.0.fgtrace"), 0);
}

static void too_many_wait_for_one_that_has_ended(void **state)
{
	const struct fixture *fixture = *state;
	char name[32];

	for (unsigned i = 0; i < FG_PAGES_AHEAD_FILES_MAX; i++) {
		(void)snprintf(name, sizeof(name), "1.%02u.fgtrace", i);
		trace_begins(fixture, name);
	}
	trace_begins(fixture, "2.0.fgtrace");
	used(fixture, "2.0.fgtrace", PAGE);
	used(fixture, "2.0.fgtrace", 2 * PAGE);
	assert_int_equal(made(fixture, "2.0.fgtrace"), 0);
	put(fixture, "1.07.fgtrace", offsetof(struct fg_trace_header, end), FG_END_EXIT);
	used(fixture, "2.0.fgtrace", 3 * PAGE); /* a place becomes free */
	used(fixture, "2.0.fgtrace", 4 * PAGE); /* and is taken */
	used(fixture, "2.0.fgtrace", 5 * PAGE);
	assert_int_equal(made(fixture, "2.0.fgtrace"), 5 * PAGE + LEAST);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define ROW(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
		ROW(nothing_is_made_before_a_program_goes_on),
		ROW(the_pages_behind_what_is_used_are_made),
		ROW(what_is_in_a_page_stays),
		ROW(pages_are_made_again_when_half_of_them_are_used),
		ROW(twice_as_many_as_were_used_since_the_last_look),
		ROW(however_much_is_used_a_limit_holds),
		ROW(nothing_is_made_beyond_the_end),
		ROW(what_is_no_multiple_of_a_page_is_borne),
		ROW(what_is_no_trace_under_way_is_left_alone),
		ROW(a_trace_is_found_whenever_it_begins),
		ROW(a_file_may_be_cut_or_removed_at_any_time),
		ROW(what_is_no_file_is_not_touched),
		ROW(who_does_not_go_on_for_long_is_left_alone),
		ROW(too_many_wait_for_one_that_has_ended),
#undef ROW
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
