// SPDX-License-Identifier: Apache-2.0
#include "runner/facts/loader_list.h"

#include "base/clock.h"
#include "base/fs.h"
#include "base/process.h"
#include "base/text.h"

enum {
	TIMEOUT_S = 60,
	LIBRARIES_MAX = 4096,
};

/* Parses "	libm.so.6 => /lib/libm.so.6 (0x7f...)"; the linker's own line has no arrow. */
static void add_line(const struct fg_loader *loader, char *line)
{
	static const char arrow[] = " => ";
	char *name = line + strspn(line, " \t");
	char *path = strstr(name, arrow);
	char *end = strstr(name, " (0x");

	if (path) {
		*path = '\0';
		path += strlen(arrow);
	} else {
		path = name;
		name = NULL;
	}
	if (end)
		*end = '\0';
	if (end || name)
		loader->add(loader->context, name, end ? path : "");
}

int fg_loader_list(const struct fg_loader *loader, struct fg_error *err)
{
	char *argv[] = {(char *)(uintptr_t)loader->path, (char *)(uintptr_t) "--list",
			(char *)(uintptr_t)loader->program, NULL};
	const char *base = fg_fs_base_name(loader->path);
	struct fg_process_result result = {0};
	char *rest = NULL;
	size_t count = 0;
	int status = FG_OK;

	if (!fg_text_starts_with(base, "ld-linux") && !fg_text_starts_with(base, "ld64.so"))
		return fg_error_set(err, FG_EUNSUPPORTED, "%s is not a dynamic linker of glibc",
				    loader->path);
	status = fg_process_run(
		&(struct fg_process_options){.argv = argv,
					     .environment = loader->environment,
					     .working_directory = loader->working_directory,
					     .stdout_to = FG_STREAM_CAPTURE,
					     .timeout_ns = TIMEOUT_S * FG_NS_PER_S},
		&result, err);
	if (status != FG_OK)
		return status;
	rest = result.stdout_text;
	for (char *line; count < LIBRARIES_MAX && (line = fg_text_next_line(&rest)); count++)
		add_line(loader, line);
	if (!result.exited || result.exit_code != 0)
		status = fg_error_set(err, FG_EUNSUPPORTED,
				      "%s: the dynamic linker does not report what it would load",
				      loader->program);
	fg_process_result_release(&result);
	return status;
}
