// SPDX-License-Identifier: Apache-2.0
/*
 * A mispredicted branch at the end of a short loop costs more than the loop itself, and there is
 * such a loop for each of ten thousand paths, several times. So every pass goes through the entries
 * in storage order: paths with the same number of entries follow each other, and their loops end at
 * the same count.
 */
#include "store/serving/recode.h"

#include "store/bytes.h"
#include "store/matrix.h"
#include "store/matrix_layout.h"

#include <math.h>

static void *array(size_t count, size_t size)
{
	return fg_xreallocarray(NULL, count + 1, size);
}

static void allocate(struct fg_recoding *r)
{
	const size_t ids = r->heads.id_count;

	r->paths.ids = array(ids, sizeof(*r->paths.ids));
	r->paths.counts = array(ids, sizeof(*r->paths.counts));
	r->paths.classes = array(ids, sizeof(*r->paths.classes));
	r->paths.order = array(ids, sizeof(*r->paths.order));
	r->segments.rows = array(ids, sizeof(*r->segments.rows));
	r->segments.samples = array(ids, sizeof(*r->segments.samples));
}

/* Read a number at `at` and advance; one that does not fit becomes UINT32_MAX. */
static inline uint32_t take(struct fg_byte_reader *reader, const uint8_t **at)
{
	uint64_t value = 0;

	if (*at < reader->end && **at < 0x80)
		return *(*at)++;
	reader->at = *at;
	value = fg_read_long_varint(reader);
	*at = reader->at;
	return value < UINT32_MAX ? (uint32_t)value : UINT32_MAX;
}

static void read_ids(struct fg_byte_reader *reader, uint64_t max_id, struct fg_recoding *r)
{
	const uint8_t *at = reader->at;
	size_t left = r->heads.entry_count;
	uint64_t id = 0;
	bool good = true;

	for (size_t i = 0; i < r->heads.id_count && good; i++) {
		const uint32_t gap = take(reader, &at);

		good = gap <= max_id - id && (gap > 0 || i == 0);
		id += gap;
		r->paths.ids[i] = id;
	}
	for (size_t i = 0; i < r->heads.id_count && good; i++) {
		const uint32_t count = take(reader, &at);

		good = count <= left;
		left -= count;
		r->paths.counts[i] = count;
		r->paths.classes[i] = fg_class_of(count);
	}
	reader->at = at;
	if (!good || left)
		reader->failed = true;
	if (reader->failed)
		return;
	if (r->heads.has_classes) {
		fg_in_classes(r->paths.classes, r->heads.id_count, r->paths.order);
		return;
	}
	for (size_t i = 0; i < r->heads.id_count; i++)
		r->paths.order[i] = (uint32_t)i;
}

static struct fg_segment segment(const struct fg_recoding *r, const uint8_t *from,
				 const uint8_t *to)
{
	return (struct fg_segment){(uint32_t)(from - r->source.bytes), (uint32_t)(to - from)};
}

/* Row numbers of one path must ascend and exist. */
static void read_entry_rows(struct fg_byte_reader *reader, struct fg_recoding *r)
{
	const uint8_t *at = reader->at;
	uint32_t *to = r->entries.rows;
	bool good = true;

	for (size_t k = 0; k < r->heads.id_count && good && !reader->failed; k++) {
		const uint32_t place = r->paths.order[k];
		const uint32_t count = r->paths.counts[place];
		const uint8_t *from = at;
		uint64_t row = 0;

		for (uint32_t e = 0; e < count; e++) {
			const uint32_t gap = take(reader, &at);

			good = good && (gap > 0 || e == 0);
			row += gap;
			*to++ = (uint32_t)row;
		}
		/* They ascend: if the last exists, all do. */
		good = good && (count == 0 || row < r->heads.row_count);
		r->segments.rows[place] = segment(r, from, at);
	}
	reader->at = at;
	if (!good)
		reader->failed = true;
}

static void read_samples(struct fg_byte_reader *reader, struct fg_recoding *r)
{
	const uint8_t *at = reader->at;
	uint32_t *to = r->entries.samples;

	for (size_t k = 0; k < r->heads.id_count && !reader->failed; k++) {
		const uint32_t place = r->paths.order[k];
		const uint32_t count = r->paths.counts[place];
		const uint8_t *from = at;

		for (uint32_t e = 0; e < count; e++)
			*to++ = take(reader, &at);
		r->segments.samples[place] = segment(r, from, at);
	}
	reader->at = at;
}

static bool are_zeros(const uint8_t *bytes, size_t size)
{
	return size == 0 || (bytes[0] == 0 && memcmp(bytes, bytes + 1, size - 1) == 0);
}

/* Where the entries of each id start. */
static uint32_t *find_starts(const struct fg_recoding *r)
{
	uint32_t *starts = array(r->heads.id_count, sizeof(*starts));
	uint32_t at = 0;

	for (size_t k = 0; k < r->heads.id_count; k++) {
		starts[r->paths.order[k]] = at;
		at += r->paths.counts[r->paths.order[k]];
	}
	return starts;
}

/* Fractions (weight − samples × unit) are in the order of the ids. */
static void read_fractions(struct fg_byte_reader *reader, struct fg_recoding *r)
{
	uint32_t *starts = NULL;

	if (r->heads.entry_count <= (size_t)(reader->end - reader->at) &&
	    are_zeros(reader->at, r->heads.entry_count)) {
		reader->at += r->heads.entry_count;
		return;
	}
	starts = find_starts(r);
	r->entries.self = array(r->heads.entry_count, sizeof(*r->entries.self));
	r->segments.fractions = array(r->heads.id_count, sizeof(*r->segments.fractions));
	for (size_t i = 0; i < r->heads.id_count && !reader->failed; i++) {
		const uint8_t *from = reader->at;

		for (uint32_t e = starts[i]; e < starts[i] + r->paths.counts[i]; e++)
			r->entries.self[e] =
				fg_matrix_weight(&r->heads.rows[r->entries.rows[e]],
						 r->entries.samples[e], fg_read_signed(reader));
		r->segments.fractions[i] = segment(r, from, reader->at);
	}
	free(starts);
}

/* What a sample of a row weighs, and which sum it belongs to. */
struct share {
	double unit;
	double of[2];
};

static struct share *make_shares(const struct fg_recoding *r, struct fg_recoding_sums *sums)
{
	struct share *shares = fg_xcalloc(r->heads.row_count, sizeof(*shares));

	for (size_t i = 0; i < r->heads.row_count; i++) {
		const struct fg_matrix_row *row = &r->heads.rows[i];

		shares[i].unit = (double)row->unit;
		if (row->aside)
			continue;
		shares[i].of[row->arm] = 1;
		sums->repetitions[row->arm]++;
	}
	return shares;
}

static void add_up(const struct fg_recoding *r, const struct share *shares,
		   struct fg_recoding_sums *sums)
{
	uint64_t samples = 0;
	size_t e = 0;

	for (size_t k = 0; k < r->heads.id_count; k++) {
		const uint32_t place = r->paths.order[k];
		const size_t end = e + r->paths.counts[place];
		double *to = sums->self[r->paths.ids[place]];
		double all = 0;
		double of[2] = {0};

		for (; e < end; e++) {
			const struct share *share = &shares[r->entries.rows[e]];
			const double weight = r->entries.self ? r->entries.self[e]
							      : share->unit * r->entries.samples[e];

			all += weight;
			of[0] += weight * share->of[0];
			of[1] += weight * share->of[1];
			samples += r->entries.samples[e];
		}
		to[0] = of[0] > 0 ? of[0] : 0;
		to[1] = of[1] > 0 ? of[1] : 0;
		sums->sum += all;
	}
	sums->samples = (double)samples;
}

/* Whatever they weigh. */
static void read_entries(struct fg_byte_reader *reader, struct fg_recoding *r,
			 const struct share *shares, struct fg_recoding_sums *sums)
{
	r->entries.rows = array(r->heads.entry_count, sizeof(*r->entries.rows));
	r->entries.samples = array(r->heads.entry_count, sizeof(*r->entries.samples));
	read_entry_rows(reader, r);
	if (!reader->failed)
		read_samples(reader, r);
	if (!reader->failed)
		read_fractions(reader, r);
	if (!reader->failed)
		add_up(r, shares, sums);
}

/* Behind this many numbers; NULL: there are fewer. */
static const uint8_t *skip(const uint8_t *at, const uint8_t *end, size_t count)
{
	static const uint64_t ones = UINT64_C(0x0101010101010101);

	while (count >= sizeof(ones) && (size_t)(end - at) >= sizeof(ones)) {
		uint64_t word = 0;

		memcpy(&word, at, sizeof(word));
		/* Each byte below 0x80 ends a number. */
		count -= (size_t)(((~word >> 7 & ones) * ones) >> 56);
		at += sizeof(word);
	}
	for (; count > 0 && at < end; at++)
		count -= *at < 0x80;
	return count ? NULL : at;
}

/* Both streams of entries, where no weight is anything but samples × unit. */
struct streams {
	const uint8_t *rows;
	const uint8_t *samples;
	const uint8_t *fractions;
};

static bool find_streams(const struct fg_byte_reader *reader, size_t entries, struct streams *s)
{
	s->rows = reader->at;
	s->samples = skip(s->rows, reader->end, entries);
	s->fractions = s->samples ? skip(s->samples, reader->end, entries) : NULL;
	return s->fractions && entries <= (size_t)(reader->end - s->fractions) &&
	       are_zeros(s->fractions, entries);
}

/*
 * As take(), where it is known that the number ends.  A call to another function, however rare,
 * would keep the sums of the loop around it out of registers.
 */
static inline uint32_t take_whole(const uint8_t **at, bool *good)
{
	uint64_t value = *(*at)++;
	uint8_t byte = (uint8_t)value;

	if (byte < 0x80)
		return byte;
	value &= 0x7f;
	for (unsigned shift = 7; byte >= 0x80; shift += 7) {
		byte = *(*at)++;
		if (shift < 64)
			value |= (uint64_t)(byte & 0x7f) << shift;
		else
			*good = false;
	}
	return value < UINT32_MAX ? (uint32_t)value : UINT32_MAX;
}

typedef double pair __attribute__((vector_size(2 * sizeof(double))));

/* What is added up from both streams, row by row. */
struct tally {
	pair *weights; /* of a sample, in either arm; beyond the last row: 0 */
	uint64_t *samples;
	size_t row_count;
};

static struct tally make_tally(const struct fg_recoding *r, const struct share *shares)
{
	struct tally t = {.row_count = r->heads.row_count};

	t.weights = fg_xcalloc(t.row_count + 1, sizeof(*t.weights));
	t.samples = fg_xcalloc(t.row_count + 1, sizeof(*t.samples));
	for (size_t i = 0; i < t.row_count; i++)
		t.weights[i] =
			(pair){shares[i].unit * shares[i].of[0], shares[i].unit * shares[i].of[1]};
	return t;
}

static void finish_tally(struct tally *t, const struct share *shares, struct fg_recoding_sums *sums)
{
	uint64_t samples = 0;

	for (size_t i = 0; i < t->row_count; i++) {
		sums->sum += shares[i].unit * (double)t->samples[i];
		samples += t->samples[i];
	}
	sums->samples = (double)samples;
	free(t->weights);
	free(t->samples);
}

/* Adds up one path, and advances beyond it.  False: its rows do not ascend, or do not exist. */
static inline bool read_path(struct streams *s, uint32_t count, const struct tally *t,
			     double sum[2])
{
	const uint8_t *rows = s->rows;
	const uint8_t *samples = s->samples;
	size_t row = 0;
	pair all = {0};
	bool good = true;

	for (uint32_t e = 0; e < count; e++) {
		const uint32_t gap = take_whole(&rows, &good);
		const uint32_t taken = take_whole(&samples, &good);

		good = good & (gap > 0 || e == 0);
		row = fg_min_size(row + gap, t->row_count);
		all += (double)taken * t->weights[row];
		t->samples[row] += taken;
	}
	s->rows = rows;
	s->samples = samples;
	memcpy(sum, &all, sizeof(all));
	return good && (count == 0 || row < t->row_count);
}

/* As read_entries(), from both streams at once: nothing needs to be kept of the entries. */
static bool read_streams(struct streams *s, struct fg_recoding *r, const struct share *shares,
			 struct fg_recoding_sums *sums)
{
	struct tally tally = make_tally(r, shares);
	bool good = true;

	for (size_t k = 0; k < r->heads.id_count; k++) {
		const uint32_t place = r->paths.order[k];
		const struct streams from = *s;

		good = read_path(s, r->paths.counts[place], &tally,
				 sums->self[r->paths.ids[place]]) &&
		       good;
		r->segments.rows[place] = segment(r, from.rows, s->rows);
		r->segments.samples[place] = segment(r, from.samples, s->samples);
	}
	finish_tally(&tally, shares, sums);
	return good;
}

static void read_values(struct fg_byte_reader *reader, struct fg_recoding *r,
			struct fg_recoding_sums *sums)
{
	struct share *shares = make_shares(r, sums);
	struct streams streams;

	if (find_streams(reader, r->heads.entry_count, &streams)) {
		reader->failed = !read_streams(&streams, r, shares, sums);
		reader->at = streams.fractions + r->heads.entry_count;
	} else {
		read_entries(reader, r, shares, sums);
	}
	free(shares);
}

int fg_recoding_read(struct fg_byte_reader *reader, uint64_t max_id, struct fg_recoding *recoding,
		     struct fg_recoding_sums *sums, struct fg_error *err)
{
	struct fg_recoding r = {
		.source = {.bytes = reader->at, .size = (size_t)(reader->end - reader->at)},
	};

	/* Segment offsets have 32 bits. */
	if (r.source.size > UINT32_MAX)
		reader->failed = true;
	fg_matrix_read_heads(reader, &r.heads);
	allocate(&r);
	if (!reader->failed)
		read_ids(reader, max_id, &r);
	if (!reader->failed)
		read_values(reader, &r, sums);
	if (reader->failed) {
		fg_recoding_release(&r);
		return fg_error_set(err, FG_EPARSE, "profile values are damaged or cut short");
	}
	*recoding = r;
	return FG_OK;
}

/* Places of the ids, in the order of what they become. */
static uint32_t *new_order(const struct fg_recoding *r, const struct fg_renumbering *to)
{
	uint32_t *places = fg_xcalloc(to->count, sizeof(*places));
	uint32_t *order = array(r->heads.id_count, sizeof(*order));
	size_t count = 0;

	for (size_t i = 0; i < r->heads.id_count; i++)
		places[r->paths.ids[i]] = (uint32_t)i + 1;
	/*
	 * Branching on whether a path is present would mispredict: write every place, and overwrite
	 * absent ones.
	 */
	for (size_t i = 0; i < to->count; i++) {
		const uint32_t place = places[to->in_order[i]];

		order[count] = place - 1;
		count += place != 0;
	}
	free(places);
	return order;
}

static void write_ids(const struct fg_recoding *r, const struct fg_renumbering *to,
		      const uint32_t *order, struct fg_bytes *bytes)
{
	uint8_t *at = fg_bytes_reserve(bytes, r->heads.id_count * FG_VARINT_MAX_BYTES);
	uint64_t id = 0;

	for (size_t i = 0; i < r->heads.id_count; i++) {
		const uint64_t next = to->ids[r->paths.ids[order[i]]];

		at = fg_put_varint(at, next - id);
		id = next;
	}
	fg_bytes_end(bytes, at);
	fg_bytes_break(bytes);
}

static void write_counts(const struct fg_recoding *r, const uint32_t *order, struct fg_bytes *bytes)
{
	uint8_t *at = fg_bytes_reserve(bytes, r->heads.id_count * FG_VARINT_MAX_BYTES);

	for (size_t i = 0; i < r->heads.id_count; i++)
		at = fg_put_varint(at, r->paths.counts[order[i]]);
	fg_bytes_end(bytes, at);
	fg_bytes_break(bytes);
}

enum {
	STRIDE = 16 /* what is copied at once: more than most segments have */
};

/* There is room for STRIDE bytes more than the segments have. */
static uint8_t *copy(uint8_t *to, const uint8_t *from, size_t size, const uint8_t *end)
{
	if (size <= STRIDE && (size_t)(end - from) >= STRIDE)
		memcpy(to, from, STRIDE);
	else
		memcpy(to, from, size);
	return to + size;
}

static size_t all_bytes(const struct fg_segment *segments, size_t count)
{
	size_t size = 0;

	for (size_t i = 0; i < count; i++)
		size += segments[i].size;
	return size;
}

/* The segment of each place; `in_classes`: those of each class are packed by themselves. */
static void write_segments(const struct fg_recoding *r, const uint32_t *places,
			   const struct fg_segment *segments, bool in_classes,
			   struct fg_bytes *bytes)
{
	const size_t size = all_bytes(segments, r->heads.id_count);
	const uint8_t *end = r->source.bytes + r->source.size;
	uint8_t *at = fg_bytes_reserve(bytes, size + STRIDE);
	const uint8_t *begin = at;
	unsigned class = 0;

	for (size_t i = 0; i < r->heads.id_count; i++) {
		const uint32_t place = places[i];
		const unsigned mine = in_classes ? r->paths.classes[place] : 0;

		if (mine != class && at - begin >= FG_BREAK_MIN) {
			fg_bytes_end(bytes, at);
			fg_bytes_break(bytes);
			begin = at;
		}
		class = mine;
		at = copy(at, r->source.bytes + segments[place].at, segments[place].size, end);
	}
	fg_bytes_end(bytes, at);
}

static void write_fractions(const struct fg_recoding *r, const uint32_t *order,
			    struct fg_bytes *bytes)
{
	if (r->segments.fractions) {
		write_segments(r, order, r->segments.fractions, false, bytes);
		return;
	}
	memset(fg_bytes_reserve(bytes, r->heads.entry_count), 0, r->heads.entry_count);
	bytes->size += r->heads.entry_count;
}

void fg_recoding_write(const struct fg_recoding *recoding, const struct fg_renumbering *to,
		       struct fg_bytes *bytes)
{
	const struct fg_recoding *r = recoding;
	const size_t count = r->heads.id_count;
	uint32_t *order = new_order(r, to);
	uint8_t *classes = array(count, sizeof(*classes));
	uint32_t *places = array(count, sizeof(*places));

	for (size_t i = 0; i < count; i++)
		classes[i] = r->paths.classes[order[i]];
	fg_in_classes(classes, count, places);
	for (size_t i = 0; i < count; i++)
		places[i] = order[places[i]];
	fg_matrix_write_heads(&r->heads, bytes);
	write_ids(r, to, order, bytes);
	write_counts(r, order, bytes);
	write_segments(r, places, r->segments.rows, true, bytes);
	fg_bytes_break(bytes);
	write_segments(r, places, r->segments.samples, true, bytes);
	fg_bytes_break(bytes);
	write_fractions(r, order, bytes);
	free(places);
	free(classes);
	free(order);
}

void fg_recoding_release(struct fg_recoding *recoding)
{
	free(recoding->heads.rows);
	free(recoding->paths.ids);
	free(recoding->paths.counts);
	free(recoding->paths.classes);
	free(recoding->paths.order);
	free(recoding->entries.rows);
	free(recoding->entries.samples);
	free(recoding->entries.self);
	free(recoding->segments.rows);
	free(recoding->segments.samples);
	free(recoding->segments.fractions);
	*recoding = (struct fg_recoding){0};
}
