// SPDX-License-Identifier: Apache-2.0
/* The processes, threads and regions of one trace. */
#include "profile/trace_private.h"

int64_t fg_trace_time_of(const struct fg_trace_joiner *j, uint64_t time_ns)
{
	/* Times of a damaged trace are clamped, so that they can be added and subtracted. */
	const uint64_t max_ns = INT64_MAX / 2;
	const uint64_t late_ns = time_ns > j->origin_ns ? time_ns - j->origin_ns : 0;

	return (int64_t)(late_ns < max_ns ? late_ns : max_ns);
}

void fg_trace_add_process(struct fg_trace_joiner *j)
{
	const struct fg_trace *trace = j->trace;
	struct fg_process_info *info = fg_profile_add_process(j->profile);

	j->process = (uint32_t)j->profile->process_count - 1;
	info->pid = trace->header.pid;
	info->image = (uint32_t)trace->header.image;
	info->executable = fg_profile_text(j->profile, trace->executable);
	info->command = fg_profile_text(j->profile, trace->command);
	info->start_ns = fg_trace_time_of(j, trace->header.start_monotonic_ns);
	if (trace->header.end != FG_END_UNKNOWN)
		info->end_ns = fg_trace_time_of(j, trace->header.end_monotonic_ns);
}

void fg_trace_add_threads(struct fg_trace_joiner *j)
{
	const struct fg_trace *trace = j->trace;

	j->thread_of = fg_xcalloc(trace->thread_count + 1, sizeof(j->thread_of[0]));
	for (size_t i = 1; i < trace->thread_count; i++) {
		const struct fg_trace_thread *thread = &trace->threads[i];
		struct fg_thread_info *info;

		if (!thread->defined)
			continue;
		info = fg_profile_add_thread(j->profile);
		info->process = j->process;
		info->tid = thread->tid;
		info->name = fg_profile_text(j->profile, thread->name);
		info->start_ns = fg_trace_time_of(j, thread->start_ns);
		info->end_ns = thread->end_ns ? fg_trace_time_of(j, thread->end_ns) : 0;
		info->user_ns = (double)thread->user_ns;
		info->system_ns = (double)thread->system_ns;
		j->thread_of[i] = (uint32_t)j->profile->thread_count;
	}
}

uint32_t fg_trace_thread_of(struct fg_trace_joiner *j, uint32_t thread)
{
	uint32_t known = thread < j->trace->thread_count ? j->thread_of[thread] : 0;

	if (known)
		return known - 1;
	if (!j->unknown_thread) {
		struct fg_thread_info *info = fg_profile_add_thread(j->profile);

		info->process = j->process;
		info->name = "unknown thread";
		j->unknown_thread = (uint32_t)j->profile->thread_count;
	}
	return j->unknown_thread - 1;
}

const char *fg_trace_name_or(const struct fg_trace *trace, uint32_t name, const char *otherwise)
{
	return name < trace->name_count && trace->names[name] ? trace->names[name] : otherwise;
}

uint32_t fg_trace_region_of(struct fg_trace_joiner *j, uint32_t region, unsigned depth)
{
	enum {
		MAX_DEPTH = 256
	};
	const struct fg_trace_region *info;
	uint32_t parent;

	if (region == 0 || region >= j->trace->region_count || depth > MAX_DEPTH)
		return 0;
	if (j->region_of[region])
		return j->region_of[region];
	info = &j->trace->regions[region];
	if (!info->defined)
		return 0;
	parent = fg_trace_region_of(j, info->parent, depth + 1);
	if (!j->region_of[region])
		j->region_of[region] = fg_profile_region(
			j->profile, parent, fg_trace_name_or(j->trace, info->name, "?"));
	return j->region_of[region];
}

void fg_trace_add_regions(struct fg_trace_joiner *j)
{
	const struct fg_trace *trace = j->trace;

	j->region_of = fg_xcalloc(trace->region_count + 1, sizeof(j->region_of[0]));
	for (size_t i = 1; i < trace->region_count; i++)
		(void)fg_trace_region_of(j, (uint32_t)i, 0);
	for (size_t i = 0; i < trace->time_count; i++) {
		uint32_t region = fg_trace_region_of(j, trace->times[i].region, 0);

		if (region == 0)
			continue;
		j->profile->regions[region].count += trace->times[i].count;
		j->profile->regions[region].wall_ns += (double)trace->times[i].wall_ns;
	}
}
