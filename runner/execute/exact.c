// SPDX-License-Identifier: Apache-2.0
#include "runner/execute/exact.h"

#include "base/fs.h"
#include "base/text.h"
#include "runner/execute/extra.h"
#include "runner/job.h"

#include <stdlib.h>
#include <string.h>

enum {
	CALLGRIND_MAX_BYTES = 256 << 20, /* maximum size of a process's file */
	LOG_MAX_BYTES = 1 << 20,
};

void fg_exact_reading_release(struct fg_exact_reading *reading)
{
	free(reading->callgrind);
	free(reading->why);
	*reading = (struct fg_exact_reading){0};
}

/* Reads all files whose names start with `prefix`: "callgrind." or "log.". */
static int read_files(const char *folder, const char *prefix, size_t max_bytes,
		      struct fg_strbuf *all, struct fg_error *err)
{
	char **names = NULL;
	size_t count = 0;
	int status = fg_fs_list(folder, &names, &count, err);

	for (size_t i = 0; i < count && status == FG_OK; i++) {
		char *path = NULL;
		char *data = NULL;
		size_t size = 0;

		if (!fg_text_starts_with(names[i], prefix))
			continue;
		path = fg_fs_join(folder, names[i]);
		status = fg_fs_read(path, max_bytes, &data, &size, err);
		if (status == FG_OK)
			fg_strbuf_add(all, data, size);
		fg_strbuf_add_char(all, '\n');
		free(data);
		free(path);
	}
	fg_fs_list_free(names, count);
	return status;
}

/* Returns valgrind's own message about a program that it could not run. */
static char *complaint(const char *folder)
{
	static const char *const signs[] = {"unhandled instruction", "Fatal error",
					    "the 'impossible' happened"};
	struct fg_strbuf log = {0};
	char *found = NULL;

	if (read_files(folder, "log.", LOG_MAX_BYTES, &log, NULL) == FG_OK) {
		for (size_t i = 0; i < FG_ARRAY_SIZE(signs) && !found; i++) {
			const char *at = strstr(fg_strbuf_text(&log), signs[i]);

			if (at)
				found = fg_xstrndup(at, strcspn(at, "\n"));
		}
	}
	fg_strbuf_release(&log);
	return found;
}

int fg_callgrind_read(const char *folder, struct fg_strbuf *all, struct fg_error *err)
{
	char *said = NULL;
	const int status = read_files(folder, "callgrind.", CALLGRIND_MAX_BYTES, all, err);

	if (status != FG_OK || all->length > 0)
		return status;
	said = complaint(folder);
	(void)fg_error_set(err, FG_ECHILD, "%s", said ? said : "callgrind wrote no profile");
	free(said);
	return FG_ECHILD;
}

/*
 * A context of 32 callers covers the whole call path in most programs. Names stay mangled: they are
 * demangled later, as everywhere else.
 */
char **fg_callgrind_words(const char *folder, unsigned flags)
{
	char *const words[] = {
		fg_fs_find_program("valgrind"),
		fg_xstrdup("--tool=callgrind"),
		fg_xasprintf("--trace-children=%s", flags & FG_CALLGRIND_CHILDREN ? "yes" : "no"),
		fg_xasprintf("--separate-callers=%d", flags & FG_CALLGRIND_FLAT ? 0 : 32),
		fg_xasprintf("--cache-sim=%s", flags & FG_CALLGRIND_SIMULATE ? "yes" : "no"),
		fg_xasprintf("--branch-sim=%s", flags & FG_CALLGRIND_SIMULATE ? "yes" : "no"),
		fg_xstrdup("--show-below-main=yes"),
		fg_xstrdup("--demangle=no"),
		fg_xasprintf("--callgrind-out-file=%s/callgrind.%%p", folder),
		fg_xasprintf("--log-file=%s/log.%%p", folder),
		NULL,
	};
	char **made = fg_xcalloc(FG_ARRAY_SIZE(words), sizeof(made[0]));

	memcpy(made, words, sizeof(words));
	if (!made[0])
		made[0] = fg_xstrdup("valgrind"); /* removed after the check: will fail to start */
	return made;
}

bool fg_runner_has_callgrind(void)
{
	char *program = fg_fs_find_program("valgrind");
	const bool found = program != NULL;

	free(program);
	return found;
}

/* Reads callgrind's files, or sets the reason why they cannot be read. */
static void take_files(const char *folder, struct fg_exact_reading *reading)
{
	struct fg_strbuf all = {0};
	struct fg_error found = {0};

	if (fg_callgrind_read(folder, &all, &found) == FG_OK) {
		reading->callgrind_size = all.length;
		reading->callgrind = fg_strbuf_detach(&all);
	} else {
		reading->why = fg_xstrdup(found.message);
	}
	fg_strbuf_release(&all);
}

int fg_runner_exact(struct fg_runner_job *job, const struct fg_exact_request *request,
		    struct fg_exact_reading *reading, struct fg_error *err)
{
	struct fg_extra extra = {.arm = request->arm, .timeout_ns = request->timeout_ns};
	char **words = NULL;
	char *folder = NULL;
	char *said = NULL;
	char *why = NULL;
	int status = FG_OK;

	*reading = (struct fg_exact_reading){0};
	if (!fg_runner_has_callgrind()) {
		reading->why = fg_xstrdup("valgrind is not installed");
		return FG_OK;
	}
	FG_TRY(fg_runner_extra_folder(job, &folder, err));
	words = fg_callgrind_words(folder,
				   FG_CALLGRIND_CHILDREN | (request->flat ? FG_CALLGRIND_FLAT : 0) |
					   (request->simulated ? FG_CALLGRIND_SIMULATE : 0));
	extra.before = words;
	status = fg_runner_extra(job, &extra, &why, NULL);
	if (status == FG_EINTERRUPTED) {
		status = fg_error_set(err, FG_EINTERRUPTED, "interrupted");
		goto out;
	}
	if (status == FG_OK) {
		take_files(folder, reading);
		goto out;
	}
	said = complaint(folder);
	reading->why = fg_xstrdup(said ? said : (why ? why : "the program failed under valgrind"));
	status = FG_OK;
out:
	fg_free_words(words);
	fg_runner_extra_remove(job, folder);
	free(said);
	free(why);
	return status;
}
