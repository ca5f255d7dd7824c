// SPDX-License-Identifier: Apache-2.0
#include "model/profile_set.h"

#include "model/run.h"

enum {
	NO_INDEX = 0,
	FEW_BYTES = 256, /* size of a key on the stack: enough for most functions */
};

void fg_profile_set_init(struct fg_profile_set *set, const char *program)
{
	const struct fg_profile_function root = {.name = program ? program : "program",
						 .library = ""};

	*set = (struct fg_profile_set){0};
	(void)fg_profile_set_function(set, &root);
	set->nodes = fg_arena_grow(&set->arena, set->nodes, &set->node_capacity, 0,
				   sizeof(set->nodes[0]));
	set->nodes[0] = (struct fg_profile_node){.parent = 0, .function = 0};
	set->node_count = 1;
}

void fg_profile_set_release(struct fg_profile_set *set)
{
	fg_map_release(&set->function_index);
	fg_pair_index_release(&set->node_index);
	fg_argument_sums_release(&set->arguments);
	fg_line_costs_release(&set->lines);
	fg_line_costs_release(&set->instructions);
	fg_arena_release(&set->arena);
	*set = (struct fg_profile_set){0};
}

/* Adds the facts that were unknown when the function was added. */
static void fill_gaps(struct fg_profile_set *set, struct fg_profile_function *known,
		      const struct fg_profile_function *seen)
{
	if (!known->linkage && seen->linkage && strcmp(seen->linkage, known->name) != 0)
		known->linkage = fg_arena_strdup(&set->arena, seen->linkage);
	if (!known->file && seen->file) {
		known->file = fg_arena_strdup(&set->arena, seen->file);
		known->line = seen->line;
	}
	known->inlined = known->inlined && seen->inlined;
}

/*
 * Finds or adds "name NUL library"; `kept` gets the index's copy of that key, or NULL if the index
 * already had it.
 */
static uint32_t find_function(struct fg_profile_set *set,
			      const struct fg_profile_function *function, const char **kept)
{
	const char *library = function->library ? function->library : "";
	const size_t name_size = strlen(function->name) + 1;
	const size_t size = name_size + strlen(library);
	char room[FEW_BYTES];
	char *key = size <= sizeof(room) ? room : fg_xmalloc(size);
	bool is_new = false;
	uint32_t place = 0;

	memcpy(key, function->name, name_size);
	memcpy(key + name_size, library, size - name_size);
	place = (uint32_t)*fg_map_add(&set->function_index, key, size, set->function_count,
				      &is_new);
	*kept = is_new ? set->function_index.entries[place].key : NULL;
	if (key != room)
		free(key);
	return place;
}

uint32_t fg_profile_set_function(struct fg_profile_set *set,
				 const struct fg_profile_function *function)
{
	struct fg_profile_function *added = NULL;
	const char *kept = NULL;
	uint32_t place = 0;

	FG_ASSERT(set->function_count < UINT32_MAX);
	place = find_function(set, function, &kept);
	if (!kept) {
		fill_gaps(set, &set->functions[place], function);
		return place;
	}
	set->functions = fg_arena_grow(&set->arena, set->functions, &set->function_capacity,
				       set->function_count, sizeof(set->functions[0]));
	added = &set->functions[set->function_count++];
	*added = (struct fg_profile_function){
		.name = kept,
		.library = kept + strlen(kept) + 1,
		.inlined = function->inlined,
	};
	fill_gaps(set, added, function);
	return place;
}

uint32_t fg_profile_set_find(const struct fg_profile_set *set, const char *name,
			     const char *library)
{
	for (uint32_t f = 0; f < set->function_count; f++) {
		if (strcmp(set->functions[f].name, name) == 0 &&
		    strcmp(set->functions[f].library, library ? library : "") == 0)
			return f;
	}
	return UINT32_MAX;
}

uint32_t fg_profile_set_node(struct fg_profile_set *set, uint32_t parent, uint32_t function)
{
	uint32_t place = 0;
	bool is_new = false;

	FG_ASSERT(parent < set->node_count && function < set->function_count);
	FG_ASSERT(set->node_count < UINT32_MAX);
	place = *fg_pair_index_add(&set->node_index, parent, function, (uint32_t)set->node_count,
				   &is_new);
	if (!is_new)
		return place;
	set->nodes = fg_arena_grow(&set->arena, set->nodes, &set->node_capacity, set->node_count,
				   sizeof(set->nodes[0]));
	set->nodes[set->node_count] =
		(struct fg_profile_node){.parent = parent, .function = function};
	return (uint32_t)set->node_count++;
}

uint32_t fg_profile_set_compiled(const struct fg_profile_set *set, uint32_t node)
{
	while (node != 0 && set->functions[set->nodes[node].function].inlined)
		node = set->nodes[node].parent;
	return set->nodes[node].function;
}

uint32_t fg_profile_set_region(struct fg_profile_set *set, const char *path)
{
	for (size_t i = 0; i < set->region_count; i++)
		if (strcmp(set->regions[i], path) == 0)
			return (uint32_t)i;
	set->regions = fg_arena_grow(&set->arena, set->regions, &set->region_capacity,
				     set->region_count, sizeof(set->regions[0]));
	set->regions[set->region_count] = fg_arena_strdup(&set->arena, path);
	return (uint32_t)set->region_count++;
}

struct fg_profile_row *fg_profile_set_add_row(struct fg_profile_set *set, size_t count)
{
	struct fg_profile_row *row;

	FG_ASSERT(count <= UINT32_MAX);
	set->rows = fg_arena_grow(&set->arena, set->rows, &set->row_capacity, set->row_count,
				  sizeof(set->rows[0]));
	row = &set->rows[set->row_count++];
	*row = (struct fg_profile_row){
		.count = (uint32_t)count,
		.nodes = fg_arena_array(&set->arena, count, sizeof(row->nodes[0])),
		.values = fg_arena_array(&set->arena, count, sizeof(row->values[0])),
		.samples = fg_arena_array(&set->arena, count, sizeof(row->samples[0])),
	};
	return row;
}

struct fg_profile_region_row *fg_profile_set_add_region_row(struct fg_profile_set *set)
{
	set->region_rows = fg_arena_grow(&set->arena, set->region_rows, &set->region_row_capacity,
					 set->region_row_count, sizeof(set->region_rows[0]));
	return &set->region_rows[set->region_row_count++];
}

void fg_profile_set_settle(struct fg_profile_set *set, uint32_t pair, uint16_t aside)
{
	for (size_t i = set->row_count; i > 0 && set->rows[i - 1].pair == pair; i--)
		set->rows[i - 1].aside = aside;
	for (size_t i = set->region_row_count; i > 0 && set->region_rows[i - 1].pair == pair; i--)
		set->region_rows[i - 1].aside = aside;
}

void fg_profile_set_give_up(struct fg_profile_set *set)
{
	for (size_t i = 0; i < set->row_count; i++) {
		if (fg_aside_was_meant_to_count(set->rows[i].aside))
			set->rows[i].aside |= FG_ASIDE_GIVEN_UP;
	}
	for (size_t i = 0; i < set->region_row_count; i++) {
		if (fg_aside_was_meant_to_count(set->region_rows[i].aside))
			set->region_rows[i].aside |= FG_ASIDE_GIVEN_UP;
	}
}

uint16_t fg_profile_set_measure(struct fg_profile_set *set, const struct fg_measure *measure)
{
	return fg_measure_add(&set->measures, &set->arena, measure);
}

uint16_t fg_profile_set_time(const struct fg_profile_set *set)
{
	for (size_t r = 0; r < set->row_count; r++) {
		if (fg_measure_is_time(set->rows[r].measure))
			return set->rows[r].measure;
	}
	return FG_MEASURE_CPU_TIME;
}

size_t fg_profile_set_mean(const struct fg_profile_set *set, uint16_t measure, uint8_t arm,
			   double *self, double *inclusive)
{
	const enum fg_measure_fold fold = fg_measure_at(&set->measures, measure)->fold;
	size_t rows = 0;

	memset(self, 0, set->node_count * sizeof(self[0]));
	for (size_t r = 0; r < set->row_count; r++) {
		const struct fg_profile_row *row = &set->rows[r];

		if (row->measure != measure || row->arm != arm || row->aside != 0)
			continue;
		rows++;
		for (uint32_t i = 0; i < row->count; i++)
			self[row->nodes[i]] += row->values[i];
	}
	for (size_t n = 0; rows > 1 && n < set->node_count; n++)
		self[n] /= (double)rows;
	if (inclusive) {
		memcpy(inclusive, self, set->node_count * sizeof(self[0]));
		for (size_t n = set->node_count; n-- > 1;)
			inclusive[set->nodes[n].parent] = fg_measure_join(
				fold, inclusive[set->nodes[n].parent], inclusive[n]);
	}
	return rows;
}

double *fg_profile_set_time_samples(const struct fg_profile_set *set, double *all)
{
	const uint16_t time = fg_profile_set_time(set);
	double *samples = fg_xcalloc(set->function_count, sizeof(samples[0]));

	*all = 0;
	for (size_t r = 0; r < set->row_count; r++) {
		const struct fg_profile_row *row = &set->rows[r];

		if (row->measure != time || row->aside != 0)
			continue;
		for (uint32_t i = 0; i < row->count; i++) {
			samples[fg_profile_set_compiled(set, row->nodes[i])] += row->samples[i];
			*all += row->samples[i];
		}
	}
	return samples;
}

/*
 * Walking to the root for each node would cost depth times nodes. One depth-first walk with a
 * counter of open nodes per function finds all recursive nodes in linear time.
 */
bool *fg_profile_set_is_recursive(const struct fg_profile_set *set)
{
	size_t count = set->node_count;
	bool *recursive = fg_xcalloc(count ? count : 1, sizeof(recursive[0]));
	uint32_t *first = fg_xcalloc(count + 1, sizeof(first[0]));
	uint32_t *next = fg_xcalloc(count + 1, sizeof(next[0]));
	uint32_t *open = fg_xcalloc(set->function_count + 1, sizeof(open[0]));
	uint32_t n = 0;
	bool down = true;

	for (size_t i = count; i-- > 1;) {
		next[i] = first[set->nodes[i].parent];
		first[set->nodes[i].parent] = (uint32_t)i;
	}
	while (count > 1) {
		if (down) {
			recursive[n] = open[set->nodes[n].function]++ > 0;
			if (first[n] != NO_INDEX) {
				n = first[n];
				continue;
			}
		}
		open[set->nodes[n].function]--;
		if (n == 0)
			break;
		down = next[n] != NO_INDEX;
		n = down ? next[n] : set->nodes[n].parent;
	}
	free(first);
	free(next);
	free(open);
	return recursive;
}
