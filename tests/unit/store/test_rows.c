// SPDX-License-Identifier: Apache-2.0
/*
 * Many rows in one query: the arrays that PostgreSQL gets, and the same result in SQLite row by
 * row.
 */
#include "store/postgres_rows.h"
#include "tests/support/fg_test.h"
#include "tests/support/scratch.h"

#include <math.h>

static void make_rows(struct fg_rows *rows)
{
	FG_ROWS_ADD(rows, FG_BIND(1), FG_BIND("a\xff"), FG_BIND(0.5),
		    FG_BIND(((struct fg_blob){"\0x", 2})));
	FG_ROWS_ADD(rows, FG_BIND(FG_NO_NUMBER), FG_BIND((const char *)NULL), FG_BIND((double)NAN),
		    FG_BIND(((struct fg_blob){NULL, 0})));
	FG_ROWS_ADD(rows, FG_BIND(-2), FG_BIND(""), FG_BIND(0.0),
		    FG_BIND(((struct fg_blob){NULL, 0})));
}

static void same_text(const char *text, struct fg_rows *rows, size_t columns, const char *wanted)
{
	char *made = NULL;

	rows->columns = columns;
	made = fg_postgres_rows_text(text, rows);

	assert_string_equal(made, wanted);
	free(made);
}

FG_TEST(statement_for_one_row_becomes_one_for_many)
{
	struct fg_rows rows = {0};

	make_rows(&rows);
	same_text("INSERT INTO t (x, y) VALUES ($1, $2) ON CONFLICT DO NOTHING", &rows, 2,
		  "INSERT INTO t (x, y) SELECT r.c1, r.c2 FROM unnest($1::BIGINT[], $2::TEXT[]) "
		  "AS r (c1, c2) ON CONFLICT DO NOTHING");
	same_text("INSERT INTO t (x, y) VALUES ($1, $2) RETURNING id", &rows, 2,
		  "INSERT INTO t (x, y) SELECT r.c1, r.c2 FROM unnest($1::BIGINT[], $2::TEXT[]) "
		  "WITH ORDINALITY AS r (c1, c2, n) ORDER BY r.n RETURNING id");
	same_text("SELECT id FROM t WHERE y = $2 AND x = $1", &rows, 2,
		  "SELECT (SELECT id FROM t WHERE y = r.c2 AND x = r.c1) "
		  "FROM unnest($1::BIGINT[], $2::TEXT[]) "
		  "WITH ORDINALITY AS r (c1, c2, n) ORDER BY r.n");
	same_text("INSERT INTO t VALUES ($1, $2, $3, $4)", &rows, 4,
		  "INSERT INTO t SELECT r.c1, r.c2, r.c3, r.c4 "
		  "FROM unnest($1::BIGINT[], $2::TEXT[], $3::DOUBLE PRECISION[], $4::BYTEA[]) "
		  "AS r (c1, c2, c3, c4)");
	fg_rows_release(&rows);
}

static void same_array(const struct fg_rows *rows, size_t column, const void *wanted, size_t size)
{
	struct fg_bytes array = {0};

	fg_postgres_array(rows, column, 0, 2, &array);
	assert_int_equal(array.size, size);
	assert_memory_equal(array.data, wanted, size);
	fg_bytes_release(&array);
}

/*
 * Dimension, flag, type, count, lower bound; then the length and bytes of each item, big-endian; no
 * value: -1.
 */
FG_TEST(arrays_are_what_postgresql_reads)
{
	static const char whole[] = "\0\0\0\1\0\0\0\1\0\0\0\24\0\0\0\2\0\0\0\1"
				    "\0\0\0\10\0\0\0\0\0\0\0\1"
				    "\377\377\377\377";
	static const char real[] = "\0\0\0\1\0\0\0\1\0\0\2\275\0\0\0\2\0\0\0\1"
				   "\0\0\0\10\77\340\0\0\0\0\0\0"
				   "\377\377\377\377";
	static const char words[] = "\0\0\0\1\0\0\0\1\0\0\0\31\0\0\0\2\0\0\0\1"
				    "\0\0\0\4a\357\277\275"
				    "\377\377\377\377";
	static const char raw[] = "\0\0\0\1\0\0\0\1\0\0\0\21\0\0\0\2\0\0\0\1"
				  "\0\0\0\2\0x"
				  "\0\0\0\0";
	/* from the third row on */
	static const char rest[] = "\0\0\0\1\0\0\0\1\0\0\0\24\0\0\0\1\0\0\0\1"
				   "\0\0\0\10\377\377\377\377\377\377\377\376";
	struct fg_bytes last = {0};
	struct fg_rows rows = {0};

	make_rows(&rows);
	same_array(&rows, 0, whole, sizeof(whole) - 1);
	same_array(&rows, 1, words, sizeof(words) - 1);
	same_array(&rows, 2, real, sizeof(real) - 1);
	same_array(&rows, 3, raw, sizeof(raw) - 1);
	fg_postgres_array(&rows, 0, 2, 1, &last);
	assert_int_equal(last.size, sizeof(rest) - 1);
	assert_memory_equal(last.data, rest, sizeof(rest) - 1);
	fg_bytes_release(&last);
	fg_rows_release(&rows);
}

FG_TEST(sqlite_finds_what_was_stored)
{
	struct fg_scratch scratch;
	struct fg_db *db = NULL;
	struct fg_error err = {0};
	static const char *const digests[] = {"a", "b", "c"};
	int64_t found[] = {-1, -1, -1};
	int64_t first = 0;
	struct fg_rows put = {0};
	struct fg_rows asked = {0};

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
	for (int64_t i = 0; i < 3; i++) {
		const struct fg_bind digest = FG_BIND(((struct fg_blob){digests[i], 1}));

		FG_ROWS_ADD(&asked, digest);
		if (i < 2)
			FG_ROWS_ADD(&put, FG_BIND(first + i), digest, FG_BIND("key"),
				    FG_BIND("value"), FG_BIND(0));
	}
	assert_int_equal(fg_query_rows(db, FG_SQL_FACT_ADD, &put, NULL, &err), FG_OK);
	assert_int_equal(fg_query_rows(db, FG_SQL_FACT_FIND, &asked, found, &err), FG_OK);
	assert_int_equal(found[0], 41);
	assert_int_equal(found[1], 42);
	assert_int_equal(found[2], 0);
	/* The second row exists already, and this is reported. */
	assert_true(fg_query_rows(db, FG_SQL_FACT_ADD, &put, NULL, &err) < 0);
	fg_rows_release(&put);
	fg_rows_release(&asked);
	fg_db_close(db);
	fg_scratch_release(&scratch);
}
