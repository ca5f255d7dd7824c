// SPDX-License-Identifier: Apache-2.0
/* One trace as part of a profile: its totals and notes. */
#include "base/fs.h"
#include "profile/trace_private.h"
#include "trace/sample_cost.h"

#include <inttypes.h>

/* System time counts as sampled by perf events if they sampled at least this share of it. */
static const double events_share = 0.75;

static void add_notes(struct fg_trace_joiner *j)
{
	static const struct {
		enum fg_trace_loss loss;
		const char *one;
		const char *many;
	} losses[] = {
		{.loss = FG_LOSS_NO_ROOM,
		 .one = "sample was dropped: the trace file was full",
		 .many = "samples were dropped: the trace file was full"},
		{.loss = FG_LOSS_PATHS_FULL,
		 .one = "sample has no stack: the table of call paths was full",
		 .many = "samples have no stack: the table of call paths was full"},
		{.loss = FG_LOSS_NO_STACK,
		 .one = "sample has no stack: no frame could be read",
		 .many = "samples have no stack: no frame could be read"},
		{.loss = FG_LOSS_NO_CLOCK,
		 .one = "thread could not be sampled: no clock could be opened",
		 .many = "threads could not be sampled: no clock could be opened"},
		{.loss = FG_LOSS_MODULES_FULL,
		 .one = "library is missing: the table is full",
		 .many = "libraries are missing: the table is full"},
	};
	const struct fg_trace *trace = j->trace;
	struct fg_profile *profile = j->profile;
	unsigned pid = trace->header.pid;

	for (size_t i = 0; i < trace->note_count; i++)
		fg_profile_add_note(profile, "process %u: %s", pid, trace->notes[i]);
	for (size_t i = 0; i < FG_ARRAY_SIZE(losses); i++) {
		const uint64_t count = trace->header.losses[losses[i].loss];

		if (count)
			fg_profile_add_note(profile, "process %u: %" PRIu64 " %s", pid, count,
					    count == 1 ? losses[i].one : losses[i].many);
	}
	if (trace->header.end == FG_END_UNKNOWN && trace->measure_count > 1)
		fg_profile_add_note(
			profile,
			"process %u was killed: its calls, counts and held memory are known up "
			"to that time; leaks, memory that was never touched, and arguments and "
			"durations of the second half of its calls may be missing",
			pid);
	if (trace->header.end == FG_END_UNKNOWN && trace->region_count > 1)
		fg_profile_add_note(profile,
				    "process %u was killed: the counts and times of its regions "
				    "are unknown",
				    pid);
	if (trace->damage[0])
		fg_profile_add_note(profile, "process %u: the trace is damaged: %s", pid,
				    trace->damage);
	if (trace->missing_bytes)
		fg_profile_add_note(profile,
				    "process %u: the trace is cut short: %llu bytes are missing",
				    pid, (unsigned long long)trace->missing_bytes);
	if (j->unknown_paths)
		fg_profile_add_note(profile, "process %u: %llu call path%s no description", pid,
				    (unsigned long long)j->unknown_paths,
				    j->unknown_paths == 1 ? " has" : "s have");
}

/* Returns true if the interpreter's evaluation loop was seen without Python frames. */
static bool has_bare_evaluation(const struct fg_trace_joiner *j)
{
	const struct fg_profile *profile = j->profile;

	for (size_t i = 0; i < j->frame_count; i++)
		if (strcmp(profile->functions[profile->frames[j->frames[i]].function].name,
			   "_PyEval_EvalFrameDefault") == 0)
			return true;
	return false;
}

static void note_python(struct fg_trace_joiner *j)
{
	enum {
		MISSED_ONE_IN = 100 /* reported if more than one stack in 100 was missed */
	};
	const uint64_t missed = j->trace->header.python_missed;
	const uint64_t read = j->trace->header.python_stacks;

	if (j->trace->python_version == 0)
		return;
	if (missed > read / MISSED_ONE_IN)
		fg_profile_add_note(
			j->profile,
			"process %u: %" PRIu64 " of %" PRIu64
			" stacks have no Python frames, because the interpreter's data is "
			"inconsistent",
			j->trace->header.pid, missed, missed + read);
	else if (read == 0 && has_bare_evaluation(j))
		fg_profile_add_note(
			j->profile,
			"process %u: no Python frames, because the interpreter's threads are not "
			"where its version keeps them",
			j->trace->header.pid);
}

static bool counts_heap(const struct fg_trace *trace)
{
	for (size_t i = 1; i < trace->measure_count; i++)
		if (trace->measures[i] && strcmp(trace->measures[i], "heap.allocations") == 0)
			return true;
	return false;
}

/*
 * Returns true if the collector has already reported the program's own malloc, which it found
 * through the loader.
 */
static bool has_malloc_note(const struct fg_trace *trace)
{
	for (size_t i = 0; i < trace->note_count; i++)
		if (strstr(trace->notes[i], "has its own malloc"))
			return true;
	return false;
}

/* Notes an allocator that is linked into the program, where the loader cannot find it. */
static void note_own_allocator(struct fg_trace_joiner *j)
{
	static const char *const allocators[] = {
		"malloc", "je_malloc", "_rjem_malloc", "tc_malloc", "mi_malloc", "rpmalloc", NULL};
	const struct fg_trace *trace = j->trace;

	if (!counts_heap(trace) || has_malloc_note(trace))
		return;
	for (size_t i = 1; i < trace->module_count; i++) {
		const bool is_program = trace->modules[i].flags & FG_MODULE_MAIN;
		const char *name = is_program && j->modules[i]
					   ? fg_symbol_module_defines(j->modules[i], allocators)
					   : NULL;

		if (name)
			fg_profile_add_note(j->profile,
					    "process %u: the program has its own allocator, %s, "
					    "whose blocks are not counted",
					    trace->header.pid, name);
	}
}

struct clock_words {
	const char *clock;
	const char *unseen;
};

static const struct clock_words *clock_words(const struct fg_trace_header *header)
{
	static const char *const waiting = "time spent waiting";
	static const struct clock_words words[] = {
		[FG_CLOCK_NONE] = {.clock = "nothing was sampled"},
		[FG_CLOCK_PERF_USER] = {.clock = "CPU time, measured by the kernel's task clock",
					.unseen = waiting},
		[FG_CLOCK_JITTER] = {.clock = "CPU time, measured by jittered timers",
				     .unseen = waiting},
		[FG_CLOCK_TICK] = {.clock = "CPU time at kernel ticks",
				   .unseen = "time spent waiting; the shares of a program that "
					     "runs in step with the ticks"},
		[FG_CLOCK_WALL] = {.clock = "elapsed time, running or blocked"},
		[FG_CLOCK_MACHINE] =
			{.clock =
				 "CPU time of the whole machine, measured by the clock of each CPU",
			 .unseen = waiting},
	};
	static const struct clock_words with_ticks = {
		.clock = "user time by the kernel's task clock, system time at kernel ticks",
		.unseen = "time spent waiting; the shares of system calls in a program that runs "
			  "in step with the ticks"};
	static const struct clock_words unknown = {.clock = "unknown"};

	if (header->clock_user == FG_CLOCK_PERF_USER && header->clock_system == FG_CLOCK_SYSTEM)
		return &with_ticks;
	if (header->clock_user < FG_ARRAY_SIZE(words) && words[header->clock_user].clock)
		return &words[header->clock_user];
	return &unknown;
}

/* Makes a count the first measure of a trace that has only counts. */
static void set_first_count(struct fg_trace_joiner *j)
{
	for (size_t i = 1; i < j->trace->measure_count; i++) {
		const char *name = j->trace->measures[i];
		const struct fg_measure measure = fg_measure_describe(name ? name : "", NULL);

		if (!name)
			continue;
		fg_profile_set_first_measure(j->profile, &measure);
		return;
	}
}

/* Sets the measure of samples. The first trace defines it, before any sample is added. */
static void set_clock(struct fg_trace_joiner *j)
{
	const struct fg_measure wall_time = fg_measure_describe("wall_time", NULL);

	if (j->profile->clock)
		return;
	j->profile->clock = clock_words(&j->trace->header)->clock;
	j->profile->unseen = clock_words(&j->trace->header)->unseen;
	if (j->trace->header.clock_user == FG_CLOCK_WALL)
		fg_profile_set_first_measure(j->profile, &wall_time);
	else if (j->trace->header.clock_user == FG_CLOCK_NONE)
		set_first_count(j);
}

/* In a profile of the whole machine, each call path begins with its program. */
static void set_base(struct fg_trace_joiner *j)
{
	const char *program = j->trace->executable;

	if (j->trace->header.clock_user != FG_CLOCK_MACHINE)
		return;
	if (*program != '[')
		program = fg_fs_base_name(program);
	j->base_stack =
		fg_profile_stack(j->profile, 0, fg_trace_mark_frame(j, program, FG_FRAME_MARK));
}

static void add_cost(struct fg_profile_cost *cost, const struct fg_trace_header *header)
{
	struct fg_sample_cost taken = {0};

	fg_sample_cost_add(&taken, header);
	cost->samples += (double)taken.samples;
	cost->sampled_ns += (double)header->user_ns + (double)header->system_ns;
	cost->system_ns += (double)header->system_ns;
	cost->kernel_ns += (double)header->kernel_ns;
	cost->handler_ns += (double)taken.handlers_ns;
	cost->start_ns += (double)taken.start_ns;
	cost->signals_ns += (double)taken.signals_ns;
	cost->switches_ns += (double)taken.switches_ns;
	cost->perf_errno = header->perf_errno ? (int)header->perf_errno : cost->perf_errno;
	cost->kernel_errno = header->kernel_errno ? (int)header->kernel_errno : cost->kernel_errno;
	for (size_t i = 0; i < FG_LOSS_COUNT; i++)
		cost->losses[i] += header->losses[i];
}

/* Names the source of system time: perf events if they sampled `events_share` of it, else ticks. */
static void settle_clock(struct fg_profile *profile)
{
	static const struct fg_trace_header ticks = {.clock_user = FG_CLOCK_PERF_USER,
						     .clock_system = FG_CLOCK_SYSTEM};
	static const struct clock_words by_events = {
		.clock = "user time by the kernel's task clock, system time by perf events of the "
			 "kernel",
		.unseen = "time spent waiting"};
	const struct clock_words *by_ticks = clock_words(&ticks);
	const bool is_by_events = profile->cost.kernel_ns > 0 &&
				  profile->cost.kernel_ns >= events_share * profile->cost.system_ns;
	const struct clock_words *words = is_by_events ? &by_events : by_ticks;

	if (profile->clock != by_ticks->clock && profile->clock != by_events.clock)
		return;
	profile->clock = words->clock;
	profile->unseen = words->unseen;
}

static void add_totals(struct fg_trace_joiner *j)
{
	const struct fg_trace_header *header = &j->trace->header;
	struct fg_profile *profile = j->profile;
	int64_t last = 0;

	profile->has_times = true;
	add_cost(&profile->cost, header);
	settle_clock(profile);
	if (profile->process_count == 1)
		profile->period_ns = header->period_ns;
	if (profile->period_ns != header->period_ns || header->budget)
		profile->period_ns = 0;
	profile->measures[0].lost +=
		(double)header->losses[FG_LOSS_NO_ROOM] * (double)header->period_ns;
	if (header->end != FG_END_UNKNOWN) {
		profile->cpu_ns += (double)header->end_user_ns + (double)header->end_system_ns;
		last = fg_trace_time_of(j, header->end_monotonic_ns);
	}
	for (size_t i = 0; i < j->trace->sample_count; i++)
		if (fg_trace_time_of(j, j->trace->samples[i].time_ns) > last)
			last = fg_trace_time_of(j, j->trace->samples[i].time_ns);
	if (last > profile->duration_ns)
		profile->duration_ns = last;
}

/*
 * Debug files are opened on demand, so the source of names is known only at the end.
 */
static void add_sources(struct fg_trace_joiner *j)
{
	for (size_t i = 1; i < j->trace->module_count; i++)
		if (j->modules[i])
			j->profile->modules[j->module_of[i]].symbols_from =
				fg_profile_text(j->profile, fg_symbol_module_source(j->modules[i]));
}

void fg_profile_add_trace(struct fg_profile *profile, const struct fg_trace *trace,
			  struct fg_symbolizer *symbolizer, uint64_t origin_ns)
{
	struct fg_trace_joiner j = {
		.profile = profile,
		.trace = trace,
		.symbolizer = symbolizer,
		.origin_ns = origin_ns,
	};

	set_clock(&j);
	fg_trace_add_process(&j);
	fg_trace_add_threads(&j);
	fg_trace_add_regions(&j);
	fg_trace_add_modules(&j);
	set_base(&j);
	fg_trace_add_samples(&j);
	fg_trace_add_units(&j);
	fg_trace_add_spans(&j);
	add_totals(&j);
	add_notes(&j);
	note_python(&j);
	note_own_allocator(&j);
	add_sources(&j);
	free(j.thread_of);
	free(j.region_of);
	free(j.module_of);
	free(j.file_of);
	free(j.modules);
	free(j.frames);
	free(j.frames_of);
	free(j.places);
}
