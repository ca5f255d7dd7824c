// SPDX-License-Identifier: Apache-2.0
/* recode.c's result for an upload's weights, compared with the matrix of the same profile. */
#include "store/serving/recode.h"
#include "tests/support/fg_test.h"
#include "tests/unit/store/first_layout.h"
#include "tests/unit/store/samples.h"

#include <math.h>

enum {
	PATHS = 700,
	ROWS = 300,         /* more than one byte can say */
	ROW_SAMPLES = 2000, /* and so for the samples of the first paths */
	ASIDE = 7,          /* a repetition that does not count */
};

/* A profile, and the numbers of its paths in an upload and in a store. */
struct example {
	struct fg_profile_set set;
	uint64_t sent[PATHS];
	uint64_t stored[PATHS];
	/* By the number that was sent. */
	uint64_t renumbered[PATHS + 1];
	uint32_t in_order[PATHS + 1];
};

/* Every path is stored under a number unrelated to the one that is sent. */
static void number(struct example *x, struct fg_random *random)
{
	uint32_t order[PATHS];

	for (uint32_t i = 0; i < PATHS; i++)
		order[i] = i;
	for (uint32_t i = PATHS - 1; i > 0; i--) {
		const size_t other = fg_random_below(random, i + 1);
		const uint32_t swapped = order[i];

		order[i] = order[other];
		order[other] = swapped;
	}
	for (uint32_t i = 0; i < PATHS; i++) {
		x->sent[order[i]] = order[i] + 1;
		x->stored[order[i]] = 1000 + 3 * (uint64_t)i;
		x->renumbered[order[i] + 1] = x->stored[order[i]];
		x->in_order[i + 1] = order[i] + 1;
	}
}

/* `weigh`: samples of one row weigh differently, as they do where the clock is coarse. */
static void begin(struct example *x, bool weigh)
{
	struct fg_random random;

	*x = (struct example){0};
	fg_random_seed(&random, 5);
	fg_profile_set_init(&x->set, "program");
	while (x->set.node_count < PATHS) {
		char name[24];

		(void)snprintf(name, sizeof(name), "f%zu", x->set.node_count);
		(void)fg_profile_set_node(
			&x->set, 0,
			fg_profile_set_function(&x->set,
						&(struct fg_profile_function){.name = name}));
	}
	for (unsigned r = 0; r < ROWS; r++)
		fg_sample_row(&x->set, &random, (uint8_t)(r % 2), r / 2, ROW_SAMPLES);
	x->set.rows[ASIDE].aside = 1;
	for (unsigned r = 0; r < ROWS && weigh; r++) {
		for (uint32_t i = 0; i < x->set.rows[r].count; i++)
			x->set.rows[r].values[i] += (double)(i % 5) * 31250;
	}
	number(x, &random);
}

static void matrix_bytes(const struct example *x, const uint64_t *ids, struct fg_bytes *bytes)
{
	struct fg_matrix m = {0};

	fg_matrix_from_set(&m, &x->set, FG_MEASURE_CPU_TIME, 0, ids);
	fg_matrix_write(&m, bytes);
	fg_matrix_release(&m);
}

static struct fg_byte_reader reader_of(const struct fg_bytes *bytes)
{
	return (struct fg_byte_reader){bytes->data, bytes->data + bytes->size, false};
}

static const struct fg_renumbering *renumbering(const struct example *x, struct fg_renumbering *to)
{
	*to = (struct fg_renumbering){x->renumbered, x->in_order, PATHS + 1};
	return to;
}

/* fg_recoding_read() for those who do not look at the sums. */
static int read_some(struct fg_byte_reader *reader, uint64_t max_id, struct fg_recoding *r,
		     struct fg_error *err)
{
	static double self_ns[PATHS + 1][2];
	struct fg_recoding_sums sums = {.self = self_ns};

	return fg_recoding_read(reader, max_id, r, &sums, err);
}

static void check_bytes(bool weigh)
{
	struct example x;
	struct fg_renumbering to;
	struct fg_recoding r = {0};
	struct fg_bytes sent = {0};
	struct fg_bytes expected = {0};
	struct fg_bytes made = {0};
	struct fg_byte_reader reader;
	struct fg_error err = {0};

	begin(&x, weigh);
	matrix_bytes(&x, x.sent, &sent);
	matrix_bytes(&x, x.stored, &expected);
	reader = reader_of(&sent);
	assert_int_equal(read_some(&reader, PATHS, &r, &err), FG_OK);
	assert_ptr_equal(reader.at, reader.end);
	assert_int_equal(r.entries.self != NULL, weigh);
	fg_recoding_write(&r, renumbering(&x, &to), &made);
	assert_int_equal(made.size, expected.size);
	assert_memory_equal(made.data, expected.data, made.size);
	assert_int_equal(made.break_count, expected.break_count);
	assert_memory_equal(made.breaks, expected.breaks,
			    made.break_count * sizeof(made.breaks[0]));
	fg_recoding_release(&r);
	fg_bytes_release(&made);
	fg_bytes_release(&expected);
	fg_bytes_release(&sent);
	fg_profile_set_release(&x.set);
}

static void bytes_are_those_of_the_matrix_with_the_stores_numbers(void **state)
{
	(void)state;
	check_bytes(false);
}

static void weights_that_are_no_whole_samples_come_along(void **state)
{
	(void)state;
	check_bytes(true);
}

static void check_sums(bool weigh)
{
	double self_ns[PATHS + 1][2] = {{0}};
	double expected[PATHS + 1][2] = {{0}};
	struct example x;
	struct fg_recoding_sums sums = {.self = self_ns};
	struct fg_recoding r = {0};
	struct fg_matrix m = {0};
	struct fg_bytes sent = {0};
	struct fg_byte_reader reader;
	struct fg_error err = {0};
	double time_ns = 0;
	double samples = 0;

	begin(&x, weigh);
	matrix_bytes(&x, x.sent, &sent);
	reader = reader_of(&sent);
	assert_int_equal(fg_matrix_read(&reader, 0, &m, &err), FG_OK);
	for (size_t i = 0; i < m.id_count; i++) {
		for (size_t e = m.starts[i]; e < m.starts[i + 1]; e++) {
			const struct fg_matrix_row *row = &m.rows[m.entry_rows[e]];

			expected[m.ids[i]][row->arm] += row->aside ? 0 : m.self[e];
			time_ns += m.self[e];
			samples += m.samples[e];
		}
	}
	reader = reader_of(&sent);
	assert_int_equal(fg_recoding_read(&reader, PATHS, &r, &sums, &err), FG_OK);
	assert_memory_equal(self_ns, expected, sizeof(expected));
	assert_int_equal(sums.repetitions[0], ROWS / 2);
	assert_int_equal(sums.repetitions[1], ROWS / 2 - 1);
	assert_true(fabs(sums.sum - time_ns) < 1);
	assert_true(fabs(sums.samples - samples) < 1);
	fg_recoding_release(&r);
	fg_matrix_release(&m);
	fg_bytes_release(&sent);
	fg_profile_set_release(&x.set);
}

static void sums_leave_out_what_is_set_aside(void **state)
{
	(void)state;
	check_sums(false);
	check_sums(true);
}

enum {
	GAPS_AT = 17, /* in the first layout */
	COUNTS_AT = 19,
	ROWS_AT = 21,
};

static void the_first_layout_becomes_the_newest(void **state)
{
	static const uint64_t ids[] = {0, 0, 0, 9, 0, 4};
	static const uint32_t in_order[] = {0, 1, 2, 4, 5, 3};
	const struct fg_renumbering to = {ids, in_order, FG_ARRAY_SIZE(ids)};
	struct fg_byte_reader reader = {first_layout, first_layout + sizeof(first_layout), false};
	struct fg_recoding r = {0};
	struct fg_matrix m = {0};
	struct fg_bytes made = {0};
	struct fg_error err = {0};

	(void)state;
	assert_int_equal(read_some(&reader, 5, &r, &err), FG_OK);
	fg_recoding_write(&r, &to, &made);
	reader = reader_of(&made);
	assert_int_equal(made.data[0], 0);
	assert_int_equal(fg_matrix_read(&reader, 0, &m, &err), FG_OK);
	assert_int_equal(m.id_count, 2);
	assert_int_equal(m.ids[0], 4);
	assert_int_equal(m.ids[1], 9);
	assert_int_equal(m.starts[1], 1);
	assert_int_equal(m.entry_rows[0], 1);
	assert_int_equal(m.samples[2], 2);
	fg_matrix_release(&m);
	fg_recoding_release(&r);
	fg_bytes_release(&made);
}

static void what_is_cut_short_is_refused_wherever_it_is_cut(void **state)
{
	struct fg_error err = {0};

	(void)state;
	for (size_t size = 0; size < sizeof(first_layout); size++) {
		struct fg_byte_reader reader = {first_layout, first_layout + size, false};
		struct fg_recoding r = {0};

		assert_int_equal(read_some(&reader, 5, &r, &err), FG_EPARSE);
		assert_null(r.paths.ids);
	}
}

static void numbers_that_cannot_be_are_refused(void **state)
{
	static const struct {
		size_t at;
		uint8_t value;
		const char *why;
	} cases[] = {
		{GAPS_AT + 1, 0, "the same path twice"},
		{GAPS_AT + 1, 3, "a path that is not there"},
		{COUNTS_AT + 1, 0, "fewer entries than there are"},
		{COUNTS_AT + 1, 2, "more entries than there are"},
		{ROWS_AT, 1, "a row behind the last"},
		{ROWS_AT + 1, 0, "the same row twice"},
		{ROWS_AT + 2, 2, "a row behind the last"},
	};
	struct fg_error err = {0};

	(void)state;
	for (size_t i = 0; i < FG_ARRAY_SIZE(cases); i++) {
		uint8_t bytes[sizeof(first_layout)];
		struct fg_byte_reader reader = {bytes, bytes + sizeof(bytes), false};
		struct fg_recoding r = {0};

		memcpy(bytes, first_layout, sizeof(bytes));
		bytes[cases[i].at] = cases[i].value;
		if (read_some(&reader, 5, &r, &err) != FG_EPARSE)
			fail_msg("accepted: %s", cases[i].why);
	}
}

/* Changes a byte in `count` places, most of them early, where the heads and the ids are. */
static void damage(struct fg_bytes *bytes, struct fg_random *random, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		const size_t most = fg_random_below(random, 2) ? bytes->size : bytes->size / 100;

		bytes->data[fg_random_below(random, most)] = (uint8_t)fg_random_below(random, 256);
	}
}

/* Sums of a matrix whose numbers are few enough to be exact. */
static void compare_sums(const struct fg_matrix *m, double (*self_ns)[2])
{
	for (size_t i = 0; i < m->id_count; i++) {
		double expected[2] = {0};

		for (size_t e = m->starts[i]; e < m->starts[i + 1]; e++) {
			const struct fg_matrix_row *row = &m->rows[m->entry_rows[e]];

			expected[row->arm] += row->aside ? 0 : m->self[e];
		}
		for (int arm = 0; arm < 2; arm++)
			assert_true(fabs(self_ns[m->ids[i]][arm] - fmax(expected[arm], 0)) <=
				    1e-9 * fabs(expected[arm]));
	}
}

static void what_is_damaged_is_taken_as_the_matrix_takes_it(void **state)
{
	enum {
		TRIES = 300
	};
	struct example x;
	struct fg_bytes sent = {0};
	struct fg_random random;
	struct fg_error err = {0};
	size_t taken = 0;

	(void)state;
	begin(&x, false);
	x.set.row_count = 40;
	matrix_bytes(&x, x.sent, &sent);
	fg_random_seed(&random, 17);
	for (size_t i = 0; i < TRIES; i++) {
		double self_ns[PATHS + 1][2] = {{0}};
		struct fg_recoding_sums sums = {.self = self_ns};
		struct fg_bytes bytes = {0};
		struct fg_byte_reader readers[2];
		struct fg_recoding r = {0};
		struct fg_matrix m = {0};
		int status = FG_OK;

		fg_bytes_add(&bytes, sent.data, sent.size);
		damage(&bytes, &random, 1 + i % 2);
		readers[0] = readers[1] = reader_of(&bytes);
		status = fg_matrix_read(&readers[0], PATHS, &m, &err);
		assert_int_equal(fg_recoding_read(&readers[1], PATHS, &r, &sums, &err), status);
		if (status == FG_OK) {
			assert_ptr_equal(readers[0].at, readers[1].at);
			compare_sums(&m, self_ns);
			taken++;
		}
		fg_recoding_release(&r);
		fg_matrix_release(&m);
		fg_bytes_release(&bytes);
	}
	/* Otherwise this tells little. */
	assert_in_range(taken, TRIES / 20, TRIES - TRIES / 20);
	fg_bytes_release(&sent);
	fg_profile_set_release(&x.set);
}

/* The first row as `length` bytes that say 0. */
static int read_long_number(size_t length, struct fg_error *err)
{
	uint8_t bytes[sizeof(first_layout) + 16];
	struct fg_byte_reader reader = {bytes, bytes + sizeof(first_layout) + length - 1, false};
	struct fg_recoding r = {0};
	int status = FG_OK;

	memcpy(bytes, first_layout, ROWS_AT);
	memset(bytes + ROWS_AT, 0x80, length - 1);
	memcpy(bytes + ROWS_AT + length - 1, first_layout + ROWS_AT,
	       sizeof(first_layout) - ROWS_AT);
	status = read_some(&reader, 5, &r, err);
	fg_recoding_release(&r);
	return status;
}

static void a_number_has_at_most_ten_bytes(void **state)
{
	struct fg_error err = {0};

	(void)state;
	assert_int_equal(read_long_number(2, &err), FG_OK);
	assert_int_equal(read_long_number(10, &err), FG_OK);
	assert_int_equal(read_long_number(11, &err), FG_EPARSE);
}

/* What is stored is in their order. */
static void classes_are_those_of_the_layout(void **state)
{
	static const struct {
		size_t entries;
		unsigned class;
	} cases[] = {{0, 0},
		     {1, 1},
		     {7, 7},
		     {8, 8},
		     {11, 8},
		     {12, 9},
		     {15, 9},
		     {16, 10},
		     {23, 10},
		     {24, 11},
		     {31, 11},
		     {32, 12},
		     {40, 12},
		     {48, 13},
		     {64, 14},
		     {96, 15},
		     {(size_t)5 << 19, 44},
		     {SIZE_MAX, 47}};

	(void)state;
	for (size_t i = 0; i < FG_ARRAY_SIZE(cases); i++)
		assert_int_equal(fg_class_of(cases[i].entries), cases[i].class);
}

static void paths_stand_by_class_and_else_as_they_came(void **state)
{
	enum {
		MOST = 70
	};
	struct fg_random random;

	(void)state;
	fg_random_seed(&random, 3);
	for (size_t count = 0; count <= MOST; count++) {
		uint8_t classes[MOST];
		uint32_t order[MOST];
		bool seen[MOST] = {false};

		for (size_t i = 0; i < count; i++)
			classes[i] = (uint8_t)fg_random_below(&random, count % 2 ? 3 : FG_CLASSES);
		fg_in_classes(classes, count, order);
		for (size_t i = 0; i < count; i++) {
			assert_true(order[i] < count && !seen[order[i]]);
			seen[order[i]] = true;
			if (i == 0)
				continue;
			assert_true(classes[order[i]] >= classes[order[i - 1]]);
			if (classes[order[i]] == classes[order[i - 1]])
				assert_true(order[i] > order[i - 1]);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bytes_are_those_of_the_matrix_with_the_stores_numbers),
		cmocka_unit_test(weights_that_are_no_whole_samples_come_along),
		cmocka_unit_test(sums_leave_out_what_is_set_aside),
		cmocka_unit_test(the_first_layout_becomes_the_newest),
		cmocka_unit_test(what_is_cut_short_is_refused_wherever_it_is_cut),
		cmocka_unit_test(numbers_that_cannot_be_are_refused),
		cmocka_unit_test(what_is_damaged_is_taken_as_the_matrix_takes_it),
		cmocka_unit_test(a_number_has_at_most_ten_bytes),
		cmocka_unit_test(classes_are_those_of_the_layout),
		cmocka_unit_test(paths_stand_by_class_and_else_as_they_came),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
