// SPDX-License-Identifier: Apache-2.0
/* The log of a database that is written without a pause does not grow without end. */
#include "perfdb/server/trimmer.h"
#include "store/db.h"
#include "store/serving/batch.h"
#include "store/session.h"
#include "store/store.h"
#include "tests/support/fg_test.h"
#include "tests/support/scratch.h"

#include <sys/stat.h>

enum {
	COMMITS = 120,      /* of 300 pages each: more than MOST_PAGES together */
	MOST_PAGES = 34000, /* what the writer waits for the thread, and one commit more */
	PAGE_BYTES = 8192 + 24
};

struct place {
	struct fg_scratch scratch;
	char *database;
	struct fg_sessions *sessions;
	struct fg_trimmer *trimmer;
	struct fg_store *store;
};

static int setup(void **state)
{
	struct place *p = fg_xcalloc(1, sizeof(*p));

	fg_scratch_init(&p->scratch);
	p->database = fg_xstrdup(fg_scratch_path(&p->scratch, "perfdb.db"));
	p->sessions = fg_sessions_new(p->database, false);
	assert_int_equal(fg_trimmer_start(p->sessions, &p->trimmer, NULL), FG_OK);
	p->store = fg_sessions_borrow(p->sessions, NULL);
	assert_non_null(p->store);
	assert_int_equal(fg_store_defer(p->store, NULL), FG_OK);
	*state = p;
	return 0;
}

static int teardown(void **state)
{
	struct place *p = *state;

	fg_trimmer_stop(p->trimmer);
	fg_store_close(p->store);
	fg_sessions_free(p->sessions);
	free(p->database);
	fg_scratch_release(&p->scratch);
	free(p);
	return 0;
}

static void write_pages(struct place *p)
{
	assert_int_equal(fg_db_script(p->store->db,
				      "CREATE TABLE IF NOT EXISTS filling (data BLOB); "
				      "INSERT INTO filling VALUES (zeroblob(2500000))",
				      NULL),
			 FG_OK);
	fg_trimmer_look(p->trimmer, p->store);
}

static void log_begins_anew_while_it_is_written(void **state)
{
	struct place *p = *state;
	char *log = fg_xasprintf("%s-wal", p->database);
	struct stat file = {0};
	size_t before = 0;
	unsigned begun = 0;

	for (int i = 0; i < COMMITS; i++) {
		write_pages(p);
		begun += fg_store_log_pages(p->store) < before;
		before = fg_store_log_pages(p->store);
		assert_in_range(before, 1, MOST_PAGES);
	}
	assert_true(begun > 0);
	assert_int_equal(stat(log, &file), 0);
	assert_in_range(file.st_size, 1, (uintmax_t)MOST_PAGES * PAGE_BYTES);
	free(log);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(log_begins_anew_while_it_is_written, setup,
						teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
