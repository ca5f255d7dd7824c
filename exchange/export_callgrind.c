// SPDX-License-Identifier: Apache-2.0
/*
 * Callgrind's format.  Its readers take the inclusive cost of a function to be the sum of the calls
 * to it, so with recursion the plain edges of a call tree would count a sample several times.  Here
 * a sample gives
 *
 *	- its time to the line of its leaf, and
 *	- for each different function on its stack but the first one call: that to the function's outermost frame.
 *
 * So the calls to a function add up to exactly the time of the samples that have it on their stack:
 * main → f → g → f is a call of f by main and one of g by f, and the inner f only time of its own.
 * The number of calls is not known to a sampler; the format wants one, and gets the number of
 * samples, as `desc:` says.
 */
#include "base/map.h"
#include "base/printable.h"
#include "exchange/export_formats.h"

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
	double ns;
	uint64_t samples;
};

struct writer {
	const struct fg_profile *profile;
	struct fg_strbuf *out;
	struct fg_map places;
	struct cost *costs;
	size_t capacity;
	uint32_t *seen; /* by function: the number of the stack that it was last seen on */
	bool *function_named;
	struct fg_map files;
	struct fg_map objects;
};

static const char *file_of(const struct fg_profile *profile, const struct fg_frame *frame)
{
	return frame->file ? frame->file : profile->functions[frame->function].file;
}

static void add_cost(struct writer *w, const struct fg_frame *frame, uint32_t callee, double ns,
		     uint64_t samples)
{
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
	if (is_new)
		w->costs[at] = (struct cost){.place = place};
	w->costs[at].ns += ns;
	w->costs[at].samples += samples;
}

static void add_stack(struct writer *w, const uint32_t *frames, size_t depth, uint32_t number,
		      double ns, uint64_t samples)
{
	const struct fg_frame *all = w->profile->frames;
	const struct fg_frame *caller = NULL;

	for (size_t i = 0; i < depth; i++) {
		const struct fg_frame *frame = &all[frames[i]];

		if (w->seen[frame->function] == 0) /* has a place of its own, if only inner calls */
			add_cost(w, frame, no_callee, 0, 0);
		if (w->seen[frame->function] != number && caller)
			add_cost(w, caller, frame->function, ns, samples);
		w->seen[frame->function] = number;
		caller = frame;
	}
	add_cost(w, caller ? caller : &all[0], no_callee, ns, samples);
}

static void add_up(struct writer *w)
{
	struct fg_stack_sums sums;
	uint32_t *frames = NULL;
	size_t capacity = 0;

	fg_stack_sums_init(&sums, w->profile);
	for (uint32_t i = 0; i < w->profile->stack_count; i++) {
		if (sums.self_ns[i] > 0) {
			const size_t depth = fg_stack_frames(w->profile, i, &frames, &capacity);

			add_stack(w, frames, depth, i + 1, sums.self_ns[i], sums.self_samples[i]);
		}
	}
	fg_stack_sums_release(&sums);
	free(frames);
}

static int compare_text(const char *a, const char *b)
{
	if (!a || !b)
		return (a != NULL) - (b != NULL);
	return strcmp(a, b);
}

/* A function's lines together, its own file's first. */
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

/* "fl=(3) fit.cpp", and "fl=(3)" from the second time on. */
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

/* Functions go by their own number: two of one name in different libraries stay apart. */
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

/* Where a damaged trace claims centuries, the sum stays at the largest number. */
static long long add_rounded(long long sum, double ns)
{
	const long long whole = ns < (double)(LLONG_MAX / 2) ? llround(ns) : LLONG_MAX / 2;

	return sum > LLONG_MAX - whole ? LLONG_MAX : sum + whole;
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
	fg_strbuf_printf(w->out, "%" PRIu32 " %lld\n", cost->place.line, add_rounded(0, cost->ns));
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

int fg_export_callgrind(const struct fg_profile *profile, const struct fg_export_options *options,
			struct fg_strbuf *out, struct fg_error *err)
{
	struct writer w = {
		.profile = profile,
		.out = out,
		.seen = fg_xcalloc(profile->function_count, sizeof(uint32_t)),
		.function_named = fg_xcalloc(profile->function_count, sizeof(bool)),
	};
	long long total = 0;

	(void)err;
	add_up(&w);
	for (size_t i = 0; i < w.places.count; i++) {
		if (w.costs[i].place.callee == no_callee)
			total = add_rounded(total, w.costs[i].ns);
	}
	fg_strbuf_printf(out, "# callgrind format\nversion: 1\ncreator: %s\n",
			 options->tool_version ? options->tool_version : "fastgate");
	fg_strbuf_add_text(out, "cmd: ");
	add_clean(out, profile->title ? profile->title : "profile");
	fg_strbuf_add_text(out, "\ndesc: calls: numbers of samples, a sampler knows no calls\n"
				"positions: line\nevent: ns : CPU time (ns)\nevents: ns\n");
	fg_strbuf_printf(out, "summary: %lld\n", total);
	write_costs(&w);
	fg_strbuf_printf(out, "\ntotals: %lld\n", total);
	fg_map_release(&w.places);
	fg_map_release(&w.files);
	fg_map_release(&w.objects);
	free(w.costs);
	free(w.seen);
	free(w.function_named);
	return FG_OK;
}
