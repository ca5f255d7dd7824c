// SPDX-License-Identifier: Apache-2.0
/*
 * speedscope's file format, with "evented" profiles: a stack is written as what closes and what
 * opens against the stack before it, which keeps a file of 300-deep stacks small.  A profile with
 * times gets one timeline a thread (its "time order" view is the thread's life in CPU time); one
 * without gets a single profile, paths in tree order.
 */
#include "base/json_write.h"
#include "exchange/export_formats.h"

#include <math.h>

struct writer {
	const struct fg_profile *profile;
	struct fg_json_writer json;
	uint32_t *open; /* frames of the stack that is open, root first */
	size_t depth;
	size_t open_capacity;
	uint32_t *next;
	size_t next_capacity;
	int64_t at_ns; /* cumulative weight */
	double exact_ns;
};

static void write_event(struct writer *w, const char *type, uint32_t frame)
{
	fg_json_begin_object(&w->json, NULL);
	fg_json_text(&w->json, "type", type);
	fg_json_int(&w->json, "frame", frame);
	fg_json_int(&w->json, "at", w->at_ns);
	fg_json_end(&w->json);
}

static void close_to(struct writer *w, size_t depth)
{
	while (w->depth > depth)
		write_event(w, "C", w->open[--w->depth]);
}

static void write_stack(struct writer *w, uint32_t stack, double weight_ns)
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
	w->exact_ns += weight_ns;
	w->at_ns = llround(w->exact_ns);
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

static void begin_profile(struct writer *w, const char *name, double total_ns)
{
	w->at_ns = 0;
	w->exact_ns = 0;
	fg_json_begin_object(&w->json, NULL);
	fg_json_text(&w->json, "type", "evented");
	fg_json_text(&w->json, "name", name);
	fg_json_text(&w->json, "unit", "nanoseconds");
	fg_json_int(&w->json, "startValue", 0);
	fg_json_int(&w->json, "endValue", llround(total_ns));
	fg_json_begin_array(&w->json, "events");
}

static void end_profile(struct writer *w)
{
	close_to(w, 0);
	fg_json_end(&w->json);
	fg_json_end(&w->json);
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
		total += profile->samples[first + i].weight_ns;
	begin_profile(w, name, total);
	for (size_t i = 0; i < count; i++)
		write_stack(w, profile->samples[first + i].stack,
			    profile->samples[first + i].weight_ns);
	end_profile(w);
	free(name);
}

static void write_tree(struct writer *w)
{
	const struct fg_profile *profile = w->profile;
	struct fg_stack_sums sums;

	fg_stack_sums_init(&sums, profile);
	begin_profile(w, profile->title ? profile->title : "profile", sums.inclusive_ns[0]);
	for (uint32_t i = 0; i < profile->stack_count; i++) {
		if (sums.self_ns[i] > 0)
			write_stack(w, i, sums.self_ns[i]);
	}
	end_profile(w);
	fg_stack_sums_release(&sums);
}

static void write_profiles(struct writer *w)
{
	const struct fg_profile *profile = w->profile;
	size_t count = 0;

	fg_json_begin_array(&w->json, "profiles");
	if (!profile->has_times)
		write_tree(w);
	for (size_t i = 0; i < profile->sample_count && profile->has_times; i += count) {
		count = 1;
		while (i + count < profile->sample_count &&
		       profile->samples[i + count].thread == profile->samples[i].thread)
			count++;
		write_thread(w, i, count);
	}
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
