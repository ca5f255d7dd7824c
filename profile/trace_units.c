// SPDX-License-Identifier: Apache-2.0
/* The units of work of one trace, and the spans of its regions. */
#include "base/sort.h"
#include "profile/trace_private.h"

struct open_unit {
	uint32_t unit;
	uint32_t previous; /* index + 1 of the thread's previous open unit */
};

void fg_trace_add_units(struct fg_trace_joiner *j)
{
	const struct fg_trace *trace = j->trace;
	struct fg_profile *profile = j->profile;
	struct open_unit *open = fg_xcalloc(trace->mark_count + 1, sizeof(open[0]));
	/* per thread: index + 1 of its last open unit */
	uint32_t *last = fg_xcalloc(trace->thread_count + 1, sizeof(last[0]));
	uint32_t count = 0;

	for (size_t i = 0; i < trace->mark_count; i++) {
		const struct fg_trace_unit_mark *mark = &trace->marks[i];
		uint32_t thread = mark->thread < trace->thread_count ? mark->thread : 0;
		const char *kind =
			fg_profile_text(profile, fg_trace_name_or(trace, mark->name, "unit"));
		uint32_t *at = &last[thread];

		if (mark->begin) {
			*fg_profile_add_unit(profile) = (struct fg_unit_info){
				.thread = fg_trace_thread_of(j, thread),
				.kind = kind,
				.number = mark->number,
				.start_ns = fg_trace_time_of(j, mark->time_ns)};
			open[count] = (struct open_unit){.unit = (uint32_t)profile->unit_count - 1,
							 .previous = *at};
			*at = ++count;
			continue;
		}
		for (; *at; at = &open[*at - 1].previous) {
			struct fg_unit_info *unit = &profile->units[open[*at - 1].unit];

			if (unit->kind != kind || unit->number != mark->number)
				continue;
			unit->end_ns = fg_trace_time_of(j, mark->time_ns);
			unit->ended = true;
			*at = open[*at - 1].previous;
			break;
		}
	}
	free(open);
	free(last);
}

/* Orders by begin; an outer span precedes an inner span. */
FG_ORDER_BY(compare_spans, struct fg_region_span, FG_UP(start_ns), FG_DOWN(end_ns))

void fg_trace_add_spans(struct fg_trace_joiner *j)
{
	const struct fg_trace *trace = j->trace;
	struct fg_profile *profile = j->profile;
	const size_t first = profile->span_count;

	for (size_t i = 0; i < trace->span_count; i++) {
		const struct fg_trace_region_span *span = &trace->spans[i];
		const uint32_t region = fg_trace_region_of(j, span->region, 0);

		if (region != 0 && span->thread < trace->thread_count)
			*fg_profile_add_span(profile) = (struct fg_region_span){
				.region = region,
				.thread = fg_trace_thread_of(j, span->thread),
				.start_ns = fg_trace_time_of(j, span->begin_ns),
				.end_ns = fg_trace_time_of(j, span->end_ns),
			};
	}
	if (profile->span_count > first)
		qsort(&profile->spans[first], profile->span_count - first,
		      sizeof(profile->spans[0]), compare_spans);
}
