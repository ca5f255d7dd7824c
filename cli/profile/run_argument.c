// SPDX-License-Identifier: Apache-2.0
#include "cli/profile/run_argument.h"

#include "base/clock.h"
#include "base/fs.h"
#include "base/number.h"
#include "base/text.h"
#include "cli/session/stored.h"
#include "perfdb/protocol.h"
#include "profile/exchange/archive.h"
#include "profile/exchange/import.h"
#include "profile/listing.h"
#include "profile/trace_profile.h"
#include "trace/trace_read.h"

#include <signal.h>

/* ---- traces ---- */

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

/* Signals that would end the process and can be blocked. */
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

/* Reads a trace, or a folder of traces. */
static int read_recorded(struct fg_cli *cli, const struct fg_cli_run_options *options,
			 const char *path, struct fg_profile *profile, struct fg_error *err)
{
	struct fg_symbolizer_options symbols;
	char *cache = choose_symbols(cli, options, &symbols);
	const int status = read_traces(path, &symbols, options->wants_code, profile, err);

	free(cache);
	return status;
}

/*
 * Removes the unpacked files before the profile is used. Blocks signals while the files exist, so
 * that Ctrl-C leaves nothing behind.
 */
static int read_archive(struct fg_cli *cli, const struct fg_cli_run_options *options,
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
	FG_TRY_OUT(fg_archive_open(path, parent && *parent ? parent : "/tmp", is_signal_held,
				   &archive, err));
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

const char *const fg_cli_sides[] = {"candidate", "baseline", NULL};

/* ---- stored runs ---- */

static void list_series(const struct fg_stored_run *stored, struct fg_strbuf *names)
{
	for (size_t i = 0; i < stored->run.series_count; i++)
		fg_strbuf_printf(names, "%s%s", i > 0 ? ", " : "", stored->run.series[i].name);
}

/* Chooses the requested benchmark of the run, or the only benchmark that has a profile. */
static int choose_series(const struct fg_stored_run *stored, const char *wanted, size_t *index,
			 struct fg_error *err)
{
	struct fg_strbuf names = {0};
	size_t found = SIZE_MAX;
	size_t count = 0;
	int status = FG_OK;

	list_series(stored, &names);
	for (size_t i = 0; i < stored->run.series_count; i++) {
		if (wanted ? strcmp(stored->run.series[i].name, wanted) != 0 : !stored->profiles[i])
			continue;
		found = i;
		count++;
	}
	if (count > 1)
		status = fg_error_set(err, FG_EINVAL,
				      "run %s has %zu benchmarks: choose one with --bench (%s)",
				      stored->run.id, count, fg_strbuf_text(&names));
	else if (count == 0 && wanted)
		status = fg_error_set(err, FG_ENOENT, "run %s has no benchmark '%s'; it has %s",
				      stored->run.id, wanted, fg_strbuf_text(&names));
	else if (count == 0 || !stored->profiles[found])
		status = fg_error_set(err, FG_ENOENT, "run %s was measured without a profile",
				      stored->run.id);
	else
		*index = found;
	fg_strbuf_release(&names);
	return status;
}

/* A run imported from another tool's profile has no clock. */
static void set_clock(const struct fg_sampling *sampling, struct fg_profile *profile)
{
	if (!*sampling->clock)
		return;
	profile->clock = fg_profile_text(profile, sampling->clock);
	if (*sampling->unseen)
		profile->unseen = fg_profile_text(profile, sampling->unseen);
	if (sampling->rate_hz > 0)
		profile->period_ns = (uint64_t)((double)FG_NS_PER_S / sampling->rate_hz);
	if (sampling->expected_cost > 0)
		profile->cost.expected = sampling->expected_cost;
}

/* Makes a profile from the sums over all repetitions. */
static int from_sums(const struct fg_cli_run_options *options, const struct fg_stored_run *stored,
		     size_t index, struct fg_profile *profile, struct fg_error *err)
{
	fg_profile_from_set(profile, stored->profiles[index],
			    options->side == 0 ? FG_ARM_CANDIDATE : FG_ARM_BASELINE);
	if (profile->sample_count > 0) {
		set_clock(&stored->run.series[index].sampling, profile);
		return FG_OK;
	}
	fg_profile_release(profile);
	return fg_error_set(
		err, FG_ENOENT,
		"run %s has no profile of its %s: nothing was sampled (the program was too "
		"short, or the sampler was off)",
		stored->run.id, fg_cli_sides[options->side]);
}

static int from_stored(const struct fg_cli_run_options *options, const char *words,
		       struct fg_profile *profile, struct fg_error *err)
{
	struct fg_stored_run stored;
	size_t index = 0;
	char *title = NULL;
	int status = FG_OK;

	FG_TRY(fg_cli_load_run(options->store, options->project, words, &stored, err));
	FG_TRY_OUT(choose_series(&stored, options->benchmark, &index, err));
	FG_TRY_OUT(from_sums(options, &stored, index, profile, err));
	title = fg_xasprintf("%s  (run %s)", stored.run.series[index].name, stored.run.id);
	profile->title = fg_profile_text(profile, title);
	free(title);
out:
	fg_stored_run_release(&stored);
	return status;
}

/* ---- files ---- */

static int from_import(const struct fg_cli_run_options *given, const char *path, const char *data,
		       size_t size, struct fg_profile *profile, struct fg_error *err)
{
	const struct fg_import_format *format =
		given->format ? fg_import_find(given->format) : fg_import_detect(data, size);
	const struct fg_import_options options = {
		.program = fg_fs_base_name(path),
		.period_ns = (uint64_t)given->period_ns,
	};
	int status = FG_OK;

	if (!format)
		return fg_error_set(
			err, FG_EPARSE,
			"%s is neither a trace nor an exported run nor a profile in a known format "
			"(folded, callgrind)",
			path);
	status = fg_import_read(format, data, size, &options, profile, err);
	if (status != FG_OK)
		fg_error_prefix(err, "%s", path);
	return status;
}

static int from_file(struct fg_cli *cli, const struct fg_cli_run_options *options, const char *path,
		     struct fg_profile *profile, struct fg_error *err)
{
	char *data = NULL;
	size_t size = 0;
	int status = FG_OK;

	if (fg_text_ends_with(path, FG_WIRE_FILE_ENDING))
		return from_stored(options, path, profile, err);
	if (fg_trace_is_trace(path))
		return read_recorded(cli, options, path, profile, err);
	if (fg_archive_is_archive(path))
		return read_archive(cli, options, path, profile, err);
	FG_TRY(fg_fs_read(path, FG_IMPORT_MAX_BYTES, &data, &size, err));
	status = from_import(options, path, data, size, profile, err);
	free(data);
	return status;
}

/* Reads traces, or the file of `record --exact`. */
static int from_folder(struct fg_cli *cli, const struct fg_cli_run_options *options,
		       const char *path, struct fg_profile *profile, struct fg_error *err)
{
	char *exact = fg_fs_join(path, FG_CLI_EXACT_FILE);
	const int status = fg_fs_exists(exact) ? from_file(cli, options, exact, profile, err)
					       : read_recorded(cli, options, path, profile, err);

	free(exact);
	return status;
}

/* Prints the profile's notes unless `status` is an error. Returns `status`. */
static int print_notes(const struct fg_cli *cli, int status, const struct fg_profile *profile)
{
	for (size_t i = 0; status == FG_OK && i < profile->note_count; i++)
		fg_cli_say(cli, "note: %s", profile->notes[i]);
	return status;
}

int fg_cli_load_profile_file(struct fg_cli *cli, const struct fg_cli_run_options *options,
			     const char *path, struct fg_profile *profile, struct fg_error *err)
{
	if (fg_fs_is_folder(path))
		return print_notes(cli, from_folder(cli, options, path, profile, err), profile);
	if (fg_fs_exists(path))
		return print_notes(cli, from_file(cli, options, path, profile, err), profile);
	return fg_error_set(err, FG_ENOENT, "%s: no such file or folder", path);
}

/* ---- the newest run or trace ---- */

/* Returns the time of the folder's newest trace or file of `record --exact`; 0 without either. */
static int64_t newest_trace_ns(const char *folder)
{
	struct fg_fs_file *files = NULL;
	const size_t count = fg_fs_newest(folder, &files);
	int64_t newest = 0;

	for (size_t i = 0; i < count && newest == 0; i++) {
		if (fg_trace_is_trace(files[i].path) ||
		    strcmp(fg_fs_base_name(files[i].path), FG_CLI_EXACT_FILE) == 0)
			newest = files[i].written_ns;
	}
	fg_fs_files_free(files, count);
	return newest;
}

/* Returns the end time of the newest run in the store; 0 if the store is missing or empty. */
static int64_t newest_run_ns(const struct fg_cli_run_options *options)
{
	const struct fg_run_filter filter = {
		.project = options->project, .complete_only = true, .limit = 1};
	struct fg_run_list list = {0};
	struct fg_store *store = NULL;
	int64_t newest = 0;

	if (fg_cli_open_store(options->store, FG_STORE_READ_ONLY, &store, NULL) != FG_OK)
		return 0;
	if (fg_store_list(store, &filter, &list, NULL) == FG_OK && list.count > 0)
		newest = list.items[0].ended_ns > 0 ? list.items[0].ended_ns
						    : list.items[0].started_ns;
	fg_run_list_release(&list);
	fg_store_close(store);
	return newest;
}

bool fg_cli_is_profile_file(const char *words)
{
	if (fg_fs_is_folder(words))
		return newest_trace_ns(words) > 0;
	return fg_fs_exists(words) && !fg_text_ends_with(words, FG_WIRE_FILE_ENDING);
}

/*
 * Returns the path of the file or folder that `words` names or, without words, of the newest
 * recording if no run is newer; NULL for a stored run.
 */
static const char *file_of(const struct fg_cli_run_options *options, const char *words)
{
	int64_t traced = 0;

	if (words)
		return fg_fs_exists(words) || strchr(words, '/') ? words : NULL;
	if (options->store || options->benchmark)
		return NULL;
	traced = newest_trace_ns(FG_CLI_RECORD_FOLDER);
	return traced > 0 && traced > newest_run_ns(options) ? FG_CLI_RECORD_FOLDER : NULL;
}

int fg_cli_load_profile(struct fg_cli *cli, const struct fg_cli_run_options *options,
			const char *words, struct fg_profile *profile, struct fg_error *err)
{
	const char *file = file_of(options, words);

	if (file)
		return fg_cli_load_profile_file(cli, options, file, profile, err);
	return print_notes(cli, from_stored(options, words, profile, err), profile);
}

void fg_cli_list_choices(const struct fg_cli_run_options *options, const char *words, char ***names,
			 size_t *count)
{
	struct fg_stored_run stored = {0};

	*names = NULL;
	*count = 0;
	if (options->benchmark || file_of(options, words) ||
	    fg_cli_load_run(options->store, options->project, words, &stored, NULL) != FG_OK)
		return;
	*names = fg_xcalloc(stored.run.series_count + 1, sizeof(**names));
	for (size_t i = 0; i < stored.run.series_count; i++)
		if (stored.profiles[i])
			(*names)[(*count)++] = fg_xstrdup(stored.run.series[i].name);
	fg_stored_run_release(&stored);
}
