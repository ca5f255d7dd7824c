// SPDX-License-Identifier: Apache-2.0
#include "store/serving/totals.h"

#include "model/measure.h"
#include "model/profile_set.h"
#include "store/bytes.h"

#include <math.h>

enum {
	ARMS = 2,
	PART_FUNCTIONS = 512,
	PART_MAX_BYTES = 64 + PART_FUNCTIONS * (1 + 2 * ARMS) * FG_VARINT_MAX_BYTES
};

static int by_id(const void *a, const void *b)
{
	const struct fg_function_total *x = a;
	const struct fg_function_total *y = b;

	return (x->id > y->id) - (x->id < y->id);
}

static bool is_used(const struct fg_function_total *item)
{
	return item->inclusive[0] > 0 || item->inclusive[1] > 0;
}

/*
 * A call tree, and what its nodes took themselves in all repetitions of either arm.  Sums of whole
 * nanoseconds are exact in whatever order they are made, so two stores that number their nodes
 * differently have the same totals.
 */
struct totals_source {
	const struct fg_profile_node *nodes; /* parents before children */
	size_t node_count;
	size_t function_count;
	const bool *recursive;       /* per node: its function stands above it already */
	const int64_t *function_ids; /* the store's */
	double (*self)[2];           /* per node and arm, none below 0 */
	uint32_t repetitions[2];
	double sum; /* over everything: what a sample stands for */
	double samples;
	enum fg_measure_fold fold;
	bool exact; /* kept in whole units, not in fractions of a sample */
};

/* Only what took time, by id. */
static void pack(struct fg_totals *totals, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		if (is_used(&totals->items[i]))
			totals->items[totals->count++] = totals->items[i];
	}
	if (totals->count)
		qsort(totals->items, totals->count, sizeof(*totals->items), by_id);
}

/* From the leaves up: when a node's turn comes, all that is below it is in its value. */
static void add_up(struct fg_totals *totals, const struct totals_source *source)
{
	double(*inclusive)[ARMS] = fg_xreallocarray(NULL, source->node_count, sizeof(*inclusive));

	memcpy(inclusive, source->self, source->node_count * sizeof(*inclusive));
	for (size_t n = source->node_count; n-- > 0;) {
		struct fg_function_total *item = &totals->items[source->nodes[n].function];
		double *above = inclusive[source->nodes[n].parent];

		for (int arm = 0; arm < ARMS; arm++) {
			const double mine = inclusive[n][arm];

			if (n > 0)
				above[arm] = fg_measure_join(source->fold, above[arm], mine);
			item->self[arm] = fg_measure_join(source->fold, item->self[arm],
							  source->self[n][arm]);
			if (!source->recursive[n])
				item->inclusive[arm] =
					fg_measure_join(source->fold, item->inclusive[arm], mine);
		}
	}
	free(inclusive);
}

static void divide(struct fg_totals *totals, const struct totals_source *source)
{
	for (int arm = 0; arm < ARMS; arm++) {
		totals->repetitions[arm] = source->repetitions[arm];
		for (size_t i = 0; i < totals->count && source->repetitions[arm]; i++) {
			totals->items[i].self[arm] /= source->repetitions[arm];
			totals->items[i].inclusive[arm] /= source->repetitions[arm];
		}
	}
}

static void from_tree(struct fg_totals *totals, const struct totals_source *source)
{
	*totals = (struct fg_totals){
		.items = fg_xcalloc(source->function_count, sizeof(*totals->items)),
		.unit = fg_totals_unit(source->sum, source->samples, source->exact)};
	for (size_t f = 0; f < source->function_count; f++)
		totals->items[f].id = (uint64_t)source->function_ids[f];
	add_up(totals, source);
	pack(totals, source->function_count);
	divide(totals, source);
}

void fg_totals_from_set(struct fg_totals *totals, const struct fg_profile_set *set,
			uint16_t measure, const int64_t *ids)
{
	const struct fg_measure *what = fg_measure_at(&set->measures, measure);
	bool *recursive = fg_profile_set_is_recursive(set);
	struct totals_source source = {.nodes = set->nodes,
				       .node_count = set->node_count,
				       .function_count = set->function_count,
				       .recursive = recursive,
				       .function_ids = ids,
				       .fold = what->fold,
				       .exact = what->exact};

	source.self = fg_xcalloc(set->node_count, sizeof(*source.self));
	for (size_t r = 0; r < set->row_count; r++) {
		const struct fg_profile_row *row = &set->rows[r];

		if (row->measure != measure)
			continue;
		source.repetitions[row->arm] += row->aside == 0;
		for (uint32_t i = 0; i < row->count; i++) {
			source.sum += row->values[i];
			source.samples += row->samples[i];
			if (row->aside == 0)
				source.self[row->nodes[i]][row->arm] += row->values[i];
		}
	}
	from_tree(totals, &source);
	free(source.self);
	free(recursive);
}

static uint64_t count_steps(double per_repetition, double steps_per_unit)
{
	/* An upload may claim any number; the difference of two must fit too. */
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

static void part_write(const struct fg_totals *totals, struct fg_bytes *bytes)
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

static void read_arm(struct fg_byte_reader *reader, struct fg_totals *t, int arm)
{
	const double step = t->unit / t->repetitions[arm];

	for (size_t i = 0; i < t->count; i++)
		t->items[i].self[arm] = (double)fg_read_varint(reader) * step;
	for (size_t i = 0; i < t->count; i++)
		t->items[i].inclusive[arm] =
			t->items[i].self[arm] + (double)fg_read_signed(reader) * step;
}

static void skip(struct fg_byte_reader *reader, size_t count)
{
	const uint8_t *at = reader->at;

	for (; count > 0 && at < reader->end; at++)
		count -= *at < 0x80;
	reader->at = at;
	reader->failed = reader->failed || count > 0;
}

/* Index of an id among the gaps, reading past all of them; `count`: not found. */
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

static int part_pick(struct fg_byte_reader *reader, uint64_t id, int arm, double *self,
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
	if (!count || !repetitions[arm])
		found[0] = found[1] = (double)NAN;
	*self = found[0];
	*inclusive = found[1];
	return FG_OK;
}

static int part_read(struct fg_byte_reader *reader, struct fg_totals *totals, struct fg_error *err)
{
	struct fg_totals t = {.unit = fg_read_double(reader)};
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
	if (reader->failed || !isfinite(t.unit) || t.unit <= 0) {
		fg_totals_release(&t);
		return damaged(err);
	}
	*totals = t;
	return FG_OK;
}

int fg_totals_write(const struct fg_totals *totals, struct fg_bytes *bytes, struct fg_error *err)
{
	struct fg_bytes blocks = {0};
	struct fg_bytes content = {0};
	uint64_t before = 0;
	size_t at = 0;
	int status = FG_OK;

	fg_bytes_varint(bytes, totals->count ? (totals->count - 1) / PART_FUNCTIONS + 1 : 1);
	do {
		struct fg_totals part = *totals;
		const size_t start = blocks.size;
		uint64_t last = before;

		part.count = fg_min_size(totals->count - at, PART_FUNCTIONS);
		if (part.count) {
			part.items += at;
			last = part.items[part.count - 1].id;
		}
		content.size = 0;
		part_write(&part, &content);
		status = fg_pack_bytes(&content, FG_PACK_LEVEL_QUICK, &blocks, err);
		fg_bytes_varint(bytes, last - before);
		fg_bytes_varint(bytes, blocks.size - start);
		before = last;
		at += PART_FUNCTIONS;
	} while (at < totals->count && status == FG_OK);
	fg_bytes_add(bytes, blocks.data, blocks.size);
	fg_bytes_release(&content);
	fg_bytes_release(&blocks);
	return status;
}

struct part {
	uint64_t last; /* function in it */
	const uint8_t *block;
	size_t size;
};

/* The parts, to be freed. */
static int list_parts(struct fg_byte_reader *reader, struct part **parts, size_t *count,
		      struct fg_error *err)
{
	const size_t found = fg_read_count(reader, 2);
	struct part *list = fg_xcalloc(found, sizeof(*list));
	uint64_t last = 0;

	for (size_t i = 0; i < found; i++) {
		last += fg_read_varint(reader);
		list[i].last = last;
		list[i].size = (size_t)fg_read_varint(reader);
	}
	for (size_t i = 0; i < found && !reader->failed; i++) {
		list[i].block = reader->at;
		reader->failed = list[i].size > (size_t)(reader->end - reader->at);
		if (!reader->failed)
			reader->at += list[i].size;
	}
	if (reader->failed || found == 0) {
		free(list);
		return damaged(err);
	}
	*parts = list;
	*count = found;
	return FG_OK;
}

static int open_part(const struct part *part, struct fg_bytes *content,
		     struct fg_byte_reader *reader, struct fg_error *err)
{
	const int status = fg_unpack(part->block, part->size, PART_MAX_BYTES, content, err);

	*reader = (struct fg_byte_reader){content->data, content->data + content->size, false};
	return status;
}

static void append(struct fg_totals *totals, size_t *capacity, const struct fg_totals *part)
{
	totals->unit = part->unit;
	memcpy(totals->repetitions, part->repetitions, sizeof(totals->repetitions));
	totals->items = fg_grow(totals->items, capacity, totals->count + part->count,
				sizeof(*totals->items));
	if (part->count)
		memcpy(totals->items + totals->count, part->items,
		       part->count * sizeof(*part->items));
	totals->count += part->count;
}

static int read_part(const struct part *from, struct fg_totals *all, size_t *capacity,
		     struct fg_error *err)
{
	struct fg_bytes content = {0};
	struct fg_byte_reader inner;
	struct fg_totals part = {0};
	int status = open_part(from, &content, &inner, err);

	if (status != FG_OK)
		goto out;
	status = part_read(&inner, &part, err);
	if (status != FG_OK)
		goto out;
	append(all, capacity, &part);
out:
	fg_totals_release(&part);
	fg_bytes_release(&content);
	return status;
}

int fg_totals_read(struct fg_byte_reader *reader, struct fg_totals *totals, struct fg_error *err)
{
	struct fg_totals all = {0};
	struct part *parts = NULL;
	size_t capacity = 0;
	size_t count = 0;
	int status = list_parts(reader, &parts, &count, err);

	for (size_t i = 0; i < count && status == FG_OK; i++)
		status = read_part(&parts[i], &all, &capacity, err);
	free(parts);
	if (status == FG_OK)
		*totals = all;
	else
		fg_totals_release(&all);
	return status;
}

int fg_totals_pick(struct fg_byte_reader *reader, uint64_t id, int arm, double *self,
		   double *inclusive, struct fg_error *err)
{
	struct part *parts = NULL;
	struct fg_bytes content = {0};
	struct fg_byte_reader inner;
	size_t count = 0;
	size_t i = 0;
	int status = list_parts(reader, &parts, &count, err);

	if (!parts)
		return status;
	while (i + 1 < count && parts[i].last < id)
		i++;
	status = open_part(&parts[i], &content, &inner, err);
	if (status == FG_OK)
		status = part_pick(&inner, id, arm, self, inclusive, err);
	fg_bytes_release(&content);
	free(parts);
	return status;
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
