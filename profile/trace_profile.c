// SPDX-License-Identifier: Apache-2.0
/* One trace as part of a profile: processes and threads, samples, marks. */
#include "base/fs.h"
#include "base/text.h"
#include "profile/call_times.h"
#include "profile/domains.h"
#include "profile/tick_aliasing.h"
#include "profile/trace_private.h"
#include "symbols/demangle.h"

#include <inttypes.h>
#include <math.h>

static int64_t time_of(const struct fg_trace_joiner *j, uint64_t time_ns)
{
	/* Clamped, so times of a damaged trace can be added and subtracted. */
	const uint64_t most_ns = INT64_MAX / 2;
	const uint64_t late_ns = time_ns > j->origin_ns ? time_ns - j->origin_ns : 0;

	return (int64_t)(late_ns < most_ns ? late_ns : most_ns);
}

/* ------------------------------------------------------------- who and where */

static void add_process(struct fg_trace_joiner *j)
{
	const struct fg_trace *trace = j->trace;
	struct fg_process_info *info = fg_profile_add_process(j->profile);

	j->process = (uint32_t)j->profile->process_count - 1;
	info->pid = trace->header.pid;
	info->image = (uint32_t)trace->header.image;
	info->executable = fg_profile_text(j->profile, trace->executable);
	info->command = fg_profile_text(j->profile, trace->command);
	info->start_ns = time_of(j, trace->header.start_monotonic_ns);
	if (trace->header.end != FG_END_UNKNOWN)
		info->end_ns = time_of(j, trace->header.end_monotonic_ns);
}

static void add_threads(struct fg_trace_joiner *j)
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
		info->start_ns = time_of(j, thread->start_ns);
		info->end_ns = thread->end_ns ? time_of(j, thread->end_ns) : 0;
		info->user_ns = (double)thread->user_ns;
		info->system_ns = (double)thread->system_ns;
		j->thread_of[i] = (uint32_t)j->profile->thread_count;
	}
}

/* All threads without a definition share one entry, made on first use. */
static uint32_t thread_of(struct fg_trace_joiner *j, uint32_t thread)
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

static const char *name_or(const struct fg_trace *trace, uint32_t name, const char *otherwise)
{
	return name < trace->name_count && trace->names[name] ? trace->names[name] : otherwise;
}

/* Parents first, by walking up; a circle or an endless chain ends at the outermost level. */
static uint32_t region_of(struct fg_trace_joiner *j, uint32_t region, unsigned depth)
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
	parent = region_of(j, info->parent, depth + 1);
	if (!j->region_of[region])
		j->region_of[region] =
			fg_profile_region(j->profile, parent, name_or(j->trace, info->name, "?"));
	return j->region_of[region];
}

static void add_regions(struct fg_trace_joiner *j)
{
	const struct fg_trace *trace = j->trace;

	j->region_of = fg_xcalloc(trace->region_count + 1, sizeof(j->region_of[0]));
	for (size_t i = 1; i < trace->region_count; i++)
		(void)region_of(j, (uint32_t)i, 0);
	for (size_t i = 0; i < trace->time_count; i++) {
		uint32_t region = region_of(j, trace->times[i].region, 0);

		if (region == 0)
			continue;
		j->profile->regions[region].count += trace->times[i].count;
		j->profile->regions[region].wall_ns += (double)trace->times[i].wall_ns;
	}
}

/* -------------------------------------------------------------------- samples */

static enum fg_time_kind kind_of(const struct fg_trace_sample *sample)
{
	static const enum fg_time_kind kinds[FG_SAMPLE_CLOCK_MASK + 1] = {
		[FG_CLOCK_NONE] = FG_TIME_BOTH,        [FG_CLOCK_PERF_USER] = FG_TIME_USER,
		[FG_CLOCK_SYSTEM] = FG_TIME_SYSTEM,    [FG_CLOCK_JITTER] = FG_TIME_BOTH,
		[FG_CLOCK_TICK] = FG_TIME_BOTH,        [FG_CLOCK_WALL] = FG_TIME_WALL,
		[FG_SAMPLE_CLOCK_MASK] = FG_TIME_BOTH,
	};

	return kinds[sample->clock & FG_SAMPLE_CLOCK_MASK];
}

static bool ends_in_kernel(const struct fg_trace *trace, uint32_t path)
{
	const uint32_t frame = path < trace->path_count ? trace->paths[path].frame : 0;

	return frame < trace->frame_count &&
	       fg_trace_is_of_kernel(trace, trace->frames[frame].module);
}

/*
 * Time in the kernel whose functions are not known is shown as a leaf of its own below the function
 * that made the call.
 */
static bool is_in_kernel(const struct fg_trace *trace, const struct fg_trace_sample *sample)
{
	if (sample->flags & FG_SAMPLE_SYSCALL)
		return sample->clock != FG_CLOCK_WALL;
	return sample->clock == FG_CLOCK_SYSTEM && trace->header.clock_user != FG_CLOCK_MACHINE &&
	       !ends_in_kernel(trace, sample->path);
}

static void add_sample(struct fg_trace_joiner *j, const struct fg_trace_sample *from,
		       uint32_t *trail)
{
	struct fg_profile *profile = j->profile;
	uint32_t stack = fg_trace_stack(j, from->path, trail);
	struct fg_sample *sample;

	if (is_in_kernel(j->trace, from) && stack != FG_TRACE_NO_STACK) {
		if (!j->kernel_frame)
			j->kernel_frame = fg_trace_mark_frame(j, "[kernel]", FG_FRAME_KERNEL);
		stack = fg_profile_stack(profile, stack, j->kernel_frame);
	}
	sample = fg_profile_add_sample(profile);
	sample->stack = stack;
	sample->thread = thread_of(j, from->thread);
	sample->region = region_of(j, from->region, 0);
	sample->time_ns = time_of(j, from->time_ns);
	sample->value = (double)from->weight_ns;
	sample->kind = (uint8_t)kind_of(from);
	sample->truncated = (from->flags & FG_SAMPLE_TRUNCATED) != 0;
	fg_profile_add_up(profile, sample);
}

/* The counter itself stands on top of each of its stacks: the leaf is who called it. */
static uint32_t below_collector(const struct fg_trace *trace, uint32_t path)
{
	while (path != 0 && path < trace->path_count && trace->paths[path].defined) {
		const struct fg_trace_path *at = &trace->paths[path];
		const uint32_t module =
			at->frame < trace->frame_count ? trace->frames[at->frame].module : 0;

		if (module >= trace->module_count ||
		    !(trace->modules[module].flags & FG_MODULE_COLLECTOR))
			break;
		path = at->parent;
	}
	return path;
}

/* The type of an exception is there as its linkage name. */
static const char *measure_name(const struct fg_trace_joiner *j, uint32_t measure)
{
	static const char mangled[] = "throws._ZTS";
	static const char readable[] = "typeinfo name for ";
	const struct fg_trace *trace = j->trace;
	const char *name = measure < trace->measure_count ? trace->measures[measure] : NULL;
	struct fg_strbuf text = {0};

	if (!name || !*name)
		return NULL;
	if (!fg_text_starts_with(name, mangled))
		return name;
	if (fg_demangle(strchr(name, '_'), &text) && fg_text_starts_with(text.data, readable)) {
		char *own = fg_xasprintf("throws.%s", text.data + strlen(readable));

		name = fg_profile_text(j->profile, own);
		free(own);
	}
	fg_strbuf_release(&text);
	return name;
}

/* Also one of which nothing was counted: 0 is an answer. */
static void add_measures(struct fg_trace_joiner *j)
{
	const struct fg_trace *trace = j->trace;

	for (uint32_t i = 1; i < trace->measure_count; i++) {
		const char *name = measure_name(j, i);
		const struct fg_measure measure = fg_measure_describe(name ? name : "", NULL);

		if (name && j->profile->measure_count < FG_MEASURES_MAX)
			(void)fg_profile_measure(j->profile, &measure);
	}
}

static void add_value(struct fg_trace_joiner *j, const struct fg_trace_value *from, uint32_t *trail)
{
	const struct fg_trace *trace = j->trace;
	const char *name = measure_name(j, from->measure);
	const struct fg_measure measure = fg_measure_describe(name ? name : "", NULL);
	struct fg_sample *sample = NULL;
	uint32_t stack = 0;

	if (!name || j->profile->measure_count >= FG_MEASURES_MAX)
		return;
	stack = fg_trace_stack(j, below_collector(trace, from->path), trail);
	sample = fg_profile_add_sample(j->profile);
	sample->stack = stack;
	sample->thread = thread_of(j, from->thread);
	sample->region = region_of(j, from->region, 0);
	sample->value = (double)from->value;
	sample->measure = fg_profile_measure(j->profile, &measure);
	sample->kind = FG_TIME_BOTH;
	fg_profile_add_up(j->profile, sample);
}

/* The function whose calls the measure counts; NULL: it counts something else. */
static const char *called_function(const struct fg_trace *trace, uint32_t measure)
{
	static const char family[] = "calls.";
	const char *name = measure < trace->measure_count ? trace->measures[measure] : NULL;

	return name && fg_text_starts_with(name, family) ? name + sizeof(family) - 1 : NULL;
}

static void add_call_times(struct fg_trace_joiner *j, const struct fg_trace_call_times *from,
			   uint32_t *trail)
{
	const char *function = called_function(j->trace, from->measure);
	struct fg_call_durations seen = {
		.returned = (double)from->returned,
		.total_ns = (double)from->total_ns,
		.own_ns = (double)from->own_ns,
		.least_ns = (double)from->least_ns,
		.most_ns = (double)from->most_ns,
	};
	uint32_t stack = 0;

	if (!function)
		return;
	stack = fg_trace_stack(j, below_collector(j->trace, from->path), trail);
	for (unsigned i = 0; i < FG_CALL_TIME_BINS; i++)
		seen.bins[i] = (double)from->bins[i];
	fg_call_durations_join(fg_call_durations_of(j->profile, function, stack), &seen);
}

/* The name of the type, as people write it. */
static const char *type_name(struct fg_trace_joiner *j, uint32_t measure)
{
	static const char family[] = "throws.";
	const char *name = measure < j->trace->measure_count ? measure_name(j, measure) : NULL;

	return name && fg_text_starts_with(name, family) ? name + sizeof(family) - 1 : "";
}

static int by_time(const void *left, const void *right)
{
	const struct fg_held_point *a = left;
	const struct fg_held_point *b = right;

	if (a->time_ns != b->time_ns)
		return a->time_ns < b->time_ns ? -1 : 1;
	return (a->most > b->most) - (a->most < b->most);
}

static void add_history(struct fg_trace_joiner *j)
{
	const struct fg_trace *trace = j->trace;
	struct fg_profile *profile = j->profile;
	const size_t first = profile->history_count;

	for (size_t i = 0; i < trace->held_count; i++) {
		const struct fg_trace_held *held = &trace->helds[i];

		if (held->state != 0 && held->state != trace->last_state)
			continue;
		profile->history = fg_grow(profile->history, &profile->history_capacity,
					   profile->history_count + 1, sizeof(profile->history[0]));
		profile->history[profile->history_count++] = (struct fg_held_point){
			.process = j->process,
			.dump = held->dump,
			.time_ns = time_of(j, held->time_ns),
			.bytes = (double)held->bytes,
			.most = (double)held->most,
		};
	}
	if (profile->history_count > first)
		qsort(&profile->history[first], profile->history_count - first,
		      sizeof(profile->history[0]), by_time);
}

/* The entry of this process for a name. */
static struct fg_resident *resident_of(struct fg_profile *profile, size_t first, const char *name,
				       uint32_t process)
{
	for (size_t i = first; i < profile->resident_count; i++)
		if (strcmp(profile->residents[i].name, name) == 0)
			return &profile->residents[i];
	profile->residents = fg_grow(profile->residents, &profile->resident_capacity,
				     profile->resident_count + 1, sizeof(profile->residents[0]));
	profile->residents[profile->resident_count] = (struct fg_resident){
		.name = fg_profile_text(profile, name),
		.process = process,
	};
	return &profile->residents[profile->resident_count++];
}

static void add_residents(struct fg_trace_joiner *j)
{
	const struct fg_trace *trace = j->trace;
	const size_t first = j->profile->resident_count;

	for (size_t i = 0; i < trace->resident_count; i++) {
		const struct fg_trace_resident *from = &trace->residents[i];
		struct fg_resident *resident = NULL;

		if (from->state != trace->last_state)
			continue;
		resident = resident_of(j->profile, first, from->name, j->process);
		if (from->is_at_end) {
			resident->at_end = (double)from->bytes;
		} else {
			resident->at_peak = (double)from->bytes;
			resident->held = (double)from->held;
		}
	}
}

static void add_caught(struct fg_trace_joiner *j, const struct fg_trace_caught *from,
		       uint32_t *trail)
{
	struct fg_profile *profile = j->profile;

	profile->caughts = fg_grow(profile->caughts, &profile->caught_capacity,
				   profile->caught_count + 1, sizeof(profile->caughts[0]));
	profile->caughts[profile->caught_count++] = (struct fg_caught){
		.type = fg_profile_text(profile, type_name(j, from->measure)),
		.thrown = fg_trace_stack(j, below_collector(j->trace, from->thrown_path), trail),
		.caught = fg_trace_stack(j, below_collector(j->trace, from->caught_path), trail),
		.is_again = from->is_again,
		.count = (double)from->count,
	};
}

static void add_call_values(struct fg_trace_joiner *j, const struct fg_trace_call_values *from,
			    uint32_t *trail)
{
	const char *function = called_function(j->trace, from->measure);
	struct fg_profile *profile = j->profile;

	if (!function)
		return;
	profile->values = fg_grow(profile->values, &profile->value_capacity,
				  profile->value_count + 1, sizeof(profile->values[0]));
	profile->values[profile->value_count++] = (struct fg_argument_values){
		.function = fg_profile_text(profile, function),
		.stack = fg_trace_stack(j, below_collector(j->trace, from->path), trail),
		.thread = thread_of(j, from->thread),
		.columns = from->columns,
		.rows = from->rows,
		.bytes = fg_arena_memdup(&profile->arena, from->bytes, from->size),
		.size = from->size,
	};
}

static void add_domain(struct fg_trace_joiner *j, const struct fg_trace_domain *from,
		       uint32_t *trail)
{
	const struct fg_trace *trace = j->trace;
	struct fg_domain key = {
		.function = called_function(trace, from->measure),
		.argument = from->argument,
	};
	struct fg_argument_figures seen = {
		.values = (double)from->values,
		.zeros = (double)from->zeros,
		.negatives = (double)from->negatives,
		.denormals = (double)from->denormals,
		.infinities = (double)from->infinities,
		.nans = (double)from->nans,
		.repeats = (double)from->repeats,
		.least = from->least,
		.most = from->most,
		.sum = from->sum,
	};

	if (!key.function)
		return;
	if (from->measure < trace->signature_count)
		key.signature = trace->signatures[from->measure];
	key.stack = fg_trace_stack(j, below_collector(trace, from->path), trail);
	for (unsigned i = 0; i < FG_ARGUMENT_BINS; i++)
		seen.bins[i] = (double)from->bins[i];
	fg_argument_join(&fg_domain_of(j->profile, &key)->seen, &seen);
}

static void add_samples(struct fg_trace_joiner *j)
{
	const struct fg_trace *trace = j->trace;
	uint32_t *trail = fg_xcalloc(trace->path_count + 1, sizeof(trail[0]));

	j->frames_of = fg_xcalloc(trace->frame_count + 1, sizeof(j->frames_of[0]));
	j->places = fg_xcalloc(trace->path_count + 1, sizeof(j->places[0]));
	fg_trace_look_up(j);
	fg_trace_note_missing_units(j);
	fg_pair_index_reserve(&j->profile->stack_index,
			      j->profile->stack_count + trace->path_count);
	for (size_t i = 0; i < trace->sample_count; i++)
		add_sample(j, &trace->samples[i], trail);
	add_measures(j);
	for (size_t i = 0; i < trace->value_count; i++) {
		if (trace->values[i].state == 0 || trace->values[i].state == trace->last_state)
			add_value(j, &trace->values[i], trail);
	}
	for (size_t i = 0; i < trace->domain_count; i++)
		add_domain(j, &trace->domains[i], trail);
	for (size_t i = 0; i < trace->call_time_count; i++)
		add_call_times(j, &trace->call_times[i], trail);
	add_history(j);
	add_residents(j);
	for (size_t i = 0; i < trace->caught_count; i++)
		add_caught(j, &trace->caughts[i], trail);
	for (size_t i = 0; i < trace->call_value_count; i++)
		add_call_values(j, &trace->call_values[i], trail);
	free(trail);
}

/* ----------------------------------------------------------- units and spans */

struct open_unit {
	uint32_t unit;
	uint32_t previous; /* of the same thread, + 1 */
};

/*
 * Begin and end marks pair up per thread by kind and number, innermost first; an end without a
 * begin is ignored.
 */
static void add_units(struct fg_trace_joiner *j)
{
	const struct fg_trace *trace = j->trace;
	struct fg_profile *profile = j->profile;
	struct open_unit *open = fg_xcalloc(trace->mark_count + 1, sizeof(open[0]));
	uint32_t *last = fg_xcalloc(trace->thread_count + 1, sizeof(last[0])); /* open + 1 */
	uint32_t count = 0;

	for (size_t i = 0; i < trace->mark_count; i++) {
		const struct fg_trace_unit_mark *mark = &trace->marks[i];
		uint32_t thread = mark->thread < trace->thread_count ? mark->thread : 0;
		const char *kind = fg_profile_text(profile, name_or(trace, mark->name, "unit"));
		uint32_t *at = &last[thread];

		if (mark->begin) {
			*fg_profile_add_unit(profile) =
				(struct fg_unit_info){.thread = thread_of(j, thread),
						      .kind = kind,
						      .number = mark->number,
						      .start_ns = time_of(j, mark->time_ns)};
			open[count] = (struct open_unit){.unit = (uint32_t)profile->unit_count - 1,
							 .previous = *at};
			*at = ++count;
			continue;
		}
		for (; *at; at = &open[*at - 1].previous) {
			struct fg_unit_info *unit = &profile->units[open[*at - 1].unit];

			if (unit->kind != kind || unit->number != mark->number)
				continue;
			unit->end_ns = time_of(j, mark->time_ns);
			unit->ended = true;
			*at = open[*at - 1].previous;
			break;
		}
	}
	free(open);
	free(last);
}

static void add_spans(struct fg_trace_joiner *j)
{
	const struct fg_trace *trace = j->trace;
	uint32_t *open = fg_xcalloc(trace->thread_count + 1, sizeof(open[0])); /* span + 1 */

	for (size_t i = 0; i < trace->change_count; i++) {
		const struct fg_trace_region_change *change = &trace->changes[i];
		uint32_t thread = change->thread < trace->thread_count ? change->thread : 0;
		uint32_t region = region_of(j, change->region, 0);
		int64_t now = time_of(j, change->time_ns);

		if (change->time_ns == 0)
			continue; /* a trace without times of regions */
		if (open[thread])
			j->profile->spans[open[thread] - 1].end_ns = now;
		open[thread] = 0;
		if (region == 0)
			continue;
		*fg_profile_add_span(j->profile) =
			(struct fg_region_span){.region = region,
						.thread = thread_of(j, thread),
						.start_ns = now,
						.end_ns = now};
		open[thread] = (uint32_t)j->profile->span_count;
	}
	free(open);
}

/* ------------------------------------------------------------------ the whole */

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
		{.loss = FG_LOSS_LATE_THREAD,
		 .one = "thread made without pthread_create() was found late",
		 .many = "threads made without pthread_create() were found late"},
		{.loss = FG_LOSS_MODULES_FULL,
		 .one = "library is missing: there were too many",
		 .many = "libraries are missing: there were too many"},
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
	if (fg_tick_aliasing_found(trace))
		fg_profile_add_note(profile,
				    "process %u runs in step with the kernel's ticks, where its "
				    "system time was sampled: the shares of its system calls may "
				    "be wrong by far (record --clock exact tells them)",
				    pid);
	if (trace->damage[0])
		fg_profile_add_note(profile, "process %u: the trace is damaged: %s", pid,
				    trace->damage);
	if (trace->missing_bytes)
		fg_profile_add_note(profile,
				    "process %u: the trace was cut: %llu bytes are missing", pid,
				    (unsigned long long)trace->missing_bytes);
	if (j->unknown_paths)
		fg_profile_add_note(profile, "process %u: %llu call paths were never described",
				    pid, (unsigned long long)j->unknown_paths);
}

/* It has run, and nothing of what it ran is known. */
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
		WORTH_TELLING = 100 /* one of these */
	};
	const uint64_t missed = j->trace->header.python_missed;
	const uint64_t read = j->trace->header.python_stacks;

	if (j->trace->python_version == 0)
		return;
	if (missed > read / WORTH_TELLING)
		fg_profile_add_note(j->profile,
				    "process %u: %" PRIu64 " of %" PRIu64
				    " stacks are without their Python frames: these made no sense",
				    j->trace->header.pid, missed, missed + read);
	else if (read == 0 && has_bare_evaluation(j))
		fg_profile_add_note(j->profile,
				    "process %u: no Python frames: the interpreter has no thread "
				    "where its version should have them",
				    j->trace->header.pid);
}

static bool counts_heap(const struct fg_trace *trace)
{
	for (size_t i = 1; i < trace->measure_count; i++)
		if (trace->measures[i] && strcmp(trace->measures[i], "heap.allocations") == 0)
			return true;
	return false;
}

/* The collector says so itself where the loader can tell it. */
static bool is_told_of_malloc(const struct fg_trace *trace)
{
	for (size_t i = 0; i < trace->note_count; i++)
		if (strstr(trace->notes[i], "a malloc of its own"))
			return true;
	return false;
}

/* The loader does not pass by an allocator that the program links under other names. */
static void note_own_allocator(struct fg_trace_joiner *j)
{
	static const char *const allocators[] = {
		"malloc", "je_malloc", "_rjem_malloc", "tc_malloc", "mi_malloc", "rpmalloc", NULL};
	const struct fg_trace *trace = j->trace;

	if (!counts_heap(trace) || is_told_of_malloc(trace))
		return;
	for (size_t i = 1; i < trace->module_count; i++) {
		const bool is_program = trace->modules[i].flags & FG_MODULE_MAIN;
		const char *name = is_program && j->modules[i]
					   ? fg_symbol_module_defines(j->modules[i], allocators)
					   : NULL;

		if (name)
			fg_profile_add_note(j->profile,
					    "process %u: the program has an allocator of its own, "
					    "%s: blocks that it gives out are not counted",
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
		[FG_CLOCK_PERF_USER] = {.clock = "CPU time, by the kernel's task clock",
					.unseen = waiting},
		[FG_CLOCK_JITTER] = {.clock = "CPU time, by jittered timers", .unseen = waiting},
		[FG_CLOCK_TICK] = {.clock = "CPU time at kernel ticks",
				   .unseen = "time spent waiting; the shares of a program that "
					     "runs in step with the ticks"},
		[FG_CLOCK_WALL] = {.clock = "elapsed time, running or blocked"},
		[FG_CLOCK_MACHINE] = {.clock =
					      "CPU time of the whole machine, by the clock of each "
					      "CPU",
				      .unseen = waiting},
	};
	static const struct clock_words with_system[] = {
		[FG_CLOCK_SYSTEM] = {.clock = "user time by the kernel's task clock, system time "
					      "at kernel ticks",
				     .unseen =
					     "time spent waiting; the shares of system calls in a "
					     "program that runs in step with the ticks (--clock "
					     "exact tells them)"},
		[FG_CLOCK_PERF_KERNEL] = {.clock = "user and system time, by the kernel's task "
						   "clock",
					  .unseen = waiting},
		[FG_CLOCK_PROBE] = {.clock = "user time by the kernel's task clock, system time by "
					     "random probes",
				    .unseen = waiting},
	};
	static const struct clock_words unknown = {.clock = "unknown"};

	if (header->clock_user == FG_CLOCK_PERF_USER &&
	    header->clock_system < FG_ARRAY_SIZE(with_system) &&
	    with_system[header->clock_system].clock)
		return &with_system[header->clock_system];
	if (header->clock_user < FG_ARRAY_SIZE(words) && words[header->clock_user].clock)
		return &words[header->clock_user];
	return &unknown;
}

/* A trace of counts alone has no time to show first. */
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

/* What the samples measure, as the first trace says; before any sample. */
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

/* In a profile of the machine each call path begins with its program. */
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
	const double samples = (double)header->samples - (double)header->parts;

	cost->samples += samples;
	cost->sampled_ns += (double)header->user_ns + (double)header->system_ns;
	cost->system_ns += (double)header->system_ns;
	cost->kernel_ns += (double)header->kernel_ns;
	const double handler_ns = fmin((double)header->handler_ns, samples * FG_HANDLER_MOST_NS);

	cost->handler_ns += handler_ns;
	cost->caches_ns += (FG_HANDLER_TIMES - 1) * handler_ns;
	cost->start_ns += (double)fg_trace_start_ns(header);
	cost->interrupts += (double)fg_trace_kernel_interrupts(header) / FG_INTERRUPT_PART;
	cost->signal_ns = (double)header->signal_ns;
	cost->switches_ns += (double)header->end_switches * (double)header->switch_ns;
	cost->perf_errno = header->perf_errno ? (int)header->perf_errno : cost->perf_errno;
	cost->kernel_errno = header->kernel_errno ? (int)header->kernel_errno : cost->kernel_errno;
	for (size_t i = 0; i < FG_LOSS_COUNT; i++)
		cost->losses[i] += header->losses[i];
}

/* Most system time of the traces so far was met at ticks, or by perf events of the kernel. */
static void settle_clock(struct fg_profile *profile)
{
	static const struct fg_trace_header ticks = {.clock_user = FG_CLOCK_PERF_USER,
						     .clock_system = FG_CLOCK_SYSTEM};
	static const struct clock_words by_events = {
		.clock = "user time by the kernel's task clock, system time by perf events of the "
			 "kernel",
		.unseen = "time spent waiting"};
	const struct clock_words *by_ticks = clock_words(&ticks);
	const struct clock_words *words =
		fg_tick_aliasing_is_free(profile->cost.kernel_ns, profile->cost.system_ns) ? &by_events
										     : by_ticks;

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
	else if (profile->period_ns != header->period_ns)
		profile->period_ns = 0;
	profile->measures[0].lost +=
		(double)header->losses[FG_LOSS_NO_ROOM] * (double)header->period_ns;
	if (header->end != FG_END_UNKNOWN) {
		profile->cpu_ns += (double)header->end_user_ns + (double)header->end_system_ns;
		last = time_of(j, header->end_monotonic_ns);
	}
	for (size_t i = 0; i < j->trace->sample_count; i++)
		if (time_of(j, j->trace->samples[i].time_ns) > last)
			last = time_of(j, j->trace->samples[i].time_ns);
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
	add_process(&j);
	add_threads(&j);
	add_regions(&j);
	fg_trace_add_modules(&j);
	set_base(&j);
	add_samples(&j);
	add_units(&j);
	add_spans(&j);
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
