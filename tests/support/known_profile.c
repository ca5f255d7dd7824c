// SPDX-License-Identifier: Apache-2.0
#include "tests/support/known_profile.h"

#include "profile/called.h"

struct known_frame {
	const char *name;
	const char *linkage;
	const char *library;
	const char *file;
	unsigned definition;
	unsigned line;
	bool inlined;
};

struct known_stack {
	const char *frames; /* one letter each, root first */
	unsigned samples;
	uint32_t thread;
	uint32_t region;
	bool in_units;
};

/* In alphabetical order: a, b, c, ... */
static const struct known_frame known_frames[] = {
	{"main", NULL, "reco", "reco.cpp", 10, 14, false},
	{"loop(Event const&)", "_Z4loopRK5Event", "reco", "reco.cpp", 20, 25, false},
	{"fit(Track&)", "_Z3fitR5Track", "libreco.so", "src/fit.cpp", 88, 90, false},
	{"norm(Vec const&)", "_Z4normRK3Vec", "libreco.so", "include/vec.h", 5, 7, true},
	{"log", "log", "libm.so.6", NULL, 0, 0, false},
	{"visit(Node*)", "_Z5visitP4Node", "libreco.so", "src/tree.cpp", 40, 44, false},
	{"walk(Node*)", "_Z4walkP4Node", "libreco.so", "src/tree.cpp", 60, 61, false},
	{"write_out(Event*)", "_Z9write_outP5Event", "libio.so", "src/io.cpp", 100, 120, false},
	{"worker", NULL, "reco", "reco.cpp", 70, 75, false},
	{"compress", NULL, "libz.so.1", NULL, 0, 0, false},
};

static const struct known_stack known_stacks[] = {
	{"a", 2, 0, 0, false},     {"ab", 8, 0, 1, true},   {"abc", 30, 0, 2, true},
	{"abcd", 10, 0, 2, true},  {"abce", 5, 0, 2, true}, {"abf", 7, 0, 1, true},
	{"abfgf", 20, 0, 1, true}, {"ah", 3, 0, 3, false},  {"ahe", 5, 0, 3, false},
	{"ij", 10, 1, 0, false},
};

static uint32_t frame_of(struct fg_profile *profile, char letter)
{
	const struct known_frame *known = &known_frames[letter - 'a'];
	const struct fg_profile_function function = {
		.name = known->name,
		.linkage = known->linkage,
		.library = known->library,
		.file = known->file,
		.line = known->definition,
		.inlined = known->inlined,
	};
	const struct fg_frame frame = {
		.function = fg_profile_function(profile, &function),
		.line = known->line,
		.file = fg_profile_text(profile, known->file),
		.address = 0x1000 + (uint64_t)(letter - 'a') * 0x100,
		.flags = known->inlined ? FG_FRAME_INLINED : 0,
	};

	return fg_profile_frame(profile, &frame);
}

static uint32_t stack_of(struct fg_profile *profile, const char *frames)
{
	uint32_t stack = 0;

	for (; *frames; frames++)
		stack = fg_profile_stack(profile, stack, frame_of(profile, *frames));
	return stack;
}

static void add_threads(struct fg_profile *profile)
{
	struct fg_process_info *process = fg_profile_add_process(profile);
	static const char *const names[] = {"reco", "writer"};

	process->pid = 4711;
	process->executable = fg_profile_text(profile, "/opt/reco/bin/reco");
	process->command = fg_profile_text(profile, "reco --events 4");
	for (uint32_t i = 0; i < FG_ARRAY_SIZE(names); i++) {
		struct fg_thread_info *thread = fg_profile_add_thread(profile);

		thread->tid = 4711 + i;
		thread->name = fg_profile_text(profile, names[i]);
		thread->end_ns = (int64_t)KNOWN_SAMPLES * KNOWN_PERIOD_NS;
	}
}

static void add_regions(struct fg_profile *profile)
{
	const uint32_t reco = fg_profile_region(profile, 0, "reco");
	const uint32_t fit = fg_profile_region(profile, reco, "fit");
	const uint32_t output = fg_profile_region(profile, 0, "output");

	FG_ASSERT(reco == 1 && fit == 2 && output == 3);
	profile->regions[reco].count = 4;
	profile->regions[reco].wall_ns = 80e6;
	profile->regions[fit].count = 40;
	profile->regions[fit].wall_ns = 45e6;
	profile->regions[output].count = 4;
	profile->regions[output].wall_ns = 8e6;
}

static void add_units(struct fg_profile *profile)
{
	for (uint64_t i = 0; i < 4; i++) {
		struct fg_unit_info *unit = fg_profile_add_unit(profile);

		unit->kind = fg_profile_text(profile, "event");
		unit->number = i + 1;
		unit->start_ns = (int64_t)(2 + 20 * i) * KNOWN_PERIOD_NS;
		unit->end_ns = (int64_t)(22 + 20 * i) * KNOWN_PERIOD_NS;
		unit->ended = true;
	}
}

/* The first half of each event is in "reco/fit"; the region "output" follows the last event. */
static void add_spans(struct fg_profile *profile)
{
	static const struct fg_region_span spans[] = {
		{1, 0, 2, 22},  {2, 0, 2, 12},  {1, 0, 22, 42}, {2, 0, 22, 32}, {1, 0, 42, 62},
		{2, 0, 42, 52}, {1, 0, 62, 82}, {2, 0, 62, 72}, {3, 0, 82, 90},
	};

	for (size_t i = 0; i < FG_ARRAY_SIZE(spans); i++) {
		struct fg_region_span *span = fg_profile_add_span(profile);

		*span = spans[i];
		span->start_ns *= KNOWN_PERIOD_NS;
		span->end_ns *= KNOWN_PERIOD_NS;
	}
}

static void add_samples(struct fg_profile *profile)
{
	int64_t time_ns = 0;
	uint32_t in_units = 0;

	for (size_t i = 0; i < FG_ARRAY_SIZE(known_stacks); i++) {
		const struct known_stack *known = &known_stacks[i];
		const uint32_t stack = stack_of(profile, known->frames);

		for (unsigned n = 0; n < known->samples; n++) {
			struct fg_sample *sample = fg_profile_add_sample(profile);

			sample->stack = stack;
			sample->thread = known->thread;
			sample->region = known->region;
			sample->unit = known->in_units ? 1 + in_units++ / 20 : 0;
			sample->count = 1;
			sample->time_ns = time_ns;
			sample->value = KNOWN_PERIOD_NS;
			time_ns += KNOWN_PERIOD_NS;
		}
	}
	FG_ASSERT(profile->sample_count == KNOWN_SAMPLES);
}

void known_profile_init(struct fg_profile *profile)
{
	fg_profile_init(profile);
	profile->title = fg_profile_text(profile, "reco --events 4");
	profile->clock = fg_profile_text(profile, "CPU time");
	profile->period_ns = KNOWN_PERIOD_NS;
	profile->repetition_count = 1;
	profile->has_times = true;
	profile->duration_ns = (int64_t)KNOWN_SAMPLES * KNOWN_PERIOD_NS;
	profile->measures[0].total = (double)KNOWN_SAMPLES * KNOWN_PERIOD_NS;
	profile->cpu_ns = profile->measures[0].total;
	add_threads(profile);
	add_regions(profile);
	add_units(profile);
	add_spans(profile);
	add_samples(profile);
}

void known_profile_add_bytes(struct fg_profile *profile)
{
	const struct fg_measure bytes = fg_measure_describe("alloc_space", "bytes");
	const uint16_t measure = fg_profile_measure(profile, &bytes);

	for (size_t i = 0; i < KNOWN_SAMPLES; i++) {
		const struct fg_sample like = profile->samples[i];
		struct fg_sample *sample = NULL;

		if (like.unit == 0)
			continue;
		sample = fg_profile_add_sample(profile);
		*sample = like;
		sample->measure = measure;
		sample->kind = FG_TIME_BOTH;
		sample->value = KNOWN_BYTES;
		fg_profile_add_up(profile, sample);
	}
}

struct counted {
	const char *name;
	double value;
	size_t every; /* every Nth sample has the value */
};

static void add_counted(struct fg_profile *profile, const struct counted *kinds, size_t count)
{
	for (size_t k = 0; k < count; k++) {
		const struct fg_measure is = fg_measure_describe(kinds[k].name, NULL);
		const uint16_t measure = fg_profile_measure(profile, &is);

		for (size_t i = 0; i < KNOWN_SAMPLES; i += kinds[k].every) {
			const struct fg_sample like = profile->samples[i];
			struct fg_sample *sample = fg_profile_add_sample(profile);

			*sample = like;
			sample->measure = measure;
			sample->kind = FG_TIME_BOTH;
			sample->value = kinds[k].value;
			fg_profile_add_up(profile, sample);
		}
	}
}

void known_profile_add_dumps(struct fg_profile *profile)
{
	static const struct counted kinds[] = {
		{.name = "heap.live.1", .value = KNOWN_BYTES, .every = 4},
		{.name = "heap.live_blocks.1", .value = 1, .every = 4},
		{.name = "heap.live.2", .value = KNOWN_BYTES, .every = 3},
		{.name = "heap.live_blocks.2", .value = 1, .every = 3},
	};

	add_counted(profile, kinds, FG_ARRAY_SIZE(kinds));
}

void known_profile_add_heap(struct fg_profile *profile)
{
	static const struct counted kinds[] = {
		{.name = "heap.bytes", .value = KNOWN_BYTES, .every = 1},
		{.name = "heap.allocations", .value = 1, .every = 1},
		{.name = "heap.largest", .value = KNOWN_BYTES, .every = 1},
		{.name = "heap.live", .value = KNOWN_BYTES, .every = 4},
		{.name = "heap.live_blocks", .value = 1, .every = 4},
		{.name = "heap.peak", .value = KNOWN_BYTES, .every = 2},
		{.name = "heap.own_peak", .value = 8.0 * KNOWN_BYTES, .every = 1},
		{.name = "heap.temporary", .value = 1, .every = 10},
		{.name = "heap.leaked", .value = KNOWN_BYTES, .every = 5},
		{.name = "heap.leaked_blocks", .value = 1, .every = 5},
		{.name = "heap.untouched", .value = KNOWN_BYTES, .every = 10},
	};
	static const struct fg_resident residents[] = {
		{.name = "/opt/reco/bin/reco", .at_peak = 81920, .at_end = 81920, .held = 49152},
		{.name = "[heap]", .at_peak = 73728, .at_end = 57344, .held = 49152},
		{.name = "[fastgate]", .at_peak = 8192, .at_end = 12288, .held = 49152},
	};
	add_counted(profile, kinds, FG_ARRAY_SIZE(kinds));
	profile->residents = fg_xcalloc(FG_ARRAY_SIZE(residents), sizeof(residents[0]));
	memcpy(profile->residents, residents, sizeof(residents));
	profile->resident_count = profile->resident_capacity = FG_ARRAY_SIZE(residents);
}

void known_profile_add_domains(struct fg_profile *profile)
{
	for (size_t i = 0; i < KNOWN_SAMPLES; i++) {
		const struct fg_domain key = {
			.function = "log",
			.signature = "double(double)",
			.stack = profile->samples[i].stack,
		};
		struct fg_argument_figures seen = {
			.values = 20 + (i == 0),
			.nans = i == 0,
			.least = 0.25,
			.most = 0.5,
			.sum = 7.5,
		};

		seen.bins[30] = 10;
		seen.bins[31] = 10;
		fg_argument_join(&fg_domain_of(profile, &key)->seen, &seen);
	}
}

void known_profile_add_durations(struct fg_profile *profile)
{
	for (size_t i = 0; i < KNOWN_SAMPLES; i++) {
		struct fg_call_durations seen = {
			.returned = 20,
			.total_ns = 15 * 100 + 5 * 1000,
			.own_ns = 15 * 100,
			.min_ns = 100,
			.max_ns = 1000,
		};

		seen.bins[fg_call_time_bin(100)] = 15;
		seen.bins[fg_call_time_bin(1000)] = 5;
		fg_call_durations_join(
			fg_call_durations_of(profile, "log", profile->samples[i].stack), &seen);
	}
}

static const struct fg_listed known_code[] = {
	{0x1200, "vmovsd xmm0, qword ptr [rdi]", "src/fit.cpp", 90, NULL},
	{0x1204, "test rsi, rsi", "src/fit.cpp", 91, NULL},
	{0x1207, "jz 0x1216", "src/fit.cpp", 91, NULL},
	{0x1209, "vmulsd xmm0, xmm0, xmm0", "include/vec.h", 6, "norm(Vec const&)"},
	{0x120d, "vaddsd xmm0, xmm0, xmm1", "include/vec.h", 6, "norm(Vec const&)"},
	{0x1211, "vsqrtsd xmm0, xmm0, xmm0", "include/vec.h", 7, "norm(Vec const&)"},
	{0x1215, "nop", NULL, 0, NULL},
	{0x1216, "call 0x1080 <log@plt>", "src/fit.cpp", 95, NULL},
	{0x121b, "vmovsd qword ptr [rdi], xmm0", "src/fit.cpp", 95, NULL},
	{0x121f, "ret", "src/fit.cpp", 96, NULL},
};

void known_profile_add_code(struct fg_profile *profile)
{
	struct fg_module_info *module = fg_profile_add_module(profile);
	const uint32_t number = (uint32_t)profile->module_count - 1;

	*module = (struct fg_module_info){
		.path = "/opt/reco/libreco.so", .name = "libreco.so", .build_id = "0123abcd"};
	for (size_t i = 1; i < profile->frame_count; i++) {
		struct fg_frame *frame = &profile->frames[i];
		const struct fg_profile_function *function = &profile->functions[frame->function];

		if (strcmp(function->library, module->name) != 0)
			continue;
		frame->module = number;
		if (function->inlined)
			frame->address = 0x1211;
	}
	profile->listings =
		fg_grow(NULL, &profile->listing_capacity, 1, sizeof(profile->listings[0]));
	profile->listings[profile->listing_count++] = (struct fg_listing){
		.module = number,
		.name = "fit(Track&)",
		.start = 0x1200,
		.end = 0x1220,
		.line_count = FG_ARRAY_SIZE(known_code),
		.lines = fg_arena_array(&profile->arena, FG_ARRAY_SIZE(known_code),
					sizeof(known_code[0])),
	};
	memcpy(profile->listings[0].lines, known_code, sizeof(known_code));
}

uint32_t known_profile_push(struct fg_profile *profile, uint32_t parent_stack, const char *name,
			    const char *library)
{
	const struct fg_profile_function function = {.name = name, .library = library};
	const struct fg_frame frame = {.function = fg_profile_function(profile, &function)};

	return fg_profile_stack(profile, parent_stack, fg_profile_frame(profile, &frame));
}

void known_profile_single(struct fg_profile *profile, const char *function, const char *library)
{
	struct fg_sample *sample = NULL;
	uint32_t stack = 0;

	fg_profile_init(profile);
	stack = known_profile_push(profile, 0, function, library);
	sample = fg_profile_add_sample(profile);
	sample->stack = stack;
	sample->value = KNOWN_PERIOD_NS;
	sample->count = 1;
}
