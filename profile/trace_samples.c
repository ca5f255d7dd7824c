// SPDX-License-Identifier: Apache-2.0
/* The samples and counts of one trace. */
#include "base/text.h"
#include "binary/demangle.h"
#include "profile/called.h"
#include "profile/trace_private.h"

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
 * Returns true for time in unknown kernel functions, which gets a separate leaf below the calling
 * function, or below the root if the caller is unknown.
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

	if (is_in_kernel(j->trace, from)) {
		if (!j->kernel_frame)
			j->kernel_frame = fg_trace_mark_frame(j, "[kernel]", FG_FRAME_KERNEL);
		if (stack == FG_TRACE_NO_STACK)
			stack = j->base_stack;
		stack = fg_profile_stack(profile, stack, j->kernel_frame);
	}
	if (from->flags & FG_SAMPLE_STOPPED)
		stack = fg_profile_stack(profile, j->base_stack,
					 fg_trace_mark_frame(j, "[not running]", FG_FRAME_MARK));
	sample = fg_profile_add_sample(profile);
	sample->stack = stack;
	sample->thread = fg_trace_thread_of(j, from->thread);
	sample->region = fg_trace_region_of(j, from->region, 0);
	sample->time_ns = fg_trace_time_of(j, from->time_ns);
	sample->value = (double)from->weight_ns;
	sample->kind = (uint8_t)kind_of(from);
	sample->truncated = (from->flags & FG_SAMPLE_TRUNCATED) != 0;
	fg_profile_add_up(profile, sample);
}

/* Removes the collector's own frames, so that the leaf is a function of the program. */
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

/* Returns the measure's name; traces record the type of an exception as its linkage name. */
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

/* Adds all measures of the trace, even those without a value: zero is a result. */
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
	sample->thread = fg_trace_thread_of(j, from->thread);
	sample->region = fg_trace_region_of(j, from->region, 0);
	sample->value = (double)from->value;
	sample->measure = fg_profile_measure(j->profile, &measure);
	sample->kind = FG_TIME_BOTH;
	fg_profile_add_up(j->profile, sample);
}

/* Returns the function whose calls the measure counts; NULL: another kind of measure. */
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
		.min_ns = (double)from->min_ns,
		.max_ns = (double)from->max_ns,
	};
	uint32_t stack = 0;

	if (!function)
		return;
	stack = fg_trace_stack(j, below_collector(j->trace, from->path), trail);
	for (unsigned i = 0; i < FG_CALL_TIME_BINS; i++)
		seen.bins[i] = (double)from->bins[i];
	fg_call_durations_join(fg_call_durations_of(j->profile, function, stack), &seen);
}

/* Finds or adds the process's entry for a name. */
static struct fg_resident *resident_of(struct fg_profile *profile, size_t first, const char *name,
				       uint32_t process)
{
	struct fg_resident *added = NULL;

	for (size_t i = first; i < profile->resident_count; i++)
		if (strcmp(profile->residents[i].name, name) == 0)
			return &profile->residents[i];
	added = &FG_APPEND(profile->residents, profile->resident_count, profile->resident_capacity);
	added->name = fg_profile_text(profile, name);
	added->process = process;
	return added;
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

static void add_call_values(struct fg_trace_joiner *j, const struct fg_trace_call_values *from,
			    uint32_t *trail)
{
	const char *function = called_function(j->trace, from->measure);
	struct fg_profile *profile = j->profile;

	if (!function)
		return;
	FG_APPEND(profile->values, profile->value_count, profile->value_capacity) =
		(struct fg_argument_values){
			.function = fg_profile_text(profile, function),
			.stack = fg_trace_stack(j, below_collector(j->trace, from->path), trail),
			.thread = fg_trace_thread_of(j, from->thread),
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

void fg_trace_add_samples(struct fg_trace_joiner *j)
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
	add_residents(j);
	for (size_t i = 0; i < trace->call_value_count; i++)
		add_call_values(j, &trace->call_values[i], trail);
	free(trail);
}
