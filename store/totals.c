// SPDX-License-Identifier: Apache-2.0
#include "store/totals.h"

#include <math.h>

enum {
	ARMS = 2
};

static int by_id(const void *a, const void *b)
{
	const struct fg_function_total *x = a;
	const struct fg_function_total *y = b;

	return (x->id > y->id) - (x->id < y->id);
}

static bool is_used(const struct fg_function_total *item)
{
	return item->inclusive_ns[0] > 0 || item->inclusive_ns[1] > 0;
}

/* Only what took time, by id. */
static void pack(struct fg_totals *totals, const struct fg_totals_source *source)
{
	struct fg_function_total *items = fg_xcalloc(source->function_count, sizeof(*items));

	for (size_t i = 0; i < source->function_count; i++) {
		const size_t at = source->functions_in_order ? source->functions_in_order[i] : i;

		if (is_used(&totals->items[at]))
			items[totals->count++] = totals->items[at];
	}
	if (!source->functions_in_order && totals->count)
		qsort(items, totals->count, sizeof(*items), by_id);
	free(totals->items);
	totals->items = items;
}

static void add_arm(struct fg_totals *totals, const struct fg_totals_source *source, int arm,
		    double *inclusive)
{
	const struct fg_profile_node *nodes = source->nodes;
	const double *self = source->self_ns[arm];

	memcpy(inclusive, self, source->node_count * sizeof(*inclusive));
	/* From the leaves up: when a node's turn comes, all that is below it has been added. */
	for (size_t n = source->node_count; n-- > source->first;) {
		struct fg_function_total *item = &totals->items[nodes[n].function];

		if (!(inclusive[n] > 0))
			continue;
		if (n > 0)
			inclusive[nodes[n].parent] += inclusive[n];
		item->self_ns[arm] += self[n];
		if (!source->recursive[n])
			item->inclusive_ns[arm] += inclusive[n];
	}
}

void fg_totals_from_tree(struct fg_totals *totals, const struct fg_totals_source *source)
{
	double *inclusive = fg_xcalloc(source->node_count, sizeof(*inclusive));

	*totals = (struct fg_totals){
		.items = fg_xcalloc(source->function_count, sizeof(*totals->items)),
		.unit_ns = source->samples > 0 && source->time_ns > 0
				   ? source->time_ns / source->samples / FG_TOTALS_FRACTIONS
				   : 1};
	for (size_t f = 0; f < source->function_count; f++)
		totals->items[f].id = (uint64_t)source->function_ids[f];
	for (int arm = 0; arm < ARMS; arm++) {
		totals->repetitions[arm] = source->repetitions[arm];
		if (source->repetitions[arm])
			add_arm(totals, source, arm, inclusive);
		for (size_t f = 0; f < source->function_count && source->repetitions[arm]; f++) {
			totals->items[f].self_ns[arm] /= source->repetitions[arm];
			totals->items[f].inclusive_ns[arm] /= source->repetitions[arm];
		}
	}
	pack(totals, source);
	free(inclusive);
}

void fg_totals_from_set(struct fg_totals *totals, const struct fg_profile_set *set,
			const int64_t *ids)
{
	bool *recursive = fg_profile_set_is_recursive(set);
	struct fg_totals_source source = {.nodes = set->nodes,
					  .node_count = set->node_count,
					  .function_count = set->function_count,
					  .recursive = recursive,
					  .function_ids = ids};

	for (int arm = 0; arm < ARMS; arm++)
		source.self_ns[arm] = fg_xcalloc(set->node_count, sizeof(double));
	for (size_t r = 0; r < set->row_count; r++) {
		const struct fg_profile_row *row = &set->rows[r];

		source.repetitions[row->arm] += row->aside == 0;
		for (uint32_t i = 0; i < row->count; i++) {
			source.time_ns += row->self_ns[i];
			source.samples += row->samples[i];
			if (row->aside == 0)
				source.self_ns[row->arm][row->nodes[i]] += row->self_ns[i];
		}
	}
	fg_totals_from_tree(totals, &source);
	for (int arm = 0; arm < ARMS; arm++)
		free(source.self_ns[arm]);
	free(recursive);
}

/* Times as whole steps: each is near one, so that a half added and cut off is as good as a call that rounds. */
static uint64_t steps(const struct fg_totals *totals, int arm, double per_repetition_ns)
{
	const double value = per_repetition_ns * totals->repetitions[arm] / totals->unit_ns;

	return value > 0 ? (uint64_t)(value + 0.5) : 0;
}

static void write_arm(const struct fg_totals *totals, int arm, struct fg_bytes *bytes)
{
	uint8_t *at = fg_bytes_reserve(bytes, totals->count * 2 * FG_VARINT_MAX_BYTES);

	for (size_t i = 0; i < totals->count; i++)
		at = fg_put_varint(at, steps(totals, arm, totals->items[i].self_ns[arm]));
	for (size_t i = 0; i < totals->count; i++) {
		const struct fg_function_total *item = &totals->items[i];

		at = fg_put_varint(at,
				   fg_zigzag((int64_t)steps(totals, arm, item->inclusive_ns[arm]) -
					     (int64_t)steps(totals, arm, item->self_ns[arm])));
	}
	fg_bytes_end(bytes, at);
}

void fg_totals_write(const struct fg_totals *totals, struct fg_bytes *bytes)
{
	uint64_t before = 0;

	fg_bytes_double(bytes, totals->unit_ns);
	for (int arm = 0; arm < ARMS; arm++)
		fg_bytes_varint(bytes, totals->repetitions[arm]);
	fg_bytes_varint(bytes, totals->count);
	for (size_t i = 0; i < totals->count; i++) {
		fg_bytes_varint(bytes, totals->items[i].id - before);
		before = totals->items[i].id;
	}
	for (int arm = 0; arm < ARMS; arm++) {
		if (totals->repetitions[arm])
			write_arm(totals, arm, bytes);
	}
}

static void read_arm(struct fg_byte_reader *reader, struct fg_totals *t, int arm)
{
	const double step = t->unit_ns / t->repetitions[arm];

	for (size_t i = 0; i < t->count; i++)
		t->items[i].self_ns[arm] = (double)fg_read_varint(reader) * step;
	for (size_t i = 0; i < t->count; i++)
		t->items[i].inclusive_ns[arm] =
			t->items[i].self_ns[arm] + (double)fg_read_signed(reader) * step;
}

static void skip(struct fg_byte_reader *reader, size_t count)
{
	const uint8_t *at = reader->at;

	for (; count > 0 && at < reader->end; at++)
		count -= *at < 0x80;
	reader->at = at;
	reader->failed = reader->failed || count > 0;
}

/* Place of an id among the gaps, which end behind it; `count` when it is not there. */
static size_t find_place(struct fg_byte_reader *reader, size_t count, uint64_t wanted)
{
	uint64_t id = 0;
	size_t i = 0;

	while (i < count && id < wanted && !reader->failed) {
		id += fg_read_varint(reader);
		i++;
	}
	skip(reader, count - i);
	return id == wanted && i > 0 ? i - 1 : count;
}

int fg_totals_pick(struct fg_byte_reader *reader, uint64_t id, int arm, double *self_ns,
		   double *inclusive_ns, struct fg_error *err)
{
	const double unit_ns = fg_read_double(reader);
	uint64_t repetitions[ARMS];
	double found[2] = {0, 0};
	size_t count = 0;
	size_t place = 0;

	for (int a = 0; a < ARMS; a++)
		repetitions[a] = fg_read_varint(reader);
	count = fg_read_count(reader, 1);
	place = find_place(reader, count, id);
	if (arm > 0 && repetitions[0])
		skip(reader, 2 * count);
	if (place < count && repetitions[arm]) {
		const double step = unit_ns / (double)repetitions[arm];

		skip(reader, place);
		found[0] = (double)fg_read_varint(reader) * step;
		skip(reader, count - 1);
		found[1] = found[0] + (double)fg_read_signed(reader) * step;
	}
	if (reader->failed || !isfinite(unit_ns) || unit_ns <= 0)
		return fg_error_set(err, FG_EPARSE, "function values are damaged or cut short");
	*self_ns = found[0];
	*inclusive_ns = found[1];
	return FG_OK;
}

int fg_totals_read(struct fg_byte_reader *reader, struct fg_totals *totals, struct fg_error *err)
{
	struct fg_totals t = {.unit_ns = fg_read_double(reader)};
	uint64_t id = 0;

	for (int arm = 0; arm < ARMS; arm++)
		t.repetitions[arm] = (uint32_t)fg_read_varint(reader);
	t.count = fg_read_count(reader, 1);
	t.items = fg_xcalloc(t.count, sizeof(*t.items));
	for (size_t i = 0; i < t.count; i++) {
		id += fg_read_varint(reader);
		t.items[i].id = id;
	}
	for (int arm = 0; arm < ARMS && !reader->failed; arm++) {
		if (t.repetitions[arm])
			read_arm(reader, &t, arm);
	}
	if (reader->failed || !isfinite(t.unit_ns) || t.unit_ns <= 0) {
		fg_totals_release(&t);
		return fg_error_set(err, FG_EPARSE, "function values are damaged or cut short");
	}
	*totals = t;
	return FG_OK;
}

const struct fg_function_total *fg_totals_find(const struct fg_totals *totals, uint64_t id)
{
	const struct fg_function_total key = {.id = id};

	return totals->count ? bsearch(&key, totals->items, totals->count, sizeof(key), by_id)
			     : NULL;
}

void fg_totals_release(struct fg_totals *totals)
{
	free(totals->items);
	*totals = (struct fg_totals){0};
}
