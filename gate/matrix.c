// SPDX-License-Identifier: Apache-2.0
#include "gate/matrix.h"

#include "gate/pairs.h"

#include <math.h>

#define NS_PER_MS 1e6

/* What one repetition adds to one entity. */
struct portion {
	uint32_t pair;
	uint32_t entity;
	uint8_t arm;
	double ms; /* divided by the repetitions of the arm in the pair */
	uint32_t samples;
};

struct portions {
	struct portion *items;
	size_t count;
	size_t capacity;
};

/* Rows that count, by pair number, so that equal pair numbers lie together. */
struct row_key {
	uint32_t pair;
	uint32_t row;
	uint8_t arm;
};

static int compare_keys(const void *left, const void *right)
{
	const struct row_key *a = left;
	const struct row_key *b = right;

	if (a->pair != b->pair)
		return a->pair < b->pair ? -1 : 1;
	return (a->row > b->row) - (a->row < b->row);
}

/* Number the pairs among the sorted keys; pair_of[i] belongs to the row (or region row) keys[..].row = i. */
static void number_pairs(struct row_key *keys, size_t count, struct fg__profile_pairs *pairs)
{
	size_t end;

	if (count == 0)
		return;
	qsort(keys, count, sizeof(keys[0]), compare_keys);
	for (size_t start = 0; start < count; start = end) {
		size_t in_arm[2] = {0, 0};

		for (end = start; end < count && keys[end].pair == keys[start].pair; end++)
			in_arm[keys[end].arm != 0]++;
		if (in_arm[0] == 0 || in_arm[0] != in_arm[1])
			continue;
		for (size_t i = start; i < end; i++)
			pairs->pair_of_row[keys[i].row] = (uint32_t)pairs->count;
		pairs->per_arm[pairs->count++] = (double)in_arm[0];
	}
}

static void pairs_init(struct fg__profile_pairs *pairs, size_t rows)
{
	*pairs = (struct fg__profile_pairs){0};
	pairs->pair_of_row = fg_xcalloc(rows + 1, sizeof(pairs->pair_of_row[0]));
	pairs->per_arm = fg_xcalloc(rows + 1, sizeof(pairs->per_arm[0]));
	for (size_t i = 0; i < rows; i++)
		pairs->pair_of_row[i] = FG__NO_ENTITY;
}

void fg__profile_pairs_find(const struct fg_profile_set *set, struct fg__profile_pairs *pairs)
{
	struct row_key *keys = fg_xcalloc(set->row_count + 1, sizeof(keys[0]));
	size_t used = 0;

	pairs_init(pairs, set->row_count);
	for (size_t i = 0; i < set->row_count; i++) {
		const struct fg_profile_row *row = &set->rows[i];

		if (row->aside == 0 && row->arm < 2 && row->pair < FG__PAIR_NUMBERS_MAX)
			keys[used++] = (struct row_key){
				.pair = row->pair, .row = (uint32_t)i, .arm = row->arm};
	}
	number_pairs(keys, used, pairs);
	free(keys);
}

void fg__profile_pairs_release(struct fg__profile_pairs *pairs)
{
	free(pairs->pair_of_row);
	free(pairs->per_arm);
	*pairs = (struct fg__profile_pairs){0};
}

static void add_portion(struct portions *portions, const struct portion *portion)
{
	portions->items = fg_grow(portions->items, &portions->capacity, portions->count + 1,
				  sizeof(portions->items[0]));
	portions->items[portions->count++] = *portion;
}

/* Stable counting sort by entity: afterwards each entity's portions are together, by rising pair. */
static struct portion *by_entity(const struct portions *portions, size_t entities, size_t *begin)
{
	struct portion *sorted = fg_xcalloc(portions->count + 1, sizeof(sorted[0]));

	for (size_t i = 0; i < portions->count; i++)
		begin[portions->items[i].entity + 1]++;
	for (size_t i = 0; i < entities; i++)
		begin[i + 1] += begin[i];
	for (size_t i = 0; i < portions->count; i++)
		sorted[begin[portions->items[i].entity]++] = portions->items[i];
	for (size_t i = entities; i > 0; i--)
		begin[i] = begin[i - 1];
	begin[0] = 0;
	return sorted;
}

static int compare_portions(const void *left, const void *right)
{
	const struct portion *a = left;
	const struct portion *b = right;

	return (a->pair > b->pair) - (a->pair < b->pair);
}

/* One entity: its portions become the differences of its pairs, and their summary. */
static void fill_entity(struct fg__matrix *matrix, size_t entity, struct portion *items,
			size_t count)
{
	struct fg__entity *out = &matrix->entities[entity];
	size_t used = matrix->start[entity];
	double n = (double)matrix->pair_count;
	double sum = 0.0;
	double squares = 0.0;
	size_t end;

	if (count > 1)
		qsort(items, count, sizeof(items[0]), compare_portions);
	for (size_t first = 0; first < count; first = end) {
		double ms[2] = {0.0, 0.0};
		double difference;

		for (end = first; end < count && items[end].pair == items[first].pair; end++) {
			ms[items[end].arm != 0] += items[end].ms;
			out->samples += items[end].samples;
		}
		out->baseline_ms += ms[0] / n;
		out->candidate_ms += ms[1] / n;
		difference = ms[1] - ms[0];
		sum += difference;
		squares += difference * difference;
		matrix->columns[used] = items[first].pair;
		matrix->values[used++] = (float)difference;
	}
	matrix->start[entity + 1] = used;
	out->delta_ms = sum / n;
	out->error_ms =
		n > 1.0 ? sqrt(fmax(0.0, squares - sum * sum / n) / (n - 1.0) / n) : (double)NAN;
}

static void finish(struct portions *portions, size_t count, size_t pair_count,
		   struct fg__matrix *matrix)
{
	size_t *begin = fg_xcalloc(count + 2, sizeof(begin[0]));
	struct portion *sorted = by_entity(portions, count, begin);

	*matrix = (struct fg__matrix){.count = count, .pair_count = pair_count};
	matrix->entities = fg_xcalloc(count + 1, sizeof(matrix->entities[0]));
	matrix->start = fg_xcalloc(count + 1, sizeof(matrix->start[0]));
	matrix->columns = fg_xcalloc(portions->count + 1, sizeof(matrix->columns[0]));
	matrix->values = fg_xcalloc(portions->count + 1, sizeof(matrix->values[0]));
	for (size_t i = 0; i < count; i++)
		fill_entity(matrix, i, sorted + begin[i], begin[i + 1] - begin[i]);
	free(sorted);
	free(begin);
	free(portions->items);
}

void fg__matrix_build(const struct fg_profile_set *set, const struct fg__profile_pairs *pairs,
		      const uint32_t *entity_of_node, size_t count, struct fg__matrix *matrix)
{
	struct portions portions = {0};

	for (size_t r = 0; r < set->row_count; r++) {
		const struct fg_profile_row *row = &set->rows[r];
		uint32_t pair = pairs->pair_of_row[r];

		for (uint32_t i = 0; i < row->count && pair != FG__NO_ENTITY; i++) {
			uint32_t entity = entity_of_node[row->nodes[i]];
			struct portion portion = {.pair = pair,
						  .entity = entity,
						  .arm = row->arm,
						  .samples = row->samples[i]};

			if (entity == FG__NO_ENTITY)
				continue;
			portion.ms = row->self_ns[i] / NS_PER_MS / pairs->per_arm[pair];
			add_portion(&portions, &portion);
		}
	}
	finish(&portions, count, pairs->count, matrix);
}

void fg__matrix_build_regions(const struct fg_profile_set *set, struct fg__matrix *matrix)
{
	struct portions portions = {0};
	struct fg__profile_pairs pairs;
	uint32_t highest = 0;
	uint32_t *pair_of_number;

	fg__profile_pairs_find(set, &pairs);
	for (size_t i = 0; i < set->row_count; i++) {
		if (pairs.pair_of_row[i] != FG__NO_ENTITY && set->rows[i].pair > highest)
			highest = set->rows[i].pair;
	}
	pair_of_number = fg_xcalloc((size_t)highest + 1, sizeof(pair_of_number[0]));
	for (size_t i = 0; i <= highest; i++)
		pair_of_number[i] = FG__NO_ENTITY;
	for (size_t i = 0; i < set->row_count; i++) {
		if (pairs.pair_of_row[i] != FG__NO_ENTITY)
			pair_of_number[set->rows[i].pair] = pairs.pair_of_row[i];
	}
	for (size_t i = 0; i < set->region_row_count; i++) {
		const struct fg_profile_region_row *row = &set->region_rows[i];
		struct portion portion = {.entity = row->region, .arm = row->arm, .samples = 1};

		if (row->aside || row->pair > highest || pair_of_number[row->pair] == FG__NO_ENTITY)
			continue;
		portion.pair = pair_of_number[row->pair];
		portion.ms = row->cpu_ns / NS_PER_MS / pairs.per_arm[portion.pair];
		add_portion(&portions, &portion);
	}
	finish(&portions, set->region_count, pairs.count, matrix);
	fg__profile_pairs_release(&pairs);
	free(pair_of_number);
}

void fg__matrix_release(struct fg__matrix *matrix)
{
	free(matrix->entities);
	free(matrix->start);
	free(matrix->columns);
	free(matrix->values);
	*matrix = (struct fg__matrix){0};
}
