// SPDX-License-Identifier: Apache-2.0
/* A trace file, or a folder of them, as one profile with its samples in order. */
#include "base/fs.h"
#include "base/sort.h"
#include "base/text.h"
#include "profile/call_patterns.h"
#include "profile/trace_private.h"

enum {
	MAX_TRACES = 65536
};

FG_ORDER_BY(by_thread_and_time, struct fg_sample, FG_UP(thread), FG_UP(time_ns))

/*
 * Sorts the samples if necessary: they are nearly always in order, and checking is cheaper than
 * sorting.
 */
static void order_samples(struct fg_profile *profile)
{
	bool ordered = true;

	for (size_t i = 1; i < profile->sample_count && ordered; i++)
		ordered = by_thread_and_time(&profile->samples[i - 1], &profile->samples[i]) <= 0;
	if (!ordered)
		qsort(profile->samples, profile->sample_count, sizeof(profile->samples[0]),
		      by_thread_and_time);
}

struct unit_order {
	int64_t start_ns;
	uint32_t thread;
	uint32_t unit;
};

FG_ORDER_BY(by_thread_and_start, struct unit_order, FG_UP(thread), FG_UP(start_ns), FG_UP(unit))

static bool covers(const struct fg_unit_info *unit, const struct fg_sample *sample)
{
	return unit->thread == sample->thread && unit->start_ns <= sample->time_ns &&
	       (!unit->ended || sample->time_ns < unit->end_ns);
}

/*
 * Makes one pass over units and samples, both sorted by thread and time. Open units form a stack; a
 * sample belongs to the innermost unit.
 */
static void assign_units(struct fg_profile *profile)
{
	size_t count = profile->unit_count - 1;
	struct unit_order *order = fg_xcalloc(count + 1, sizeof(order[0]));
	uint32_t *open = fg_xcalloc(count + 1, sizeof(open[0]));
	size_t depth = 0;
	size_t next = 0;

	for (size_t i = 0; i < count; i++)
		order[i] = (struct unit_order){.start_ns = profile->units[i + 1].start_ns,
					       .thread = profile->units[i + 1].thread,
					       .unit = (uint32_t)i + 1};
	qsort(order, count, sizeof(order[0]), by_thread_and_start);
	for (size_t i = 0; i < profile->sample_count; i++) {
		struct fg_sample *sample = &profile->samples[i];

		while (next < count && (order[next].thread < sample->thread ||
					(order[next].thread == sample->thread &&
					 order[next].start_ns <= sample->time_ns)))
			open[depth++] = order[next++].unit;
		while (depth > 0 && !covers(&profile->units[open[depth - 1]], sample))
			depth--;
		if (depth > 0)
			sample->unit = open[depth - 1];
	}
	free(order);
	free(open);
}

int fg_profile_list_traces(const char *path, char ***paths, size_t *count, struct fg_error *err)
{
	char **names;
	size_t name_count;

	*paths = NULL;
	*count = 0;
	if (!fg_fs_is_folder(path)) {
		*paths = fg_xcalloc(1, sizeof(**paths));
		(*paths)[(*count)++] = fg_xstrdup(path);
		return FG_OK;
	}
	FG_TRY(fg_fs_list(path, &names, &name_count, err));
	*paths = fg_xcalloc(name_count + 1, sizeof(**paths));
	for (size_t i = 0; i < name_count && *count < MAX_TRACES; i++)
		if (fg_text_ends_with(names[i], FG_TRACE_SUFFIX))
			(*paths)[(*count)++] = fg_fs_join(path, names[i]);
	fg_fs_list_free(names, name_count);
	return FG_OK;
}

/*
 * Reads the files. Times count from the earliest start of a process, whatever the order of the
 * files.
 */
static uint64_t read_all(char **paths, size_t count, struct fg_trace *traces, bool *good,
			 struct fg_profile *profile, struct fg_error *first)
{
	uint64_t origin_ns = UINT64_MAX;

	for (size_t i = 0; i < count; i++) {
		struct fg_error err = {0};

		good[i] = fg_trace_read(paths[i], &traces[i], &err) == FG_OK;
		if (!good[i]) {
			fg_profile_add_note(profile, "%s", err.message);
			if (first->code == FG_OK)
				*first = err;
			continue;
		}
		if (traces[i].header.start_monotonic_ns < origin_ns) {
			origin_ns = traces[i].header.start_monotonic_ns;
			profile->started_wall_ns = (int64_t)traces[i].header.start_realtime_ns;
			profile->title =
				traces[i].header.clock_user == FG_CLOCK_MACHINE
					? "every process on the machine"
					: fg_arena_strdup(&profile->arena, traces[i].command);
		}
	}
	return origin_ns;
}

static void note_patterns(struct fg_profile *profile, struct fg_call_patterns *patterns)
{
	for (unsigned reason = 0; reason < FG_ENTRY_REFUSALS; reason++) {
		struct fg_strbuf text = {0};

		if (fg_call_patterns_explain_entries(patterns, reason, &text))
			fg_profile_add_note(profile, "%s", text.data);
		fg_strbuf_release(&text);
	}
	for (size_t i = 0; i < patterns->count; i++) {
		struct fg_strbuf text = {0};

		if (fg_call_patterns_explain(patterns, i, &text))
			fg_profile_add_note(profile, "%s", text.data);
		fg_strbuf_release(&text);
	}
}

int fg_profile_read_traces(const char *path, struct fg_symbolizer *symbolizer,
			   struct fg_profile *profile, struct fg_error *err)
{
	struct fg_error first = {0};
	struct fg_call_patterns patterns = {0};
	struct fg_profile read;
	struct fg_trace *traces = NULL;
	bool *good = NULL;
	uint64_t origin_ns;
	char **paths;
	size_t count;
	int status = FG_OK;

	FG_TRY(fg_profile_list_traces(path, &paths, &count, err));
	fg_profile_init(&read);
	traces = fg_xcalloc(count + 1, sizeof(traces[0]));
	good = fg_xcalloc(count + 1, sizeof(good[0]));
	origin_ns = read_all(paths, count, traces, good, &read, &first);
	for (size_t i = 0; i < count; i++)
		if (good[i])
			fg_call_patterns_add(&patterns, &traces[i]);
	for (size_t i = 0; i < count; i++) {
		if (!good[i])
			continue;
		fg_profile_add_trace(&read, &traces[i], symbolizer, origin_ns);
		fg_trace_release(&traces[i]);
	}
	if (count == 0)
		status = fg_error_set(err, FG_ENOENT, "'%s' has no trace (*%s)", path,
				      FG_TRACE_SUFFIX);
	else if (read.process_count == 0)
		status = fg_error_set(err, first.code, "%s", first.message);
	if (status == FG_OK) {
		order_samples(&read);
		assign_units(&read);
		note_patterns(&read, &patterns);
		*profile = read;
	} else {
		fg_profile_release(&read);
	}
	fg_call_patterns_release(&patterns);
	free(traces);
	free(good);
	fg_fs_list_free(paths, count);
	return status;
}
