// SPDX-License-Identifier: Apache-2.0
/*
 * Statements that make and drop tables are put together here, as they name tables by number; what
 * can be a query stands in store/queries/postgresql_only.sql.
 *
 * Nobody waits long for any of it.  A partition is attached beside the others, which readers and
 * writers do not notice.  Dropping and replacing need every reader of the table to have finished:
 * that is tried for some seconds at a time, since all others queue up behind it meanwhile.
 */
#include "store/partitions.h"

#include "base/clock.h"
#include "base/strbuf.h"
#include "store/db.h"
#include "store/session.h"
#include "store/transaction.h"

#include <time.h>

enum {
	MONTHS_A_YEAR = 12,
	FIRST_YEAR = 1900, /* of struct tm */
	SMALL_BYTES = 256 << 20,
	TRIES = 100 /* a tenth of a second each */
};

/* No lock is waited for longer: who comes later would wait as long. */
#define BRIEFLY "SET LOCAL lock_timeout = 3000; "

/* The tables in partitions, by which column, and what of a partition still belongs to something. */
static const struct {
	const char *name;
	const char *key;
	const char *alive;
} tables[] = {
	{"chunk", "series", "EXISTS (SELECT 1 FROM series s WHERE s.id = x.series)"},
	{"report", "run", "EXISTS (SELECT 1 FROM run r WHERE r.id = x.run)"},
	{"tile", "number",
	 "EXISTS (SELECT 1 FROM seal y WHERE y.benchmark = x.benchmark AND y.number = x.number)"},
};

static int64_t first_id(int64_t number)
{
	return number << FG_PARTITION_BITS;
}

/* "FOR VALUES ..." of a partition. */
static void add_range(struct fg_strbuf *sql, int64_t number)
{
	fg_strbuf_add_text(sql, " FOR VALUES FROM (");
	if (number)
		fg_strbuf_printf(sql, "%lld", (long long)first_id(number));
	else
		fg_strbuf_add_text(sql, "MINVALUE");
	fg_strbuf_printf(sql, ") TO (%lld); ", (long long)first_id(number + 1));
}

static int run_sql(struct fg_store *store, struct fg_strbuf *sql, struct fg_error *err)
{
	const int status = fg_db_script(store->db, fg_strbuf_text(sql), err);

	fg_strbuf_release(sql);
	return status;
}

static int read_number(struct fg_store *store, enum fg_sql sql, int64_t *number,
		       struct fg_error *err)
{
	struct fg_query q;

	fg_query_begin(&q, store->db, sql);
	return fg_query_value(&q, number, err);
}

static int64_t month_of(int64_t at_ns)
{
	const time_t seconds = (time_t)(at_ns / FG_NS_PER_S);
	struct tm date = {0};

	(void)gmtime_r(&seconds, &date);
	return (int64_t)(date.tm_year + FIRST_YEAR) * MONTHS_A_YEAR + date.tm_mon;
}

/*
 * The tables from before there were partitions take all ids until it is known that theirs are
 * small ones.  Others go on reading and writing meanwhile.
 */
static int check_first(struct fg_store *store, bool patient, bool *checked, struct fg_error *err)
{
	int64_t bytes = 0;
	int status = read_number(store, FG_SQL_PARTITION_FIRST_BYTES, &bytes, err);

	*checked = false;
	if (status != FG_OK || (!patient && bytes > SMALL_BYTES))
		return status;
	for (size_t i = 0; i < FG_ARRAY_SIZE(tables) && status == FG_OK; i++) {
		struct fg_strbuf sql = {0};

		fg_strbuf_printf(&sql, "ALTER TABLE %s_0 VALIDATE CONSTRAINT %s_0_range",
				 tables[i].name, tables[i].name);
		status = run_sql(store, &sql, err);
	}
	*checked = status == FG_OK;
	return status;
}

static void add_confining(struct fg_strbuf *sql)
{
	for (size_t i = 0; i < FG_ARRAY_SIZE(tables); i++) {
		const char *name = tables[i].name;

		fg_strbuf_printf(sql, "ALTER TABLE %s DETACH PARTITION %s_0; ", name, name);
		fg_strbuf_printf(sql, "ALTER TABLE %s ATTACH PARTITION %s_0", name, name);
		add_range(sql, 0);
	}
}

static void add_partition(struct fg_strbuf *sql, int64_t number, int64_t class, int64_t month)
{
	for (size_t i = 0; i < FG_ARRAY_SIZE(tables); i++) {
		const char *name = tables[i].name;

		fg_strbuf_printf(
			sql,
			"CREATE TABLE %s_%lld (LIKE %s INCLUDING DEFAULTS INCLUDING STORAGE); ",
			name, (long long)number, name);
		fg_strbuf_printf(sql, "ALTER TABLE %s ATTACH PARTITION %s_%lld", name, name,
				 (long long)number);
		add_range(sql, number);
	}
	fg_strbuf_printf(
		sql, "INSERT INTO run_partition (number, class, month) VALUES (%lld, %lld, %lld); ",
		(long long)number, (long long)class, (long long)month);
}

/* One partition for each class that a project is in, which is settled by now. */
static int add_partitions(struct fg_store *store, int64_t last, int64_t month,
			  struct fg_strbuf *sql, struct fg_error *err)
{
	struct fg_query q;
	int status = FG_OK;

	fg_query_begin(&q, store->db, FG_SQL_PARTITION_CLASSES);
	while ((status = fg_query_step(&q, err)) > 0)
		add_partition(sql, ++last, fg_column_int(&q, 0), month);
	fg_query_end(&q);
	return status;
}

/* With no upload being written: what was numbered before is there, what comes sees the new ones. */
static int make_alone(struct fg_store *store, int64_t month, struct fg_error *err)
{
	struct fg_strbuf sql = {0};
	int64_t newest = 0;
	int64_t last = 0;
	struct fg_query q;
	int status = fg_db_script(store->db, BRIEFLY, err);

	if (status == FG_OK)
		status = read_number(store, FG_SQL_PARTITION_NEWEST, &newest, err);
	if (status != FG_OK || newest >= month)
		return status;
	status = read_number(store, FG_SQL_PARTITION_LAST, &last, err);
	if (status != FG_OK)
		return status;
	fg_query_begin(&q, store->db, FG_SQL_PARTITION_CLASSIFY);
	status = fg_query_run(&q, err);
	if (status != FG_OK)
		return status;
	if (newest == 0)
		add_confining(&sql);
	status = add_partitions(store, last, month, &sql, err);
	if (status == FG_OK)
		return run_sql(store, &sql, err);
	fg_strbuf_release(&sql);
	return status;
}

int fg_store_make_partitions(struct fg_store *store, int64_t at_ns, bool patient,
			     struct fg_error *err)
{
	const int64_t month = month_of(at_ns);
	int64_t newest = 0;
	bool checked = true;
	int status = FG_OK;

	if (!fg_db_is_url(store->db->location) || store->db->read_only)
		return FG_OK;
	status = read_number(store, FG_SQL_PARTITION_NEWEST, &newest, err);
	if (status != FG_OK || newest >= month)
		return status;
	if (newest == 0)
		status = check_first(store, patient, &checked, err);
	if (status != FG_OK || !checked)
		return status;
	status = fg_store_begin_alone(store, err);
	if (status != FG_OK)
		return status;
	return fg_store_end(store, make_alone(store, month, err), err);
}

int fg_store_partitions(struct fg_store *store, struct fg_partitions *partitions,
			struct fg_error *err)
{
	struct fg_partitions found = {0};
	struct fg_query q;
	int status = FG_OK;

	*partitions = found;
	if (!fg_db_is_url(store->db->location))
		return FG_OK;
	fg_query_begin(&q, store->db, FG_SQL_PARTITION_LIST);
	while ((status = fg_query_step(&q, err)) > 0) {
		found.items = fg_grow(found.items, &found.capacity, found.count + 1,
				      sizeof(*found.items));
		found.items[found.count++] =
			(struct fg_partition){.number = fg_column_int(&q, 0),
					      .has_leftovers = fg_column_int(&q, 1) != 0,
					      .runs = (size_t)fg_column_int(&q, 2)};
	}
	fg_query_end(&q);
	if (status == FG_OK)
		*partitions = found;
	else
		fg_partitions_release(&found);
	return status;
}

void fg_partitions_release(struct fg_partitions *partitions)
{
	free(partitions->items);
	*partitions = (struct fg_partitions){0};
}

int fg_store_mark_partition(struct fg_store *store, int64_t number, struct fg_error *err)
{
	struct fg_query q;

	fg_query_begin(&q, store->db, FG_SQL_PARTITION_MARK);
	fg_query_int(&q, number);
	return fg_query_run(&q, err);
}

int fg_store_leave_values(struct fg_store *store, int64_t number, struct fg_error *err)
{
	struct fg_strbuf sql = {0};

	fg_strbuf_printf(&sql, "SET LOCAL perfdb.whole_partition = '%lld'", (long long)number);
	return run_sql(store, &sql, err);
}

/*
 * Until nobody works with a view of the database in which the deleted runs are still there: they
 * would look for values.
 */
static int wait_for_readers(struct fg_store *store, struct fg_error *err)
{
	int64_t horizon = 0;
	int status = read_number(store, FG_SQL_PARTITION_HORIZON, &horizon, err);

	if (status != FG_OK)
		return status;
	for (int i = 0; i < TRIES; i++) {
		struct fg_query q;
		int64_t readers = 0;

		fg_query_begin(&q, store->db, FG_SQL_PARTITION_READERS);
		fg_query_int(&q, horizon);
		status = fg_query_value(&q, &readers, err);
		if (status != FG_OK || readers == 0)
			return status;
		status = fg_db_script(store->db, "SELECT pg_sleep(0.1)", err);
		if (status != FG_OK)
			return status;
	}
	return fg_error_set(err, FG_EBUSY,
			    "%s: another session has been reading for long: try again",
			    store->db->name);
}

/* Beside each table one with what is to stay, and with its indexes. */
static void add_copies(struct fg_strbuf *sql, int64_t number)
{
	for (size_t i = 0; i < FG_ARRAY_SIZE(tables); i++) {
		const char *name = tables[i].name;

		fg_strbuf_printf(sql,
				 "LOCK TABLE %s_%lld IN SHARE ROW EXCLUSIVE MODE; "
				 "CREATE TABLE %s_kept (LIKE %s INCLUDING DEFAULTS INCLUDING "
				 "STORAGE INCLUDING INDEXES); "
				 "INSERT INTO %s_kept SELECT * FROM %s_%lld x WHERE %s; ",
				 name, (long long)number, name, name, name, name, (long long)number,
				 tables[i].alive);
	}
}

static void add_exchange(struct fg_strbuf *sql, int64_t number)
{
	for (size_t i = 0; i < FG_ARRAY_SIZE(tables); i++) {
		const char *name = tables[i].name;

		fg_strbuf_printf(sql,
				 "DROP TABLE %s_%lld; ALTER TABLE %s_kept RENAME TO %s_%lld; "
				 "ALTER TABLE %s ATTACH PARTITION %s_%lld",
				 name, (long long)number, name, name, (long long)number, name, name,
				 (long long)number);
		add_range(sql, number);
	}
}

static void add_drop(struct fg_strbuf *sql, int64_t number)
{
	for (size_t i = 0; i < FG_ARRAY_SIZE(tables); i++)
		fg_strbuf_printf(sql, "DROP TABLE %s_%lld; ", tables[i].name, (long long)number);
	fg_strbuf_printf(sql, "DELETE FROM run_partition WHERE number = %lld", (long long)number);
}

/* Runs one of the partition's queries, with its ids as parameters. */
static int ask_range(struct fg_store *store, enum fg_sql sql, int64_t number, int64_t *answer,
		     struct fg_error *err)
{
	struct fg_query q;

	fg_query_begin(&q, store->db, sql);
	fg_query_int(&q, first_id(number));
	fg_query_int(&q, first_id(number + 1));
	if (!answer)
		return fg_query_run(&q, err);
	return fg_query_value(&q, answer, err);
}

/* Drop a partition, or put in its place what still belongs to something. */
static int replace(struct fg_store *store, int64_t number, bool has_alive, struct fg_error *err)
{
	struct fg_strbuf sql = {0};

	if (!has_alive) {
		add_drop(&sql, number);
		return run_sql(store, &sql, err);
	}
	add_copies(&sql, number);
	add_exchange(&sql, number);
	fg_strbuf_printf(&sql, "UPDATE run_partition SET leftovers = 0 WHERE number = %lld",
			 (long long)number);
	return run_sql(store, &sql, err);
}

static int sweep(struct fg_store *store, int64_t number, size_t *dropped, struct fg_error *err)
{
	int64_t alive = 0;
	int status = fg_db_script(store->db, BRIEFLY, err);

	if (status != FG_OK)
		return status;
	status = ask_range(store, FG_SQL_PARTITION_SEALS_DROP, number, NULL, err);
	if (status != FG_OK)
		return status;
	status = ask_range(store, FG_SQL_PARTITION_ALIVE, number, &alive, err);
	if (status != FG_OK)
		return status;
	status = replace(store, number, alive, err);
	*dropped += status == FG_OK && !alive;
	return status;
}

static int sweep_all(struct fg_store *store, const struct fg_partitions *all, size_t *dropped,
		     struct fg_error *err)
{
	bool has_waited = false;
	int status = FG_OK;

	for (size_t i = 0; i < all->count; i++) {
		if (!all->items[i].has_leftovers)
			continue;
		if (!has_waited)
			status = wait_for_readers(store, err);
		if (status != FG_OK)
			return status;
		has_waited = true;
		status = fg_store_begin(store, err);
		if (status != FG_OK)
			return status;
		status = sweep(store, all->items[i].number, dropped, err);
		status = fg_store_end(store, status, err);
		if (status != FG_OK)
			return status;
	}
	return FG_OK;
}

int fg_store_sweep_partitions(struct fg_store *store, size_t *dropped, struct fg_error *err)
{
	struct fg_partitions all = {0};
	int status = fg_store_partitions(store, &all, err);

	if (status != FG_OK)
		return status;
	status = sweep_all(store, &all, dropped, err);
	fg_partitions_release(&all);
	return status;
}
