// SPDX-License-Identifier: Apache-2.0
/* Notes, clocks and costs that a profile derives from its traces. */
#include "profile/trace_profile.h"
#include "tests/support/fg_test.h"

#include <stdio.h>
#include <string.h>

static const uint64_t ms = 1000000;

/* Makes a trace that consists of a header only. */
static struct fg_trace trace_of(uint32_t pid)
{
	return (struct fg_trace){.header = {.pid = pid,
					    .clock_user = FG_CLOCK_PERF_USER,
					    .clock_system = FG_CLOCK_SYSTEM,
					    .period_ns = ms,
					    .tick_ns = 4 * ms}};
}

static void add(struct fg_profile *profile, const struct fg_trace *trace)
{
	fg_profile_add_trace(profile, trace, NULL, 0);
}

static void has_note(const struct fg_profile *profile, const char *note)
{
	for (size_t i = 0; i < profile->note_count; i++)
		if (strcmp(profile->notes[i], note) == 0)
			return;
	for (size_t i = 0; i < profile->note_count; i++)
		print_message("%s\n", profile->notes[i]);
	fail_msg("no note says \"%s\"", note);
}

/* A single loss is reported in the singular, and no loss is noted if nothing was lost. */
FG_TEST(losses_are_reported_with_their_number)
{
	static const struct {
		enum fg_trace_loss loss;
		const char *one;
		const char *many;
	} cases[] = {
		{FG_LOSS_NO_ROOM, "process 7: 1 sample was dropped: the trace file was full",
		 "process 7: 2 samples were dropped: the trace file was full"},
		{FG_LOSS_PATHS_FULL,
		 "process 7: 1 sample has no stack: the table of call paths was full",
		 "process 7: 2 samples have no stack: the table of call paths was full"},
		{FG_LOSS_NO_STACK, "process 7: 1 sample has no stack: no frame could be read",
		 "process 7: 2 samples have no stack: no frame could be read"},
		{FG_LOSS_NO_CLOCK,
		 "process 7: 1 thread could not be sampled: no clock could be opened",
		 "process 7: 2 threads could not be sampled: no clock could be opened"},
		{FG_LOSS_MODULES_FULL, "process 7: 1 library is missing: the table is full",
		 "process 7: 2 libraries are missing: the table is full"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		for (uint64_t count = 0; count <= 2; count++) {
			struct fg_trace trace = trace_of(7);
			struct fg_profile profile;

			fg_profile_init(&profile);
			trace.header.losses[cases[i].loss] = count;
			add(&profile, &trace);
			assert_int_equal(profile.note_count, count > 0);
			if (count > 0)
				has_note(&profile, count == 1 ? cases[i].one : cases[i].many);
			fg_profile_release(&profile);
		}
	}
}

/* The elapsed time of handlers includes time in which they had lost the CPU. */
FG_TEST(handlers_cost_the_cpu_time_that_was_measured)
{
	struct fg_trace trace = trace_of(7);
	struct fg_profile profile;

	fg_profile_init(&profile);
	trace.header.samples = 12;
	trace.header.parts = 2;
	trace.header.handler_ns = 500 * ms;
	trace.header.handler_cpu_ns = 7000;
	trace.header.signal_ns = 40000;
	trace.header.kernel_interrupts = 4;
	add(&profile, &trace);
	assert_true(profile.cost.samples == 10);
	assert_true(profile.cost.handler_ns == 70000);
	assert_true(profile.cost.signals_ns == 480000);
	fg_profile_release(&profile);
}

/* The reported clock is the one with most system time, over all processes. */
FG_TEST(the_clock_of_most_system_time_is_reported)
{
	struct fg_trace shell = trace_of(7);
	struct fg_trace worker = trace_of(8);
	struct fg_trace late = trace_of(9);
	struct fg_profile profile;

	shell.header.system_ns = 1 * ms;
	worker.header.system_ns = 1000 * ms;
	worker.header.kernel_ns = 990 * ms;
	late.header.system_ns = 5 * ms;
	fg_profile_init(&profile);
	add(&profile, &shell);
	assert_non_null(strstr(profile.clock, "system time at kernel ticks"));
	assert_non_null(strstr(profile.unseen, "in step with the ticks"));
	add(&profile, &worker);
	assert_non_null(strstr(profile.clock, "system time by perf events of the kernel"));
	assert_null(strstr(profile.unseen, "ticks"));
	add(&profile, &late);
	assert_non_null(strstr(profile.clock, "system time by perf events of the kernel"));
	late.header.system_ns = 2000 * ms;
	add(&profile, &late);
	assert_non_null(strstr(profile.clock, "system time at kernel ticks"));
	fg_profile_release(&profile);
}
