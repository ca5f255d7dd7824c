/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A session with the database that holds a store: SQLite (a file) or PostgreSQL (a URL). Both use
 * one schema and one set of queries (store/queries, named by enum fg_sql) with parameters $1, $2,
 * ...; only the few maintenance queries in *_only.sql are for one database.
 *
 * 	struct fg_query q;
 * 	FG_QUERY_WITH(&q, db, FG_SQL_RUN_BY_UUID, FG_BIND(uuid)); // parameters in their order
 * 	while ((status = fg_query_step(&q, err)) > 0)
 * 		use(fg_column_int(&q, 0));
 * 	fg_query_end(&q);
 *
 * A session belongs to one thread at a time. Text and bytes of a column live until the next step or
 * end.
 */
#ifndef FG_STORE_DB_H
#define FG_STORE_DB_H

#include "base/base.h"
#include "base/error.h"
#include "store/bytes.h"
#include "store/sql.h"

#include <math.h>

struct fg_arena;

enum {
	FG_QUERY_MAX_PARAMETERS = 24
};

#define FG_NO_NUMBER INT64_MIN

/* A parameter. Text and bytes are borrowed until the query's first step. */
struct fg_bind {
	enum fg_bind_kind {
		FG_BIND_NUMBER, /* FG_NO_NUMBER becomes NULL */
		FG_BIND_REAL,   /* NaN becomes NULL */
		FG_BIND_TEXT,   /* NULL becomes NULL */
		FG_BIND_BYTES,
	} kind;
	union {
		int64_t number;
		double real;
		const char *text;
		struct fg_blob bytes;
	};
};

static inline struct fg_bind fg_bind_text(const char *text)
{
	return (struct fg_bind){.kind = FG_BIND_TEXT, .text = text};
}

static inline struct fg_bind fg_bind_real(double real)
{
	return (struct fg_bind){.kind = FG_BIND_REAL, .real = real};
}

static inline struct fg_bind fg_bind_bytes(struct fg_blob bytes)
{
	return (struct fg_bind){.kind = FG_BIND_BYTES, .bytes = bytes};
}

static inline struct fg_bind fg_bind_number(int64_t number)
{
	return (struct fg_bind){.kind = FG_BIND_NUMBER, .number = number};
}

#define FG_BIND(value) \
 _Generic((value), char *: fg_bind_text, const char *: fg_bind_text, double: fg_bind_real,         \
		 struct fg_blob: fg_bind_bytes, default: fg_bind_number)(value)
#define FG_BINDS(...)                   \
 (const struct fg_bind[]){__VA_ARGS__}, \
	 sizeof((const struct fg_bind[]){__VA_ARGS__}) / sizeof(struct fg_bind)

static inline bool fg_bind_is_null(const struct fg_bind *bind)
{
	return (bind->kind == FG_BIND_NUMBER && bind->number == FG_NO_NUMBER) ||
	       (bind->kind == FG_BIND_REAL && isnan(bind->real)) ||
	       (bind->kind == FG_BIND_TEXT && !bind->text);
}

/* Rows of parameters. A column has the same kind in all rows. */
struct fg_rows {
	struct fg_bind *binds; /* row by row */
	size_t columns;
	size_t count;
	size_t capacity;
};

#define FG_ROWS_ADD(rows, ...) fg_rows_add(rows, FG_BINDS(__VA_ARGS__))
void fg_rows_add(struct fg_rows *rows, const struct fg_bind *binds, size_t count);
void fg_rows_release(struct fg_rows *rows);

/* Kinds of transactions. */
enum fg_db_mode {
	FG_DB_READS,
	FG_DB_WRITES, /* one transaction at a time, in either database */
};

struct fg_db;
struct fg_query;

struct fg_db_ops {
	const char *name; /* "sqlite", "postgresql" */
	/* Replacements for the words between @ signs in a schema. */
	const char *id;
	const char *text;
	const char *bytes;
	const char *clustered;
	void (*close)(struct fg_db *db);
	bool (*is_broken)(const struct fg_db *db); /* NULL: never */
	int (*script)(struct fg_db *db, const char *sql, struct fg_error *err);
	int (*begin)(struct fg_db *db, enum fg_db_mode mode, struct fg_error *err);
	void (*query_begin)(struct fg_query *query);
	void (*bind_int)(struct fg_query *query, int64_t value);
	void (*bind_double)(struct fg_query *query, double value);
	void (*bind_bytes)(struct fg_query *query, const void *data, size_t size, bool is_text);
	void (*bind_null)(struct fg_query *query);
	int (*step)(struct fg_query *query, struct fg_error *err);
	bool (*is_null)(const struct fg_query *query, int column);
	int64_t (*column_int)(const struct fg_query *query, int column);
	double (*column_double)(const struct fg_query *query, int column);
	const void *(*column_bytes)(const struct fg_query *query, int column, size_t *size);
	void (*query_end)(struct fg_query *query);
	/* NULL: fg_query_rows() handles rows one by one. */
	int (*query_rows)(struct fg_db *db, enum fg_sql sql, const struct fg_rows *rows,
			  int64_t *ids, struct fg_error *err);
};

struct fg_db {
	const struct fg_db_ops *ops;
	char *location; /* without a password */
	char *name;     /* name of the store in messages: "store 'LOCATION'" */
	bool in_transaction;
	bool read_only;
	int64_t written_bytes; /* size of all rows inserted so far */
};

struct fg_query {
	struct fg_db *db;
	enum fg_sql sql;
	int parameters; /* number bound so far */
	void *statement;
	int row;
	int failed; /* a bind failed: the first step reports it */
	bool inserts;
	/* kept for PostgreSQL, where all parameters are sent at once */
	const char *values[FG_QUERY_MAX_PARAMETERS];
	int lengths[FG_QUERY_MAX_PARAMETERS];
	int formats[FG_QUERY_MAX_PARAMETERS];
	char numbers[FG_QUERY_MAX_PARAMETERS][32];
};

enum fg_db_flags {
	FG_DB_READ_ONLY = 1 << 0, /* the database must exist */
	/* every commit reaches the disk (synchronous=FULL), as a server promises */
	FG_DB_DURABLE = 1 << 1,
	FG_DB_BOUNDED = 1 << 2, /* nothing waits longer than a few seconds */
};

/* Opens a database, "postgresql://..." or a path. It makes no tables; fg_store_open() does. */
int fg_db_open(const char *location, unsigned flags, struct fg_db **db, struct fg_error *err)
	FG_NODISCARD;
void fg_db_close(struct fg_db *db); /* undoes an open transaction; `db` may be NULL */
/* Returns true if the connection is lost, which makes this session unusable. */
bool fg_db_is_broken(const struct fg_db *db);
bool fg_db_is_url(const char *location);

/*
 * Returns a statement of the schema, with the words between @ signs replaced. The caller frees it.
 */
char *fg_db_schema_text(const struct fg_db *db, const char *schema);
/* Executes several statements in a row. */
int fg_db_script(struct fg_db *db, const char *sql, struct fg_error *err) FG_NODISCARD;
int fg_db_begin(struct fg_db *db, enum fg_db_mode mode, struct fg_error *err) FG_NODISCARD;
int fg_db_commit(struct fg_db *db, struct fg_error *err)
	FG_NODISCARD;                  /* on failure the transaction is undone */
void fg_db_rollback(struct fg_db *db); /* does nothing without a transaction */

void fg_query_begin(struct fg_query *query, struct fg_db *db, enum fg_sql sql);
void fg_query_bind(struct fg_query *query, const struct fg_bind *bind);

/* Begins a query with its first parameters. */
#define FG_QUERY_WITH(query, db, sql, ...) \
 fg_query_with_binds(query, db, sql, FG_BINDS(__VA_ARGS__))
/* Runs a whole query that returns no rows. */
#define FG_QUERY_DO(db, err, sql, ...) fg_query_do_binds(db, err, sql, FG_BINDS(__VA_ARGS__))
/* Runs a whole query for one number: see fg_query_value(). */
#define FG_QUERY_FIND(db, value, err, sql, ...) \
 fg_query_find_binds(db, value, err, sql, FG_BINDS(__VA_ARGS__))
void fg_query_with_binds(struct fg_query *query, struct fg_db *db, enum fg_sql sql,
			 const struct fg_bind *binds, size_t count);
int fg_query_do_binds(struct fg_db *db, struct fg_error *err, enum fg_sql sql,
		      const struct fg_bind *binds, size_t count) FG_NODISCARD;
int fg_query_find_binds(struct fg_db *db, int64_t *value, struct fg_error *err, enum fg_sql sql,
			const struct fg_bind *binds, size_t count) FG_NODISCARD;

/* Returns 1 for a row, FG_OK after the last row, or a negative status. */
int fg_query_step(struct fg_query *query, struct fg_error *err) FG_NODISCARD;
void fg_query_end(struct fg_query *query);
/* Runs a query without result rows to its end. */
int fg_query_run(struct fg_query *query, struct fg_error *err) FG_NODISCARD;
/*
 * Reads the first column of the only row and ends the query. FG_ENOENT (without a message): no row.
 */
int fg_query_value(struct fg_query *query, int64_t *value, struct fg_error *err) FG_NODISCARD;

/*
 * Runs one query for many rows of parameters, in as few round trips as possible. The query is an
 * "INSERT ... VALUES ($1, $2, ...)", with `ids` NULL, or a "SELECT id ..." that finds at most one
 * row: ids[i] becomes the id found for row i, or 0.
 */
int fg_query_rows(struct fg_db *db, enum fg_sql sql, const struct fg_rows *rows, int64_t *ids,
		  struct fg_error *err) FG_NODISCARD;
/*
 * Finds the id after the largest id; the query `last` selects the largest id. This id and all
 * larger ids belong to the caller until the transaction ends.
 */
int fg_db_next_id(struct fg_db *db, enum fg_sql last, int64_t *next, struct fg_error *err)
	FG_NODISCARD;

int64_t fg_column_int(const struct fg_query *query, int column);      /* 0 for NULL */
double fg_column_double(const struct fg_query *query, int column);    /* NaN for NULL */
const char *fg_column_text(const struct fg_query *query, int column); /* NULL for NULL */
char *fg_column_copy(const struct fg_query *query, int column);       /* the caller frees it */
char *fg_column_keep(const struct fg_query *query, int column, struct fg_arena *texts);
const void *fg_column_bytes(const struct fg_query *query, int column, size_t *size);

/* Both back ends give their functions the same names. */
#define FG_DB_OPS_OF_THIS_FILE                                                             \
 .close = close_session, .script = run_script, .begin = begin, .query_begin = query_begin, \
 .bind_int = bind_int, .bind_double = bind_double, .bind_bytes = bind_bytes,               \
 .bind_null = bind_null, .step = step, .is_null = is_null, .column_int = column_int,       \
 .column_double = column_double, .column_bytes = column_bytes, .query_end = query_end

/* Opens a session of a back end. *db may be set even on failure, and must then be closed. */
int fg_sqlite_open(const char *location, unsigned flags, struct fg_db **db, struct fg_error *err)
	FG_NODISCARD;
int fg_postgres_open(const char *location, unsigned flags, struct fg_db **db, struct fg_error *err)
	FG_NODISCARD;

#endif
