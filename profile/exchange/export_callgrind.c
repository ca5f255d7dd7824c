// SPDX-License-Identifier: Apache-2.0
/*
 * Callgrind's format.  Its readers take the inclusive cost of a function to be the sum of the calls
 * to it, so with recursion the plain edges of a call tree would count a sample several times.  Here
 * a sample gives
 *
 *	- its time to the line of its leaf, and
 *	- and one call for each further function on its stack: that to its outermost frame.
 *
 * So the calls to a function add up to exactly the time of the samples that have it on their stack:
 * main → f → g → f is a call of f by main and one of g by f, and the inner f only time of its own.
 * The number of calls is not known to a sampler; the format wants one, and gets the number of
 * samples, as `desc:` says.
 */
#include "base/map.h"
#include "base/printable.h"
#include "profile/exchange/export_formats.h"

#include <ctype.h>
#include <inttypes.h>
#include <limits.h>
#include <math.h>

static const uint32_t no_callee = UINT32_MAX;

/* A line of a function, or a call from it. */
struct place {
	const char *file; /* equal texts have equal addresses */
	uint32_t function;
	uint32_t line;
	uint32_t callee; /* no_callee: time of its own */
	uint32_t unused; /* no padding: the bytes are a key */
};

struct cost {
	struct place place;
	size_t row; /* index of its values, one per measure */
	uint64_t samples;
};

/* Added to every cost on a stack. */
struct share {
	const double *values; /* one a measure */
	uint64_t samples;
};

struct writer {
	const struct fg_profile *profile;
	struct fg_strbuf *out;
	struct fg_map places;
	struct cost *costs;
	size_t capacity;
	double *values;
	size_t value_capacity;
	double *totals; /* totals of self values */
	uint32_t *seen; /* by function: the number of the stack that it was last seen on */
	bool *function_named;
	struct fg_map files;
	struct fg_map objects;
};

static const char *file_of(const struct fg_profile *profile, const struct fg_frame *frame)
{
	return frame->file ? frame->file : profile->functions[frame->function].file;
}

static enum fg_measure_fold fold_of(const struct writer *w, size_t measure)
{
	return w->profile->measures[measure].is.fold;
}

static void add_cost(struct writer *w, const struct fg_frame *frame, uint32_t callee,
		     const struct share *share)
{
	const size_t width = w->profile->measure_count;
	const struct place place = {
		.file = file_of(w->profile, frame),
		.function = frame->function,
		.line = frame->line,
		.callee = callee,
	};
	bool is_new = false;
	const uint64_t at =
		*fg_map_add(&w->places, &place, sizeof(place), w->places.count, &is_new);

	w->costs = fg_grow(w->costs, &w->capacity, w->places.count, sizeof(*w->costs));
	w->values =
		fg_grow(w->values, &w->value_capacity, w->places.count * width, sizeof(*w->values));
	if (is_new) {
		w->costs[at] = (struct cost){.place = place, .row = at};
		memset(&w->values[at * width], 0, width * sizeof(*w->values));
	}
	for (size_t i = 0; i < width && share; i++)
		w->values[at * width + i] =
			fg_measure_join(fold_of(w, i), w->values[at * width + i], share->values[i]);
	w->costs[at].samples += share ? share->samples : 0;
}

static void add_stack(struct writer *w, const uint32_t *frames, size_t depth, uint32_t number,
		      const struct share *share)
{
	const struct fg_frame *all = w->profile->frames;
	const struct fg_frame *caller = NULL;

	for (size_t i = 0; i < depth; i++) {
		const struct fg_frame *frame = &all[frames[i]];

		/* every function gets a place, even with inner calls only */
		if (w->seen[frame->function] == 0)
			add_cost(w, frame, no_callee, NULL);
		if (w->seen[frame->function] != number && caller)
			add_cost(w, caller, frame->function, share);
		w->seen[frame->function] = number;
		caller = frame;
	}
	add_cost(w, caller ? caller : &all[0], no_callee, share);
}

static void add_up(struct writer *w)
{
	const size_t width = w->profile->measure_count;
	struct fg_stack_sums *sums = fg_xcalloc(width, sizeof(sums[0]));
	double *values = fg_xcalloc(width, sizeof(values[0]));
	uint32_t *frames = NULL;
	size_t capacity = 0;

	for (size_t i = 0; i < width; i++)
		fg_stack_sums_init(&sums[i], w->profile, (uint16_t)i);
	for (uint32_t i = 0; i < w->profile->stack_count; i++) {
		struct share share = {.values = values, .samples = sums[0].self_samples[i]};
		bool has_any = false;

		for (size_t m = 0; m < width; m++) {
			values[m] = sums[m].self[i];
			has_any = has_any || values[m] > 0;
		}
		if (has_any) {
			const size_t depth = fg_stack_frames(w->profile, i, &frames, &capacity);

			add_stack(w, frames, depth, i + 1, &share);
		}
	}
	for (size_t i = 0; i < width; i++)
		fg_stack_sums_release(&sums[i]);
	free(sums);
	free(values);
	free(frames);
}

/* Sums of the rounded numbers, so that a reader gets the same totals. */
static void add_totals(struct writer *w)
{
	const size_t width = w->profile->measure_count;

	for (size_t i = 0; i < w->places.count; i++) {
		const double *values = &w->values[w->costs[i].row * width];

		for (size_t m = 0; m < width && w->costs[i].place.callee == no_callee; m++)
			w->totals[m] =
				fg_measure_join(fold_of(w, m), w->totals[m], round(values[m]));
	}
}

static int compare_text(const char *a, const char *b)
{
	if (!a || !b)
		return (a != NULL) - (b != NULL);
	return strcmp(a, b);
}

/* Groups the lines of a function, its own file first. */
static int by_place(const void *left, const void *right)
{
	const struct place *a = &((const struct cost *)left)->place;
	const struct place *b = &((const struct cost *)right)->place;
	const int files = compare_text(a->file, b->file);

	if (a->function != b->function)
		return a->function < b->function ? -1 : 1;
	if (files != 0)
		return files;
	if (a->line != b->line)
		return a->line < b->line ? -1 : 1;
	return a->callee < b->callee ? -1 : a->callee > b->callee;
}

static void add_clean(struct fg_strbuf *out, const char *text)
{
	for (; *text; text++)
		fg_strbuf_add_char(out, fg_printable(*text));
}

/* "fl=(3) fit.cpp" the first time, then "fl=(3)". */
static void write_name(struct fg_strbuf *out, const char *key, struct fg_map *names,
		       const char *name)
{
	bool is_new = false;
	uint64_t id = 0;

	if (!name || !*name)
		name = "???";
	id = *fg_map_add_text(names, name, names->count + 1, &is_new);
	fg_strbuf_printf(out, "%s=(%" PRIu64 ")", key, id);
	if (is_new) {
		fg_strbuf_add_char(out, ' ');
		add_clean(out, name);
	}
	fg_strbuf_add_char(out, '\n');
}

/* Functions are numbered by index, so two of one name in different libraries stay apart. */
static void write_function(struct writer *w, const char *key, uint32_t function)
{
	fg_strbuf_printf(w->out, "%s=(%" PRIu32 ")", key, function + 1);
	if (!w->function_named[function]) {
		w->function_named[function] = true;
		fg_strbuf_add_char(w->out, ' ');
		add_clean(w->out, w->profile->functions[function].name);
	}
	fg_strbuf_add_char(w->out, '\n');
}

/* Clamped: a damaged trace may claim centuries. */
static void write_values(struct writer *w, const double *values)
{
	for (size_t i = 0; i < w->profile->measure_count; i++) {
		const long long whole =
			values[i] < (double)(LLONG_MAX / 2) ? llround(values[i]) : LLONG_MAX / 2;

		fg_strbuf_printf(w->out, " %lld", whole);
	}
	fg_strbuf_add_char(w->out, '\n');
}

static void write_cost(struct writer *w, const struct cost *cost)
{
	const struct fg_profile_function *functions = w->profile->functions;

	if (cost->place.callee != no_callee) {
		const struct fg_profile_function *callee = &functions[cost->place.callee];

		write_name(w->out, "cob", &w->objects, callee->library);
		write_name(w->out, "cfi", &w->files, callee->file);
		write_function(w, "cfn", cost->place.callee);
		fg_strbuf_printf(w->out, "calls=%" PRIu64 " %u\n", cost->samples, callee->line);
	}
	fg_strbuf_printf(w->out, "%" PRIu32, cost->place.line);
	write_values(w, &w->values[cost->row * w->profile->measure_count]);
}

static void write_costs(struct writer *w)
{
	const size_t count = w->places.count;
	const struct place *last = NULL;
	const char *file = NULL;

	if (count > 1)
		qsort(w->costs, count, sizeof(*w->costs), by_place);
	for (size_t i = 0; i < count; i++) {
		const struct place *place = &w->costs[i].place;
		const struct fg_profile_function *function =
			&w->profile->functions[place->function];

		if (!last || last->function != place->function) {
			fg_strbuf_add_char(w->out, '\n');
			file = function->file ? function->file : place->file;
			write_name(w->out, "ob", &w->objects, function->library);
			write_name(w->out, "fl", &w->files, file);
			write_function(w, "fn", place->function);
		}
		if (compare_text(place->file, file) != 0) {
			file = place->file;
			write_name(w->out, "fe", &w->files, file);
		}
		write_cost(w, &w->costs[i]);
		last = place;
	}
}

/* "ns" for CPU time; else the measure's name, of letters, digits and underscores. */
static void add_event(struct fg_strbuf *out, const struct fg_measure *measure)
{
	if (strcmp(measure->name, "cpu_time") == 0) {
		fg_strbuf_add_text(out, "ns");
		return;
	}
	for (const char *c = measure->name; *c; c++)
		fg_strbuf_add_char(out, isalnum((unsigned char)*c) ? *c : '_');
}

static void write_events(struct writer *w)
{
	const struct fg_profile *profile = w->profile;

	for (size_t i = 0; i < profile->measure_count; i++) {
		const struct fg_measure *measure = &profile->measures[i].is;

		fg_strbuf_add_text(w->out, "event: ");
		add_event(w->out, measure);
		fg_strbuf_add_text(w->out, " : ");
		add_clean(w->out, measure->label);
		fg_strbuf_add_text(w->out, " (");
		add_clean(w->out, measure->unit);
		fg_strbuf_add_text(w->out, ")\n");
	}
	fg_strbuf_add_text(w->out, "events:");
	for (size_t i = 0; i < profile->measure_count; i++) {
		fg_strbuf_add_char(w->out, ' ');
		add_event(w->out, &profile->measures[i].is);
	}
	fg_strbuf_add_char(w->out, '\n');
}

int fg_export_callgrind(const struct fg_profile *profile, const struct fg_export_options *options,
			struct fg_strbuf *out, struct fg_error *err)
{
	struct writer w = {
		.profile = profile,
		.out = out,
		.seen = fg_xcalloc(profile->function_count, sizeof(uint32_t)),
		.function_named = fg_xcalloc(profile->function_count, sizeof(bool)),
		.totals = fg_xcalloc(profile->measure_count, sizeof(double)),
	};

	(void)err;
	add_up(&w);
	add_totals(&w);
	fg_strbuf_printf(out, "# callgrind format\nversion: 1\ncreator: %s\n",
			 options->tool_version ? options->tool_version : "fastgate");
	fg_strbuf_add_text(out, "cmd: ");
	add_clean(out, profile->title ? profile->title : "profile");
	fg_strbuf_add_text(out, "\ndesc: calls: numbers of samples, a sampler knows no calls\n"
				"positions: line\n");
	write_events(&w);
	fg_strbuf_add_text(out, "summary:");
	write_values(&w, w.totals);
	write_costs(&w);
	fg_strbuf_add_text(out, "\ntotals:");
	write_values(&w, w.totals);
	fg_map_release(&w.places);
	fg_map_release(&w.files);
	fg_map_release(&w.objects);
	free(w.costs);
	free(w.values);
	free(w.totals);
	free(w.seen);
	free(w.function_named);
	return FG_OK;
}
