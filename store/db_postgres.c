// SPDX-License-Identifier: Apache-2.0
/*
 * The PostgreSQL back end of store/db.h.
 *
 * Statements are prepared once per session, by their number.  Results come in binary, so that
 * numbers and bytes need no parsing; parameters go as text, except bytes.
 *
 * Writers share one advisory lock, so they write at the same time.  What must be alone (a
 * migration, sealing, removal) takes the same lock for itself: it sees all rows of writers that
 * took an id before it, and none takes one meanwhile.  A second lock belongs to the one writer that
 * adds names: rows that all projects share and find by what they are.  Two uploads with the same
 * new functions would wait for each other otherwise.  Readers never wait.
 *
 * Sealing adds thousands of rows, and no writer is to wait for those.  So a third lock, taken
 * before the first, keeps those who will be alone from each other; whoever has it may add rows that
 * nobody looks at yet, and takes the writers' lock for the end only.
 *
 * In a writing transaction, what returns no rows is sent without waiting for the answer (libpq's
 * pipeline): the next statement that returns some brings the answers of all before it, and the
 * commit those that are left.  A statement that failed makes what was sent after it, a commit
 * too, fail as well, and its reason is what is told.
 *
 * Behind a pooler such as pgbouncer, each transaction may be another session of the server: nothing
 * is prepared or sent ahead, settings are made for a transaction, and what a read-only store asks
 * outside of one is given one of its own.  A pooler is known by the session's number, which is not
 * the one that was announced when we connected.
 */
#include "base/arena.h"
#include "base/clock.h"
#include "base/log.h"
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
	NAMES_LOCK = 0x66673032,
	ALONE_LOCK = 0x66673033,
	ROWS_AT_ONCE = 16384,
	ROWS_TO_COPY = 256, /* from here on */
	COPY_AT_ONCE_BYTES = 1 << 18,
	NUMBER_BYTES = 8,
	SMALL_NUMBER_BYTES = 4,
	PATIENCE_MS = 4500 /* a little longer than the server's own statement_timeout */
};

#define CONNECT_SECONDS "2"

struct postgres_db {
	struct fg_db db;
	PGconn *connection;
	unsigned attempt;                /* to prepare: from 1, one more with each that failed */
	unsigned prepared[FG_SQL_COUNT]; /* in which attempt; 0: not yet */
	unsigned prepared_rows[FG_SQL_COUNT]; /* for many rows at once */
	struct fg_arena cleaned; /* parameters that were broken, until their query ends */
	bool pooled;             /* behind a pooler */
	bool pipelined;          /* answers are taken later */
	char *settings;          /* that each transaction begins with; NULL: none */
	int64_t patience_ns;     /* for one statement; 0: for ever */
	bool lost;               /* the server did not answer in time */
};

static struct postgres_db *of(const struct fg_query *query)
{
	return (struct postgres_db *)query->db;
}

struct class_meaning {
	const char *start; /* of the SQLSTATE */
	enum fg_status status;
	const char *words;
};

static const struct class_meaning meanings[] = {
	{"23505", FG_EBUSY, "another session added the same: try again"},
	{"53", FG_EIO, "the database server lacks room"},
	{"40", FG_EBUSY, "another session was in the way: try again"},
	{"55", FG_EBUSY, "another session holds it: try again"},
	{"57", FG_ENET, "the database server is going down"},
	{"08", FG_ENET, "the connection to the database is broken"},
	{"28", FG_EDB, "the database server does not let us in"},
	{"42501", FG_EDB, "our database user may not do that"},
	{"58", FG_EIO, "the database server has trouble with its disk"},
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
	free(p->settings);
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

/* Until there is something to read, or also room to write; false: the time is over. */
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

/* False: the server did not take or answer it in time. */
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
 * The next result of the request (`sent`: libpq took it), or NULL.  libpq's own calls would wait
 * for ever for a server that hangs.
 */
static PGresult *take_next(struct postgres_db *p, bool sent, int64_t until_ns)
{
	if (!sent || p->lost)
		return NULL;
	p->lost = !exchange(p, until_ns);
	return p->lost ? NULL : fg_pq.getResult(p->connection);
}

/* The first that has failed of all that were sent since the last time; else the last. */
static PGresult *take_pipelined(struct postgres_db *p, bool sent)
{
	PGresult *kept = NULL;
	bool is_open = sent && !p->lost && fg_pq.pipelineSync(p->connection) == 1;
	bool was_end = false; /* of a statement's results: then those of the next one follow */

	while (is_open) {
		PGresult *next = take_next(p, true, patient_until_ns(p));
		const bool is_last = fg_pq.resultStatus(next) == PGRES_PIPELINE_SYNC;

		is_open = !is_last && !p->lost && (next || !was_end);
		was_end = !next;
		if (!next || is_last || (kept && has_failed(kept))) {
			fg_pq.clear(next);
			continue;
		}
		fg_pq.clear(kept);
		kept = next;
	}
	return kept;
}

/* The last one; NULL if there is none. */
static PGresult *take_result(struct postgres_db *p, bool sent)
{
	const int64_t until_ns = patient_until_ns(p);
	PGresult *last = NULL;
	PGresult *next = NULL;

	if (p->pipelined)
		return take_pipelined(p, sent);
	while ((next = take_next(p, sent, until_ns))) {
		fg_pq.clear(last);
		last = next;
	}
	return last;
}

/* Waits for what was sent, and goes on without sending ahead. */
static int end_pipeline(struct postgres_db *p, struct fg_error *err)
{
	PGresult *result = NULL;
	int status = FG_OK;

	if (!p->pipelined)
		return FG_OK;
	result = take_pipelined(p, true);
	if (p->lost || fg_pq.status(p->connection) != CONNECTION_OK ||
	    (result && has_failed(result)))
		status = failed(p, result, err);
	fg_pq.clear(result);
	p->pipelined = false;
	/* Only what has not answered is in the way; such a session is of no use any more. */
	if (fg_pq.exitPipelineMode(p->connection) != 1)
		p->lost = true;
	return status;
}

/* The answer is taken with a later one. */
static int sent_ahead(struct postgres_db *p, int sent, struct fg_error *err)
{
	return sent == 1 ? FG_OK : failed(p, NULL, err);
}

static int send_command(struct postgres_db *p, const char *sql)
{
	return !p->lost &&
	       fg_pq.sendQueryParams(p->connection, sql, 0, NULL, NULL, NULL, NULL, 1) == 1;
}

static int run_commit(struct postgres_db *p, struct fg_error *err)
{
	const bool sent = p->pipelined ? send_command(p, "COMMIT")
				       : !p->lost && fg_pq.sendQuery(p->connection, "COMMIT") == 1;
	PGresult *result = take_result(p, sent);
	struct fg_error ignored = {0};
	int status = FG_OK;

	if (has_failed(result))
		status = failed(p, result, err);
	else if (strcmp(fg_pq.cmdStatus(result), "COMMIT") != 0)
		/*
		 * A statement had failed: PostgreSQL answers ROLLBACK, and does not call it an
		 * error.
		 */
		status = fg_error_set(err, FG_EDB, "%s: the transaction was undone", p->db.name);
	fg_pq.clear(result);
	(void)end_pipeline(p, &ignored);
	return status;
}

/* VACUUM refuses to be part of anything; everything else may be several statements. */
static int run_script(struct fg_db *db, const char *sql, struct fg_error *err)
{
	struct postgres_db *p = (struct postgres_db *)db;
	const bool is_undoing = strcmp(sql, "ROLLBACK") == 0;
	struct fg_error reason = {0};
	PGresult *result = NULL;
	int status = FG_OK;

	if (strcmp(sql, "COMMIT") == 0)
		return run_commit(p, err);
	if (end_pipeline(p, &reason) != FG_OK && !is_undoing)
		return fg_error_set(err, reason.code, "%s", reason.message);
	result = take_result(p, !p->lost && fg_pq.sendQuery(p->connection, sql));
	if (has_failed(result))
		status = failed(p, result, err);
	fg_pq.clear(result);
	return status;
}

/*
 * A writer finds single rows by their keys and adds others, thousands of times the same way.  Left
 * alone, PostgreSQL plans anew for every list of keys, which takes longer than finding them.  A
 * plan that is kept must not be one for a table that was small then.
 */
#define PLAN_ONCE                                                \
 ", set_config('plan_cache_mode', 'force_generic_plan', true), " \
 "set_config('enable_seqscan', 'off', true)"

static bool keeps_plans(const struct postgres_db *p, enum fg_db_mode mode)
{
	enum {
		FIRST_WITH_PLAN_CACHE_MODE = 120000
	};

	return mode == FG_DB_WRITES && !p->pooled &&
	       fg_pq.serverVersion(p->connection) >= FIRST_WITH_PLAN_CACHE_MODE;
}

static int lock_writers(struct fg_db *db, struct fg_error *err)
{
	char text[64];

	(void)snprintf(text, sizeof(text), "SELECT pg_advisory_xact_lock(%d)", WRITE_LOCK);
	return run_script(db, text, err);
}

static int begin(struct fg_db *db, enum fg_db_mode mode, struct fg_error *err)
{
	struct postgres_db *p = (struct postgres_db *)db;
	const char *settings = p->settings ? p->settings : "";
	char text[512];
	int status = FG_OK;

	if (mode == FG_DB_READS)
		(void)snprintf(text, sizeof(text),
			       "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; %s", settings);
	else if (mode == FG_DB_WRITES)
		(void)snprintf(text, sizeof(text),
			       "BEGIN; %s SELECT pg_advisory_xact_lock_shared(%d)%s", settings,
			       WRITE_LOCK, keeps_plans(p, mode) ? PLAN_ONCE : "");
	else
		(void)snprintf(text, sizeof(text), "BEGIN; %s SELECT pg_advisory_xact_lock(%d)",
			       settings, ALONE_LOCK);
	status = run_script(db, text, err);
	if (status == FG_OK && mode == FG_DB_WRITES_ALONE)
		status = lock_writers(db, err);
	/* Waiting for the lock can fail; the transaction has begun all the same. */
	if (status != FG_OK)
		(void)run_script(db, "ROLLBACK", NULL);
	p->pipelined = status == FG_OK && mode == FG_DB_WRITES && !p->pooled &&
		       fg_pq.enterPipelineMode(p->connection) == 1;
	return status;
}

/*
 * Without the session's setting, what is asked outside of a transaction could write: it gets one.
 * *entered: leave() has to be called.
 */
static int enter(struct postgres_db *p, bool *entered, struct fg_error *err)
{
	*entered = p->pooled && p->db.read_only &&
		   fg_pq.transactionStatus(p->connection) == PQTRANS_IDLE;
	return *entered ? run_script(&p->db, "BEGIN READ ONLY", err) : FG_OK;
}

static void leave(struct postgres_db *p, bool entered)
{
	if (entered)
		(void)run_script(&p->db, "COMMIT", NULL);
}

static int lock_names(struct fg_db *db, struct fg_error *err)
{
	struct postgres_db *p = (struct postgres_db *)db;
	char text[64];

	(void)snprintf(text, sizeof(text), "SELECT pg_advisory_xact_lock(%d)", NAMES_LOCK);
	/* What is asked next is asked with the lock, or not at all. */
	if (p->pipelined)
		return sent_ahead(p, send_command(p, text), err);
	return run_script(db, text, err);
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
 * Broken sequences are nothing that PostgreSQL would take as text; they are replaced as every
 * answer replaces them, so that both databases show the same.
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
	query->lengths[at] = (int)size; /* of text, libpq looks for the end itself */
}

static void bind_null(struct fg_query *query)
{
	query->values[query->parameters] = NULL;
	query->formats[query->parameters] = 0;
	query->lengths[query->parameters] = 0;
}

enum {
	STATEMENT_NAME_SIZE = 32
};

static void name_statement(char name[STATEMENT_NAME_SIZE], char kind, enum fg_sql sql,
			   unsigned attempt)
{
	(void)snprintf(name, STATEMENT_NAME_SIZE, "%c%d_%u", kind, (int)sql, attempt);
}

/*
 * A statement that was cancelled may be prepared all the same, so that its name is taken: the next
 * attempt has another name.
 */
static int prepare(struct postgres_db *p, enum fg_sql sql, const char *name, const char *text,
		   struct fg_error *err)
{
	PGresult *result = take_result(p, fg_pq.sendPrepare(p->connection, name, text, 0, NULL));
	int status = FG_OK;

	if (has_failed(result)) {
		status = failed(p, result, err);
		fg_log(FG_LOG_STORE, 1, "prepare %s: %s", fg_sql_texts[sql].name,
		       fg_pq.errorMessage(p->connection));
		p->attempt++;
	}
	fg_pq.clear(result);
	return status;
}

/* A statement that is prepared first where that is of use; *sent: whether libpq took it. */
static int send_query(struct fg_query *query, int *sent, struct fg_error *err)
{
	struct postgres_db *p = of(query);
	const char *text = fg_sql_texts[query->sql].text;
	char name[STATEMENT_NAME_SIZE];
	int status = FG_OK;

	if (p->pooled) {
		*sent = fg_pq.sendQueryParams(p->connection, text, query->parameters, NULL,
					      query->values, query->lengths, query->formats, 1);
		return FG_OK;
	}
	if (!p->prepared[query->sql]) {
		name_statement(name, 'q', query->sql, p->attempt);
		status = prepare(p, query->sql, name, text, err);
		if (status != FG_OK)
			return status;
		p->prepared[query->sql] = p->attempt;
	}
	name_statement(name, 'q', query->sql, p->prepared[query->sql]);
	*sent = fg_pq.sendQueryPrepared(p->connection, name, query->parameters, query->values,
					query->lengths, query->formats, 1);
	return FG_OK;
}

static int execute(struct fg_query *query, struct fg_error *err)
{
	struct postgres_db *p = of(query);
	PGresult *result = NULL;
	bool entered = false;
	int sent = 0;
	int status = enter(p, &entered, err);

	if (status != FG_OK)
		return status;
	status = send_query(query, &sent, err);
	if (status != FG_OK)
		goto out;
	result = take_result(p, sent);
	if (has_failed(result))
		status = failed(p, result, err);
out:
	leave(p, entered);
	if (status == FG_OK)
		query->statement = result;
	else
		fg_pq.clear(result);
	return status;
}

/* What returns no rows. */
static int run_query(struct fg_query *query, struct fg_error *err)
{
	struct postgres_db *p = of(query);
	int sent = 0;
	int status = FG_OK;

	if (!p->pipelined)
		return execute(query, err);
	status = send_query(query, &sent, err);
	return status == FG_OK ? sent_ahead(p, sent, err) : status;
}

static uint64_t big_endian(const char *data, int size)
{
	const unsigned char *at = (const unsigned char *)data;
	uint64_t value = 0;

	for (int i = 0; i < size; i++)
		value = value << 8 | at[i];
	return value;
}

/* Rows [first, first + count) to a statement: a prepared one's name, or (pooled) its text. */
static int send_rows(struct postgres_db *p, const char *words, const struct fg_rows *rows,
		     size_t first, size_t count)
{
	struct fg_bytes arrays[FG_ROWS_MAX_COLUMNS] = {{0}};
	const char *values[FG_ROWS_MAX_COLUMNS] = {NULL};
	int lengths[FG_ROWS_MAX_COLUMNS] = {0};
	int formats[FG_ROWS_MAX_COLUMNS] = {0};
	const int columns = (int)rows->column_count;
	int sent = 0;

	for (size_t c = 0; c < rows->column_count; c++) {
		fg_postgres_array(&rows->columns[c], first, count, &arrays[c]);
		values[c] = (const char *)arrays[c].data;
		lengths[c] = (int)arrays[c].size;
		formats[c] = 1;
	}
	sent = p->pooled ? fg_pq.sendQueryParams(p->connection, words, columns, NULL, values,
						 lengths, formats, 1)
			 : fg_pq.sendQueryPrepared(p->connection, words, columns, values, lengths,
						   formats, 1);
	for (size_t c = 0; c < rows->column_count; c++)
		fg_bytes_release(&arrays[c]);
	return sent;
}

/* What was found for each of them, or 0. */
static int take_ids(const struct postgres_db *p, const PGresult *result, size_t count, int64_t *ids,
		    struct fg_error *err)
{
	/* Rows to be added, one of which is there already. */
	if (fg_pq.ntuples(result) < (int)count)
		return fg_error_set(err, FG_EBUSY, "%s: another session added the same: try again",
				    p->db.name);
	for (size_t i = 0; i < count; i++)
		ids[i] = fg_pq.getisnull(result, (int)i, 0)
				 ? 0
				 : (int64_t)big_endian(fg_pq.getvalue(result, (int)i, 0),
						       NUMBER_BYTES);
	return FG_OK;
}

static int send_all_rows(struct postgres_db *p, const char *words, const struct fg_rows *rows,
			 int64_t *ids, struct fg_error *err)
{
	int status = FG_OK;

	for (size_t first = 0; first < rows->count && status == FG_OK; first += ROWS_AT_ONCE) {
		const size_t left = rows->count - first;
		const size_t count = left < ROWS_AT_ONCE ? left : ROWS_AT_ONCE;
		const int sent = send_rows(p, words, rows, first, count);
		PGresult *result = NULL;

		if (p->pipelined && !ids) {
			status = sent_ahead(p, sent, err);
			continue;
		}
		result = take_result(p, sent);
		if (has_failed(result))
			status = failed(p, result, err);
		else if (ids)
			status = take_ids(p, result, count, ids + first, err);
		fg_pq.clear(result);
	}
	return status;
}

/* False: there is no memory for it. */
static bool send_copied(struct postgres_db *p, const struct fg_bytes *data)
{
	bool sent = true;

	for (size_t at = 0; at < data->size && sent; at += COPY_AT_ONCE_BYTES)
		sent = fg_pq.putCopyData(
			       p->connection, (const char *)data->data + at,
			       (int)fg_min_size(data->size - at, (size_t)COPY_AT_ONCE_BYTES)) == 1;
	return sent && fg_pq.putCopyEnd(p->connection, NULL) == 1;
}

/* `words`: of fg_postgres_copy_text(). */
static int copy_some(struct postgres_db *p, const char *words, const struct fg_bytes *data,
		     struct fg_error *err)
{
	PGresult *result = take_next(p, !p->lost && fg_pq.sendQuery(p->connection, words),
				     patient_until_ns(p));
	int status = FG_OK;

	if (fg_pq.resultStatus(result) == PGRES_COPY_IN) {
		fg_pq.clear(result);
		p->lost = !send_copied(p, data);
		result = take_result(p, true);
	} else {
		fg_pq.clear(take_result(p, true)); /* nothing comes after a refusal */
	}
	if (has_failed(result))
		status = failed(p, result, err);
	fg_pq.clear(result);
	return status;
}

/*
 * Without a plan, and without a record in the log for each row: cheaper than a statement once there
 * are some hundred rows.
 */
static int copy_rows(struct postgres_db *p, const char *words, const struct fg_rows *rows,
		     struct fg_error *err)
{
	int status = FG_OK;

	for (size_t first = 0; first < rows->count && status == FG_OK; first += ROWS_AT_ONCE) {
		struct fg_bytes data = {0};

		fg_postgres_copy_rows(
			rows, first, fg_min_size(rows->count - first, (size_t)ROWS_AT_ONCE), &data);
		status = copy_some(p, words, &data, err);
		fg_bytes_release(&data);
	}
	return status;
}

/* Nothing can be copied while answers are outstanding. */
static int copy_beside(struct postgres_db *p, const char *words, const struct fg_rows *rows,
		       struct fg_error *err)
{
	const bool was_pipelined = p->pipelined;
	int status = end_pipeline(p, err);

	if (status != FG_OK)
		return status;
	status = copy_rows(p, words, rows, err);
	p->pipelined = was_pipelined && fg_pq.enterPipelineMode(p->connection) == 1;
	return status;
}

static int query_rows(struct fg_db *db, enum fg_sql sql, const struct fg_rows *rows, int64_t *ids,
		      struct fg_error *err)
{
	struct postgres_db *p = (struct postgres_db *)db;
	const bool prepares = !p->pooled && !p->prepared_rows[sql];
	char *text = NULL;
	char name[STATEMENT_NAME_SIZE];
	bool entered = false;
	int status = FG_OK;

	if (!ids && rows->count >= ROWS_TO_COPY)
		text = fg_postgres_copy_text(fg_sql_texts[sql].text, rows);
	if (text) {
		status = copy_beside(p, text, rows, err);
		free(text);
		return status;
	}
	status = enter(p, &entered, err);
	if (status != FG_OK)
		return status;
	name_statement(name, 'r', sql, prepares ? p->attempt : p->prepared_rows[sql]);
	if (p->pooled || prepares)
		text = fg_postgres_rows_text(fg_sql_texts[sql].text, rows);
	if (prepares)
		status = prepare(p, sql, name, text, err);
	if (prepares && status == FG_OK)
		p->prepared_rows[sql] = p->attempt;
	if (status == FG_OK)
		status = send_all_rows(p, p->pooled ? text : name, rows, ids, err);
	leave(p, entered);
	free(text);
	return status;
}

static int step(struct fg_query *query, struct fg_error *err)
{
	if (!query->statement) {
		const int status = execute(query, err);

		if (status != FG_OK)
			return status;
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
	fg_arena_release(&of(query)->cleaned); /* sent long ago */
}

static const struct fg_db_ops ops = {
	.name = "postgresql",
	.id = "BIGINT GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY",
	.text = "TEXT COLLATE \"C\"",
	.bytes = "BYTEA",
	.clustered = "",
	.is_broken = is_broken,
	.lock_names = lock_names,
	.lock_writers = lock_writers,
	.run = run_query,
	.query_rows = query_rows,
	FG_DB_OPS_OF_THIS_FILE,
};

/*
 * "postgresql://user:secret@host/name?password=secret" without either secret; where the user ends
 * is libpq's rule.
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
	/* The URL may say otherwise, but for the encoding: the last one counts. */
	static const char *const names[] = {"connect_timeout", "dbname", "client_encoding", NULL};
	const char *const values[] = {CONNECT_SECONDS, location, "UTF8", NULL};
	const bool is_bounded = flags & FG_DB_BOUNDED;

	return fg_pq.connectdbParams(names + !is_bounded, values + !is_bounded, 1);
}

static int find_pooler(struct postgres_db *p, struct fg_error *err)
{
	PGresult *result =
		take_result(p, fg_pq.sendQueryParams(p->connection, "SELECT pg_backend_pid()", 0,
						     NULL, NULL, NULL, NULL, 1));
	int status = FG_OK;

	if (has_failed(result))
		status = failed(p, result, err);
	else
		p->pooled = (int64_t)big_endian(fg_pq.getvalue(result, 0, 0), SMALL_NUMBER_BYTES) !=
			    fg_pq.backendPID(p->connection);
	fg_pq.clear(result);
	return status;
}

/* Settings of the session, or (pooled) of each transaction. */
static int make_settings(struct postgres_db *p, unsigned flags, struct fg_error *err)
{
	static const struct {
		unsigned flag; /* enum fg_db_flags; 0: always */
		const char *name;
		const char *value;
	} all[] = {
		{FG_DB_DURABLE, "synchronous_commit", "on"},
		{FG_DB_BOUNDED, "statement_timeout", "4000"},
		{FG_DB_BOUNDED, "lock_timeout", "3000"},
		/* Starting workers takes longer than what a page asks for. */
		{FG_DB_BOUNDED, "max_parallel_workers_per_gather", "0"},
		/* So does compiling, for pages and writers alike: plans look dear where no table
		   may be read from end to end. */
		{0, "jit", "off"},
	};
	struct fg_strbuf text = {0};
	int status = FG_OK;

	for (size_t i = 0; i < FG_ARRAY_SIZE(all); i++) {
		if ((flags & all[i].flag) == all[i].flag)
			fg_strbuf_printf(&text, "SET %s%s = %s; ", p->pooled ? "LOCAL " : "",
					 all[i].name, all[i].value);
	}
	if (p->pooled)
		p->settings = fg_strbuf_detach(&text);
	else if (flags & FG_DB_READ_ONLY)
		fg_strbuf_add_text(&text, "SET default_transaction_read_only = on");
	if (text.length)
		status = run_script(&p->db, fg_strbuf_text(&text), err);
	fg_strbuf_release(&text);
	return status;
}

int fg_postgres_open(const char *location, unsigned flags, struct fg_db **db, struct fg_error *err)
{
	struct postgres_db *p = NULL;
	int status = fg_pq_open(err);

	if (status != FG_OK)
		return status;
	p = fg_xcalloc(1, sizeof(*p));
	p->db.ops = &ops;
	p->db.location = without_password(location);
	p->db.name = fg_xasprintf("store '%s'", p->db.location);
	p->db.read_only = flags & FG_DB_READ_ONLY;
	p->attempt = 1;
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
	status = find_pooler(p, err);
	if (status != FG_OK)
		return status;
	return make_settings(p, flags, err);
}
