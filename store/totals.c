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

/* Time per sample over everything that counts: the step in which times are kept. */
static double unit_of(const struct fg_profile_set *set)
{
	double sum = 0;
	double samples = 0;

	for (size_t r = 0; r < set->row_count; r++) {
		for (uint32_t i = 0; i < set->rows[r].count; i++) {
			sum += set->rows[r].self_ns[i];
			samples += set->rows[r].samples[i];
		}
	}
	return samples > 0 && sum > 0 ? sum / samples / FG_TOTALS_FRACTIONS : 1;
}

static size_t pack(struct fg_function_total *items, size_t count)
{
	size_t used = 0;

	for (size_t i = 0; i < count; i++) {
		if (items[i].inclusive_ns[0] > 0 || items[i].inclusive_ns[1] > 0)
			items[used++] = items[i];
	}
	if (used)
		qsort(items, used, sizeof(*items), by_id);
	return used;
}

void fg_totals_from_set(struct fg_totals *totals, const struct fg_profile_set *set,
			const int64_t *ids)
{
	double *self = fg_xcalloc(set->node_count, sizeof(*self));
	double *inclusive = fg_xcalloc(set->node_count, sizeof(*inclusive));
	bool *recursive = fg_profile_set_is_recursive(set);

	*totals = (struct fg_totals){
		.items = fg_xcalloc(set->function_count, sizeof(*totals->items))};
	totals->unit_ns = unit_of(set);
	for (size_t f = 0; f < set->function_count; f++)
		totals->items[f].id = (uint64_t)ids[f];
	for (unsigned arm = 0; arm < ARMS; arm++) {
		totals->repetitions[arm] =
			(uint32_t)fg_profile_set_mean(set, (uint8_t)arm, self, inclusive);
		for (size_t n = 0; n < set->node_count && totals->repetitions[arm]; n++) {
			struct fg_function_total *item = &totals->items[set->nodes[n].function];

			item->self_ns[arm] += self[n];
			if (!recursive[n])
				item->inclusive_ns[arm] += inclusive[n];
		}
	}
	totals->count = pack(totals->items, set->function_count);
	free(recursive);
	free(inclusive);
	free(self);
}

static uint64_t steps(const struct fg_totals *totals, int arm, double per_repetition_ns)
{
	const double value = per_repetition_ns * totals->repetitions[arm] / totals->unit_ns;

	return value > 0 ? (uint64_t)llround(value) : 0;
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
		if (!totals->repetitions[arm])
			continue;
		for (size_t i = 0; i < totals->count; i++)
			fg_bytes_varint(bytes, steps(totals, arm, totals->items[i].self_ns[arm]));
		for (size_t i = 0; i < totals->count; i++) {
			const struct fg_function_total *item = &totals->items[i];

			fg_bytes_signed(bytes,
					(int64_t)steps(totals, arm, item->inclusive_ns[arm]) -
						(int64_t)steps(totals, arm, item->self_ns[arm]));
		}
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
