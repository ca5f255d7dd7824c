// SPDX-License-Identifier: Apache-2.0
#include "base/fs.h"
#include "reporters/reporter.h"
#include "tests/support/fg_test.h"
#include "tests/support/fixture_report.h"
#include "tests/support/scratch.h"

#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

static const struct fg_report_options plain;

FG_TEST(every_row_is_found_by_its_name)
{
	size_t count = 0;
	const struct fg_reporter *table = fg_reporter_table(&count);

	assert_true(count > 0);
	for (size_t i = 0; i < count; i++) {
		assert_ptr_equal(fg_reporter_find(table[i].name, NULL), &table[i]);
		assert_true(strlen(table[i].summary) > 10);
	}
}

FG_TEST(an_unknown_format_names_the_nearest)
{
	struct fg_error err = {0};

	assert_null(fg_reporter_find("jsno", &err));
	assert_string_equal(err.message, "'jsno' is not a report format; did you mean 'json'?");
	assert_null(fg_reporter_find("powerpoint", &err));
	assert_non_null(strstr(err.message, "expected one of terminal, json"));
}

/* A report that is written again from the store must not differ from the first one. */
FG_TEST(the_same_run_gives_the_same_bytes)
{
	size_t count = 0;
	const struct fg_reporter *table = fg_reporter_table(&count);

	for (size_t i = 0; i < count; i++) {
		struct fg_strbuf text[2] = {{0}, {0}};

		for (size_t n = 0; n < 2; n++) {
			struct fg_fixture fixture;

			fg_fixture_init(&fixture, "hostile");
			table[i].write(&fixture.report, &plain, &text[n]);
			fg_fixture_release(&fixture);
		}
		assert_int_equal(text[0].length, text[1].length);
		assert_memory_equal(fg_strbuf_text(&text[0]), fg_strbuf_text(&text[1]),
				    text[0].length);
		fg_strbuf_release(&text[0]);
		fg_strbuf_release(&text[1]);
	}
}

FG_TEST(a_run_without_profiles_is_reported_too)
{
	size_t count = 0;
	const struct fg_reporter *table = fg_reporter_table(&count);

	for (size_t i = 0; i < count; i++) {
		struct fg_strbuf text = {0};
		struct fg_fixture fixture;

		fg_fixture_init(&fixture, "mixed");
		fixture.report.profiles = NULL;
		table[i].write(&fixture.report, &plain, &text);
		assert_true(text.length > 0);
		fg_strbuf_release(&text);
		fg_fixture_release(&fixture);
	}
}

static int write_to(const char *path, struct fg_error *err)
{
	struct fg_fixture fixture;
	int status = FG_OK;

	fg_fixture_init(&fixture, "regression");
	status = fg_reporter_write_file(fg_reporter_find("json", NULL), &fixture.report, &plain,
					path, err);
	fg_fixture_release(&fixture);
	return status;
}

FG_TEST(a_folder_that_is_not_there_is_named)
{
	struct fg_scratch scratch;
	struct fg_error err = {0};
	const char *path = NULL;

	fg_scratch_init(&scratch);
	path = fg_scratch_path(&scratch, "no/such/r.json");
	assert_int_equal(write_to(path, &err), FG_EIO);
	assert_non_null(strstr(err.message, path));
	assert_non_null(strstr(err.message, "No such file or directory"));
	fg_scratch_release(&scratch);
}

/* A file size limit of 64 bytes simulates a full disk: the old report must survive. */
FG_TEST(a_full_disk_leaves_the_old_report)
{
	struct fg_scratch scratch;
	struct fg_error err = {0};
	struct rlimit before = {0};
	struct rlimit tiny = {0};
	char **names = NULL;
	size_t count = 0;
	char *data = NULL;
	int status = FG_OK;

	fg_scratch_init(&scratch);
	fg_scratch_write_text(&scratch, "r.json", "old");
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
	tiny = (struct rlimit){.rlim_cur = 64, .rlim_max = before.rlim_max};
	(void)signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &tiny), 0);
	status = write_to(fg_scratch_path(&scratch, "r.json"), &err);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
	(void)signal(SIGXFSZ, SIG_DFL);
	assert_int_equal(status, FG_EIO);
	assert_non_null(strstr(err.message, "File too large"));
	data = fg_scratch_read(&scratch, "r.json", NULL);
	assert_string_equal(data, "old");
	assert_int_equal(fg_fs_list(scratch.path, &names, &count, &err), FG_OK);
	assert_int_equal(count, 1); /* no temporary file is left */
	fg_fs_list_free(names, count);
	free(data);
	fg_scratch_release(&scratch);
}

FG_TEST(a_device_is_written_to_and_not_replaced)
{
	struct fg_error err = {0};
	struct stat status = {0};

	if (access("/dev/full", W_OK) != 0) {
		print_message("there is no /dev/full that could be written\n");
		skip();
	}
	assert_int_equal(write_to("/dev/full", &err), FG_EIO);
	assert_non_null(strstr(err.message, "No space left on device"));
	assert_non_null(strstr(err.message, "/dev/full"));
	assert_int_equal(stat("/dev/full", &status), 0);
	assert_true(S_ISCHR(status.st_mode));
	assert_int_equal(write_to("/dev/null", &err), FG_OK);
	assert_int_equal(stat("/dev/null", &status), 0);
	assert_true(S_ISCHR(status.st_mode));
}

FG_TEST(a_closed_pipe_is_an_error_and_no_signal)
{
	struct fg_error err = {0};
	int ends[2] = {-1, -1};
	int saved = -1;
	int status = FG_OK;

	(void)fflush(stdout);
	(void)signal(SIGPIPE, SIG_IGN);
	assert_int_equal(pipe(ends), 0);
	saved = dup(STDOUT_FILENO);
	(void)dup2(ends[1], STDOUT_FILENO);
	(void)close(ends[0]);
	(void)close(ends[1]);
	status = write_to("-", &err);
	(void)dup2(saved, STDOUT_FILENO);
	(void)close(saved);
	(void)signal(SIGPIPE, SIG_DFL);
	assert_int_equal(status, FG_EIO);
	assert_non_null(strstr(err.message, "standard output"));
	assert_non_null(strstr(err.message, "Broken pipe"));
}
