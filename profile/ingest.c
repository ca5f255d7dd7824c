// SPDX-License-Identifier: Apache-2.0
#include "profile/ingest.h"

#include "base/fs.h"
#include "base/hash.h"
#include "base/sort.h"
#include "base/strbuf.h"
#include "profile/trace_profile.h"

struct self {
	double value;
	uint32_t samples;
};

/*
 * Marks the stacks with samples in them or below them; only these stacks get a node. Stacks have
 * lines and addresses, but nodes have only functions, so several stacks share a node. A stack's
 * parent has a smaller index, so one backward pass marks all.
 */
static bool *find_used(const struct fg_profile *profile)
{
	bool *used = fg_xcalloc(profile->stack_count, sizeof(used[0]));

	for (size_t i = 0; i < profile->sample_count; i++)
		used[profile->samples[i].stack] = true;
	for (size_t i = profile->stack_count; i-- > 1;)
		if (used[i])
			used[profile->stacks[i].parent] = true;
	return used;
}

/*
 * Addresses without a name differ between two builds of a program and would never match, so each
 * library has one function for all of them.
 */
static uint32_t function_in_set(struct fg_profile_set *set, const struct fg_profile *profile,
				const struct fg_frame *frame, const struct fg_ingest_row *key)
{
	struct fg_profile_function function = profile->functions[frame->function];
	struct fg_strbuf name = {0};
	uint32_t index;

	if (key->program && function.library && strcmp(function.library, key->program) == 0)
		function.library = key->called;
	if (frame->flags & FG_FRAME_NAMELESS) {
		fg_strbuf_printf(&name, "[no symbol in %s]",
				 function.library ? function.library : "any library");
		function = (struct fg_profile_function){.name = fg_strbuf_text(&name),
							.library = function.library};
	}
	index = fg_profile_set_function(set, &function);
	fg_strbuf_release(&name);
	return index;
}

static uint32_t *find_nodes(struct fg_profile_set *set, const struct fg_profile *profile,
			    const struct fg_ingest_row *key)
{
	uint32_t *node_of = fg_xcalloc(profile->stack_count, sizeof(node_of[0]));
	uint32_t *function_of = fg_xcalloc(profile->function_count, sizeof(function_of[0]));
	bool *used = find_used(profile);

	for (size_t i = 1; i < profile->stack_count; i++) {
		const struct fg_stack *stack = &profile->stacks[i];
		const struct fg_frame *frame = &profile->frames[stack->frame];
		uint32_t function = frame->function;
		uint32_t parent = node_of[stack->parent];

		if (!used[i])
			continue;
		if (!function_of[function])
			function_of[function] = function_in_set(set, profile, frame, key);
		/*
		 * The name stands for many functions, so a call from it to itself is not recursion.
		 */
		if ((frame->flags & FG_FRAME_NAMELESS) &&
		    set->nodes[parent].function == function_of[function])
			node_of[i] = parent;
		else
			node_of[i] = fg_profile_set_node(set, parent, function_of[function]);
	}
	free(function_of);
	free(used);
	return node_of;
}

static void add_row(struct fg_profile_set *set, const struct fg_profile_measure *measure,
		    const struct self *self, const struct fg_ingest_row *key)
{
	struct fg_profile_row *row;
	size_t count = 0;
	size_t at = 0;

	for (size_t n = 0; n < set->node_count; n++)
		count += self[n].samples > 0;
	row = fg_profile_set_add_row(set, count);
	row->arm = key->arm;
	row->pair = key->pair;
	row->aside = key->aside;
	row->measure = fg_profile_set_measure(set, &measure->is);
	row->total = measure->total;
	row->lost = measure->lost;
	row->truncated = measure->truncated;
	for (size_t n = 0; n < set->node_count; n++) {
		if (self[n].samples == 0)
			continue;
		row->nodes[at] = (uint32_t)n;
		row->values[at] = self[n].value;
		row->samples[at++] = self[n].samples;
	}
}

static void add_region_row(struct fg_profile_set *set, const struct fg_ingest_row *key,
			   const char *path, const struct fg_profile_region_row *figures)
{
	uint32_t region = fg_profile_set_region(set, path);
	struct fg_profile_region_row *row = fg_profile_set_add_region_row(set);

	*row = *figures;
	row->arm = key->arm;
	row->pair = key->pair;
	row->aside = key->aside;
	row->region = region;
}

/* A region's CPU time includes the regions inside it. */
static void add_regions(struct fg_profile_set *set, const struct fg_profile *profile,
			const struct fg_ingest_row *key)
{
	double *cpu_ns = fg_xcalloc(profile->region_count, sizeof(cpu_ns[0]));
	const uint16_t time = fg_profile_time_measure(profile);

	for (size_t i = 0; i < profile->sample_count; i++)
		if (profile->samples[i].measure == time)
			cpu_ns[profile->samples[i].region] += profile->samples[i].value;
	for (size_t i = profile->region_count; i-- > 1;)
		cpu_ns[profile->regions[i].parent] += cpu_ns[i];
	for (size_t i = 1; i < profile->region_count; i++) {
		const struct fg_region_info *region = &profile->regions[i];
		const struct fg_profile_region_row figures = {
			.count = region->count, .cpu_ns = cpu_ns[i], .wall_ns = region->wall_ns};

		if (region->count > 0 || cpu_ns[i] > 0.0)
			add_region_row(set, key, region->path, &figures);
	}
	free(cpu_ns);
}

/* Adds one row per kind of unit. */
static void add_units(struct fg_profile_set *set, const struct fg_profile *profile,
		      const struct fg_ingest_row *key)
{
	/* indexed by the first unit of the kind */
	struct fg_profile_region_row *figures = fg_xcalloc(profile->unit_count, sizeof(figures[0]));
	uint32_t *first = fg_xcalloc(profile->unit_count, sizeof(first[0]));
	const uint16_t time = fg_profile_time_measure(profile);
	struct fg_map kinds = {0};

	for (size_t i = 1; i < profile->unit_count; i++) {
		const struct fg_unit_info *unit = &profile->units[i];

		first[i] = (uint32_t)*fg_map_add_text(&kinds, unit->kind, i, NULL);
		figures[first[i]].count++;
		if (unit->ended)
			figures[first[i]].wall_ns += (double)(unit->end_ns - unit->start_ns);
	}
	for (size_t i = 0; i < profile->sample_count; i++)
		if (profile->samples[i].measure == time)
			figures[first[profile->samples[i].unit]].cpu_ns +=
				profile->samples[i].value;
	for (size_t i = 1; i < profile->unit_count; i++) {
		char *path;

		if (first[i] != i)
			continue;
		path = fg_xasprintf(FG_PROFILE_UNITS "%s", profile->units[i].kind);
		add_region_row(set, key, path, &figures[i]);
		free(path);
	}
	fg_map_release(&kinds);
	free(figures);
	free(first);
}

FG_ORDER_BY(compare_texts, char *const, strcmp(*a, *b))

/*
 * Returns "libm.so.6 1a2b3c": name and build-id, or the hash of the file's bytes if it has no
 * build-id. An unreadable module is identified by its path.
 */
static char *module_text(const struct fg_module_info *module)
{
	enum {
		FILE_MAX_BYTES = 256 << 20
	};
	char hex[FG_SHA256_HEX_SIZE] = "";
	char *data = NULL;
	size_t size = 0;

	if (*module->build_id)
		return fg_xasprintf("%s %s", module->name, module->build_id);
	if (fg_fs_read_regular(module->path, FILE_MAX_BYTES, &data, &size, NULL) != FG_OK)
		return fg_xasprintf("%s in %s", module->name, module->path);
	fg_sha256_hex(data, size, hex);
	free(data);
	return fg_xasprintf("%s %s", module->name, hex);
}

/* Returns true if the facts about a build mention this file. */
static bool is_known(const struct fg_build_facts *build, const char *name)
{
	return fg_build_facts_library(build, name) || fg_fact_is_equal(build->program, name);
}

/* Extracts the names from sorted strings "NAME BUILD-ID", each once. */
static char *names_of(char *const *texts, size_t count)
{
	struct fg_strbuf names = {0};

	for (size_t i = 0; i < count; i++) {
		const size_t length = strcspn(texts[i], " ");

		if (i > 0 && strcspn(texts[i - 1], " ") == length &&
		    strncmp(texts[i], texts[i - 1], length) == 0)
			continue;
		fg_strbuf_printf(&names, "%s%.*s", names.length ? " " : "", (int)length, texts[i]);
	}
	return fg_strbuf_detach(&names);
}

/* Digests the modules as a set, so load order and repeated loads do not matter. */
static void describe_code(const struct fg_profile *profile, const struct fg_build_facts *known,
			  struct fg_ingest_result *result)
{
	char **texts = fg_xcalloc(profile->module_count + 1, sizeof(texts[0]));
	size_t count = 0;
	struct fg_sha256 sha;

	for (size_t i = 1; i < profile->module_count; i++) {
		if (!profile->modules[i].is_kernel && !is_known(known, profile->modules[i].name))
			texts[count++] = module_text(&profile->modules[i]);
	}
	if (count)
		qsort(texts, count, sizeof(texts[0]), compare_texts);
	fg_sha256_init(&sha);
	for (size_t i = 0; i < count; i++) {
		if (i == 0 || strcmp(texts[i], texts[i - 1]) != 0)
			fg_sha256_add_text(&sha, texts[i]);
	}
	fg_sha256_finish_hex(&sha, sizeof(result->other_code) / 2, result->other_code);
	result->other_names = names_of(texts, count);
	for (size_t i = 0; i < count; i++)
		free(texts[i]);
	free(texts);
}

static void fill_result(const struct fg_profile *profile, struct fg_ingest_result *result)
{
	const uint16_t time = fg_profile_time_measure(profile);

	*result = (struct fg_ingest_result){
		.samples = profile->sample_count,
		.processes = (uint32_t)profile->process_count,
		.total_ns = time < profile->measure_count ? profile->measures[time].total : 0,
		.cpu_ns = profile->cpu_ns,
		.period_ns = profile->period_ns,
		.first_note = profile->note_count ? fg_xstrdup(profile->notes[0]) : NULL,
		.note_count = profile->note_count,
	};
}

/*
 * Adds one row. The first measure and exact measures get a row even without samples: a count of
 * zero is a result.
 */
static void add_measure(struct fg_profile_set *set, const struct fg_profile *profile,
			uint16_t measure, const uint32_t *node_of, const struct fg_ingest_row *row)
{
	const enum fg_measure_fold fold = profile->measures[measure].is.fold;
	struct self *self = fg_xcalloc(set->node_count, sizeof(self[0]));
	bool is_empty = true;

	for (size_t i = 0; i < profile->sample_count; i++) {
		const struct fg_sample *sample = &profile->samples[i];
		struct self *at = &self[node_of[sample->stack]];

		if (sample->measure != measure)
			continue;
		is_empty = false;
		at->value = fg_measure_join(fold, at->value, sample->value);
		at->samples += sample->count;
	}
	if (!is_empty || measure == 0 || profile->measures[measure].is.exact)
		add_row(set, &profile->measures[measure], self, row);
	free(self);
}

/* Maps each function to the index + 1 of the last sample that counted for it. */
struct counted {
	uint64_t *last;
	uint64_t sample;
};

/* Data shared by all samples of a profile. */
struct placing {
	const uint32_t *node_of;
	char **binaries; /* "BUILD_ID PATH" of each module */
	uint32_t arm;
};

/* Adds one sample: each function on its stack counts once, at its frame nearest to the leaf. */
static void add_sample_places(struct fg_profile_set *set, const struct fg_profile *profile,
			      const struct placing *placing, const struct counted *counted)
{
	const struct fg_sample *sample = &profile->samples[counted->sample - 1];
	const struct fg_frame *leaf = &profile->frames[profile->stacks[sample->stack].frame];

	for (uint32_t at = sample->stack; at != 0; at = profile->stacks[at].parent) {
		const struct fg_frame *frame = &profile->frames[profile->stacks[at].frame];
		struct fg_line_cost key = {
			.function = set->nodes[placing->node_of[at]].function,
			.line = frame->line,
			.arm = placing->arm,
			.cost = sample->value,
		};

		if (counted->last[key.function] == counted->sample)
			continue;
		counted->last[key.function] = counted->sample;
		if (frame->line > 0 && frame->file)
			fg_line_costs_add(&set->lines, frame->file, &key);
		/* A caller's address is the return address, which lies after the call. */
		key.line = (uint32_t)(frame->address - (frame->address != leaf->address));
		if (frame->module > 0 && frame->address > 0 && frame->address <= UINT32_MAX)
			fg_line_costs_add(&set->instructions, placing->binaries[frame->module],
					  &key);
	}
}

static void add_places(struct fg_profile_set *set, const struct fg_profile *profile,
		       const uint32_t *node_of, const struct fg_ingest_row *row)
{
	struct counted counted = {.last = fg_xcalloc(set->function_count, sizeof(uint64_t))};
	const struct placing placing = {
		.node_of = node_of,
		.binaries = fg_xcalloc(profile->module_count + 1, sizeof(char *)),
		.arm = row->arm,
	};
	const uint16_t time = fg_profile_time_measure(profile);

	for (size_t i = 1; i < profile->module_count; i++)
		placing.binaries[i] = fg_xasprintf("%s %s", profile->modules[i].build_id,
						   profile->modules[i].path);
	for (size_t i = 0; i < profile->sample_count; i++) {
		counted.sample = i + 1;
		if (profile->samples[i].measure == time)
			add_sample_places(set, profile, &placing, &counted);
	}
	for (size_t i = 1; i < profile->module_count; i++)
		free(placing.binaries[i]);
	free(placing.binaries);
	free(counted.last);
}

void fg_profile_ingest_profile(struct fg_profile_set *set, const struct fg_profile *profile,
			       const struct fg_ingest_row *row, struct fg_ingest_result *result)
{
	uint32_t *node_of = find_nodes(set, profile, row);

	for (uint16_t i = 0; i < profile->measure_count; i++)
		add_measure(set, profile, i, node_of, row);
	add_regions(set, profile, row);
	add_units(set, profile, row);
	add_places(set, profile, node_of, row);
	if (result)
		fill_result(profile, result);
	if (result && row->known_build)
		describe_code(profile, row->known_build, result);
	free(node_of);
}

int fg_profile_ingest(struct fg_profile_set *set, const char *path,
		      struct fg_symbolizer *symbolizer, const struct fg_ingest_row *row,
		      struct fg_ingest_result *result, struct fg_error *err)
{
	struct fg_profile profile;

	FG_TRY(fg_profile_read_traces(path, symbolizer, &profile, err));
	fg_profile_ingest_profile(set, &profile, row, result);
	fg_profile_release(&profile);
	return FG_OK;
}

void fg_ingest_result_release(struct fg_ingest_result *result)
{
	free(result->first_note);
	free(result->other_names);
	*result = (struct fg_ingest_result){0};
}
