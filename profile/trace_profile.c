// SPDX-License-Identifier: Apache-2.0
/*
 * Two kinds of address.  Where a thread was interrupted its address is the instruction it stood at.
 * Everywhere else the address is where a call returns to: the instruction behind the call, which
 * may belong to another line, another inlined copy, even to the next function when the call never
 * returns.  So these are looked up one byte earlier.  The trace says of each address which kind it
 * is.
 */
#include "profile/trace_profile.h"

#include "base/fs.h"
#include "base/hash.h"
#include "base/radix_sort.h"
#include "symbols/elf_file.h"

enum {
	MAX_TRACES = 65536,
	NO_STACK = 0
};

/* The frames that an address stands for: a part of `frames`. */
struct frames_of {
	uint32_t first;
	uint32_t count; /* 0: not looked up yet */
};

struct joiner {
	struct fg_profile *profile;
	const struct fg_trace *trace;
	struct fg_symbolizer *symbolizer;
	uint64_t origin_ns;
	uint32_t process;
	uint32_t *thread_of; /* trace's id → profile's index + 1 */
	uint32_t unknown_thread;
	uint32_t *region_of;
	uint32_t *module_of; /* profile's index */
	/* the first module of the profile with the same file: what frames name */
	uint32_t *file_of;
	struct fg_symbol_module **modules;
	struct frames_of *frames_of; /* by the trace's frame id */
	uint32_t *frames;            /* profile's */
	size_t frame_count, frame_capacity;
	uint32_t *stack_of; /* by the trace's path id, + 1; 0: not made yet */
	uint32_t kernel_frame;
	uint64_t unknown_paths;
};

static int64_t time_of(const struct joiner *j, uint64_t time_ns)
{
	/* What a damaged trace says stays where times can be added and subtracted. */
	const uint64_t most_ns = INT64_MAX / 2;
	const uint64_t late_ns = time_ns > j->origin_ns ? time_ns - j->origin_ns : 0;

	return (int64_t)(late_ns < most_ns ? late_ns : most_ns);
}

/* ------------------------------------------------------------- who and where */

static void add_process(struct joiner *j)
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

static void add_threads(struct joiner *j)
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

/* Threads that were never described are one, made when the first of them turns up. */
static uint32_t thread_of(struct joiner *j, uint32_t thread)
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
static uint32_t region_of(struct joiner *j, uint32_t region, unsigned depth)
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

static void add_regions(struct joiner *j)
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

static void add_module(struct joiner *j, size_t i)
{
	const struct fg_trace_module *module = &j->trace->modules[i];
	char hex[FG_BUILD_ID_TEXT] = "";
	struct fg_module_info *info;

	j->modules[i] =
		fg_symbolizer_module(j->symbolizer, module->path, module->build_id,
				     module->build_id_size, (module->flags & FG_MODULE_VDSO) != 0);
	if (module->build_id_size > 0)
		fg_hex(module->build_id, module->build_id_size, hex);
	info = fg_profile_add_module(j->profile);
	info->path = fg_profile_text(j->profile, module->path);
	info->name = fg_profile_text(j->profile, fg_symbol_module_name(j->modules[i]));
	info->build_id = fg_profile_text(j->profile, hex);
	info->start = module->start;
	info->end = module->end;
	info->process = j->process;
	j->module_of[i] = (uint32_t)j->profile->module_count - 1;
	j->file_of[i] = fg_profile_module_file(j->profile, j->module_of[i]);
	if (fg_symbol_module_is_bad(j->modules[i]))
		fg_profile_add_note(j->profile, "%s: no names: %s", info->name,
				    fg_symbol_module_source(j->modules[i]));
}

static void add_modules(struct joiner *j)
{
	const struct fg_trace *trace = j->trace;

	j->modules = fg_xcalloc(trace->module_count + 1, sizeof(struct fg_symbol_module *));
	j->module_of = fg_xcalloc(trace->module_count + 1, sizeof(j->module_of[0]));
	j->file_of = fg_xcalloc(trace->module_count + 1, sizeof(j->file_of[0]));
	for (size_t i = 1; i < trace->module_count; i++)
		if (trace->modules[i].defined)
			add_module(j, i);
}

/* --------------------------------------------------------------------- frames */

static uint32_t frame_of_symbol(struct joiner *j, const struct fg_symbol *symbol,
				const char *library, uint32_t module, uint64_t address)
{
	const struct fg_profile_function function = {
		.name = symbol->function->name,
		.linkage = symbol->function->linkage,
		.library = library,
		.file = symbol->function->file,
		.line = symbol->function->line,
		.inlined = (symbol->flags & FG_FRAME_INLINED) != 0,
	};
	const struct fg_frame frame = {
		.function = fg_profile_function(j->profile, &function),
		.line = symbol->at_line,
		.file = symbol->at_file,
		.address = address,
		.module = module,
		.flags = symbol->flags,
	};

	return fg_profile_frame(j->profile, &frame);
}

static void push_frame(struct joiner *j, struct frames_of *of, uint32_t frame)
{
	j->frames =
		fg_grow(j->frames, &j->frame_capacity, j->frame_count + 1, sizeof(j->frames[0]));
	j->frames[j->frame_count++] = frame;
	of->count++;
}

static uint32_t mark_frame(struct joiner *j, const char *text, uint32_t flags)
{
	const struct fg_symbol_function function = {.name = text};
	const struct fg_symbol mark = {.function = &function, .flags = flags};

	return frame_of_symbol(j, &mark, "", 0, 0);
}

static void look_up(struct joiner *j, uint32_t address)
{
	const struct fg_trace_address *at = &j->trace->frames[address];
	struct frames_of *of = &j->frames_of[address];
	struct fg_symbol_module *module = NULL;
	const struct fg_symbol *chain;
	uint32_t module_index = 0;
	uint64_t offset = at->offset;
	size_t count;

	of->first = (uint32_t)j->frame_count;
	if (!at->defined) {
		push_frame(j, of, mark_frame(j, "[unknown]", FG_FRAME_MARK));
		return;
	}
	if (at->module != 0 && at->module < j->trace->module_count)
		module = j->modules[at->module];
	if (module)
		module_index = j->file_of[at->module];
	else
		module = fg_symbolizer_jit(j->symbolizer, j->trace->header.pid);
	if (!at->exact && offset > 0)
		offset--;
	count = fg_symbolizer_find(j->symbolizer, module, offset, &chain);
	for (size_t i = 0; i < count; i++)
		push_frame(j, of,
			   frame_of_symbol(j, &chain[i], fg_symbol_module_name(module),
					   module_index, at->offset));
}

/* Which addresses there are, by module and offset. */
static struct fg_keyed *order_addresses(const struct fg_trace *trace, size_t *count)
{
	struct fg_keyed *order = fg_xcalloc(trace->frame_count + 1, sizeof(order[0]));

	*count = 0;
	for (size_t i = 1; i < trace->frame_count; i++)
		order[(*count)++] =
			(struct fg_keyed){.key = trace->frames[i].offset, .value = (uint32_t)i};
	fg_keyed_sort(order, *count);
	for (size_t i = 0; i < *count; i++)
		order[i].key = trace->frames[order[i].value].module;
	fg_keyed_sort(order, *count);
	return order;
}

/*
 * In order of module and offset: neighbours share a unit's tables, which is several times as fast
 * as in order of arrival.
 */
static void look_up_all(struct joiner *j)
{
	size_t count;
	struct fg_keyed *order = order_addresses(j->trace, &count);
	size_t end = 0;

	for (size_t i = 0; i < count; i++) {
		const uint64_t module = order[i].key;

		if (i == end) {
			while (end < count && order[end].key == module)
				end++;
			if (module > 0 && module < j->trace->module_count && j->modules[module])
				fg_symbolizer_expect(j->modules[module], end - i);
		}
		look_up(j, order[i].value);
	}
	free(order);
}

static void note_missing_units(const struct joiner *j)
{
	for (size_t i = 1; i < j->trace->module_count; i++) {
		const struct fg_symbol_module *module = j->modules[i];
		const size_t count = module ? fg_symbol_module_missing_units(module) : 0;

		if (count > 0)
			fg_profile_add_note(
				j->profile,
				"%s: no inlined functions in %zu of its source files: "
				"their split debug information (.dwo) is not where the "
				"compiler left it, and a package of it (.dwp) is not read",
				fg_symbol_module_name(module), count);
	}
}

static struct frames_of frames_of(const struct joiner *j, uint32_t address)
{
	static const struct frames_of none;

	return address < j->trace->frame_count ? j->frames_of[address] : none;
}

/* --------------------------------------------------------------------- stacks */

static uint32_t push_path(struct joiner *j, uint32_t stack, const struct fg_trace_path *path)
{
	struct frames_of of;
	char text[64];

	if (!path->defined) {
		j->unknown_paths++;
		return fg_profile_stack(j->profile, stack,
					mark_frame(j, "[unknown]", FG_FRAME_MARK));
	}
	if (path->frame == 0) {
		(void)snprintf(text, sizeof(text), "[%u frames left out]", path->left_out);
		return fg_profile_stack(j->profile, stack, mark_frame(j, text, FG_FRAME_MARK));
	}
	of = frames_of(j, path->frame);
	for (uint32_t i = 0; i < of.count; i++)
		stack = fg_profile_stack(j->profile, stack, j->frames[of.first + i]);
	return stack;
}

/*
 * Up to the first path whose stack is known, then down again.  `trail` has room for every path; a
 * damaged trace may have a circle, which ends when the trail is full.
 */
static uint32_t stack_of(struct joiner *j, uint32_t leaf, uint32_t *trail)
{
	size_t limit = j->trace->path_count;
	uint32_t stack = NO_STACK;
	uint32_t path = leaf;
	size_t depth = 0;

	while (path != 0 && path < j->trace->path_count && depth < limit) {
		if (j->stack_of[path]) {
			stack = j->stack_of[path] - 1;
			break;
		}
		trail[depth++] = path;
		path = j->trace->paths[path].parent;
	}
	while (depth-- > 0) {
		stack = push_path(j, stack, &j->trace->paths[trail[depth]]);
		j->stack_of[trail[depth]] = stack + 1;
	}
	return stack;
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

/* Time in the kernel is shown as a leaf of its own below the function that made the call. */
static bool is_in_kernel(const struct fg_trace_sample *sample)
{
	return sample->clock == FG_CLOCK_SYSTEM ||
	       (sample->clock != FG_CLOCK_WALL && (sample->flags & FG_SAMPLE_SYSCALL));
}

static void add_sample(struct joiner *j, const struct fg_trace_sample *from, uint32_t *trail)
{
	struct fg_profile *profile = j->profile;
	uint32_t stack = stack_of(j, from->path, trail);
	struct fg_sample *sample;

	if (is_in_kernel(from) && stack != NO_STACK) {
		if (!j->kernel_frame)
			j->kernel_frame = mark_frame(j, "[kernel]", FG_FRAME_KERNEL);
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

static void add_samples(struct joiner *j)
{
	const struct fg_trace *trace = j->trace;
	uint32_t *trail = fg_xcalloc(trace->path_count + 1, sizeof(trail[0]));

	j->frames_of = fg_xcalloc(trace->frame_count + 1, sizeof(j->frames_of[0]));
	j->stack_of = fg_xcalloc(trace->path_count + 1, sizeof(j->stack_of[0]));
	look_up_all(j);
	note_missing_units(j);
	fg_pair_index_reserve(&j->profile->stack_index,
			      j->profile->stack_count + trace->path_count);
	for (size_t i = 0; i < trace->sample_count; i++)
		add_sample(j, &trace->samples[i], trail);
	free(trail);
}

/* ----------------------------------------------------------- units and spans */

struct open_unit {
	uint32_t unit;
	uint32_t previous; /* of the same thread, + 1 */
};

/*
 * Begin and end marks pair up per thread by kind and number, innermost first; an end without a
 * begin is passed over.
 */
static void add_units(struct joiner *j)
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

static void add_spans(struct joiner *j)
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

static void add_words(struct joiner *j)
{
	static const struct {
		enum fg_trace_loss loss;
		const char *words;
	} losses[] = {
		{FG_LOSS_NO_ROOM, "samples were dropped: the trace file was full"},
		{FG_LOSS_PATHS_FULL, "samples have no stack: the table of call paths was full"},
		{FG_LOSS_NO_STACK, "samples have no stack: no frame could be read"},
		{FG_LOSS_NO_CLOCK, "threads could not be sampled: no clock could be opened"},
		{FG_LOSS_LATE_THREAD, "threads made without pthread_create() were found late"},
		{FG_LOSS_MODULES_FULL, "libraries are missing: there were too many"},
	};
	const struct fg_trace *trace = j->trace;
	struct fg_profile *profile = j->profile;
	unsigned pid = trace->header.pid;

	for (size_t i = 0; i < trace->note_count; i++)
		fg_profile_add_note(profile, "process %u: %s", pid, trace->notes[i]);
	for (size_t i = 0; i < FG_ARRAY_SIZE(losses); i++)
		if (trace->header.losses[losses[i].loss])
			fg_profile_add_note(
				profile, "process %u: %llu %s", pid,
				(unsigned long long)trace->header.losses[losses[i].loss],
				losses[i].words);
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

static const char *clock_words(const struct fg_trace_header *header)
{
	static const char *const words[] = {
		[FG_CLOCK_NONE] = "nothing was sampled",
		[FG_CLOCK_PERF_USER] = "CPU time, by the kernel's task clock",
		[FG_CLOCK_SYSTEM] = "system time, at kernel ticks",
		[FG_CLOCK_JITTER] = "CPU time, by jittered timers",
		[FG_CLOCK_TICK] = "CPU time at kernel ticks: lockstep with the tick is possible",
		[FG_CLOCK_WALL] = "elapsed time, running or blocked",
	};

	return header->clock_user < FG_ARRAY_SIZE(words) ? words[header->clock_user] : "unknown";
}

static void add_totals(struct joiner *j)
{
	const struct fg_trace_header *header = &j->trace->header;
	const struct fg_measure wall_time = fg_measure_describe("wall_time", NULL);
	struct fg_profile *profile = j->profile;
	int64_t last = 0;

	profile->has_times = true;
	if (!profile->clock) {
		profile->clock = clock_words(header);
		if (header->clock_user == FG_CLOCK_WALL)
			fg_profile_set_first_measure(profile, &wall_time);
	}
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
 * A file of debug information is opened with the first address asked for: what names come from is
 * known at the end.
 */
static void add_sources(struct joiner *j)
{
	for (size_t i = 1; i < j->trace->module_count; i++)
		if (j->modules[i])
			j->profile->modules[j->module_of[i]].symbols_from =
				fg_profile_text(j->profile, fg_symbol_module_source(j->modules[i]));
}

void fg_profile_add_trace(struct fg_profile *profile, const struct fg_trace *trace,
			  struct fg_symbolizer *symbolizer, uint64_t origin_ns)
{
	struct joiner j = {
		.profile = profile,
		.trace = trace,
		.symbolizer = symbolizer,
		.origin_ns = origin_ns,
	};

	add_process(&j);
	add_threads(&j);
	add_regions(&j);
	add_modules(&j);
	add_samples(&j);
	add_units(&j);
	add_spans(&j);
	add_totals(&j);
	add_words(&j);
	add_sources(&j);
	free(j.thread_of);
	free(j.region_of);
	free(j.module_of);
	free(j.file_of);
	free(j.modules);
	free(j.frames);
	free(j.frames_of);
	free(j.stack_of);
}

/* ---------------------------------------------------- order, and units of samples */

static int by_thread_and_time(const void *a, const void *b)
{
	const struct fg_sample *one = a;
	const struct fg_sample *other = b;

	if (one->thread != other->thread)
		return one->thread < other->thread ? -1 : 1;
	return one->time_ns < other->time_ns ? -1 : one->time_ns > other->time_ns;
}

/* Samples come chunk by chunk and are in order nearly always: looking is cheaper than sorting. */
static void order_samples(struct fg_profile *profile)
{
	bool ordered = true;

	for (size_t i = 1; i < profile->sample_count && ordered; i++)
		ordered = by_thread_and_time(&profile->samples[i - 1], &profile->samples[i]) <= 0;
	if (!ordered)
		qsort(profile->samples, profile->sample_count, sizeof(profile->samples[0]),
		      by_thread_and_time);
}

struct unit_order {
	int64_t start_ns;
	uint32_t thread;
	uint32_t unit;
};

static int by_thread_and_start(const void *a, const void *b)
{
	const struct unit_order *one = a;
	const struct unit_order *other = b;

	if (one->thread != other->thread)
		return one->thread < other->thread ? -1 : 1;
	if (one->start_ns != other->start_ns)
		return one->start_ns < other->start_ns ? -1 : 1;
	return one->unit < other->unit ? -1 : one->unit > other->unit;
}

static bool covers(const struct fg_unit_info *unit, const struct fg_sample *sample)
{
	return unit->thread == sample->thread && unit->start_ns <= sample->time_ns &&
	       (!unit->ended || sample->time_ns < unit->end_ns);
}

/*
 * Both in order of thread and time: units open and close on a stack while the samples go by; the
 * innermost one counts.
 */
static void assign_units(struct fg_profile *profile)
{
	size_t count = profile->unit_count - 1;
	struct unit_order *order = fg_xcalloc(count + 1, sizeof(order[0]));
	uint32_t *open = fg_xcalloc(count + 1, sizeof(open[0]));
	size_t depth = 0;
	size_t next = 0;

	for (size_t i = 0; i < count; i++)
		order[i] = (struct unit_order){.start_ns = profile->units[i + 1].start_ns,
					       .thread = profile->units[i + 1].thread,
					       .unit = (uint32_t)i + 1};
	qsort(order, count, sizeof(order[0]), by_thread_and_start);
	for (size_t i = 0; i < profile->sample_count; i++) {
		struct fg_sample *sample = &profile->samples[i];

		while (next < count && (order[next].thread < sample->thread ||
					(order[next].thread == sample->thread &&
					 order[next].start_ns <= sample->time_ns)))
			open[depth++] = order[next++].unit;
		while (depth > 0 && !covers(&profile->units[open[depth - 1]], sample))
			depth--;
		if (depth > 0)
			sample->unit = open[depth - 1];
	}
	free(order);
	free(open);
}

/* ---------------------------------------------------------------------- files */

static bool is_trace_name(const char *name)
{
	size_t length = strlen(name);
	size_t suffix = sizeof(FG_TRACE_SUFFIX) - 1;

	return length > suffix && strcmp(name + length - suffix, FG_TRACE_SUFFIX) == 0;
}

static int list_traces(const char *path, char ***paths, size_t *count, struct fg_error *err)
{
	char **names;
	size_t name_count;
	int rc;

	*paths = NULL;
	*count = 0;
	if (!fg_fs_is_folder(path)) {
		*paths = fg_xcalloc(1, sizeof(**paths));
		(*paths)[(*count)++] = fg_xstrdup(path);
		return FG_OK;
	}
	rc = fg_fs_list(path, &names, &name_count, err);
	if (rc != FG_OK)
		return rc;
	*paths = fg_xcalloc(name_count + 1, sizeof(**paths));
	for (size_t i = 0; i < name_count && *count < MAX_TRACES; i++)
		if (is_trace_name(names[i]))
			(*paths)[(*count)++] = fg_fs_join(path, names[i]);
	fg_fs_list_free(names, name_count);
	return FG_OK;
}

/* Times count from the first process's start, whatever the order of the files. */
static uint64_t read_all(char **paths, size_t count, struct fg_trace *traces, bool *good,
			 struct fg_profile *profile, struct fg_error *first)
{
	uint64_t origin_ns = UINT64_MAX;

	for (size_t i = 0; i < count; i++) {
		struct fg_error err = {0};

		good[i] = fg_trace_read(paths[i], &traces[i], &err) == FG_OK;
		if (!good[i]) {
			fg_profile_add_note(profile, "%s", err.message);
			if (first->code == FG_OK)
				*first = err;
			continue;
		}
		if (traces[i].header.start_monotonic_ns < origin_ns) {
			origin_ns = traces[i].header.start_monotonic_ns;
			profile->started_wall_ns = (int64_t)traces[i].header.start_realtime_ns;
			profile->title = fg_arena_strdup(&profile->arena, traces[i].command);
		}
	}
	return origin_ns;
}

int fg_profile_read_traces(const char *path, struct fg_symbolizer *symbolizer,
			   struct fg_profile *profile, struct fg_error *err)
{
	struct fg_error first = {0};
	struct fg_profile read;
	struct fg_trace *traces = NULL;
	bool *good = NULL;
	uint64_t origin_ns;
	char **paths;
	size_t count;
	int rc = list_traces(path, &paths, &count, err);

	if (rc != FG_OK)
		return rc;
	fg_profile_init(&read);
	traces = fg_xcalloc(count + 1, sizeof(traces[0]));
	good = fg_xcalloc(count + 1, sizeof(good[0]));
	origin_ns = read_all(paths, count, traces, good, &read, &first);
	for (size_t i = 0; i < count; i++) {
		if (!good[i])
			continue;
		fg_profile_add_trace(&read, &traces[i], symbolizer, origin_ns);
		fg_trace_release(&traces[i]);
	}
	if (count == 0)
		rc = fg_error_set(err, FG_ENOENT, "'%s' has no trace (*%s)", path, FG_TRACE_SUFFIX);
	else if (read.process_count == 0)
		rc = fg_error_set(err, first.code, "%s", first.message);
	if (rc == FG_OK) {
		order_samples(&read);
		assign_units(&read);
		*profile = read;
	} else {
		fg_profile_release(&read);
	}
	free(traces);
	free(good);
	fg_fs_list_free(paths, count);
	return rc;
}
