// SPDX-License-Identifier: Apache-2.0
#include "runner/execute/exact.h"

#include "base/fs.h"
#include "base/text.h"
#include "runner/execute/extra.h"
#include "runner/job.h"

#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
	CALLGRIND_MAX_BYTES = 256 << 20, /* per process */
	LOG_MAX_BYTES = 1 << 20,
};

void fg_exact_reading_release(struct fg_exact_reading *reading)
{
	free(reading->callgrind);
	free(reading->why);
	*reading = (struct fg_exact_reading){0};
}

static void add_why(struct fg_exact_reading *reading, const char *meter, const char *why)
{
	char *all = fg_xasprintf("%s%s%s: %s", reading->why ? reading->why : "",
				 reading->why ? "; " : "", meter, why);

	free(reading->why);
	reading->why = all;
}

/* ---- callgrind ---- */

/* File names begin with "callgrind." or "log.", followed by the process id. */
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

/* valgrind's own message about a program that it could not run. */
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
	(void)fg_error_set(err, FG_ECHILD, "%s", said ? said : "it wrote no profile");
	free(said);
	return FG_ECHILD;
}

/*
 * 32 callers of context cover the whole call path in most programs.  Names stay mangled: they are
 * demangled later, as everywhere else.
 */
char **fg_callgrind_words(const char *folder, unsigned flags)
{
	char *const words[] = {
		fg_fs_find_program("valgrind"),
		fg_xstrdup("--tool=callgrind"),
		fg_xasprintf("--trace-children=%s", flags & FG_CALLGRIND_CHILDREN ? "yes" : "no"),
		fg_xasprintf("--separate-callers=%d", flags & FG_CALLGRIND_FLAT ? 0 : 32),
		fg_xstrdup("--show-below-main=yes"),
		fg_xstrdup("--demangle=no"),
		fg_xasprintf("--callgrind-out-file=%s/callgrind.%%p", folder),
		fg_xasprintf("--log-file=%s/log.%%p", folder),
		NULL,
	};
	char **made = fg_xcalloc(FG_ARRAY_SIZE(words), sizeof(made[0]));

	memcpy(made, words, sizeof(words));
	if (!made[0])
		made[0] = fg_xstrdup("valgrind"); /* gone since the check; starting it will fail */
	return made;
}

void fg_callgrind_words_free(char **words)
{
	for (size_t i = 0; words && words[i]; i++)
		free(words[i]);
	free(words);
}

/* Reads what it wrote, or adds why there is nothing. */
static void take_files(const char *folder, struct fg_exact_reading *reading)
{
	struct fg_strbuf all = {0};
	struct fg_error found = {0};

	if (fg_callgrind_read(folder, &all, &found) == FG_OK) {
		reading->meter = "callgrind";
		reading->callgrind_size = all.length;
		reading->callgrind = fg_strbuf_detach(&all);
	} else {
		add_why(reading, "callgrind", found.message);
	}
	fg_strbuf_release(&all);
}

static int count_by_callgrind(struct fg_runner_job *job, const struct fg_exact_request *request,
			      struct fg_exact_reading *reading, struct fg_error *err)
{
	struct fg_extra extra = {.arm = request->arm, .timeout_ns = request->timeout_ns};
	char **words = NULL;
	char *folder = NULL;
	char *said = NULL;
	char *why = NULL;
	int status = FG_OK;

	if (!fg_runner_has_callgrind()) {
		add_why(reading, "callgrind", "valgrind is not installed");
		return FG_OK;
	}
	status = fg_runner_extra_folder(job, &folder, err);
	if (status != FG_OK)
		return status;
	words = fg_callgrind_words(folder,
				   FG_CALLGRIND_CHILDREN | (request->flat ? FG_CALLGRIND_FLAT : 0));
	extra.before = (const char *const *)words;
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
	add_why(reading, "callgrind", said ? said : (why ? why : "it failed"));
	status = FG_OK;
out:
	fg_callgrind_words_free(words);
	fg_runner_extra_remove(job, folder);
	free(said);
	free(why);
	return status;
}

/* ---- hardware ---- */

/*
 * Opens a counter that is off in this process, is inherited by every child and starts at its exec;
 * a child's count is added when the child ends.
 */
static int open_counter(void)
{
	struct perf_event_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.size = sizeof(attr);
	attr.type = PERF_TYPE_HARDWARE;
	attr.config = PERF_COUNT_HW_INSTRUCTIONS;
	attr.disabled = 1;
	attr.inherit = 1;
	attr.enable_on_exec = 1;
	attr.exclude_kernel = 1;
	attr.exclude_hv = 1;
	return (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1,
			    (unsigned long)PERF_FLAG_FD_CLOEXEC);
}

static int count_by_hardware(struct fg_runner_job *job, const struct fg_exact_request *request,
			     struct fg_exact_reading *reading, struct fg_error *err)
{
	const char *const nothing[] = {NULL};
	const int counter = open_counter();
	struct fg_error found = {0};
	uint64_t count = 0;
	char *why = NULL;
	int status = FG_OK;

	if (counter < 0) {
		(void)fg_error_errno(&found, FG_EIO,
				     "the system offers no counter of instructions");
		add_why(reading, "hardware counter", found.message);
		return FG_OK;
	}
	status = fg_runner_extra(job,
				 &(struct fg_extra){.arm = request->arm,
						    .before = nothing,
						    .timeout_ns = request->timeout_ns},
				 &why, err);
	if (status == FG_ECHILD) {
		add_why(reading, "hardware counter", why ? why : "it failed");
		status = FG_OK;
	} else if (status == FG_OK && read(counter, &count, sizeof(count)) == sizeof(count) &&
		   count > 0) {
		reading->meter = "hardware counter";
		reading->instructions = (double)count;
	} else if (status == FG_OK) {
		add_why(reading, "hardware counter", "it counted nothing");
	}
	(void)close(counter);
	free(why);
	return status;
}

int fg_runner_callgrind(struct fg_runner_job *job, const struct fg_exact_request *request,
			struct fg_exact_reading *reading, struct fg_error *err)
{
	struct fg_exact_request flat = *request;
	int status = FG_OK;

	flat.flat = true;
	*reading = (struct fg_exact_reading){0};
	status = count_by_callgrind(job, &flat, reading, err);
	if (status != FG_OK)
		fg_exact_reading_release(reading);
	return status;
}

bool fg_runner_has_callgrind(void)
{
	char *program = fg_fs_find_program("valgrind");
	const bool found = program != NULL;

	free(program);
	return found;
}

int fg_runner_exact(struct fg_runner_job *job, const struct fg_exact_request *request,
		    struct fg_exact_reading *reading, struct fg_error *err)
{
	const enum fg_exact_meter wanted = job->benchmark->measure.exact;
	int status = FG_OK;

	*reading = (struct fg_exact_reading){0};
	if (wanted != FG_EXACT_HARDWARE) {
		status = count_by_callgrind(job, request, reading, err);
		if (status != FG_OK)
			goto out;
	}
	if (wanted == FG_EXACT_VALGRIND || reading->meter)
		return FG_OK;
	status = count_by_hardware(job, request, reading, err);
out:
	if (status != FG_OK)
		fg_exact_reading_release(reading);
	return status;
}
