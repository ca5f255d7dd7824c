// SPDX-License-Identifier: Apache-2.0
/*
 * "fastgate-profile/1": tables of functions, frames and stacks that refer to each other by index,
 * and their measured values, without arguments and durations of calls, resident memory, machine
 * code and the cost of sampling. docs/formats/profile-json.md and the JSON Schema
 * docs/schema/profile.schema.json describe the format.
 */
#include "base/json_write.h"
#include "profile/exchange/export_formats.h"

static const char *const fold_words[FG_FOLD_COUNT] = {
	[FG_FOLD_SUM] = "sum",
	[FG_FOLD_MAX] = "max",
	[FG_FOLD_MIN] = "min",
};

static const char *const time_kind_words[FG_TIME_KIND_COUNT] = {
	[FG_TIME_USER] = "user",
	[FG_TIME_SYSTEM] = "system",
	[FG_TIME_BOTH] = "cpu",
	[FG_TIME_WALL] = "wall",
};

static const char *nature_name(uint32_t flags)
{
	static const struct {
		enum fg_frame_flag flag;
		const char *name;
	} natures[] = {
		{FG_FRAME_NAMELESS, "nameless"}, {FG_FRAME_KERNEL, "kernel"}, {FG_FRAME_JIT, "jit"},
		{FG_FRAME_MARK, "mark"},         {FG_FRAME_PLT, "plt"},
	};

	for (size_t i = 0; i < FG_ARRAY_SIZE(natures); i++)
		if (flags & natures[i].flag)
			return natures[i].name;
	return "function";
}

static void write_functions(struct fg_json_writer *json, const struct fg_profile *profile)
{
	fg_json_begin_array(json, "functions");
	for (size_t i = 0; i < profile->function_count; i++) {
		const struct fg_profile_function *function = &profile->functions[i];

		fg_json_begin_object(json, NULL);
		fg_json_text(json, "name", function->name);
		fg_json_text(json, "linkage_name", function->linkage);
		fg_json_text(json, "library", function->library);
		fg_json_text(json, "file", function->file);
		fg_json_int(json, "line", function->line);
		fg_json_bool(json, "inlined", function->inlined);
		fg_json_end(json);
	}
	fg_json_end(json);
}

static void write_frames(struct fg_json_writer *json, const struct fg_profile *profile)
{
	fg_json_begin_array(json, "frames");
	for (size_t i = 0; i < profile->frame_count; i++) {
		const struct fg_frame *frame = &profile->frames[i];

		fg_json_begin_object(json, NULL);
		fg_json_int(json, "function", frame->function);
		fg_json_text(json, "file", frame->file);
		fg_json_int(json, "line", frame->line);
		fg_json_int(json, "address", (int64_t)frame->address);
		fg_json_int(json, "module", frame->module);
		fg_json_bool(json, "inlined", (frame->flags & FG_FRAME_INLINED) != 0);
		fg_json_text(json, "nature", nature_name(frame->flags));
		fg_json_end(json);
	}
	fg_json_end(json);
}

static void write_stacks(struct fg_json_writer *json, const struct fg_profile *profile)
{
	fg_json_begin_object(json, "stacks");
	fg_json_begin_array(json, "parent");
	for (size_t i = 0; i < profile->stack_count; i++)
		fg_json_int(json, NULL, profile->stacks[i].parent);
	fg_json_end(json);
	fg_json_begin_array(json, "frame");
	for (size_t i = 0; i < profile->stack_count; i++)
		fg_json_int(json, NULL, profile->stacks[i].frame);
	fg_json_end(json);
	fg_json_end(json);
}

static const char *kind_name(uint8_t kind)
{
	return time_kind_words[kind < FG_TIME_KIND_COUNT ? kind : FG_TIME_BOTH];
}

static void write_samples(struct fg_json_writer *json, const struct fg_profile *profile)
{
	fg_json_begin_array(json, "samples");
	for (size_t i = 0; i < profile->sample_count; i++) {
		const struct fg_sample *sample = &profile->samples[i];

		fg_json_begin_object(json, NULL);
		fg_json_int(json, "measure", sample->measure);
		fg_json_int(json, "stack", sample->stack);
		fg_json_double(json, "value", sample->value);
		fg_json_int(json, "count", sample->count);
		if (profile->has_times)
			fg_json_int(json, "time_ns", sample->time_ns);
		fg_json_int(json, "thread", sample->thread);
		fg_json_int(json, "region", sample->region);
		fg_json_int(json, "unit", sample->unit);
		fg_json_int(json, "repetition", sample->repetition);
		fg_json_text(json, "kind", kind_name(sample->kind));
		fg_json_bool(json, "truncated", sample->truncated);
		fg_json_end(json);
	}
	fg_json_end(json);
}

static void write_measures(struct fg_json_writer *json, const struct fg_profile *profile)
{
	fg_json_begin_array(json, "measures");
	for (size_t i = 0; i < profile->measure_count; i++) {
		const struct fg_profile_measure *measure = &profile->measures[i];

		fg_json_begin_object(json, NULL);
		fg_json_text(json, "name", measure->is.name);
		fg_json_text(json, "label", measure->is.label);
		fg_json_text(json, "unit", measure->is.unit);
		fg_json_text(json, "fold", fold_words[measure->is.fold]);
		fg_json_text(json, "better",
			     measure->is.better == FG_BETTER_HIGHER ? "higher" : "lower");
		fg_json_bool(json, "exact", measure->is.exact);
		fg_json_double(json, "total", measure->total);
		fg_json_double(json, "lost", measure->lost);
		fg_json_double(json, "truncated", measure->truncated);
		fg_json_end(json);
	}
	fg_json_end(json);
}

static void write_threads(struct fg_json_writer *json, const struct fg_profile *profile)
{
	fg_json_begin_array(json, "processes");
	for (size_t i = 0; i < profile->process_count; i++) {
		fg_json_begin_object(json, NULL);
		fg_json_int(json, "pid", profile->processes[i].pid);
		fg_json_int(json, "image", profile->processes[i].image);
		fg_json_text(json, "executable", profile->processes[i].executable);
		fg_json_text(json, "command", profile->processes[i].command);
		fg_json_int(json, "start_ns", profile->processes[i].start_ns);
		fg_json_int(json, "end_ns", profile->processes[i].end_ns);
		fg_json_end(json);
	}
	fg_json_end(json);
	fg_json_begin_array(json, "threads");
	for (size_t i = 0; i < profile->thread_count; i++) {
		fg_json_begin_object(json, NULL);
		fg_json_int(json, "process", profile->threads[i].process);
		fg_json_int(json, "tid", profile->threads[i].tid);
		fg_json_text(json, "name", profile->threads[i].name);
		fg_json_int(json, "start_ns", profile->threads[i].start_ns);
		fg_json_int(json, "end_ns", profile->threads[i].end_ns);
		fg_json_double(json, "user_ns", profile->threads[i].user_ns);
		fg_json_double(json, "system_ns", profile->threads[i].system_ns);
		fg_json_end(json);
	}
	fg_json_end(json);
}

static void write_regions(struct fg_json_writer *json, const struct fg_profile *profile)
{
	fg_json_begin_array(json, "regions");
	for (size_t i = 0; i < profile->region_count; i++) {
		const struct fg_region_info *region = &profile->regions[i];

		fg_json_begin_object(json, NULL);
		fg_json_int(json, "parent", region->parent);
		fg_json_text(json, "name", region->name);
		fg_json_text(json, "path", region->path);
		fg_json_int(json, "count", (int64_t)region->count);
		fg_json_double(json, "wall_ns", region->wall_ns);
		fg_json_double(json, "cpu_ns", region->cpu_ns);
		fg_json_end(json);
	}
	fg_json_end(json);
	fg_json_begin_array(json, "units");
	for (size_t i = 0; i < profile->unit_count; i++) {
		const struct fg_unit_info *unit = &profile->units[i];

		fg_json_begin_object(json, NULL);
		fg_json_text(json, "kind", unit->kind);
		fg_json_int(json, "number", (int64_t)unit->number);
		fg_json_int(json, "thread", unit->thread);
		fg_json_int(json, "start_ns", unit->start_ns);
		fg_json_int(json, "end_ns", unit->end_ns);
		fg_json_bool(json, "ended", unit->ended);
		fg_json_end(json);
	}
	fg_json_end(json);
}

static void write_spans(struct fg_json_writer *json, const struct fg_profile *profile)
{
	fg_json_begin_array(json, "spans");
	for (size_t i = 0; i < profile->span_count; i++) {
		fg_json_begin_object(json, NULL);
		fg_json_int(json, "region", profile->spans[i].region);
		fg_json_int(json, "thread", profile->spans[i].thread);
		fg_json_int(json, "start_ns", profile->spans[i].start_ns);
		fg_json_int(json, "end_ns", profile->spans[i].end_ns);
		fg_json_end(json);
	}
	fg_json_end(json);
}

static void write_modules(struct fg_json_writer *json, const struct fg_profile *profile)
{
	fg_json_begin_array(json, "modules");
	for (size_t i = 0; i < profile->module_count; i++) {
		const struct fg_module_info *module = &profile->modules[i];

		fg_json_begin_object(json, NULL);
		fg_json_text(json, "path", module->path);
		fg_json_text(json, "name", module->name);
		fg_json_text(json, "build_id", module->build_id);
		fg_json_int(json, "start", (int64_t)module->start);
		fg_json_int(json, "end", (int64_t)module->end);
		fg_json_int(json, "process", module->process);
		fg_json_text(json, "symbols_from", module->symbols_from);
		fg_json_end(json);
	}
	fg_json_end(json);
}

static void write_head(struct fg_json_writer *json, const struct fg_profile *profile,
		       const struct fg_export_options *options)
{
	fg_json_text(json, "schema", "fastgate-profile/1");
	fg_json_text(json, "writer", options->tool_version);
	fg_json_text(json, "title", profile->title);
	fg_json_text(json, "clock", profile->clock);
	fg_json_int(json, "period_ns", (int64_t)profile->period_ns);
	fg_json_int(json, "started_wall_ns", profile->started_wall_ns);
	fg_json_int(json, "duration_ns", profile->duration_ns);
	fg_json_int(json, "repetitions", profile->repetition_count);
	fg_json_bool(json, "has_times", profile->has_times);
	fg_json_double(json, "cpu_ns", profile->cpu_ns);
	write_measures(json, profile);
	fg_json_begin_array(json, "notes");
	for (size_t i = 0; i < profile->note_count; i++)
		fg_json_text(json, NULL, profile->notes[i]);
	fg_json_end(json);
}

int fg_export_json(const struct fg_profile *profile, const struct fg_export_options *options,
		   struct fg_strbuf *out, struct fg_error *err)
{
	struct fg_json_writer json;

	(void)err;
	fg_json_writer_init(&json, out, 0);
	fg_json_begin_object(&json, NULL);
	write_head(&json, profile, options);
	write_functions(&json, profile);
	write_frames(&json, profile);
	write_stacks(&json, profile);
	write_threads(&json, profile);
	write_regions(&json, profile);
	write_spans(&json, profile);
	write_modules(&json, profile);
	write_samples(&json, profile);
	fg_json_end(&json);
	fg_strbuf_add_char(out, '\n');
	return FG_OK;
}
