// SPDX-License-Identifier: Apache-2.0
/* Facts about a profile: its clock, blind spots, rate and cost. */
#include "base/clock.h"
#include "base/number.h"
#include "base/text.h"
#include "profile/views/view.h"

#include <errno.h>

static void add_line(struct fg_strbuf *text, const char *name, const char *value)
{
	if (!value || !*value)
		return;
	fg_strbuf_printf(text, "%-12s ", name);
	fg_text_add_clean(text, value, strlen(value), SIZE_MAX);
	fg_strbuf_add_char(text, '\n');
}

static void add_rate(const struct fg_profile *profile, struct fg_strbuf *text)
{
	struct fg_strbuf words = {0};
	char period[FG_NUMBER_TEXT_SIZE];

	if (profile->period_ns)
		fg_strbuf_printf(&words, "%.0f samples a second, one every %s",
				 (double)FG_NS_PER_S / (double)profile->period_ns,
				 fg_format_duration((double)profile->period_ns, period));
	else if (profile->cost.samples > 0 && profile->cost.sampled_ns > 0)
		fg_strbuf_printf(&words, "%.0f samples a second on average",
				 profile->cost.samples * (double)FG_NS_PER_S /
					 profile->cost.sampled_ns);
	add_line(text, "rate", fg_strbuf_text(&words));
	fg_strbuf_release(&words);
}

static void add_cost(const struct fg_profile_cost *cost, struct fg_strbuf *text)
{
	struct fg_strbuf words = {0};
	char signals[FG_NUMBER_TEXT_SIZE];
	char switches[FG_NUMBER_TEXT_SIZE];
	char handlers[FG_NUMBER_TEXT_SIZE];
	char start[FG_NUMBER_TEXT_SIZE];
	const double all_ns =
		cost->signals_ns + cost->switches_ns + cost->handler_ns + cost->start_ns;

	if (cost->expected > 0) {
		fg_strbuf_printf(&words, "about %.1f %% of the CPU time", 100 * cost->expected);
		add_line(text, "cost", fg_strbuf_text(&words));
		fg_strbuf_release(&words);
		return;
	}
	if (!(cost->samples > 0) || !(cost->sampled_ns > 0))
		return;
	fg_strbuf_printf(
		&words,
		"%s%.1f %% of the CPU time: signals %s, context switches %s, collector %s, "
		"start %s",
		cost->signals_ns > 0 ? "about " : "at least ", 100 * all_ns / cost->sampled_ns,
		cost->signals_ns > 0 ? fg_format_duration(cost->signals_ns, signals)
				     : "not measured",
		fg_format_duration(cost->switches_ns, switches),
		fg_format_duration(cost->handler_ns, handlers),
		fg_format_duration(cost->start_ns, start));
	add_line(text, "cost", fg_strbuf_text(&words));
	fg_strbuf_release(&words);
}

static void add_size(const struct fg_profile *profile, struct fg_strbuf *text)
{
	struct fg_strbuf words = {0};
	char cpu[FG_NUMBER_TEXT_SIZE];

	if (profile->process_count == 0)
		return;
	fg_strbuf_printf(&words, "%zu in %zu process image%s and %zu thread%s",
			 profile->sample_count, profile->process_count,
			 profile->process_count == 1 ? "" : "s", profile->thread_count,
			 profile->thread_count == 1 ? "" : "s");
	if (profile->cpu_ns > 0)
		fg_strbuf_printf(&words, "; CPU time according to the kernel: %s",
				 fg_format_duration(profile->cpu_ns, cpu));
	add_line(text, "samples", fg_strbuf_text(&words));
	fg_strbuf_release(&words);
}

/*
 * Explains why kernel functions are missing. `at_ticks`: in addition, kernel time was sampled only
 * at ticks.
 */
static const char *why_no_kernel(int error, bool at_ticks)
{
	switch (error) {
	case EACCES:
	case EPERM:
		if (at_ticks)
			return "kernel time is sampled at ticks, and kernel functions have no "
			       "names: sampling the kernel freely needs root, CAP_PERFMON, or "
			       "kernel.perf_event_paranoid below 2";
		return "kernel functions have no names: sampling the kernel needs root, "
		       "CAP_PERFMON, or kernel.perf_event_paranoid below 2";
	case EMFILE:
	case ENFILE:
	case ENOMEM:
		return "kernel functions have no names in some threads: too few descriptors or "
		       "too little locked memory was left";
	default:
		return "kernel functions have no names: the kernel's perf events do not include "
		       "them";
	}
}

void fg_view_write_facts(const struct fg_profile *profile, struct fg_strbuf *out)
{
	add_line(out, "profile of", profile->title);
	add_line(out, "clock", profile->clock ? profile->clock : "unknown");
	add_line(out, "unseen", profile->unseen);
	if (profile->cost.perf_errno)
		add_line(out, "perf events", "refused by the kernel: a coarser timer was used");
	if (profile->cost.kernel_errno)
		add_line(out, "kernel",
			 why_no_kernel(profile->cost.kernel_errno,
				       profile->unseen && strstr(profile->unseen, "ticks")));
	add_rate(profile, out);
	add_cost(&profile->cost, out);
	add_size(profile, out);
	for (size_t i = 0; i < profile->note_count; i++)
		add_line(out, "note", profile->notes[i]);
}
