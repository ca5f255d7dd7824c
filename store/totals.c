// SPDX-License-Identifier: Apache-2.0
#include "store/totals.h"

#include "base/sort.h"
#include "model/measure.h"
#include "model/profile_set.h"
#include "store/bytes.h"
#include "store/db.h"
#include "store/measures.h"
#include "store/session.h"

#include <math.h>

enum {
	ARMS = 2
};

FG_ORDER_BY(by_id, struct fg_function_total, FG_UP(id))

static bool is_used(const struct fg_function_total *item)
{
	return item->inclusive[0] > 0 || item->inclusive[1] > 0;
}

/* Keeps only functions with time, sorted by id. */
static void pack(struct fg_totals *totals, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		if (is_used(&totals->items[i]))
			totals->items[totals->count++] = totals->items[i];
	}
	if (totals->count)
		qsort(totals->items, totals->count, sizeof(*totals->items), by_id);
}

/*
 * Sums up from the leaves: when a node is visited, its value includes all nodes below. `self` has a
 * value per node and arm, never negative; `totals` has one item per function of the set, in the
 * same order.
 */
static void add_up(struct fg_totals *totals, const struct fg_profile_set *set,
		   enum fg_measure_fold fold, double (*self)[ARMS])
{
	double(*inclusive)[ARMS] = fg_xreallocarray(NULL, set->node_count, sizeof(*inclusive));
	bool *recursive = fg_profile_set_is_recursive(set);

	memcpy(inclusive, self, set->node_count * sizeof(*inclusive));
	for (size_t n = set->node_count; n-- > 0;) {
		struct fg_function_total *item = &totals->items[set->nodes[n].function];
		double *above = inclusive[set->nodes[n].parent];

		for (int arm = 0; arm < ARMS; arm++) {
			const double mine = inclusive[n][arm];

			if (n > 0)
				above[arm] = fg_measure_join(fold, above[arm], mine);
			item->self[arm] = fg_measure_join(fold, item->self[arm], self[n][arm]);
			if (!recursive[n])
				item->inclusive[arm] =
					fg_measure_join(fold, item->inclusive[arm], mine);
		}
	}
	free(recursive);
	free(inclusive);
}

static void divide(struct fg_totals *totals)
{
	for (int arm = 0; arm < ARMS; arm++) {
		for (size_t i = 0; i < totals->count && totals->repetitions[arm]; i++) {
			totals->items[i].self[arm] /= totals->repetitions[arm];
			totals->items[i].inclusive[arm] /= totals->repetitions[arm];
		}
	}
}

/*
 * Sums of whole nanoseconds are exact in any order, so two stores that number their nodes
 * differently have the same totals.
 */
static void from_set(struct fg_totals *totals, const struct fg_profile_set *set, uint16_t measure,
		     const int64_t *ids)
{
	const struct fg_measure *what = fg_measure_at(&set->measures, measure);
	double(*self)[ARMS] = fg_xcalloc(set->node_count, sizeof(*self));
	double sum = 0;
	double samples = 0;

	*totals = (struct fg_totals){
		.items = fg_xcalloc(set->function_count, sizeof(*totals->items)), .unit = 1};
	for (size_t f = 0; f < set->function_count; f++)
		totals->items[f].id = (uint64_t)ids[f];
	for (size_t r = 0; r < set->row_count; r++) {
		const struct fg_profile_row *row = &set->rows[r];

		if (row->measure != measure)
			continue;
		totals->repetitions[row->arm] += row->aside == 0;
		for (uint32_t i = 0; i < row->count; i++) {
			sum += row->values[i];
			samples += row->samples[i];
			if (row->aside == 0)
				self[row->nodes[i]][row->arm] += row->values[i];
		}
	}
	if (!what->exact && samples > 0 && sum > 0)
		totals->unit = sum / samples / FG_TOTALS_FRACTIONS;
	add_up(totals, set, what->fold, self);
	pack(totals, set->function_count);
	divide(totals);
	free(self);
}

static uint64_t count_steps(double per_repetition, double steps_per_unit)
{
	/* An upload may contain any number; the difference of two numbers must also fit. */
	const double most = 4e18;
	const double value = per_repetition * steps_per_unit;

	return value > 0 ? (uint64_t)(fmin(value, most) + 0.5) : 0;
}

static void write_arm(const struct fg_totals *totals, int arm, struct fg_bytes *bytes)
{
	const double steps_per_unit = totals->repetitions[arm] / totals->unit;

	for (size_t i = 0; i < totals->count; i++)
		fg_bytes_varint(bytes, count_steps(totals->items[i].self[arm], steps_per_unit));
	for (size_t i = 0; i < totals->count; i++) {
		const struct fg_function_total *item = &totals->items[i];

		fg_bytes_signed(bytes,
				(int64_t)count_steps(item->inclusive[arm], steps_per_unit) -
					(int64_t)count_steps(item->self[arm], steps_per_unit));
	}
}

void fg_totals_write(const struct fg_totals *totals, struct fg_bytes *bytes)
{
	uint64_t before = 0;

	fg_bytes_double(bytes, totals->unit);
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

static int damaged(struct fg_error *err)
{
	return fg_error_set(err, FG_EPARSE, "function values are damaged or cut short");
}

static void skip(struct fg_byte_reader *reader, size_t count)
{
	const uint8_t *at = reader->at;

	for (; count > 0 && at < reader->end; at++)
		count -= *at < 0x80;
	reader->at = at;
	reader->failed = reader->failed || count > 0;
}

/* Reads all gaps and returns the index of an id; `count`: not found. */
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

int fg_totals_pick(struct fg_byte_reader *reader, uint64_t id, int arm, double *self,
		   double *inclusive, struct fg_error *err)
{
	const double unit = fg_read_double(reader);
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
		const double step = unit / (double)repetitions[arm];

		skip(reader, place);
		found[0] = (double)fg_read_varint(reader) * step;
		skip(reader, count - 1);
		found[1] = found[0] + (double)fg_read_signed(reader) * step;
	}
	if (reader->failed || !isfinite(unit) || unit <= 0)
		return damaged(err);
	if (!repetitions[arm])
		found[0] = found[1] = (double)NAN;
	*self = found[0];
	*inclusive = found[1];
	return FG_OK;
}

static void read_arm(struct fg_byte_reader *reader, const struct fg_totals *t, size_t first,
		     int arm)
{
	const double step = t->unit / t->repetitions[arm];

	for (size_t i = first; i < t->count; i++)
		t->items[i].self[arm] = (double)fg_read_varint(reader) * step;
	for (size_t i = first; i < t->count; i++)
		t->items[i].inclusive[arm] =
			t->items[i].self[arm] + (double)fg_read_signed(reader) * step;
}

int fg_totals_read(struct fg_byte_reader *reader, struct fg_totals *t, struct fg_error *err)
{
	const size_t first = t->count;
	uint64_t id = 0;

	t->unit = fg_read_double(reader);
	for (int arm = 0; arm < ARMS; arm++)
		t->repetitions[arm] = (uint32_t)fg_read_varint(reader);
	t->count += fg_read_count(reader, 1);
	t->items = fg_grow(t->items, &t->capacity, t->count + 1, sizeof(*t->items));
	for (size_t i = first; i < t->count; i++) {
		id += fg_read_varint(reader);
		t->items[i] = (struct fg_function_total){.id = id};
	}
	for (int arm = 0; arm < ARMS && !reader->failed; arm++) {
		if (t->repetitions[arm])
			read_arm(reader, t, first, arm);
	}
	if (reader->failed || !isfinite(t->unit) || t->unit <= 0) {
		fg_totals_release(t);
		return damaged(err);
	}
	return FG_OK;
}

/*
 * Small parts make a trend quick if rows are stored in order, as in SQLite. In PostgreSQL, where
 * each row is costly, parts are larger.
 */
uint64_t fg_totals_part_size(const struct fg_store *store)
{
	return fg_db_is_url(store->db->location) ? 512 : 128;
}

/* Rows of function_total, one per part. */
struct part_rows {
	uint64_t part_size;
	struct fg_bytes *packed; /* one per row */
	struct fg_rows rows;
};

static int add_part(struct part_rows *rows, const struct fg_totals_place *place, int64_t measure,
		    uint64_t number, const struct fg_totals *part, struct fg_error *err)
{
	struct fg_bytes *packed = &rows->packed[rows->rows.count];
	struct fg_bytes content = {0};
	int status = FG_OK;

	fg_totals_write(part, &content);
	status = fg_pack_bytes(&content, FG_PACK_LEVEL_QUICK, packed, err);
	FG_ROWS_ADD(&rows->rows, FG_BIND(place->benchmark), FG_BIND(measure),
		    FG_BIND((int64_t)number), FG_BIND(place->started_ns), FG_BIND(place->series),
		    FG_BIND(fg_bytes_blob(packed)));
	fg_bytes_release(&content);
	return status;
}

/* Part 0 is written even if it is empty, to show that there is a profile. */
static int add_parts(struct part_rows *rows, const struct fg_totals_place *place, int64_t measure,
		     const struct fg_totals *totals, struct fg_error *err)
{
	const size_t count = totals->items ? totals->count : 0;
	uint64_t number = 0;
	size_t at = 0;
	int status = FG_OK;

	do {
		struct fg_totals part = *totals;

		part.items = totals->items ? totals->items + at : NULL;
		for (part.count = 0; at < count; at++, part.count++) {
			if (totals->items[at].id / rows->part_size != number)
				break;
		}
		status = add_part(rows, place, measure, number, &part, err);
		number = at < count ? totals->items[at].id / rows->part_size : 0;
	} while (at < count && status == FG_OK);
	return status;
}

static int put_measure(struct fg_store *store, const struct fg_totals_place *place,
		       const struct fg_profile_set *set, uint16_t measure, const int64_t *functions,
		       struct fg_error *err)
{
	struct part_rows rows = {.part_size = fg_totals_part_size(store)};
	struct fg_totals totals = {0};
	int64_t id = 0;
	int status = FG_OK;

	FG_TRY(fg_store_measure_id(store, fg_measure_at(&set->measures, measure), &id, err));
	from_set(&totals, set, measure, functions);
	rows.packed = fg_xcalloc(totals.count + 1, sizeof(*rows.packed));
	status = add_parts(&rows, place, id, &totals, err);
	if (status == FG_OK)
		status = fg_query_rows(store->db, FG_SQL_TOTALS_ADD, &rows.rows, NULL, err);
	for (size_t i = 0; i < rows.rows.count; i++)
		fg_bytes_release(&rows.packed[i]);
	free(rows.packed);
	fg_rows_release(&rows.rows);
	fg_totals_release(&totals);
	return status;
}

int fg_store_put_totals(struct fg_store *store, const struct fg_totals_place *place,
			const struct fg_profile_set *set, const int64_t *functions,
			struct fg_error *err)
{
	int status = FG_OK;

	for (size_t m = 0; m < fg_measure_count(&set->measures) && status == FG_OK; m++) {
		if (fg_profile_set_has(set, (uint16_t)m, 0))
			status = put_measure(store, place, set, (uint16_t)m, functions, err);
	}
	return status;
}
