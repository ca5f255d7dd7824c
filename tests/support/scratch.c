// SPDX-License-Identifier: Apache-2.0
#include "tests/support/scratch.h"

#include "base/base.h"
#include "base/process.h"
#include "tests/support/fg_test.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>

void fg_scratch_init(struct fg_scratch *scratch)
{
	const char *parent = getenv("TMPDIR");

	(void)snprintf(scratch->path, sizeof(scratch->path), "%s/fastgate-test-XXXXXX",
		       parent && *parent ? parent : "/tmp");
	if (!mkdtemp(scratch->path))
		fail_msg("mkdtemp %s: errno %d", scratch->path, errno);
}

static int remove_entry(const char *path, const struct stat *status, int kind, struct FTW *walk)
{
	(void)status;
	(void)kind;
	(void)walk;
	return remove(path);
}

void fg_scratch_release(struct fg_scratch *scratch)
{
	if (getenv("FASTGATE_KEEP_TMP")) {
		(void)fprintf(stderr, "kept: %s\n", scratch->path);
		return;
	}
	(void)nftw(scratch->path, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
	scratch->path[0] = '\0';
}

const char *fg_scratch_path(const struct fg_scratch *scratch, const char *name)
{
	static char ring[8][4096 + 256];
	static unsigned next;
	char *text = ring[next++ % 8];

	(void)snprintf(text, sizeof(ring[0]), "%s/%s", scratch->path, name);
	return text;
}

void fg_scratch_write(const struct fg_scratch *scratch, const char *name, const void *data,
		      size_t size)
{
	const char *path = fg_scratch_path(scratch, name);
	FILE *file = fopen(path, "we");

	if (!file || fwrite(data, 1, size, file) != size || fclose(file) != 0)
		fail_msg("cannot write %s: errno %d", path, errno);
}

void fg_scratch_write_text(const struct fg_scratch *scratch, const char *name, const char *text)
{
	fg_scratch_write(scratch, name, text, strlen(text));
}

char *fg_scratch_read(const struct fg_scratch *scratch, const char *name, size_t *size)
{
	const char *path = fg_scratch_path(scratch, name);
	FILE *file = fopen(path, "re");
	size_t used = 0;
	size_t room = 0;
	char *data = NULL;

	if (!file)
		fail_msg("cannot read %s: errno %d", path, errno);
	do {
		data = fg_grow(data, &room, used + 4096, 1);
		used += fread(data + used, 1, room - used - 1, file);
	} while (!feof(file) && !ferror(file));
	(void)fclose(file);
	data[used] = '\0';
	if (size)
		*size = used;
	return data;
}

char *fg_scratch_run(char *const *argv, const char *folder)
{
	const struct fg_process_options options = {.argv = argv,
						   .working_directory = folder,
						   .stdout_to = FG_STREAM_CAPTURE,
						   .stderr_to = FG_STREAM_CAPTURE};
	struct fg_process_result result = {0};
	struct fg_error err = {0};
	char *text = NULL;

	if (fg_process_run(&options, &result, &err) != FG_OK)
		fail_msg("%s", err.message);
	if (!result.exited || result.exit_code != 0)
		fail_msg("'%s' failed: %s", argv[0], result.stderr_text);
	while (result.stdout_size > 0 &&
	       strchr(" \t\r\n", result.stdout_text[result.stdout_size - 1]))
		result.stdout_text[--result.stdout_size] = '\0';
	text = result.stdout_text;
	result.stdout_text = NULL;
	fg_process_result_release(&result);
	return text;
}
