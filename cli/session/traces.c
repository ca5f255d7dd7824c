// SPDX-License-Identifier: Apache-2.0
#include "cli/session/traces.h"

#include "base/fs.h"
#include "base/number.h"
#include "base/text.h"
#include "profile/exchange/archive.h"
#include "profile/listing.h"
#include "profile/trace_profile.h"

#include <signal.h>

static char *choose_symbols(struct fg_cli *cli, const struct fg_cli_run_options *options,
			    struct fg_symbolizer_options *symbols)
{
	char *cache = fg_fs_cache_folder();
	const char **folders =
		fg_arena_array(&cli->arena, options->binaries.count + 1, sizeof(*folders));

	if (options->binaries.count > 0)
		memcpy(folders, options->binaries.items,
		       options->binaries.count * sizeof(*folders));
	*symbols = (struct fg_symbolizer_options){
		.binary_folders = folders,
		.cache_folder = cache,
		.names_only = options->names_only,
		.debuginfod = getenv("DEBUGINFOD_URLS") != NULL,
	};
	return cache;
}

/* Signals that would end us, as far as they can be blocked. */
static const int ending[] = {SIGINT, SIGTERM, SIGHUP};

static void hold_signals(sigset_t *before)
{
	sigset_t held;

	(void)sigemptyset(&held);
	for (size_t i = 0; i < FG_ARRAY_SIZE(ending); i++)
		(void)sigaddset(&held, ending[i]);
	(void)sigprocmask(SIG_BLOCK, &held, before);
}

static bool is_signal_held(void)
{
	sigset_t waiting;

	if (sigpending(&waiting) != 0)
		return false;
	for (size_t i = 0; i < FG_ARRAY_SIZE(ending); i++)
		if (sigismember(&waiting, ending[i]) == 1)
			return true;
	return false;
}

static int read_traces(const char *path, const struct fg_symbolizer_options *symbols,
		       bool wants_code, struct fg_profile *profile, struct fg_error *err)
{
	struct fg_symbolizer *symbolizer = fg_symbolizer_new(symbols);
	const int status = fg_profile_read_traces(path, symbolizer, profile, err);

	if (status == FG_OK && wants_code)
		fg_listings_add(profile, symbolizer);
	fg_symbolizer_free(symbolizer);
	return status;
}

int fg_cli_read_traces(struct fg_cli *cli, const struct fg_cli_run_options *options,
		       const char *path, struct fg_profile *profile, struct fg_error *err)
{
	struct fg_symbolizer_options symbols;
	char *cache = choose_symbols(cli, options, &symbols);
	const int status = read_traces(path, &symbols, options->wants_code, profile, err);

	free(cache);
	return status;
}

/*
 * Unpacked files are removed before the profile is used. Until then signals are blocked, so that
 * Ctrl-C leaves nothing behind.
 */
int fg_cli_read_archive(struct fg_cli *cli, const struct fg_cli_run_options *options,
			const char *path, struct fg_profile *profile, struct fg_error *err)
{
	struct fg_symbolizer_options symbols;
	struct fg_archive archive;
	const char *parent = getenv("TMPDIR");
	sigset_t before;
	char *cache = choose_symbols(cli, options, &symbols);
	int status = FG_OK;

	free(cache);
	hold_signals(&before);
	status = fg_archive_open(path, parent && *parent ? parent : "/tmp", is_signal_held,
				 &archive, err);
	if (status != FG_OK)
		goto out;
	symbols.cache_folder = archive.folder;
	symbols.debuginfod = false;
	symbols.archive = &archive.symbols;
	status = read_traces(archive.traces, &symbols, options->wants_code, profile, err);
	fg_archive_close(&archive);
out:
	(void)sigprocmask(SIG_SETMASK, &before, NULL);
	return status;
}

/* ---- archives ---- */

static char *archive_path(const char *traces, const char *output)
{
	size_t length = strlen(traces);

	while (length > 1 && traces[length - 1] == '/')
		length--;
	return output ? fg_xstrdup(output)
		      : fg_xasprintf("%.*s%s", (int)length, traces, FG_ARCHIVE_ENDING);
}

static void say_content(const struct fg_cli *cli, const char *path,
			const struct fg_archive_content *content)
{
	char size[FG_NUMBER_TEXT_SIZE];

	fg_cli_say(cli, "%s: %zu trace%s, %zu binar%s, %zu debug file%s, %s unpacked", path,
		   content->traces, content->traces == 1 ? "" : "s", content->binaries,
		   content->binaries == 1 ? "y" : "ies", content->debug_files,
		   content->debug_files == 1 ? "" : "s",
		   fg_format_size((double)content->bytes, size));
	for (size_t i = 0; i < content->missing_count; i++)
		fg_cli_warn(cli, "not in the archive: %s", content->missing[i]);
}

int fg_cli_archive_traces(struct fg_cli *cli, const struct fg_option_list *binaries,
			  const char *traces, const char *output, struct fg_error *err)
{
	const struct fg_cli_run_options options = {.binaries = *binaries};
	struct fg_archive_content content;
	struct fg_symbolizer_options symbols;
	char *cache = choose_symbols(cli, &options, &symbols);
	char *path = archive_path(traces, output);
	const int status = fg_archive_write(traces, &symbols, path, &content, err);

	if (status == FG_OK) {
		say_content(cli, path, &content);
		fg_archive_content_release(&content);
	}
	free(path);
	free(cache);
	return status;
}
