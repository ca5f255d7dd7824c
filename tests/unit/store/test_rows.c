// SPDX-License-Identifier: Apache-2.0
/*
 * Many rows in one query: the arrays that PostgreSQL gets, and the same result in SQLite row by
 * row.
 */
#include "store/postgres_rows.h"
#include "tests/support/fg_test.h"
#include "tests/support/scratch.h"

#include <math.h>

static const int64_t numbers[] = {1, -2};
static const double doubles[] = {0.5, (double)NAN};
static const char *const texts[] = {"a\xff", NULL};
static const struct fg_blob blobs[] = {{"\0x", 2}, {NULL, 0}};

static void same_text(const char *text, const struct fg_rows *rows, const char *wanted)
{
	char *made = fg_postgres_rows_text(text, rows);

	assert_string_equal(made, wanted);
	free(made);
}

static void statement_for_one_row_becomes_one_for_many(void **state)
{
	const struct fg_rows two = {.columns = {{.numbers = numbers}, {.texts = texts}},
				    .column_count = 2};
	const struct fg_rows four = {.columns = {{.numbers = numbers},
						 {.doubles = doubles},
						 {.texts = texts},
						 {.blobs = blobs}},
				     .column_count = 4};

	(void)state;
	same_text("INSERT INTO t (x, y) VALUES ($1, $2) ON CONFLICT DO NOTHING", &two,
		  "INSERT INTO t (x, y) SELECT r.c1, r.c2 FROM unnest($1::BIGINT[], $2::TEXT[]) "
		  "AS r (c1, c2) ON CONFLICT DO NOTHING");
	same_text("INSERT INTO t (x, y) VALUES ($1, $2) RETURNING id", &two,
		  "INSERT INTO t (x, y) SELECT r.c1, r.c2 FROM unnest($1::BIGINT[], $2::TEXT[]) "
		  "WITH ORDINALITY AS r (c1, c2, n) ORDER BY r.n RETURNING id");
	same_text("SELECT id FROM t WHERE y = $2 AND x = $1", &two,
		  "SELECT (SELECT id FROM t WHERE y = r.c2 AND x = r.c1) "
		  "FROM unnest($1::BIGINT[], $2::TEXT[]) "
		  "WITH ORDINALITY AS r (c1, c2, n) ORDER BY r.n");
	same_text("INSERT INTO t VALUES ($1, $2, $3, $4)", &four,
		  "INSERT INTO t SELECT r.c1, r.c2, r.c3, r.c4 "
		  "FROM unnest($1::BIGINT[], $2::DOUBLE PRECISION[], $3::TEXT[], $4::BYTEA[]) "
		  "AS r (c1, c2, c3, c4)");
}

static void same_array(const struct fg_column *column, size_t first, size_t count,
		       const void *wanted, size_t size)
{
	struct fg_bytes array = {0};

	fg_postgres_array(column, first, count, &array);
	assert_int_equal(array.size, size);
	assert_memory_equal(array.data, wanted, size);
	fg_bytes_release(&array);
}

/*
 * Dimension, flag, type, count, lower bound; then the length and bytes of each item, big-endian; no
 * value: -1.
 */
static void arrays_are_what_postgresql_reads(void **state)
{
	static const char whole[] = "\0\0\0\1\0\0\0\1\0\0\0\24\0\0\0\2\0\0\0\1"
				    "\0\0\0\10\0\0\0\0\0\0\0\1"
				    "\0\0\0\10\377\377\377\377\377\377\377\376";
	static const char real[] = "\0\0\0\1\0\0\0\1\0\0\2\275\0\0\0\2\0\0\0\1"
				   "\0\0\0\10\77\340\0\0\0\0\0\0"
				   "\377\377\377\377";
	static const char words[] = "\0\0\0\1\0\0\0\1\0\0\0\31\0\0\0\2\0\0\0\1"
				    "\0\0\0\4a\357\277\275"
				    "\377\377\377\377";
	static const char raw[] = "\0\0\0\1\0\0\0\1\0\0\0\21\0\0\0\1\0\0\0\1"
				  "\0\0\0\2\0x";
	static const char second[] = "\0\0\0\1\0\0\0\1\0\0\0\21\0\0\0\1\0\0\0\1"
				     "\0\0\0\0";

	(void)state;
	same_array(&(struct fg_column){.numbers = numbers}, 0, 2, whole, sizeof(whole) - 1);
	same_array(&(struct fg_column){.doubles = doubles}, 0, 2, real, sizeof(real) - 1);
	same_array(&(struct fg_column){.texts = texts}, 0, 2, words, sizeof(words) - 1);
	same_array(&(struct fg_column){.blobs = blobs}, 0, 1, raw, sizeof(raw) - 1);
	same_array(&(struct fg_column){.blobs = blobs}, 1, 1, second, sizeof(second) - 1);
}

static void sqlite_finds_what_was_put_there(void **state)
{
	struct fg_scratch scratch;
	struct fg_db *db = NULL;
	struct fg_error err = {0};
	const struct fg_blob digests[] = {{"a", 1}, {"b", 1}, {"c", 1}};
	int64_t ids[] = {0, 0};
	int64_t found[] = {-1, -1, -1};
	int64_t first = 0;
	const char *texts[] = {"key", "value"};
	struct fg_rows put = {.columns = {{.numbers = ids},
					  {.blobs = digests},
					  {.texts = texts},
					  {.texts = texts},
					  {.numbers = ids}},
			      .column_count = 5,
			      .count = 2};
	const struct fg_rows asked = {
		.columns = {{.blobs = digests}}, .column_count = 1, .count = 3};

	(void)state;
	fg_scratch_init(&scratch);
	assert_int_equal(fg_db_open(fg_scratch_path(&scratch, "a.db"), 0, &db, &err), FG_OK);
	assert_int_equal(
		fg_db_script(db,
			     "CREATE TABLE fact (id BIGINT, digest BLOB PRIMARY KEY, key TEXT, "
			     "value TEXT, identity BIGINT); "
			     "CREATE TABLE function (id BIGINT); INSERT INTO function VALUES (40)",
			     &err),
		FG_OK);
	assert_int_equal(fg_db_begin(db, FG_DB_WRITES, &err), FG_OK);
	assert_int_equal(fg_db_next_id(db, FG_SQL_FUNCTION_LAST, &first, &err), FG_OK);
	assert_int_equal(first, 41);
	ids[0] = first;
	ids[1] = first + 1;
	assert_int_equal(fg_query_rows(db, FG_SQL_FACT_ADD, &put, NULL, &err), FG_OK);
	assert_int_equal(fg_query_rows(db, FG_SQL_FACT_FIND, &asked, found, &err), FG_OK);
	assert_int_equal(found[0], 41);
	assert_int_equal(found[1], 42);
	assert_int_equal(found[2], 0);
	/* The second row exists already, and this is reported. */
	assert_true(fg_query_rows(db, FG_SQL_FACT_ADD, &put, NULL, &err) < 0);
	fg_db_close(db);
	fg_scratch_release(&scratch);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(statement_for_one_row_becomes_one_for_many),
		cmocka_unit_test(arrays_are_what_postgresql_reads),
		cmocka_unit_test(sqlite_finds_what_was_put_there),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
