// SPDX-License-Identifier: Apache-2.0
/* A limit on the file size simulates a full disk: a write takes what fits, then nothing. */
#include "perfdb/server/request_log.h"
#include "tests/support/fg_test.h"

#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

enum {
	ROOM = 1500,
	LINE = 1000,
};

struct disk {
	struct fg_request_log *log;
	int fd;
	struct rlimit before;
	char text[16 * LINE];
};

static void disk_limit(struct disk *disk, rlim_t size)
{
	const struct rlimit limit = {.rlim_cur = size, .rlim_max = disk->before.rlim_max};

	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

static void disk_open(struct disk *disk)
{
	memset(disk, 0, sizeof(*disk));
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &disk->before), 0);
	(void)signal(SIGXFSZ, SIG_IGN); /* the write fails instead, as on a full disk */
	disk->fd = memfd_create("log", MFD_CLOEXEC);
	assert_true(disk->fd >= 0);
	disk->log = fg_request_log_new(disk->fd);
}

static void disk_close(struct disk *disk)
{
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &disk->before), 0);
	fg_request_log_free(disk->log);
	(void)close(disk->fd);
}

static void disk_read(struct disk *disk)
{
	const ssize_t n = pread(disk->fd, disk->text, sizeof(disk->text) - 1, 0);

	assert_true(n >= 0);
	disk->text[n] = '\0';
}

static void write_line(struct disk *disk, char letter)
{
	char line[LINE];

	memset(line, letter, LINE - 1);
	line[LINE - 1] = '\n';
	fg_request_log_write(disk->log, line, LINE);
}

/* The first letter and the length of each line: "a1000 b5000". */
static const char *outline(struct disk *disk, char *text, size_t size)
{
	const char *line = disk->text;
	size_t used = 0;

	text[0] = '\0';
	while (*line) {
		const char *end = strchr(line, '\n');

		assert_non_null(end); /* never half a line */
		for (const char *c = line; line[0] != '{' && c < end; c++)
			assert_int_equal(*c, line[0]); /* nor two on one line */
		used += (size_t)snprintf(text + used, size - used, "%s%c%zu", used ? " " : "",
					 line[0], (size_t)(end - line) + 1);
		line = end + 1;
	}
	return text;
}

static void full_disk_costs_whole_lines_and_counts_them(void **state)
{
	struct disk disk;
	char text[200];

	(void)state;
	disk_open(&disk);
	disk_limit(&disk, ROOM);
	write_line(&disk, 'a');
	write_line(&disk, 'b'); /* half of it */
	write_line(&disk, 'c'); /* lost */
	write_line(&disk, 'd'); /* lost */
	disk_limit(&disk, disk.before.rlim_cur);
	write_line(&disk, 'e'); /* after the other half of b and the count */
	write_line(&disk, 'f');
	disk_read(&disk);
	assert_non_null(strstr(disk.text, "\"lost_lines\":2}"));
	outline(&disk, text, sizeof(text));
	assert_memory_equal(text, "a1000 b1000 {", 13);
	assert_non_null(strstr(text, " e1000 f1000"));
	disk_close(&disk);
}

static void log_that_was_never_full_says_nothing_of_itself(void **state)
{
	struct disk disk;
	char text[200];

	(void)state;
	disk_open(&disk);
	for (char letter = 'a'; letter < 'd'; letter++)
		write_line(&disk, letter);
	disk_read(&disk);
	assert_string_equal(outline(&disk, text, sizeof(text)), "a1000 b1000 c1000");
	disk_close(&disk);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(full_disk_costs_whole_lines_and_counts_them),
		cmocka_unit_test(log_that_was_never_full_says_nothing_of_itself),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
