// SPDX-License-Identifier: Apache-2.0
#include "cli/session/run_argument.h"

#include "base/clock.h"
#include "base/fs.h"
#include "base/text.h"
#include "cli/session/samples.h"
#include "cli/session/stored.h"
#include "cli/session/traces.h"
#include "perfdb/protocol.h"
#include "profile/exchange/archive.h"
#include "profile/exchange/import.h"
#include "trace/trace_read.h"

#include <sys/stat.h>

const char *const fg_cli_sides[] = {"candidate", "baseline", NULL};

/* ---- stored runs ---- */

static void list_series(const struct fg_stored_run *stored, struct fg_strbuf *names)
{
	for (size_t i = 0; i < stored->run.series_count; i++)
		fg_strbuf_printf(names, "%s%s", i > 0 ? ", " : "", stored->run.series[i].name);
}

/* The requested benchmark of the run, or the only one that has a profile. */
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

/* The nth counting repetition of one side, from 1; 0: the first one whose samples were kept. */
static bool find_kept(const struct fg_profile_set *set, unsigned wanted, struct fg_samples_key *key,
		      unsigned *number)
{
	const uint16_t time = fg_profile_set_time(set);

	*number = 0;
	for (size_t i = 0; i < set->row_count; i++) {
		const struct fg_profile_row *row = &set->rows[i];

		if (row->measure != time || row->arm != key->arm || row->aside != 0)
			continue;
		key->pair = row->pair;
		++*number;
		if ((wanted == 0 || wanted == *number) && fg_samples_are_kept(key))
			return true;
	}
	return false;
}

/* --repetition N is checked against the profile later, so the profile is marked as the Nth. */
static void number_repetition(struct fg_profile *profile, unsigned number)
{
	profile->repetition_count = number;
	for (size_t i = 0; i < profile->sample_count; i++)
		profile->samples[i].repetition = number - 1;
}

/*
 * Sets *found if the samples of one repetition are now in the profile. If they were not kept, the
 * profile is unchanged.
 */
static int from_samples(const struct fg_cli_run_options *options,
			const struct fg_stored_run *stored, size_t index, bool *found,
			struct fg_profile *profile, struct fg_error *err)
{
	char *path = fg_cli_store_path(options->store);
	struct fg_samples_key key = {
		.store = path,
		.run = stored->run.id,
		.series = index,
		.arm = options->side == 0 ? FG_ARM_CANDIDATE : FG_ARM_BASELINE,
	};
	unsigned number = 0;
	int status = FG_OK;

	*found = find_kept(stored->profiles[index], options->repetition, &key, &number);
	if (*found)
		status = fg_samples_load(&key, profile, err);
	if (*found && status == FG_OK) {
		fg_profile_add_note(profile,
				    "these are the samples of one execution, repetition %u of %s",
				    number, fg_cli_sides[options->side]);
		if (options->repetition > 0)
			number_repetition(profile, number);
	}
	free(path);
	return status;
}

/* Older runs do not record their clock. */
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

/* The sums of all repetitions. */
static int from_sums(const struct fg_cli_run_options *options, const struct fg_stored_run *stored,
		     size_t index, struct fg_profile *profile, struct fg_error *err)
{
	if (options->every_sample)
		return fg_error_set(err, FG_ENOENT,
				    "run %s has sums only: its samples were not kept "
				    "(measure.sampler.keep_samples)",
				    stored->run.id);
	fg_profile_from_set(profile, stored->profiles[index],
			    options->side == 0 ? FG_ARM_CANDIDATE : FG_ARM_BASELINE);
	if (profile->sample_count > 0) {
		set_clock(&stored->run.series[index].sampling, profile);
		return FG_OK;
	}
	fg_profile_release(profile);
	return fg_error_set(err, FG_ENOENT,
			    "run %s has no profile of its %s: nothing was sampled (too short, or "
			    "the sampler was off)",
			    stored->run.id, fg_cli_sides[options->side]);
}

static int from_stored(const struct fg_cli_run_options *options, const char *words,
		       struct fg_profile *profile, struct fg_error *err)
{
	struct fg_stored_run stored;
	size_t index = 0;
	bool found = false;
	char *title = NULL;
	int status = fg_cli_load_run(options->store, options->project, words, &stored, err);

	if (status != FG_OK)
		return status;
	status = choose_series(&stored, options->benchmark, &index, err);
	if (status != FG_OK)
		goto out;
	if (options->every_sample || options->prefers_samples)
		status = from_samples(options, &stored, index, &found, profile, err);
	if (status != FG_OK)
		goto out;
	if (!found)
		status = from_sums(options, &stored, index, profile, err);
	if (status != FG_OK)
		goto out;
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
		.value = given->value,
	};
	int status = FG_OK;

	if (!format)
		return fg_error_set(
			err, FG_EPARSE,
			"%s is neither a trace nor an exported run nor a profile in a known format "
			"(json, folded, pprof, perf script)",
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
		return fg_cli_read_traces(cli, options, path, profile, err);
	if (fg_archive_is_archive(path))
		return fg_cli_read_archive(cli, options, path, profile, err);
	status = fg_fs_read(path, FG_IMPORT_MAX_BYTES, &data, &size, err);
	if (status != FG_OK)
		return status;
	status = from_import(options, path, data, size, profile, err);
	free(data);
	return status;
}

/* Prints notes about a profile as soon as they are known. */
static int tell_notes(const struct fg_cli *cli, int status, const struct fg_profile *profile)
{
	for (size_t i = 0; status == FG_OK && i < profile->note_count; i++)
		fg_cli_say(cli, "note: %s", profile->notes[i]);
	return status;
}

int fg_cli_load_profile_file(struct fg_cli *cli, const struct fg_cli_run_options *options,
			     const char *path, struct fg_profile *profile, struct fg_error *err)
{
	if (fg_fs_is_folder(path))
		return tell_notes(cli, fg_cli_read_traces(cli, options, path, profile, err),
				  profile);
	if (fg_fs_exists(path))
		return tell_notes(cli, from_file(cli, options, path, profile, err), profile);
	return fg_error_set(err, FG_ENOENT, "%s: there is no such file or folder", path);
}

/* ---- the newest run or trace ---- */

/* Time of the last trace written to this folder; 0 if there is none. */
static int64_t newest_trace_ns(const char *folder)
{
	char **names = NULL;
	size_t count = 0;
	int64_t newest = 0;

	if (!fg_fs_is_folder(folder) || fg_fs_list(folder, &names, &count, NULL) != FG_OK)
		return 0;
	for (size_t i = 0; i < count; i++) {
		char *path = fg_fs_join(folder, names[i]);
		struct stat facts;

		if (fg_trace_is_trace(path) && stat(path, &facts) == 0) {
			const int64_t written = (int64_t)facts.st_mtim.tv_sec * FG_NS_PER_S +
						(int64_t)facts.st_mtim.tv_nsec;

			newest = written > newest ? written : newest;
		}
		free(path);
	}
	fg_fs_list_free(names, count);
	return newest;
}

/* End of the newest run in the store; 0 if there is no store, or if it is empty. */
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

/* A file, a folder, or the newest recording. */
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
	return tell_notes(cli, from_stored(options, words, profile, err), profile);
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
