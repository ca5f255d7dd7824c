// SPDX-License-Identifier: Apache-2.0
#include "store/matrix.h"

#include "base/sort.h"
#include "model/measure.h"
#include "model/profile_set.h"
#include "store/bytes.h"

#include <math.h>

enum {
	FRACTIONS = 32,
};

struct slot {
	uint64_t id;
	uint32_t node;
};

FG_ORDER_BY(by_id, struct slot, FG_UP(id))

/* Values beyond this range do not fit the encoding and become 0. */
static int64_t whole(double value)
{
	return fabs(value) < 0x1p62 ? llround(value) : 0;
}

static void head(struct fg_matrix_row *to, const struct fg_profile_row *from, bool exact)
{
	double sum = 0;
	uint64_t samples = 0;

	for (uint32_t i = 0; i < from->count; i++) {
		sum += from->values[i];
		samples += from->samples[i];
	}
	*to = (struct fg_matrix_row){
		.arm = from->arm,
		.pair = from->pair,
		.aside = from->aside,
		.total = whole(from->total),
		.lost = whole(from->lost),
		.truncated = whole(from->truncated),
		.unit = samples && !exact ? whole(sum / (double)samples) : 1,
	};
	if (to->unit < 1)
		to->unit = 1;
}

/* Allocates id_count ids and entry_count entries, and sets only starts[0]. */
static void allocate(struct fg_matrix *m)
{
	m->ids = fg_xreallocarray(NULL, m->id_count + 1, sizeof(*m->ids));
	m->starts = fg_xreallocarray(NULL, m->id_count + 1, sizeof(*m->starts));
	m->starts[0] = 0;
	m->entry_rows = fg_xreallocarray(NULL, m->entry_count + 1, sizeof(*m->entry_rows));
	m->samples = fg_xreallocarray(NULL, m->entry_count + 1, sizeof(*m->samples));
	m->self = fg_xreallocarray(NULL, m->entry_count + 1, sizeof(*m->self));
}

/* Lists the nodes with entries, sorted by id. */
static struct slot *used_nodes(const struct fg_profile_set *set, const uint32_t *counts,
			       const uint64_t *ids, size_t *used)
{
	struct slot *slots = fg_xcalloc(set->node_count, sizeof(*slots));

	*used = 0;
	for (size_t i = 0; i < set->node_count; i++) {
		if (counts[i])
			slots[(*used)++] = (struct slot){ids ? ids[i] : i, (uint32_t)i};
	}
	if (*used)
		qsort(slots, *used, sizeof(*slots), by_id);
	return slots;
}

void fg_matrix_from_set(struct fg_matrix *matrix, const struct fg_profile_set *set,
			uint16_t measure, size_t first, const uint64_t *ids)
{
	uint32_t *counts = fg_xcalloc(set->node_count, sizeof(*counts));
	size_t *next = fg_xcalloc(set->node_count, sizeof(*next));
	struct slot *slots = NULL;
	struct fg_matrix m = {0};
	const bool exact = fg_measure_at(&set->measures, measure)->exact;
	uint32_t row_index = 0;

	m.rows = fg_xcalloc(set->row_count - first, sizeof(*m.rows));
	for (size_t r = first; r < set->row_count; r++) {
		const struct fg_profile_row *row = &set->rows[r];

		if (row->measure != measure)
			continue;
		head(&m.rows[m.row_count++], row, exact);
		m.entry_count += row->count;
		for (uint32_t i = 0; i < row->count; i++)
			counts[row->nodes[i]]++;
	}
	slots = used_nodes(set, counts, ids, &m.id_count);
	allocate(&m);
	for (size_t i = 0; i < m.id_count; i++) {
		m.ids[i] = slots[i].id;
		m.starts[i + 1] = m.starts[i] + counts[slots[i].node];
		next[slots[i].node] = m.starts[i];
	}
	for (size_t r = first; r < set->row_count; r++) {
		const struct fg_profile_row *row = &set->rows[r];

		if (row->measure != measure)
			continue;
		for (uint32_t i = 0; i < row->count; i++) {
			const size_t at = next[row->nodes[i]]++;

			m.entry_rows[at] = row_index;
			m.samples[at] = row->samples[i];
			m.self[at] = row->values[i];
		}
		row_index++;
	}
	free(slots);
	free(next);
	free(counts);
	*matrix = m;
}

/* Returns the unit of each row as a double. The caller frees the array. */
static double *units_of(const struct fg_matrix *m)
{
	double *units = fg_xreallocarray(NULL, m->row_count + 1, sizeof(*units));

	for (size_t r = 0; r < m->row_count; r++)
		units[r] = (double)m->rows[r].unit;
	return units;
}

static int64_t fraction(double unit, uint32_t samples, double self)
{
	const double more = self - unit * samples;

	/* Usually the weight is samples × unit exactly, and there is nothing to round. */
	return more < 0 || more > 0 ? whole(round(more * FRACTIONS / unit)) : 0;
}

static void write_heads(const struct fg_matrix *m, struct fg_bytes *bytes)
{
	int64_t before = 0;

	fg_bytes_varint(bytes, m->row_count);
	for (size_t i = 0; i < m->row_count; i++)
		fg_bytes_varint(bytes, m->rows[i].arm);
	for (size_t i = 0; i < m->row_count; i++) {
		fg_bytes_signed(bytes, (int64_t)m->rows[i].pair - before);
		before = m->rows[i].pair;
	}
	for (size_t i = 0; i < m->row_count; i++)
		fg_bytes_varint(bytes, m->rows[i].aside);
	for (size_t i = 0; i < m->row_count; i++) {
		fg_bytes_signed(bytes, m->rows[i].total);
		fg_bytes_signed(bytes, m->rows[i].lost);
		fg_bytes_signed(bytes, m->rows[i].truncated);
		fg_bytes_varint(bytes, (uint64_t)m->rows[i].unit);
	}
	fg_bytes_varint(bytes, m->id_count);
	fg_bytes_varint(bytes, m->entry_count);
}

/* Writes the rows of the entries, as gaps within each node. */
static void write_entry_rows(const struct fg_matrix *m, struct fg_bytes *bytes)
{
	uint8_t *at = fg_bytes_reserve(bytes, m->entry_count * FG_VARINT_MAX_BYTES);

	for (size_t i = 0; i < m->id_count; i++) {
		uint32_t row = 0;

		for (size_t e = m->starts[i]; e < m->starts[i + 1]; e++) {
			at = fg_put_varint(at, m->entry_rows[e] - row);
			row = m->entry_rows[e];
		}
	}
	fg_bytes_end(bytes, at);
}

static void write_samples(const struct fg_matrix *m, struct fg_bytes *bytes)
{
	uint8_t *at = fg_bytes_reserve(bytes, m->entry_count * FG_VARINT_MAX_BYTES);

	for (size_t e = 0; e < m->entry_count; e++)
		at = fg_put_varint(at, m->samples[e]);
	fg_bytes_end(bytes, at);
}

static void write_ids(const struct fg_matrix *m, struct fg_bytes *bytes)
{
	uint8_t *at = fg_bytes_reserve(bytes, m->id_count * FG_VARINT_MAX_BYTES);
	uint64_t id = 0;

	for (size_t i = 0; i < m->id_count; i++) {
		at = fg_put_varint(at, m->ids[i] - id);
		id = m->ids[i];
	}
	fg_bytes_end(bytes, at);
	at = fg_bytes_reserve(bytes, m->id_count * FG_VARINT_MAX_BYTES);
	for (size_t i = 0; i < m->id_count; i++)
		at = fg_put_varint(at, m->starts[i + 1] - m->starts[i]);
	fg_bytes_end(bytes, at);
}

static void write_fractions(const struct fg_matrix *m, struct fg_bytes *bytes)
{
	uint8_t *at = fg_bytes_reserve(bytes, m->entry_count * FG_VARINT_MAX_BYTES);
	double *units = units_of(m);

	for (size_t e = 0; e < m->entry_count; e++)
		at = fg_put_varint(at, fg_zigzag(fraction(units[m->entry_rows[e]], m->samples[e],
							  m->self[e])));
	fg_bytes_end(bytes, at);
	free(units);
}

void fg_matrix_write(const struct fg_matrix *matrix, struct fg_bytes *bytes)
{
	write_heads(matrix, bytes);
	write_ids(matrix, bytes);
	write_entry_rows(matrix, bytes);
	write_samples(matrix, bytes);
	write_fractions(matrix, bytes);
}

static void read_rows(struct fg_byte_reader *reader, struct fg_matrix *m)
{
	enum {
		MIN_ROW_BYTES = 7
	};
	int64_t pair = 0;

	m->row_count = fg_read_count(reader, MIN_ROW_BYTES);
	m->rows = fg_xcalloc(m->row_count, sizeof(*m->rows));
	for (size_t i = 0; i < m->row_count; i++)
		m->rows[i].arm = (uint8_t)(fg_read_varint(reader) & 1);
	for (size_t i = 0; i < m->row_count; i++) {
		pair = (int64_t)((uint64_t)pair + (uint64_t)fg_read_signed(reader));
		m->rows[i].pair = (uint32_t)pair;
	}
	for (size_t i = 0; i < m->row_count; i++)
		m->rows[i].aside = (uint16_t)fg_read_varint(reader);
	for (size_t i = 0; i < m->row_count; i++) {
		uint64_t unit = 0;

		m->rows[i].total = fg_read_signed(reader);
		m->rows[i].lost = fg_read_signed(reader);
		m->rows[i].truncated = fg_read_signed(reader);
		unit = fg_read_varint(reader);
		if (unit < 1 || unit > INT64_MAX / 2)
			reader->failed = true;
		m->rows[i].unit = (int64_t)unit;
	}
}

/* Reads the entries of one node. Rows must be ascending and exist. */
static void read_entry_rows(struct fg_byte_reader *reader, struct fg_matrix *m, size_t id)
{
	uint32_t *rows = m->entry_rows + m->starts[id];
	const size_t count = m->starts[id + 1] - m->starts[id];
	uint64_t row = 0;

	fg_read_varints(reader, rows, count);
	for (size_t i = 0; i < count && !reader->failed; i++) {
		if (rows[i] == 0 && i > 0)
			reader->failed = true;
		row += rows[i];
		rows[i] = (uint32_t)row;
		if (row >= m->row_count)
			reader->failed = true;
	}
}

static void read_ids(struct fg_byte_reader *reader, uint64_t max_id, struct fg_matrix *m)
{
	uint64_t id = 0;

	for (size_t i = 0; i < m->id_count; i++) {
		const uint64_t gap = fg_read_varint(reader);

		if (gap > UINT64_MAX - id || (i > 0 && gap == 0) || (max_id && id + gap > max_id))
			reader->failed = true;
		id += gap;
		m->ids[i] = id;
	}
	for (size_t i = 0; i < m->id_count && !reader->failed; i++) {
		const uint64_t count = fg_read_varint(reader);

		if (count > m->entry_count - m->starts[i])
			reader->failed = true;
		else
			m->starts[i + 1] = m->starts[i] + (size_t)count;
	}
	if (!reader->failed && m->starts[m->id_count] != m->entry_count)
		reader->failed = true;
}

/* Reads the weights. Row numbers have already been checked. */
static void read_weights(struct fg_byte_reader *reader, struct fg_matrix *m)
{
	double *units = units_of(m);

	for (size_t e = 0; e < m->entry_count && !reader->failed; e++) {
		const double unit = units[m->entry_rows[e]];
		const double whole = unit * m->samples[e];
		int64_t fraction = 0;

		/* the fraction is nearly always 0 */
		if (reader->at < reader->end && *reader->at == 0)
			reader->at++;
		else
			fraction = fg_read_signed(reader);
		m->self[e] = fraction ? round(whole + (double)fraction * unit / FRACTIONS) : whole;
	}
	free(units);
}

static void read_entries(struct fg_byte_reader *reader, struct fg_matrix *m)
{
	for (size_t i = 0; i < m->id_count && !reader->failed; i++)
		read_entry_rows(reader, m, i);
	fg_read_varints(reader, m->samples, m->entry_count);
	if (!reader->failed)
		read_weights(reader, m);
}

int fg_matrix_read(struct fg_byte_reader *reader, uint64_t max_id, struct fg_matrix *matrix,
		   struct fg_error *err)
{
	struct fg_matrix m = {0};

	read_rows(reader, &m);
	m.id_count = fg_read_count(reader, 2);
	m.entry_count = fg_read_count(reader, 3);
	allocate(&m);
	if (!reader->failed)
		read_ids(reader, max_id, &m);
	if (!reader->failed)
		read_entries(reader, &m);
	if (reader->failed) {
		fg_matrix_release(&m);
		return fg_error_set(err, FG_EPARSE, "profile values are damaged or cut short");
	}
	*matrix = m;
	return FG_OK;
}

void fg_matrix_to_set(const struct fg_matrix *matrix, struct fg_profile_set *set, uint16_t measure,
		      const uint32_t *indexes)
{
	const size_t first = set->row_count;
	uint32_t *counts = fg_xcalloc(matrix->row_count, sizeof(*counts));

	for (size_t e = 0; e < matrix->entry_count; e++)
		counts[matrix->entry_rows[e]]++;
	for (size_t r = 0; r < matrix->row_count; r++) {
		const struct fg_matrix_row *from = &matrix->rows[r];
		struct fg_profile_row *row = fg_profile_set_add_row(set, counts[r]);

		row->measure = measure;
		row->arm = from->arm;
		row->pair = from->pair;
		row->aside = from->aside;
		row->total = (double)from->total;
		row->lost = (double)from->lost;
		row->truncated = (double)from->truncated;
		row->count = counts[r];
		counts[r] = 0;
	}
	for (size_t i = 0; i < matrix->id_count; i++) {
		for (size_t e = matrix->starts[i]; e < matrix->starts[i + 1]; e++) {
			struct fg_profile_row *row = &set->rows[first + matrix->entry_rows[e]];
			const uint32_t at = counts[matrix->entry_rows[e]]++;

			row->nodes[at] = indexes[i];
			row->samples[at] = matrix->samples[e];
			row->values[at] = matrix->self[e];
		}
	}
	free(counts);
}

void fg_matrix_release(struct fg_matrix *matrix)
{
	free(matrix->rows);
	free(matrix->ids);
	free(matrix->starts);
	free(matrix->entry_rows);
	free(matrix->samples);
	free(matrix->self);
	*matrix = (struct fg_matrix){0};
}
