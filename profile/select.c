// SPDX-License-Identifier: Apache-2.0
#include "profile/select.h"

#include "profile/selection.h"

enum {
	UNSET = 0
};

struct select {
	const struct fg_profile *profile;
	struct fg_selection selection;
	struct fg_profile *into;
	uint32_t *frame_of_frame;         /* index + 1; 0: not made yet */
	struct fg_pair_index frame_below; /* frame, ancestor's frame → frame */
	/*
	 * per function: the library that all functions with its rewritten name share; NULL: the
	 * function's own library
	 */
	const char **libraries;
	size_t library_capacity;
	uint16_t *measure_of; /* index in the profile → index in the selected profile */
};

/*
 * Functions are identified by name and library. Functions with the same rewritten name are merged,
 * so they share a library.
 */
static void share_library(struct select *s, uint32_t function, const char *library)
{
	const size_t old = s->library_capacity;

	s->libraries = fg_grow(s->libraries, &s->library_capacity, (size_t)function + 1,
			       sizeof(s->libraries[0]));
	for (size_t i = old; i < s->library_capacity; i++)
		s->libraries[i] = NULL;
	if (!s->libraries[function])
		s->libraries[function] = fg_profile_text(s->into, library);
	else if (strcmp(s->libraries[function], library) != 0)
		s->libraries[function] = "";
}

static void set_libraries(struct select *s)
{
	for (size_t i = 1; i < s->into->function_count && i < s->library_capacity; i++)
		if (s->libraries[i])
			s->into->functions[i].library = s->libraries[i];
}

static uint32_t put_frame(struct select *s, const struct fg_frame *like,
			  const struct fg_label *label, const char *name)
{
	const bool is_coarse = fg_selection_merges_neighbours(&s->selection);
	const char *library = label->library ? label->library : "";
	const bool is_renamed = label->identity == FG_LABEL_NAME;
	const struct fg_profile_function function = {
		.name = name,
		.library = is_renamed ? "" : library,
		.linkage = label->linkage,
		.file = label->file,
		.line = label->line,
		.inlined = (label->flags & FG_FRAME_INLINED) != 0,
	};
	struct fg_frame frame = *like;

	if (is_coarse)
		frame = (struct fg_frame){.flags = like->flags & FG_FRAME_MARK};
	frame.function = fg_profile_function(s->into, &function);
	if (is_renamed)
		share_library(s, frame.function, library);
	return fg_profile_frame(s->into, &frame);
}

static uint32_t frame_of_frame(struct select *s, uint32_t frame)
{
	struct fg_strbuf name = {0};
	struct fg_label label;

	if (s->frame_of_frame[frame] == UNSET) {
		const struct fg_frame *like = &s->profile->frames[frame];

		fg_selection_name(&s->selection, like, &label, &name);
		s->frame_of_frame[frame] = put_frame(s, like, &label, fg_strbuf_text(&name)) + 1;
		fg_strbuf_release(&name);
	}
	return s->frame_of_frame[frame] - 1;
}

/* "log" below a match of an ancestor pattern becomes a separate function for each matched frame. */
static uint32_t frame_below(struct select *s, uint32_t frame, uint32_t ancestor_stack)
{
	const uint32_t ancestor = frame_of_frame(s, s->profile->stacks[ancestor_stack].frame);
	const uint32_t *known = fg_pair_index_get(&s->frame_below, frame, ancestor);
	const struct fg_frame *frames = s->into->frames;
	struct fg_profile_function function = s->into->functions[frames[frame].function];
	struct fg_frame below = frames[frame];
	char *name = NULL;
	uint32_t index = 0;

	if (known)
		return *known;
	name = fg_selection_name_below(function.name,
				       s->into->functions[frames[ancestor].function].name);
	function.name = name;
	below.function = fg_profile_function(s->into, &function);
	index = fg_profile_frame(s->into, &below);
	(void)fg_pair_index_add(&s->frame_below, frame, ancestor, index, NULL);
	free(name);
	return index;
}

static uint32_t stack_of_frame(void *context, uint32_t parent, uint32_t stack)
{
	struct select *s = context;
	const uint32_t ancestor = fg_selection_ancestor(&s->selection, stack);
	uint32_t frame = frame_of_frame(s, s->profile->stacks[stack].frame);

	if (ancestor != 0)
		frame = frame_below(s, frame, ancestor);
	if (fg_selection_merges_neighbours(&s->selection) && parent != 0 &&
	    s->into->stacks[parent].frame == frame)
		return parent;
	return fg_profile_stack(s->into, parent, frame);
}

static uint32_t stack_of_split(void *context, uint32_t parent, const char *name)
{
	const struct select *s = context;
	const struct fg_profile_function function = {.name = name, .library = ""};
	const struct fg_frame frame = {
		.function = fg_profile_function(s->into, &function),
		.flags = FG_FRAME_MARK,
	};

	return fg_profile_stack(s->into, parent, fg_profile_frame(s->into, &frame));
}

/* Adds a sample, scaled as the query requests; largest and smallest values are not scaled. */
static void add_sample(struct select *s, const struct fg_sample *sample, uint32_t stack)
{
	struct fg_sample *added = fg_profile_add_sample(s->into);

	*added = *sample;
	added->stack = stack;
	added->measure = s->measure_of[sample->measure];
	added->value *= fg_selection_scale(&s->selection, sample->measure);
	if (s->into->repetition_count == 1)
		added->repetition = 0;
	fg_profile_add_up(s->into, added);
}

static void add_samples(struct select *s)
{
	struct fg_placing placing = {
		.selection = &s->selection,
		.context = s,
		.split = stack_of_split,
		.frame = stack_of_frame,
	};

	fg_placing_init(&placing);
	for (size_t i = 0; i < s->profile->sample_count; i++) {
		const struct fg_sample *sample = &s->profile->samples[i];

		if (fg_selection_passes(&s->selection, sample))
			add_sample(s, sample, fg_placing_node(&placing, sample));
	}
	fg_placing_release(&placing);
}

/* ---- tables that samples refer to; they keep their order, so references stay valid ---- */

static void copy_processes(const struct fg_profile *from, struct fg_profile *to)
{
	for (size_t i = 0; i < from->process_count; i++) {
		struct fg_process_info *process = fg_profile_add_process(to);

		*process = from->processes[i];
		process->executable = fg_profile_text(to, process->executable);
		process->command = fg_profile_text(to, process->command);
	}
	for (size_t i = 0; i < from->thread_count; i++) {
		struct fg_thread_info *thread = fg_profile_add_thread(to);

		*thread = from->threads[i];
		thread->name = fg_profile_text(to, thread->name);
	}
}

static void copy_modules(const struct fg_profile *from, struct fg_profile *to)
{
	for (size_t i = 1; i < from->module_count; i++) {
		struct fg_module_info *module = fg_profile_add_module(to);

		*module = from->modules[i];
		module->path = fg_profile_text(to, module->path);
		module->name = fg_profile_text(to, module->name);
		module->build_id = fg_profile_text(to, module->build_id);
		module->symbols_from = fg_profile_text(to, module->symbols_from);
	}
}

static void copy_regions(const struct fg_profile *from, struct fg_profile *to)
{
	for (size_t i = 1; i < from->region_count; i++) {
		const struct fg_region_info *info = &from->regions[i];
		struct fg_region_info *region =
			&to->regions[fg_profile_region(to, info->parent, info->name)];

		region->count = info->count;
		region->wall_ns = info->wall_ns;
		region->cpu_ns = info->cpu_ns;
	}
}

static void copy_spans(struct select *s)
{
	for (size_t i = 0; i < s->profile->span_count; i++) {
		const struct fg_region_span *span = &s->profile->spans[i];

		if (fg_selection_overlaps(&s->selection, span->thread, span->start_ns,
					  span->end_ns) &&
		    (!s->selection.region_passes || s->selection.region_passes[span->region]))
			*fg_profile_add_span(s->into) = *span;
	}
}

/*
 * Drops the units that were filtered out. The remaining units move up, and the samples' references
 * to them are adjusted.
 */
static void copy_units(struct select *s)
{
	const struct fg_profile *from = s->profile;
	uint32_t *unit_of = fg_xcalloc(from->unit_count, sizeof(unit_of[0]));

	for (size_t i = 0; i < s->into->sample_count; i++)
		unit_of[s->into->samples[i].unit] = 1;
	for (size_t i = 1; i < from->unit_count; i++) {
		const struct fg_unit_info *info = &from->units[i];
		const bool passes = fg_selection_keeps_unit(&s->selection, i);
		struct fg_unit_info *unit = NULL;

		if (!passes && unit_of[i] == 0)
			continue;
		unit = fg_profile_add_unit(s->into);
		*unit = *info;
		unit->kind = fg_profile_text(s->into, info->kind);
		unit_of[i] = (uint32_t)(s->into->unit_count - 1);
	}
	unit_of[0] = 0;
	for (size_t i = 0; i < s->into->sample_count; i++)
		s->into->samples[i].unit = unit_of[s->into->samples[i].unit];
	free(unit_of);
}

static void copy_measures(struct select *s)
{
	const struct fg_profile *from = s->profile;
	const uint32_t only = s->selection.measure;

	s->measure_of = fg_xcalloc(from->measure_count, sizeof(s->measure_of[0]));
	for (size_t i = 0; i < from->measure_count; i++) {
		if (only != FG_EVERY_MEASURE && i != only)
			continue;
		if (i == 0 || i == only)
			fg_profile_set_first_measure(s->into, &from->measures[i].is);
		s->measure_of[i] = fg_profile_measure(s->into, &from->measures[i].is);
		s->into->measures[s->measure_of[i]].lost =
			from->measures[i].lost * fg_selection_scale(&s->selection, (uint16_t)i);
	}
}

/* Copies the truncation of a stored run, which has it only as a total, not per sample. */
static void copy_truncated(struct select *s)
{
	for (size_t i = 0; i < s->profile->measure_count; i++)
		s->into->measures[s->measure_of[i]].truncated =
			s->profile->measures[i].truncated *
			fg_selection_scale(&s->selection, (uint16_t)i);
}

/* Copies the facts about the whole execution to the profile of a part. */
static void copy_facts(const struct fg_profile *from, double scale, struct fg_profile *to)
{
	to->functions[0].name = fg_profile_text(to, from->functions[0].name);
	to->functions[0].library = fg_profile_text(to, from->functions[0].library);
	to->title = fg_profile_text(to, from->title);
	to->clock = fg_profile_text(to, from->clock);
	to->unseen = fg_profile_text(to, from->unseen);
	to->cost = from->cost;
	to->period_ns = from->period_ns;
	to->has_times = from->has_times;
	to->started_wall_ns = from->started_wall_ns;
	to->duration_ns = from->duration_ns;
	to->cpu_ns = from->cpu_ns * scale;
	for (size_t i = 0; i < from->note_count; i++)
		fg_profile_add_note(to, "%s", from->notes[i]);
}

int fg_profile_select(const struct fg_profile *profile, const struct fg_calltree_query *query,
		      struct fg_profile *selected, struct fg_error *err)
{
	struct select *s = fg_xcalloc(1, sizeof(*s));
	struct fg_profile into;
	int status = FG_OK;

	FG_TRY_OUT(fg_selection_init(&s->selection, profile, query, err));
	fg_profile_init(&into);
	s->profile = profile;
	s->into = &into;
	s->frame_of_frame = fg_xcalloc(profile->frame_count, sizeof(s->frame_of_frame[0]));
	into.repetition_count = query->per_repetition ? 1 : profile->repetition_count;
	copy_facts(profile, s->selection.scale, &into);
	copy_measures(s);
	copy_processes(profile, &into);
	copy_modules(profile, &into);
	copy_regions(profile, &into);
	add_samples(s);
	copy_spans(s);
	copy_units(s);
	set_libraries(s);
	if (into.sample_count == profile->sample_count)
		copy_truncated(s);
	*selected = into;
out:
	fg_selection_release(&s->selection);
	free(s->frame_of_frame);
	free(s->measure_of);
	free(s->libraries);
	fg_pair_index_release(&s->frame_below);
	free(s);
	return status;
}
