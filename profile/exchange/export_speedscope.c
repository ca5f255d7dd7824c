// SPDX-License-Identifier: Apache-2.0
/*
 * speedscope's file format, with "evented" profiles: a stack is written as what closes and what
 * opens against the stack before it, which keeps a file of 300-deep stacks small.  A profile with
 * times gets one timeline a thread (its "time order" view is the thread's life in CPU time); one
 * without gets a single profile, paths in tree order.  Each measure has profiles of its own.
 */
#include "base/json_write.h"
#include "profile/exchange/export_formats.h"

#include <math.h>

struct writer {
	const struct fg_profile *profile;
	struct fg_json_writer json;
	uint32_t *open; /* frames of the stack that is open, root first */
	size_t depth;
	size_t open_capacity;
	uint32_t *next;
	size_t next_capacity;
	uint16_t measure;
	int64_t at; /* cumulative value, rounded */
	double exact;
};

static void write_event(struct writer *w, const char *type, uint32_t frame)
{
	fg_json_begin_object(&w->json, NULL);
	fg_json_text(&w->json, "type", type);
	fg_json_int(&w->json, "frame", frame);
	fg_json_int(&w->json, "at", w->at);
	fg_json_end(&w->json);
}

static void close_to(struct writer *w, size_t depth)
{
	while (w->depth > depth)
		write_event(w, "C", w->open[--w->depth]);
}

static void write_stack(struct writer *w, uint32_t stack, double value)
{
	const size_t depth = fg_stack_frames(w->profile, stack, &w->next, &w->next_capacity);
	size_t common = 0;

	while (common < depth && common < w->depth && w->open[common] == w->next[common])
		common++;
	close_to(w, common);
	w->open = fg_grow(w->open, &w->open_capacity, depth + 1, sizeof(*w->open));
	for (; w->depth < depth; w->depth++) {
		w->open[w->depth] = w->next[w->depth];
		write_event(w, "O", w->next[w->depth]);
	}
	w->exact += value;
	w->at = llround(w->exact);
}

static void write_frames(struct writer *w)
{
	fg_json_begin_object(&w->json, "shared");
	fg_json_begin_array(&w->json, "frames");
	for (size_t i = 0; i < w->profile->frame_count; i++) {
		const struct fg_frame *frame = &w->profile->frames[i];
		const struct fg_profile_function *function =
			&w->profile->functions[frame->function];
		const char *file = frame->file ? frame->file : function->file;

		fg_json_begin_object(&w->json, NULL);
		fg_json_text(&w->json, "name", function->name);
		if (file)
			fg_json_text(&w->json, "file", file);
		if (file && frame->line > 0)
			fg_json_int(&w->json, "line", frame->line);
		fg_json_end(&w->json);
	}
	fg_json_end(&w->json);
	fg_json_end(&w->json);
}

/* The units that speedscope knows; anything else is a plain number to it. */
static const char *unit_of(const struct fg_measure *measure)
{
	if (fg_measure_has_time(measure))
		return "nanoseconds";
	return strcmp(measure->unit, "bytes") == 0 ? "bytes" : "none";
}

static void begin_profile(struct writer *w, const char *name, double total)
{
	const struct fg_measure *measure = &w->profile->measures[w->measure].is;
	char *full = w->profile->measure_count > 1 ? fg_xasprintf("%s: %s", measure->label, name)
						   : fg_xstrdup(name);

	w->at = 0;
	w->exact = 0;
	fg_json_begin_object(&w->json, NULL);
	fg_json_text(&w->json, "type", "evented");
	fg_json_text(&w->json, "name", full);
	fg_json_text(&w->json, "unit", unit_of(measure));
	fg_json_int(&w->json, "startValue", 0);
	fg_json_int(&w->json, "endValue", llround(total));
	fg_json_begin_array(&w->json, "events");
	free(full);
}

static void end_profile(struct writer *w)
{
	close_to(w, 0);
	fg_json_end(&w->json);
	fg_json_end(&w->json);
}

static double value_of(const struct writer *w, const struct fg_sample *sample)
{
	return sample->measure == w->measure ? sample->value : 0;
}

static void write_thread(struct writer *w, size_t first, size_t count)
{
	const struct fg_profile *profile = w->profile;
	const uint32_t index = profile->samples[first].thread;
	const struct fg_thread_info *thread =
		index < profile->thread_count ? &profile->threads[index] : NULL;
	char *name = thread ? fg_xasprintf("%s (%u)", thread->name ? thread->name : "thread",
					   thread->tid)
			    : fg_xstrdup(profile->title ? profile->title : "profile");
	double total = 0;

	for (size_t i = 0; i < count; i++)
		total += value_of(w, &profile->samples[first + i]);
	begin_profile(w, name, total);
	for (size_t i = 0; i < count; i++) {
		if (profile->samples[first + i].measure == w->measure)
			write_stack(w, profile->samples[first + i].stack,
				    profile->samples[first + i].value);
	}
	end_profile(w);
	free(name);
}

static void write_tree(struct writer *w)
{
	const struct fg_profile *profile = w->profile;
	struct fg_stack_sums sums;

	fg_stack_sums_init(&sums, profile, w->measure);
	begin_profile(w, profile->title ? profile->title : "profile", sums.inclusive[0]);
	for (uint32_t i = 0; i < profile->stack_count; i++) {
		if (sums.self[i] > 0)
			write_stack(w, i, sums.self[i]);
	}
	end_profile(w);
	fg_stack_sums_release(&sums);
}

static void write_measure(struct writer *w)
{
	const struct fg_profile *profile = w->profile;
	size_t count = 0;

	if (!profile->has_times)
		write_tree(w);
	for (size_t i = 0; i < profile->sample_count && profile->has_times; i += count) {
		count = 1;
		while (i + count < profile->sample_count &&
		       profile->samples[i + count].thread == profile->samples[i].thread)
			count++;
		write_thread(w, i, count);
	}
}

static void write_profiles(struct writer *w)
{
	fg_json_begin_array(&w->json, "profiles");
	for (w->measure = 0; w->measure < w->profile->measure_count; w->measure++)
		write_measure(w);
	fg_json_end(&w->json);
}

int fg_export_speedscope(const struct fg_profile *profile, const struct fg_export_options *options,
			 struct fg_strbuf *out, struct fg_error *err)
{
	struct writer w = {.profile = profile};

	(void)err;
	fg_json_writer_init(&w.json, out, 0);
	fg_json_begin_object(&w.json, NULL);
	fg_json_text(&w.json, "$schema", "https://www.speedscope.app/file-format-schema.json");
	write_frames(&w);
	write_profiles(&w);
	fg_json_text(&w.json, "name", profile->title ? profile->title : "profile");
	fg_json_int(&w.json, "activeProfileIndex", 0);
	if (options->tool_version)
		fg_json_text(&w.json, "exporter", options->tool_version);
	fg_json_end(&w.json);
	fg_strbuf_add_char(out, '\n');
	free(w.open);
	free(w.next);
	return FG_OK;
}
