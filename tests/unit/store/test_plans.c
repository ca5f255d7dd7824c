// SPDX-License-Identifier: Apache-2.0
/*
 * Frequent queries find their rows by an index. A forgotten index fails here, and not only at
 * 100,000 runs.
 */
#include "store/sql.h"
#include "store/store.h"
#include "tests/support/fg_test.h"
#include "tests/support/scratch.h"

#include <sqlite3.h>

static const enum fg_sql hot[] = {
	FG_SQL_PROJECT_FIND,     FG_SQL_BENCHMARK_FIND,
	FG_SQL_WORDS_FIND,       FG_SQL_FACT_FIND,
	FG_SQL_RUN_BY_UUID,      FG_SQL_RUN_LOAD,
	FG_SQL_RUN_FACTS,        FG_SQL_SERIES_OF_RUN,
	FG_SQL_CHUNKS,           FG_SQL_REPORT_GET,
	FG_SQL_FUNCTION_FIND,    FG_SQL_FUNCTION_GET,
	FG_SQL_HISTORY,          FG_SQL_RUN_PROJECT,
	FG_SQL_FUNCTIONS_AFTER,  FG_SQL_RUNS_OF_BENCHMARK,
	FG_SQL_TOTALS_OF_PART,   FG_SQL_TOTALS_OF_SERIES,
	FG_SQL_TOKEN_FIND,       FG_SQL_RUN_DELETE,
	FG_SQL_SERIES_CLEAR,     FG_SQL_RUN_FACTS_CLEAR,
	FG_SQL_REPORT_CLEAR,     FG_SQL_LIMITS_OF,
	FG_SQL_RUN_WEIGH,        FG_SQL_WEBHOOK_GET,
	FG_SQL_WEBHOOK_CALL_ADD, FG_SQL_WEBHOOK_CALL_CLAIM,
};

static struct fg_scratch scratch;

/* Makes an empty store, and opens it with SQLite directly. */
static int set_up(void **state)
{
	struct fg_store *store = NULL;
	struct fg_error err = {0};

	fg_scratch_init(&scratch);
	if (fg_store_open(fg_scratch_path(&scratch, "store.db"), 0, &store, &err) != FG_OK)
		return -1;
	fg_store_close(store);
	return sqlite3_open(fg_scratch_path(&scratch, "store.db"), (sqlite3 **)state);
}

static int tear_down(void **state)
{
	(void)sqlite3_close(*state);
	fg_scratch_release(&scratch);
	return 0;
}

static void no_hot_query_reads_a_whole_table(void **state)
{
	sqlite3 *raw = *state;

	for (size_t i = 0; i < FG_ARRAY_SIZE(hot); i++) {
		char *text = fg_xasprintf("EXPLAIN QUERY PLAN %s", fg_sql_texts[hot[i]].text);
		sqlite3_stmt *plan = NULL;
		int rows = 0;

		assert_int_equal(sqlite3_prepare_v2(raw, text, -1, &plan, NULL), SQLITE_OK);
		while (sqlite3_step(plan) == SQLITE_ROW) {
			const char *detail = (const char *)sqlite3_column_text(plan, 3);

			rows++;
			if (strncmp(detail, "SCAN ", 5) == 0 &&
			    strcmp(detail, "SCAN CONSTANT ROW") != 0)
				fail_msg("%s: %s", fg_sql_texts[hot[i]].name, detail);
		}
		assert_true(rows > 0);
		(void)sqlite3_finalize(plan);
		free(text);
	}
}

static bool is_for_postgresql(int sql)
{
	return sql == FG_SQL_REPLICA_LAG;
}

/* Every query can at least be prepared, which finds mistakes in rarely used ones. */
static void every_query_is_understood(void **state)
{
	sqlite3 *raw = *state;

	for (int i = 0; i < FG_SQL_COUNT; i++) {
		sqlite3_stmt *statement = NULL;

		if (is_for_postgresql(i))
			continue;
		if (sqlite3_prepare_v2(raw, fg_sql_texts[i].text, -1, &statement, NULL) !=
		    SQLITE_OK)
			fail_msg("%s: %s", fg_sql_texts[i].name, sqlite3_errmsg(raw));
		(void)sqlite3_finalize(statement);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_hot_query_reads_a_whole_table),
		cmocka_unit_test(every_query_is_understood),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
