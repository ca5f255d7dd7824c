// SPDX-License-Identifier: Apache-2.0
/*
 * Trace events (the "JSON object format" that Chrome, Perfetto and speedscope read): one complete
 * event ("X") for each visit to a region and for each unit of work, and the names of processes and
 * threads. Times are microseconds since the profile's start, with fractions.
 */
#include "base/json_write.h"
#include "profile/exchange/export_formats.h"

static void write_name(struct fg_json_writer *json, const char *what, int64_t pid, int64_t tid,
		       const char *name)
{
	fg_json_begin_object(json, NULL);
	fg_json_text(json, "ph", "M");
	fg_json_text(json, "name", what);
	fg_json_int(json, "pid", pid);
	fg_json_int(json, "tid", tid);
	fg_json_begin_object(json, "args");
	fg_json_text(json, "name", name ? name : "");
	fg_json_end(json);
	fg_json_end(json);
}

static uint32_t pid_of(const struct fg_profile *profile, uint32_t thread)
{
	const uint32_t process = profile->threads[thread].process;

	return process < profile->process_count ? profile->processes[process].pid : 0;
}

static void begin_event(struct fg_json_writer *json, const struct fg_profile *profile,
			uint32_t thread, int64_t start_ns, int64_t end_ns)
{
	fg_json_begin_object(json, NULL);
	fg_json_text(json, "ph", "X");
	fg_json_int(json, "pid", thread < profile->thread_count ? pid_of(profile, thread) : 0);
	fg_json_int(json, "tid", thread < profile->thread_count ? profile->threads[thread].tid : 0);
	fg_json_double(json, "ts", (double)start_ns / 1e3);
	fg_json_double(json, "dur", (double)(end_ns > start_ns ? end_ns - start_ns : 0) / 1e3);
}

static void write_spans(struct fg_json_writer *json, const struct fg_profile *profile)
{
	for (size_t i = 0; i < profile->span_count; i++) {
		const struct fg_region_span *span = &profile->spans[i];
		const struct fg_region_info *region = &profile->regions[span->region];

		begin_event(json, profile, span->thread, span->start_ns, span->end_ns);
		fg_json_text(json, "cat", "region");
		fg_json_text(json, "name", region->name);
		fg_json_begin_object(json, "args");
		fg_json_text(json, "path", region->path);
		fg_json_end(json);
		fg_json_end(json);
	}
}

static void write_units(struct fg_json_writer *json, const struct fg_profile *profile)
{
	for (size_t i = 1; i < profile->unit_count; i++) {
		const struct fg_unit_info *unit = &profile->units[i];
		char *name = fg_xasprintf("%s %llu", unit->kind, (unsigned long long)unit->number);

		begin_event(json, profile, unit->thread, unit->start_ns,
			    unit->ended ? unit->end_ns : unit->start_ns);
		fg_json_text(json, "cat", "unit");
		fg_json_text(json, "name", name);
		fg_json_end(json);
		free(name);
	}
}

int fg_export_chrome(const struct fg_profile *profile, const struct fg_export_options *options,
		     struct fg_strbuf *out, struct fg_error *err)
{
	struct fg_json_writer json;

	if (profile->span_count == 0 && profile->unit_count <= 1 && profile->region_count > 1)
		return fg_error_set(err, FG_EUNSUPPORTED,
				    "the profile has no region visits of 100 µs or longer and no "
				    "units of work; shorter visits are only summed up (fastgate "
				    "view -V regions)");
	if (profile->span_count == 0 && profile->unit_count <= 1)
		return fg_error_set(
			err, FG_EUNSUPPORTED,
			"the profile has no times of regions or units of work to export "
			"(mark them with <fastgate/region.h> and record again)");
	fg_json_writer_init(&json, out, 0);
	fg_json_begin_object(&json, NULL);
	fg_json_begin_array(&json, "traceEvents");
	for (size_t i = 0; i < profile->process_count; i++)
		write_name(&json, "process_name", profile->processes[i].pid, 0,
			   profile->processes[i].command);
	for (uint32_t i = 0; i < profile->thread_count; i++)
		write_name(&json, "thread_name", pid_of(profile, i), profile->threads[i].tid,
			   profile->threads[i].name);
	write_units(&json, profile);
	write_spans(&json, profile);
	fg_json_end(&json);
	fg_json_text(&json, "displayTimeUnit", "ms");
	if (options->tool_version)
		fg_json_text(&json, "exporter", options->tool_version);
	fg_json_end(&json);
	fg_strbuf_add_char(out, '\n');
	return FG_OK;
}
