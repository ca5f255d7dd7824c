// SPDX-License-Identifier: Apache-2.0
#include "profile/profile.h"

#include "base/text.h"

#define APPEND(profile, what) \
 (&FG_APPEND((profile)->what##s, (profile)->what##_count, (profile)->what##_capacity))

void fg_profile_init(struct fg_profile *profile)
{
	const struct fg_profile_function program = {.name = "program", .library = ""};
	const struct fg_measure cpu_time = fg_measure_describe("cpu_time", NULL);

	*profile = (struct fg_profile){.repetition_count = 1};
	(void)fg_profile_function(profile, &program);
	(void)fg_profile_frame(profile, &(struct fg_frame){0});
	(void)fg_profile_measure(profile, &cpu_time);
	APPEND(profile, stack)->parent = 0;
	*APPEND(profile, region) = (struct fg_region_info){.name = "", .path = ""};
	APPEND(profile, unit)->kind = "";
	*APPEND(profile, module) =
		(struct fg_module_info){.path = "", .name = "", .build_id = "", .symbols_from = ""};
}

void fg_profile_release(struct fg_profile *profile)
{
	free(profile->functions);
	free(profile->frames);
	free(profile->stacks);
	free(profile->samples);
	free(profile->measures);
	free(profile->processes);
	free(profile->threads);
	free(profile->regions);
	free(profile->spans);
	free(profile->units);
	free(profile->modules);
	free(profile->domains);
	free(profile->durations);
	free(profile->residents);
	free(profile->values);
	free(profile->notes);
	free(profile->listings);
	fg_map_release(&profile->function_index);
	fg_map_release(&profile->texts);
	fg_map_release(&profile->frame_index);
	fg_map_release(&profile->domain_index);
	fg_map_release(&profile->duration_index);
	fg_map_release(&profile->file_index);
	fg_map_release(&profile->note_index);
	fg_pair_index_release(&profile->stack_index);
	fg_arena_release(&profile->arena);
	*profile = (struct fg_profile){0};
}

static bool is_plain(const char *text)
{
	while (*text >= 0x20 && *text < 0x7f)
		text++;
	return *text == '\0';
}

/*
 * Names are untrusted bytes. Control characters and invalid UTF-8 are replaced here, once, for all
 * views and exports.
 */
const char *fg_profile_text(struct fg_profile *profile, const char *text)
{
	struct fg_strbuf clean = {0};

	if (!text || is_plain(text))
		return text ? fg_map_intern(&profile->texts, text) : NULL;
	fg_text_add_clean(&clean, text, strlen(text), SIZE_MAX);
	text = fg_map_intern(&profile->texts, fg_strbuf_text(&clean));
	fg_strbuf_release(&clean);
	return text;
}

static void fill_gaps(struct fg_profile *profile, struct fg_profile_function *known,
		      const struct fg_profile_function *seen)
{
	if (!known->linkage && seen->linkage && strcmp(seen->linkage, known->name) != 0)
		known->linkage = fg_profile_text(profile, seen->linkage);
	if (!known->file && seen->file) {
		known->file = fg_profile_text(profile, seen->file);
		known->line = seen->line;
	}
	known->inlined = known->inlined && seen->inlined;
}

uint32_t fg_profile_function(struct fg_profile *profile, const struct fg_profile_function *function)
{
	const char *library = function->library ? function->library : "";
	struct fg_profile_function *added;
	struct fg_strbuf key = {0};
	uint64_t *place;
	bool is_new;

	FG_ASSERT(profile->function_count < UINT32_MAX);
	fg_strbuf_add_text(&key, function->name);
	fg_strbuf_add_char(&key, '\0');
	fg_strbuf_add_text(&key, library);
	place = fg_map_add(&profile->function_index, key.data, key.length, profile->function_count,
			   &is_new);
	fg_strbuf_release(&key);
	if (!is_new) {
		fill_gaps(profile, &profile->functions[*place], function);
		return (uint32_t)*place;
	}
	added = APPEND(profile, function);
	added->name = fg_profile_text(profile, function->name);
	added->library = fg_profile_text(profile, library);
	added->inlined = function->inlined;
	fill_gaps(profile, added, function);
	return (uint32_t)(profile->function_count - 1);
}

uint32_t fg_profile_frame(struct fg_profile *profile, const struct fg_frame *frame)
{
	struct fg_frame key;
	uint64_t *place;
	bool is_new;

	FG_ASSERT(profile->frame_count < UINT32_MAX);
	memset(&key, 0, sizeof(key)); /* padding takes part in the comparison */
	key.function = frame->function;
	key.line = frame->line;
	key.file = fg_profile_text(profile, frame->file);
	key.address = frame->address;
	key.module = frame->module;
	key.flags = frame->flags;
	place = fg_map_add(&profile->frame_index, &key, sizeof(key), profile->frame_count, &is_new);
	if (is_new)
		*APPEND(profile, frame) = key;
	return (uint32_t)*place;
}

uint32_t fg_profile_stack(struct fg_profile *profile, uint32_t parent, uint32_t frame)
{
	uint32_t index;
	bool is_new;

	FG_ASSERT(parent < profile->stack_count && frame < profile->frame_count);
	FG_ASSERT(profile->stack_count < UINT32_MAX);
	index = *fg_pair_index_add(&profile->stack_index, parent, frame,
				   (uint32_t)profile->stack_count, &is_new);
	if (is_new)
		*APPEND(profile, stack) = (struct fg_stack){.parent = parent, .frame = frame};
	return index;
}

uint32_t fg_profile_region(struct fg_profile *profile, uint32_t parent, const char *name)
{
	struct fg_region_info *added;
	const char *path;

	FG_ASSERT(parent < profile->region_count);
	for (size_t i = 1; i < profile->region_count; i++)
		if (profile->regions[i].parent == parent &&
		    strcmp(profile->regions[i].name, name) == 0)
			return (uint32_t)i;
	path = parent == 0 ? NULL : profile->regions[parent].path;
	added = APPEND(profile, region);
	added->parent = parent;
	added->name = fg_profile_text(profile, name);
	added->path = path ? fg_arena_printf(&profile->arena, "%s/%s", path, name) : added->name;
	return (uint32_t)(profile->region_count - 1);
}

bool fg_profile_knows_regions(const struct fg_profile *profile)
{
	for (size_t i = 0; i < profile->sample_count; i++) {
		if (profile->samples[i].region != 0)
			return true;
	}
	return false;
}

struct fg_sample *fg_profile_add_sample(struct fg_profile *profile)
{
	struct fg_sample *sample = APPEND(profile, sample);

	sample->count = 1;
	return sample;
}

struct fg_process_info *fg_profile_add_process(struct fg_profile *profile)
{
	return &FG_APPEND(profile->processes, profile->process_count, profile->process_capacity);
}

struct fg_thread_info *fg_profile_add_thread(struct fg_profile *profile)
{
	return APPEND(profile, thread);
}

struct fg_region_span *fg_profile_add_span(struct fg_profile *profile)
{
	return APPEND(profile, span);
}

struct fg_unit_info *fg_profile_add_unit(struct fg_profile *profile)
{
	return APPEND(profile, unit);
}

struct fg_module_info *fg_profile_add_module(struct fg_profile *profile)
{
	return APPEND(profile, module);
}

uint32_t fg_profile_module_file(struct fg_profile *profile, uint32_t module)
{
	const struct fg_module_info *info = &profile->modules[module];
	struct fg_strbuf key = {0};
	uint32_t file;

	fg_strbuf_add(&key, info->path, strlen(info->path) + 1);
	fg_strbuf_add_text(&key, info->build_id);
	file = (uint32_t)*fg_map_add(&profile->file_index, key.data, key.length, module, NULL);
	fg_strbuf_release(&key);
	return file;
}

static struct fg_measure copy_measure(struct fg_profile *profile, const struct fg_measure *measure)
{
	struct fg_measure copy = *measure;

	copy.name = fg_profile_text(profile, measure->name);
	copy.label = fg_profile_text(profile, measure->label);
	copy.unit = fg_profile_text(profile, measure->unit);
	return copy;
}

static bool find_measure(const struct fg_profile *profile, const char *name, uint16_t *index)
{
	for (size_t i = 0; i < profile->measure_count; i++) {
		if (strcmp(profile->measures[i].is.name, name) != 0)
			continue;
		*index = (uint16_t)i;
		return true;
	}
	return false;
}

uint16_t fg_profile_measure(struct fg_profile *profile, const struct fg_measure *measure)
{
	uint16_t index = 0;

	if (find_measure(profile, measure->name, &index))
		return index;
	FG_ASSERT(profile->measure_count < FG_MEASURES_MAX);
	APPEND(profile, measure)->is = copy_measure(profile, measure);
	return (uint16_t)(profile->measure_count - 1);
}

void fg_profile_set_first_measure(struct fg_profile *profile, const struct fg_measure *measure)
{
	FG_ASSERT(profile->measure_count == 1);
	profile->measures[0].is = copy_measure(profile, measure);
}

int fg_profile_find_measure(const struct fg_profile *profile, const char *name, uint16_t *index,
			    struct fg_error *err)
{
	struct fg_strbuf names = {0};
	uint16_t found = 0;

	if (!name || find_measure(profile, name, &found)) {
		*index = found;
		return FG_OK;
	}
	for (size_t i = 0; i < profile->measure_count; i++)
		fg_strbuf_printf(&names, "%s%s", i > 0 ? ", " : "", profile->measures[i].is.name);
	(void)fg_error_set(err, FG_ENOENT, "this profile has no measure '%.100s'; it has %s", name,
			   fg_strbuf_text(&names));
	fg_strbuf_release(&names);
	return FG_ENOENT;
}

uint16_t fg_profile_time_measure(const struct fg_profile *profile)
{
	const struct fg_measure_list builtin = {0};
	uint16_t id = 0;

	for (size_t i = 0; i < profile->measure_count; i++) {
		if (fg_measure_find(&builtin, profile->measures[i].is.name, &id) &&
		    fg_measure_is_time(id))
			return (uint16_t)i;
	}
	return UINT16_MAX;
}

uint32_t fg_profile_repetitions(const struct fg_profile *profile, uint16_t measure)
{
	const uint32_t own =
		measure < profile->measure_count ? profile->measures[measure].repetitions : 0;

	return own ? own : profile->repetition_count;
}

void fg_profile_add_up(struct fg_profile *profile, const struct fg_sample *sample)
{
	struct fg_profile_measure *measure = &profile->measures[sample->measure];

	measure->total = fg_measure_join(measure->is.fold, measure->total, sample->value);
	if (sample->truncated)
		measure->truncated =
			fg_measure_join(measure->is.fold, measure->truncated, sample->value);
}

/* Adds a note only once: processes that share a library give the same note. */
void fg_profile_add_note(struct fg_profile *profile, const char *format, ...)
{
	struct fg_strbuf text = {0};
	bool is_new = false;
	va_list ap;

	va_start(ap, format);
	fg_strbuf_vprintf(&text, format, ap);
	va_end(ap);
	(void)fg_map_add_text(&profile->note_index, fg_strbuf_text(&text), 0, &is_new);
	if (is_new)
		*APPEND(profile, note) = fg_arena_strdup(&profile->arena, fg_strbuf_text(&text));
	fg_strbuf_release(&text);
}

const char **fg_stack_names(const struct fg_profile *profile, uint32_t stack, size_t *count)
{
	const char **names = NULL;

	*count = 0;
	for (uint32_t at = stack; at != 0; at = profile->stacks[at].parent)
		++*count;
	names = fg_xcalloc(*count + 1, sizeof(const char *));
	for (size_t i = *count; i-- > 0; stack = profile->stacks[stack].parent) {
		const struct fg_frame *frame = &profile->frames[profile->stacks[stack].frame];

		names[i] = profile->functions[frame->function].name;
	}
	return names;
}

void fg_profile_add_path(struct fg_strbuf *text, const struct fg_profile *profile, uint32_t stack)
{
	enum {
		NAMED = 3 /* maximum number of functions named per path */
	};

	for (unsigned i = 0; stack != 0; i++, stack = profile->stacks[stack].parent) {
		const struct fg_frame *frame = &profile->frames[profile->stacks[stack].frame];

		if (i == NAMED) {
			fg_strbuf_add_text(text, " ← …");
			return;
		}
		fg_strbuf_printf(text, "%s%s", i ? " ← " : "",
				 profile->functions[frame->function].name);
	}
}
