// SPDX-License-Identifier: Apache-2.0
#include "profile/views/view.h"

#include "profile/views/view_private.h"

#include <math.h>

#define FEW_SAMPLES 100
#define NORMAL_95   1.96

const struct fg_view fg_views[] = {
	{"flat",
	 "functions by self time; `cumul` is the running sum, `incl` includes callees, `leaf` "
	 "counts samples that ended in the function, `samples` counts all that passed through it",
	 .make = fg_view_flat},
	{"callgraph", "each function between its callers (above) and callees (below), as in gprof",
	 .make = fg_view_callgraph},
	{"top-down", "the call tree from the start of the program; direct recursion is one row",
	 .make = fg_view_top_down},
	{"bottom-up", "the functions where time is spent, each with its callers",
	 .make = fg_view_bottom_up},
	{"lines", "source lines", .make = fg_view_flat, .group = FG_GROUP_LINE},
	{"libraries", "shared libraries and the program itself", .make = fg_view_flat,
	 .group = FG_GROUP_LIBRARY},
	{"classes", "classes, and free functions by namespace", .make = fg_view_flat,
	 .group = FG_GROUP_CLASS},
	{"namespaces", "outermost namespaces", .make = fg_view_flat, .group = FG_GROUP_NAMESPACE},
	{"files", "source files", .make = fg_view_flat, .group = FG_GROUP_FILE},
	{"threads", "each thread, with the kernel's figures for it and its most expensive function",
	 .make = fg_view_threads},
	{"regions",
	 "marked regions by branch (`reco/fit` is `fit` inside `reco`), with their functions",
	 .make = fg_view_regions},
	{"units",
	 "units of work: mean, standard deviation, median, 95th percentile and maximum, in total "
	 "and per region; and the slowest units",
	 .make = fg_view_units},
	{"timeline", "equal time steps: the number of busy CPUs, and the most expensive function",
	 .make = fg_view_timeline},
	{"paths",
	 "each function with the number of its call paths and units of work, and the variation of "
	 "its time; with `--function`, path by path",
	 .make = fg_view_paths},
	{"memory", "functions with all counts of their allocations", .make = fg_view_memory,
	 .measure = "heap.bytes"},
	{"leaks", "call paths whose memory was lost", .make = fg_view_leaks,
	 .measure = "heap.leaked"},
	{"growth", "call paths that hold more than they did at an earlier dump",
	 .make = fg_view_growth, .measure = "heap.live"},
	{"resident", "resident memory by mapping, near the peak and at the end",
	 .make = fg_view_resident, .measure = "heap.live"},
	{"domains",
	 "arguments of function calls; `--function` lists the call paths to a function, `--trace` "
	 "shows one of them",
	 .make = fg_view_domains, .has_no_measure = true},
	{"times", "durations of calls of functions", .make = fg_view_times, .has_no_measure = true},
	{"instructions", "a function's samples by instruction, disassembled, next to its lines",
	 .make = fg_view_instructions, .needs_code = true},
	{.name = NULL},
};

const struct fg_view *fg_view_find(const char *name)
{
	for (const struct fg_view *view = fg_views; view->name; view++) {
		if (strcmp(view->name, name) == 0)
			return view;
	}
	return NULL;
}

/*
 * Explains why a memory view is empty. If only leaks are missing, the memory could not be searched
 * for them.
 */
static int explain_nothing(const struct fg_profile *profile, const struct fg_view *view,
			   struct fg_error *err)
{
	uint16_t index = 0;

	if (fg_profile_find_measure(profile, "heap.live", &index, NULL) == FG_OK)
		return fg_error_set(
			err, FG_EUNSUPPORTED,
			"this profile has heap.live but not %s: use --measure heap.live",
			view->measure);
	if (fg_profile_find_measure(profile, "heap.allocations", &index, NULL) == FG_OK)
		return fg_error_set(
			err, FG_EUNSUPPORTED,
			"allocations were counted, but not the memory that they hold: use "
			"fastgate record --measure heap");
	return fg_error_set(err, FG_EUNSUPPORTED,
			    "no allocations were counted: use fastgate record --measure heap, or "
			    "measure.also: [heap]");
}

/*
 * With few samples, notes how uncertain shares are: the half width of the 95 % interval for shares
 * of 50 % and 10 %. Samples of different weights count as a smaller number of equal samples.
 */
static void note_few_samples(const struct fg_profile *profile, uint16_t measure,
			     struct fg_view_table *table)
{
	double sum = 0;
	double squares = 0;

	if (measure != 0 || table->measure.exact)
		return;
	for (size_t i = 0; i < profile->sample_count; i++) {
		const struct fg_sample *sample = &profile->samples[i];

		if (sample->measure != 0 || !(sample->count > 0))
			continue;
		sum += sample->value;
		squares += sample->value * sample->value / sample->count;
	}
	const double samples = squares > 0 ? sum * sum / squares : 0;

	if (samples > 0 && samples < FEW_SAMPLES - 0.5)
		fg_view_note(
			table,
			"as precise as %.0f equal samples: a share of 50 %% means 50 ± %.0f %%, "
			"and 10 %% means 10 ± %.0f %% (95 %% confidence)",
			samples, 100 * NORMAL_95 * sqrt(0.5 * 0.5 / samples),
			100 * NORMAL_95 * sqrt(0.1 * 0.9 / samples));
}

static void note_share(struct fg_view_table *table, double part, double whole, const char *what)
{
	const double percent = whole > 0 ? 100 * part / whole : 0;

	if (percent > 0)
		fg_view_note(table, percent < 10 ? "%.2g %% of %s %s" : "%.0f %% of %s %s", percent,
			     fg_view_whole(table), what);
}

int fg_view_make(const struct fg_view *view, const struct fg_profile *profile,
		 const struct fg_view_options *options, struct fg_view_table *table,
		 struct fg_error *err)
{
	struct fg_view_table made = {.name = view->name};
	const struct fg_profile_measure *measure = NULL;
	struct fg_view_options with = *options;
	uint16_t index = 0;
	int status = FG_OK;

	if (view->group != FG_GROUP_FUNCTION)
		with.query.group = view->group;
	if (!with.query.measure && view->measure) {
		with.query.measure = view->measure;
		if (fg_profile_find_measure(profile, view->measure, &index, NULL) != FG_OK)
			return explain_nothing(profile, view, err);
	}
	FG_TRY(fg_profile_find_measure(profile, with.query.measure, &index, err));
	measure = &profile->measures[index];
	made.measure = measure->is;
	status = view->make(profile, &with, &made, err);
	if (status != FG_OK) {
		fg_view_table_release(&made);
		return status;
	}
	note_share(&made, measure->lost, measure->lost + measure->total, "could not be sampled");
	note_share(&made, measure->truncated, measure->total, "has an incomplete stack");
	note_few_samples(profile, index, &made);
	for (size_t i = 0; i < profile->note_count; i++)
		fg_view_profile_note(&made, "%s", profile->notes[i]);
	*table = made;
	return FG_OK;
}

void fg_view_table_release(struct fg_view_table *table)
{
	fg_arena_release(&table->arena);
	free(table->head);
	free(table->rows);
	free(table->notes);
	free(table->profile_notes);
	*table = (struct fg_view_table){0};
}
