// SPDX-License-Identifier: Apache-2.0
#include "gate/matrix.h"

#include "base/sort.h"
#include "gate/pairs.h"

#include <math.h>

#define MS_PER_NS 1e-6

/* The difference of one entity in one pair. */
struct cell {
	uint32_t entity;
	uint32_t pair;
	float difference;
};

/* Sums of the current pair: dense over the entities, with a list of the entities that occur. */
struct gathering {
	enum fg_measure_fold fold;
	double (*sums)[2]; /* per entity and arm */
	bool *seen;
	uint32_t *touched;
	size_t touched_count;
	struct cell *cells; /* cells of all pairs so far, ordered by pair */
	size_t cell_count;
	size_t cell_capacity;
};

/* A row that counts, as a sort key: rows of one pair lie together. */
struct row_key {
	uint32_t pair;
	uint32_t row;
	uint8_t arm;
};

FG_ORDER_BY(compare_keys, struct row_key, FG_UP(pair), FG_UP(row))

/* Sorts the keys and numbers their pairs. */
static void number_pairs(struct row_key *keys, size_t count, struct fg_profile_pairs *pairs)
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
		for (size_t i = start; i < end; i++) {
			pairs->pair_of_row[keys[i].row] = (uint32_t)pairs->count;
			pairs->rows[pairs->row_count++] = keys[i].row;
		}
		pairs->per_arm[pairs->count++] = (double)in_arm[0];
	}
}

static void pairs_init(struct fg_profile_pairs *pairs, size_t rows)
{
	*pairs = (struct fg_profile_pairs){0};
	pairs->pair_of_row = fg_xcalloc(rows + 1, sizeof(pairs->pair_of_row[0]));
	pairs->per_arm = fg_xcalloc(rows + 1, sizeof(pairs->per_arm[0]));
	pairs->rows = fg_xcalloc(rows + 1, sizeof(pairs->rows[0]));
	for (size_t i = 0; i < rows; i++)
		pairs->pair_of_row[i] = FG_NO_ENTITY;
}

void fg_profile_pairs_find(const struct fg_profile_set *set, uint16_t measure,
			   struct fg_profile_pairs *pairs)
{
	struct row_key *keys = fg_xcalloc(set->row_count + 1, sizeof(keys[0]));
	const bool sampled = fg_measure_is_time(measure);
	uint32_t seen[2] = {0, 0};
	size_t used = 0;

	pairs_init(pairs, set->row_count);
	pairs->scale = sampled ? MS_PER_NS : 1.0;
	pairs->fold = fg_measure_at(&set->measures, measure)->fold;
	for (size_t i = 0; i < set->row_count; i++) {
		const struct fg_profile_row *row = &set->rows[i];

		/* Exact repetitions, which have larger pair numbers, do not count as times. */
		if (row->measure == measure && row->aside == 0 && row->arm < 2 &&
		    (!sampled || row->pair < FG_PAIR_NUMBERS_MAX))
			keys[used++] =
				(struct row_key){.pair = sampled ? row->pair : seen[row->arm]++,
						 .row = (uint32_t)i,
						 .arm = row->arm};
	}
	number_pairs(keys, used, pairs);
	free(keys);
}

void fg_profile_pairs_release(struct fg_profile_pairs *pairs)
{
	free(pairs->pair_of_row);
	free(pairs->per_arm);
	free(pairs->rows);
	*pairs = (struct fg_profile_pairs){0};
}

static void gathering_init(struct gathering *g, size_t entities, enum fg_measure_fold fold)
{
	*g = (struct gathering){.fold = fold};
	g->sums = fg_xcalloc(entities + 1, sizeof(g->sums[0]));
	g->seen = fg_xcalloc(entities + 1, sizeof(g->seen[0]));
	g->touched = fg_xcalloc(entities + 1, sizeof(g->touched[0]));
}

static void gathering_release(struct gathering *g)
{
	free(g->sums);
	free(g->seen);
	free(g->touched);
	free(g->cells);
}

static void gather(struct gathering *g, uint32_t entity, uint8_t arm, double value)
{
	if (!g->seen[entity]) {
		g->seen[entity] = true;
		g->touched[g->touched_count++] = entity;
	}
	g->sums[entity][arm != 0] = fg_measure_join(g->fold, g->sums[entity][arm != 0], value);
}

/* Turns the differences of a complete pair into cells. */
static void finish_pair(struct gathering *g, struct fg_pair_matrix *matrix, uint32_t pair)
{
	g->cells = fg_grow(g->cells, &g->cell_capacity, g->cell_count + g->touched_count,
			   sizeof(g->cells[0]));
	for (size_t i = 0; i < g->touched_count; i++) {
		uint32_t entity = g->touched[i];
		double *sums = g->sums[entity];
		struct fg_entity *out = &matrix->entities[entity];
		double difference = sums[1] - sums[0];

		out->baseline += sums[0];
		out->candidate += sums[1];
		out->error += difference * difference; /* sum of squares until finish_entities() */
		if (fabs(difference) > 0.0 && isfinite((float)difference))
			g->cells[g->cell_count++] = (struct cell){
				.entity = entity, .pair = pair, .difference = (float)difference};
		sums[0] = sums[1] = 0.0;
		g->seen[entity] = false;
	}
	g->touched_count = 0;
}

/* Turns the sums into means and standard errors. */
static void finish_entities(struct fg_pair_matrix *matrix)
{
	double n = (double)matrix->pair_count;

	for (size_t i = 0; i < matrix->count; i++) {
		struct fg_entity *e = &matrix->entities[i];
		double squares = e->error;
		double sum = e->candidate - e->baseline;

		e->baseline /= fmax(n, 1.0);
		e->candidate /= fmax(n, 1.0);
		e->delta = sum / fmax(n, 1.0);
		e->error = n > 1.0 ? sqrt(fmax(0.0, squares - sum * sum / n) / (n - 1.0) / n)
				   : (double)NAN;
	}
}

/* Sorts cells into rows by counting; the sort is stable, so pairs stay in order within a row. */
static void finish_rows(struct fg_pair_matrix *matrix, const struct gathering *g)
{
	size_t *next = fg_xcalloc(matrix->count + 1, sizeof(next[0]));

	matrix->start = fg_xcalloc(matrix->count + 1, sizeof(matrix->start[0]));
	matrix->columns = fg_xcalloc(g->cell_count + 1, sizeof(matrix->columns[0]));
	matrix->values = fg_xcalloc(g->cell_count + 1, sizeof(matrix->values[0]));
	for (size_t i = 0; i < g->cell_count; i++)
		matrix->start[g->cells[i].entity + 1]++;
	for (size_t i = 0; i < matrix->count; i++) {
		matrix->start[i + 1] += matrix->start[i];
		next[i] = matrix->start[i];
	}
	for (size_t i = 0; i < g->cell_count; i++) {
		size_t at = next[g->cells[i].entity]++;

		matrix->columns[at] = g->cells[i].pair;
		matrix->values[at] = g->cells[i].difference;
	}
	free(next);
}

static void matrix_init(struct fg_pair_matrix *matrix, size_t count, size_t pair_count)
{
	*matrix = (struct fg_pair_matrix){.count = count, .pair_count = pair_count};
	matrix->entities = fg_xcalloc(count + 1, sizeof(matrix->entities[0]));
}

static void finish(struct fg_pair_matrix *matrix, struct gathering *g)
{
	finish_entities(matrix);
	finish_rows(matrix, g);
	gathering_release(g);
}

void fg_pair_matrix_build(const struct fg_profile_set *set, const struct fg_profile_pairs *pairs,
			  const uint32_t *entity_of_node, size_t count,
			  struct fg_pair_matrix *matrix)
{
	struct gathering g;

	matrix_init(matrix, count, pairs->count);
	gathering_init(&g, count, pairs->fold);
	for (size_t k = 0; k < pairs->row_count; k++) {
		const struct fg_profile_row *row = &set->rows[pairs->rows[k]];
		uint32_t pair = pairs->pair_of_row[pairs->rows[k]];
		double scale = pairs->scale / pairs->per_arm[pair];

		for (uint32_t i = 0; i < row->count; i++) {
			uint32_t entity = entity_of_node[row->nodes[i]];

			if (entity == FG_NO_ENTITY)
				continue;
			gather(&g, entity, row->arm, row->values[i] * scale);
			matrix->entities[entity].samples += row->samples[i];
		}
		if (k + 1 == pairs->row_count || pairs->pair_of_row[pairs->rows[k + 1]] != pair)
			finish_pair(&g, matrix, pair);
	}
	finish(matrix, &g);
}

/*
 * Maps each pair number to the pair's index, or to FG_NO_ENTITY if the pair does not count. *size
 * gets the number of entries. The caller frees the array.
 */
static uint32_t *index_pairs(const struct fg_profile_set *set, const struct fg_profile_pairs *pairs,
			     size_t *size)
{
	uint32_t *index;

	*size = 0;
	for (size_t k = 0; k < pairs->row_count; k++) {
		if (set->rows[pairs->rows[k]].pair >= *size)
			*size = (size_t)set->rows[pairs->rows[k]].pair + 1;
	}
	index = fg_xcalloc(*size + 1, sizeof(index[0]));
	for (size_t i = 0; i < *size; i++)
		index[i] = FG_NO_ENTITY;
	for (size_t k = 0; k < pairs->row_count; k++)
		index[set->rows[pairs->rows[k]].pair] = pairs->pair_of_row[pairs->rows[k]];
	return index;
}

void fg_pair_matrix_build_regions(const struct fg_profile_set *set, struct fg_pair_matrix *matrix)
{
	struct row_key *keys = fg_xcalloc(set->region_row_count + 1, sizeof(keys[0]));
	struct fg_profile_pairs pairs;
	struct gathering g;
	uint32_t *index;
	size_t size;
	size_t used = 0;

	fg_profile_pairs_find(set, fg_profile_set_time(set), &pairs);
	index = index_pairs(set, &pairs, &size);
	for (size_t i = 0; i < set->region_row_count; i++) {
		const struct fg_profile_region_row *row = &set->region_rows[i];

		if (row->aside == 0 && row->pair < size && index[row->pair] != FG_NO_ENTITY)
			keys[used++] =
				(struct row_key){.pair = index[row->pair], .row = (uint32_t)i};
	}
	if (used > 1)
		qsort(keys, used, sizeof(keys[0]), compare_keys);
	matrix_init(matrix, set->region_count, pairs.count);
	gathering_init(&g, set->region_count, FG_FOLD_SUM);
	for (size_t k = 0; k < used; k++) {
		const struct fg_profile_region_row *row = &set->region_rows[keys[k].row];

		gather(&g, row->region, row->arm,
		       row->cpu_ns * MS_PER_NS / pairs.per_arm[keys[k].pair]);
		matrix->entities[row->region].samples++;
		if (k + 1 == used || keys[k + 1].pair != keys[k].pair)
			finish_pair(&g, matrix, keys[k].pair);
	}
	finish(matrix, &g);
	fg_profile_pairs_release(&pairs);
	free(index);
	free(keys);
}

void fg_pair_matrix_release(struct fg_pair_matrix *matrix)
{
	free(matrix->entities);
	free(matrix->start);
	free(matrix->columns);
	free(matrix->values);
	*matrix = (struct fg_pair_matrix){0};
}
