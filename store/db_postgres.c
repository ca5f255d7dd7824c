// SPDX-License-Identifier: Apache-2.0
/*
 * The PostgreSQL back end of store/db.h.
 *
 * A session does not depend on state in the server: settings and locks last for one transaction. So
 * each transaction may use another session of the server, as behind pgbouncer in transaction mode.
 * Statements are prepared only on a direct connection: see is_direct(). Results are binary, so that
 * numbers and bytes need no parsing; parameters are text, except bytes and arrays.
 *
 * An advisory lock lets one transaction write at a time: a row that the writer does not find does
 * not exist, and two uploads with the same new functions do not conflict. Readers never wait.
 */
#include "base/arena.h"
#include "base/clock.h"
#include "base/number.h"
#include "base/strbuf.h"
#include "base/text.h"
#include "store/bytes.h"
#include "store/db.h"
#include "store/libpq.h"
#include "store/postgres_rows.h"

#include <errno.h>
#include <poll.h>

enum {
	WRITE_LOCK = 0x66673031,
	ROWS_AT_ONCE = 16384,
	NUMBER_BYTES = 8,
	SMALL_NUMBER_BYTES = 4,
	PATIENCE_MS = 4500 /* a little longer than the server's own statement_timeout */
};

#define CONNECT_SECONDS "2"

struct postgres_db {
	struct fg_db db;
	PGconn *connection;
	struct fg_arena cleaned;        /* copies of invalid strings, until their query ends */
	char settings[256];             /* settings at the start of each transaction */
	int64_t patience_ns;            /* limit for one statement; 0: unlimited */
	bool lost;                      /* the server did not answer in time */
	bool prepares;                  /* this session belongs to one server process */
	bool prepared[2][FG_SQL_COUNT]; /* [0] for one row of parameters, [1] for many */
};

static struct postgres_db *of(const struct fg_query *query)
{
	return (struct postgres_db *)query->db;
}

struct class_meaning {
	const char *start; /* beginning of the SQLSTATE */
	enum fg_status status;
	const char *words;
};

static const struct class_meaning meanings[] = {
	{"23505", FG_EBUSY, "another session added the same row: try again"},
	{"53", FG_EIO, "the database server is out of disk space, memory or connections"},
	{"40", FG_EBUSY, "conflict with another session: try again"},
	{"55", FG_EBUSY, "locked by another session: try again"},
	{"57", FG_ENET, "the database server is shutting down"},
	{"08", FG_ENET, "the connection to the database is broken"},
	{"28", FG_EDB, "the database server refused the login"},
	{"42501", FG_EDB, "the database user lacks the permission"},
	{"58", FG_EIO, "the database server reports a disk error"},
};

static int failed(const struct postgres_db *p, const PGresult *result, struct fg_error *err)
{
	const char *state = result ? fg_pq.resultErrorField(result, PG_DIAG_SQLSTATE) : NULL;
	const char *primary =
		result ? fg_pq.resultErrorField(result, PG_DIAG_MESSAGE_PRIMARY) : NULL;
	const char *text = primary ? primary : fg_pq.errorMessage(p->connection);
	const int length = (int)strcspn(text, "\n");

	if (p->lost)
		return fg_error_set(err, FG_ENET, "%s: the database server does not answer",
				    p->db.name);
	for (size_t i = 0; i < FG_ARRAY_SIZE(meanings) && state; i++) {
		if (fg_text_starts_with(state, meanings[i].start))
			return fg_error_set(err, meanings[i].status, "%s: %s (%.*s)", p->db.name,
					    meanings[i].words, length, text);
	}
	return fg_error_set(err, state ? FG_EDB : FG_ENET, "%s: %.*s", p->db.name, length, text);
}

static void close_session(struct fg_db *db)
{
	struct postgres_db *p = (struct postgres_db *)db;

	fg_pq.finish(p->connection);
	fg_arena_release(&p->cleaned);
	free(p);
}

static bool is_broken(const struct fg_db *db)
{
	const struct postgres_db *p = (const struct postgres_db *)db;

	return p->lost || fg_pq.status(p->connection) != CONNECTION_OK;
}

static bool has_failed(const PGresult *result)
{
	const ExecStatusType code = fg_pq.resultStatus(result);

	return code != PGRES_COMMAND_OK && code != PGRES_TUPLES_OK;
}

/*
 * Waits until the connection is readable or, if `also_to_write`, writable. Returns false on
 * timeout.
 */
static bool wait_for_server(const struct postgres_db *p, bool also_to_write, int64_t until_ns)
{
	struct pollfd socket = {
		.fd = fg_pq.socket(p->connection),
		.events = (short)(also_to_write ? POLLIN | POLLOUT : POLLIN),
	};
	int64_t left_ms = -1;
	int ready = 0;

	do {
		if (until_ns) {
			left_ms = (until_ns - fg_clock_monotonic_ns()) / FG_NS_PER_MS;
			if (left_ms <= 0)
				return false;
		}
		ready = poll(&socket, 1, (int)left_ms);
	} while (ready < 0 && errno == EINTR);
	return ready != 0;
}

/*
 * Sends the request and waits for the answer. Returns false if the server did not respond in time.
 */
static bool exchange(const struct postgres_db *p, int64_t until_ns)
{
	int unsent = 0;

	while ((unsent = fg_pq.flush(p->connection)) > 0) {
		if (!wait_for_server(p, true, until_ns))
			return false;
		if (!fg_pq.consumeInput(p->connection))
			return true;
	}
	while (unsent == 0 && fg_pq.isBusy(p->connection)) {
		if (!wait_for_server(p, false, until_ns))
			return false;
		if (!fg_pq.consumeInput(p->connection))
			return true;
	}
	return true;
}

static int64_t patient_until_ns(const struct postgres_db *p)
{
	return p->patience_ns ? fg_clock_monotonic_ns() + p->patience_ns : 0;
}

/*
 * Returns the next result of the request, or NULL after the last; `sent` is false if libpq did not
 * accept the request. libpq's own calls would wait forever for a server that hangs.
 */
static PGresult *take_next(struct postgres_db *p, bool sent, int64_t until_ns)
{
	if (!sent || p->lost)
		return NULL;
	p->lost = !exchange(p, until_ns);
	return p->lost ? NULL : fg_pq.getResult(p->connection);
}

/* Takes all results of the request. Returns the last result, or NULL. */
static PGresult *take_result(struct postgres_db *p, bool sent)
{
	const int64_t until_ns = patient_until_ns(p);
	PGresult *last = NULL;
	PGresult *next = NULL;

	while ((next = take_next(p, sent, until_ns))) {
		fg_pq.clear(last);
		last = next;
	}
	return last;
}

static int run_commit(struct postgres_db *p, struct fg_error *err)
{
	PGresult *result = take_result(p, !p->lost && fg_pq.sendQuery(p->connection, "COMMIT"));
	int status = FG_OK;

	if (has_failed(result))
		status = failed(p, result, err);
	else if (strcmp(fg_pq.cmdStatus(result), "COMMIT") != 0)
		/* After a failed statement, COMMIT is answered with ROLLBACK, without an error. */
		status = fg_error_set(err, FG_EDB, "%s: the transaction was rolled back",
				      p->db.name);
	fg_pq.clear(result);
	return status;
}

static int run_script(struct fg_db *db, const char *sql, struct fg_error *err)
{
	struct postgres_db *p = (struct postgres_db *)db;
	PGresult *result = NULL;
	int status = FG_OK;

	if (strcmp(sql, "COMMIT") == 0)
		return run_commit(p, err);
	result = take_result(p, !p->lost && fg_pq.sendQuery(p->connection, sql));
	if (has_failed(result))
		status = failed(p, result, err);
	fg_pq.clear(result);
	return status;
}

static int begin(struct fg_db *db, enum fg_db_mode mode, struct fg_error *err)
{
	const char *settings = ((struct postgres_db *)db)->settings;
	char text[384];
	int status = FG_OK;

	if (mode == FG_DB_READS)
		(void)snprintf(text, sizeof(text),
			       "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; %s", settings);
	else
		(void)snprintf(text, sizeof(text), "BEGIN; %s SELECT pg_advisory_xact_lock(%d)",
			       settings, WRITE_LOCK);
	status = run_script(db, text, err);
	/* If waiting for the lock failed, the transaction has still begun. */
	if (status != FG_OK)
		(void)run_script(db, "ROLLBACK", NULL);
	return status;
}

static void query_begin(struct fg_query *query)
{
	(void)query;
}

static void bind_int(struct fg_query *query, int64_t value)
{
	const int at = query->parameters;

	(void)snprintf(query->numbers[at], sizeof(query->numbers[at]), "%lld", (long long)value);
	query->values[at] = query->numbers[at];
	query->formats[at] = 0;
	query->lengths[at] = 0;
}

static void bind_double(struct fg_query *query, double value)
{
	const int at = query->parameters;
	char text[FG_NUMBER_TEXT_SIZE];

	(void)snprintf(query->numbers[at], sizeof(query->numbers[at]), "%s",
		       fg_format_double(value, text));
	query->values[at] = query->numbers[at];
	query->formats[at] = 0;
	query->lengths[at] = 0;
}

/*
 * PostgreSQL does not accept invalid UTF-8 as text. Invalid sequences are replaced as in every
 * answer, so that both databases show the same text.
 */
static const char *cleaned(struct postgres_db *p, const char *text, size_t size)
{
	struct fg_strbuf clean = {0};
	char *kept = NULL;

	fg_text_add_clean(&clean, text, size, SIZE_MAX);
	kept = fg_arena_strdup(&p->cleaned, fg_strbuf_text(&clean));
	fg_strbuf_release(&clean);
	return kept;
}

static void bind_bytes(struct fg_query *query, const void *data, size_t size, bool is_text)
{
	const int at = query->parameters;

	if (is_text && !fg_text_is_utf8(data, size))
		query->values[at] = cleaned(of(query), data, size);
	else
		query->values[at] = size ? data : "";
	query->formats[at] = !is_text;
	query->lengths[at] = (int)size; /* for text, libpq finds the end itself */
}

static void bind_null(struct fg_query *query)
{
	query->values[query->parameters] = NULL;
	query->formats[query->parameters] = 0;
	query->lengths[query->parameters] = 0;
}

/* The server's own read-only mode would need a transaction around each query. */
static int check_writable(const struct postgres_db *p, enum fg_sql sql, struct fg_error *err)
{
	if (p->db.read_only && !fg_text_starts_with(fg_sql_texts[sql].text, "SELECT"))
		return fg_error_set(err, FG_EDB, "%s was opened read-only", p->db.name);
	return FG_OK;
}

/* A statement and its parameters. */
struct request {
	enum fg_sql sql;
	bool is_for_rows;
	const char *text;
	int count;
	const char *const *values;
	const int *lengths;
	const int *formats;
};

/* Executes the statement and returns the answer, or the answer to preparing it if that failed. */
static PGresult *ask(struct postgres_db *p, const struct request *r)
{
	bool *prepared = &p->prepared[r->is_for_rows][r->sql];
	char name[16];
	PGresult *result = NULL;

	if (!p->prepares)
		return take_result(p, !p->lost && fg_pq.sendQueryParams(p->connection, r->text,
									r->count, NULL, r->values,
									r->lengths, r->formats, 1));
	(void)snprintf(name, sizeof(name), "%c%d", r->is_for_rows ? 'r' : 'q', (int)r->sql);
	if (!*prepared) {
		result = take_result(p, !p->lost && fg_pq.sendPrepare(p->connection, name, r->text,
								      r->count, NULL));
		*prepared = !has_failed(result);
		if (!*prepared)
			return result;
		fg_pq.clear(result);
	}
	return take_result(p, !p->lost && fg_pq.sendQueryPrepared(p->connection, name, r->count,
								  r->values, r->lengths, r->formats,
								  1));
}

static int execute(struct fg_query *query, struct fg_error *err)
{
	struct postgres_db *p = of(query);
	PGresult *result = NULL;
	int status = FG_OK;

	FG_TRY(check_writable(p, query->sql, err));
	result = ask(p, &(struct request){.sql = query->sql,
					  .text = fg_sql_texts[query->sql].text,
					  .count = query->parameters,
					  .values = query->values,
					  .lengths = query->lengths,
					  .formats = query->formats});
	if (has_failed(result)) {
		status = failed(p, result, err);
		fg_pq.clear(result);
		return status;
	}
	query->statement = result;
	return FG_OK;
}

static uint64_t big_endian(const char *data, int size)
{
	const unsigned char *at = (const unsigned char *)data;
	uint64_t value = 0;

	for (int i = 0; i < size; i++)
		value = value << 8 | at[i];
	return value;
}

/* Executes a statement for rows [first, first + count). */
static PGresult *ask_for_rows(struct postgres_db *p, const struct request *request,
			      const struct fg_rows *rows, size_t first, size_t count)
{
	struct fg_bytes arrays[FG_QUERY_MAX_PARAMETERS] = {{0}};
	const char *values[FG_QUERY_MAX_PARAMETERS] = {NULL};
	int lengths[FG_QUERY_MAX_PARAMETERS] = {0};
	int formats[FG_QUERY_MAX_PARAMETERS] = {0};
	struct request r = *request;
	PGresult *result = NULL;

	for (size_t c = 0; c < rows->columns; c++) {
		fg_postgres_array(rows, c, first, count, &arrays[c]);
		values[c] = (const char *)arrays[c].data;
		lengths[c] = (int)arrays[c].size;
		formats[c] = 1;
	}
	r.count = (int)rows->columns;
	r.values = values;
	r.lengths = lengths;
	r.formats = formats;
	result = ask(p, &r);
	for (size_t c = 0; c < rows->columns; c++)
		fg_bytes_release(&arrays[c]);
	return result;
}

/* Copies the id found for each row to `ids`, or 0. */
static int take_ids(const struct postgres_db *p, const PGresult *result, size_t count, int64_t *ids,
		    struct fg_error *err)
{
	if (fg_pq.ntuples(result) < (int)count)
		return fg_error_set(err, FG_EBUSY,
				    "%s: another session added the same row: try again",
				    p->db.name);
	for (size_t i = 0; i < count; i++)
		ids[i] = fg_pq.getisnull(result, (int)i, 0)
				 ? 0
				 : (int64_t)big_endian(fg_pq.getvalue(result, (int)i, 0),
						       NUMBER_BYTES);
	return FG_OK;
}

static int query_rows(struct fg_db *db, enum fg_sql sql, const struct fg_rows *rows, int64_t *ids,
		      struct fg_error *err)
{
	struct postgres_db *p = (struct postgres_db *)db;
	int status = check_writable(p, sql, err);
	char *text = NULL;

	if (status != FG_OK)
		return status;
	if (rows->count > 0)
		text = fg_postgres_rows_text(fg_sql_texts[sql].text, rows);
	for (size_t first = 0; first < rows->count && status == FG_OK; first += ROWS_AT_ONCE) {
		const size_t count = fg_min_size(rows->count - first, (size_t)ROWS_AT_ONCE);
		PGresult *result =
			ask_for_rows(p, &(struct request){sql, true, text, 0, NULL, NULL, NULL},
				     rows, first, count);

		if (has_failed(result))
			status = failed(p, result, err);
		else if (ids)
			status = take_ids(p, result, count, ids + first, err);
		fg_pq.clear(result);
	}
	free(text);
	return status;
}

static int step(struct fg_query *query, struct fg_error *err)
{
	if (!query->statement) {
		FG_TRY(execute(query, err));
	}
	query->row++;
	return query->row < fg_pq.ntuples(query->statement) ? 1 : FG_OK;
}

static bool is_null(const struct fg_query *query, int column)
{
	return fg_pq.getisnull(query->statement, query->row, column);
}

static int64_t column_int(const struct fg_query *query, int column)
{
	const char *at = fg_pq.getvalue(query->statement, query->row, column);

	if (fg_pq.getlength(query->statement, query->row, column) == SMALL_NUMBER_BYTES)
		return (int32_t)(uint32_t)big_endian(at, SMALL_NUMBER_BYTES);
	return (int64_t)big_endian(at, NUMBER_BYTES);
}

static double column_double(const struct fg_query *query, int column)
{
	const uint64_t bits =
		big_endian(fg_pq.getvalue(query->statement, query->row, column), NUMBER_BYTES);
	double value = 0;

	memcpy(&value, &bits, sizeof(value));
	return value;
}

static const void *column_bytes(const struct fg_query *query, int column, size_t *size)
{
	*size = (size_t)fg_pq.getlength(query->statement, query->row, column);
	return fg_pq.getvalue(query->statement, query->row, column); /* libpq appends a NUL */
}

static void query_end(struct fg_query *query)
{
	fg_pq.clear(query->statement);
	query->statement = NULL;
	fg_arena_release(&of(query)->cleaned); /* the server has received the strings */
}

static const struct fg_db_ops ops = {
	.name = "postgresql",
	.id = "BIGINT GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY",
	.text = "TEXT COLLATE \"C\"",
	.bytes = "BYTEA",
	.clustered = "",
	.is_broken = is_broken,
	.query_rows = query_rows,
	FG_DB_OPS_OF_THIS_FILE,
};

/*
 * Removes both secrets from "postgresql://user:secret@host/name?password=secret". The user name
 * ends where libpq ends it.
 */
static char *without_password(const char *location)
{
	const char *start = strstr(location, "://") + 3;
	const size_t length = strcspn(start, "@/");
	const char *colon = start[length] == '@' ? memchr(start, ':', length) : NULL;
	const char *rest = start + length;

	return fg_xasprintf("%.*s%.*s", (int)((colon ? colon : rest) - location), location,
			    (int)strcspn(rest, "?"), rest);
}

static void ignore_notice(void *context, const PGresult *result)
{
	(void)context;
	(void)result;
}

static PGconn *connect_to(const char *location, unsigned flags)
{
	/* Later settings win: the URL may override the timeout, but not the encoding. */
	static const char *const names[] = {"connect_timeout", "dbname", "client_encoding", NULL};
	const char *const values[] = {CONNECT_SECONDS, location, "UTF8", NULL};
	const bool is_bounded = flags & FG_DB_BOUNDED;

	return fg_pq.connectdbParams(names + !is_bounded, values + !is_bounded, 1);
}

/* Makes the settings for each transaction. */
static void make_settings(struct postgres_db *p, unsigned flags)
{
	static const struct {
		unsigned flag; /* enum fg_db_flags; 0: always */
		const char *setting;
	} all[] = {
		{FG_DB_DURABLE, "synchronous_commit = on"},
		{FG_DB_BOUNDED, "statement_timeout = 4000"},
		{FG_DB_BOUNDED, "lock_timeout = 3000"},
		/* Starting workers or JIT compilation would take longer than a typical query. */
		{FG_DB_BOUNDED, "max_parallel_workers_per_gather = 0"},
		{0, "jit = off"},
	};
	size_t length = 0;

	for (size_t i = 0; i < FG_ARRAY_SIZE(all); i++) {
		if ((flags & all[i].flag) == all[i].flag)
			length +=
				(size_t)snprintf(p->settings + length, sizeof(p->settings) - length,
						 "SET LOCAL %s; ", all[i].setting);
	}
}

/*
 * Returns true if no pooler is in between. A pooler gives libpq another process id than the
 * server's, and may route each transaction to another process.
 */
static bool is_direct(struct postgres_db *p)
{
	PGresult *result =
		take_result(p, fg_pq.sendQuery(p->connection, "SELECT pg_backend_pid()"));
	int64_t number = 0;
	const bool is_known = !has_failed(result) &&
			      fg_parse_int64(fg_pq.getvalue(result, 0, 0), &number, NULL) == FG_OK;

	fg_pq.clear(result);
	return is_known && number == fg_pq.backendPID(p->connection);
}

int fg_postgres_open(const char *location, unsigned flags, struct fg_db **db, struct fg_error *err)
{
	struct postgres_db *p = NULL;
	int status = FG_OK;

	FG_TRY(fg_pq_open(err));
	p = fg_xcalloc(1, sizeof(*p));
	p->db.ops = &ops;
	p->db.location = without_password(location);
	p->db.name = fg_xasprintf("store '%s'", p->db.location);
	p->db.read_only = flags & FG_DB_READ_ONLY;
	make_settings(p, flags);
	*db = &p->db;
	p->connection = connect_to(location, flags);
	if (fg_pq.status(p->connection) != CONNECTION_OK) {
		const char *text = fg_pq.errorMessage(p->connection);

		status = fg_error_set(err, FG_ENET, "cannot connect to '%s': %.*s", p->db.location,
				      (int)strcspn(text, "\n"), text);
	}
	if (status != FG_OK)
		return status;
	(void)fg_pq.setNoticeReceiver(p->connection, ignore_notice, NULL);
	(void)fg_pq.setnonblocking(p->connection, 1);
	p->patience_ns = flags & FG_DB_BOUNDED ? PATIENCE_MS * FG_NS_PER_MS : 0;
	p->prepares = is_direct(p);
	return FG_OK;
}
