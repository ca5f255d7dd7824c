// SPDX-License-Identifier: Apache-2.0
/*
 * The SQLite back end of store/db.h.
 *
 * The file is in WAL mode: readers never wait for the writer. A local store uses synchronous=NORMAL
 * (a power cut may lose the last run, never damage the file; a killed process loses nothing); a
 * server uses FULL, because a client may delete its copy of the run after the answer. Statements
 * are prepared once and kept.
 *
 * SQLite reads `$1` as the name of a parameter. Parameters are bound by that name, so the order in
 * which a query mentions them does not matter, as in PostgreSQL.
 */
#include "base/clock.h"
#include "base/fs.h"
#include "base/log.h"
#include "base/strbuf.h"
#include "base/text.h"
#include "store/db.h"

#include <fcntl.h>
#include <sqlite3.h>
#include <unistd.h>

enum {
	FOLDER_MODE = 0755,
	BUSY_TIMEOUT_MS = 10000,
	BOUNDED_TIMEOUT_MS = 3000,
	APPLICATION_ID = 0x66673031, /* "fg01" */
	RETRY_MS = 5
};

struct sqlite_db {
	struct fg_db db;
	sqlite3 *handle;
	sqlite3_stmt *statements[FG_SQL_COUNT];
	bool busy[FG_SQL_COUNT];
	uint8_t places[FG_SQL_COUNT][FG_QUERY_MAX_PARAMETERS]; /* SQLite's indexes of $1, $2, ... */
};

static struct sqlite_db *of(const struct fg_query *query)
{
	return (struct sqlite_db *)query->db;
}

struct reason {
	int code; /* SQLite's primary result code */
	enum fg_status status;
	const char *words;
};

/* Errors that a user can act on. */
static const struct reason reasons[] = {
	{SQLITE_BUSY, FG_EBUSY, "is locked by another process: wait until it has finished"},
	{SQLITE_LOCKED, FG_EBUSY, "is locked by another process: wait until it has finished"},
	{SQLITE_CORRUPT, FG_EDB, "is damaged: move it away, or restore it from a backup"},
	{SQLITE_NOTADB, FG_EDB, "is not a fastgate store: it is not an SQLite database"},
	{SQLITE_FULL, FG_EIO, "cannot grow: the disk is full"},
	{SQLITE_READONLY, FG_EIO,
	 "cannot be written: check the permissions of the file and its folder"},
	{SQLITE_CANTOPEN, FG_EIO, "cannot be opened: check the path and its permissions"},
	{SQLITE_IOERR, FG_EIO, "cannot be read or written: the disk is full or failing"},
};

static int failed(const struct sqlite_db *s, struct fg_error *err)
{
	const int code = sqlite3_errcode(s->handle) & 0xff;

	for (size_t i = 0; i < FG_ARRAY_SIZE(reasons); i++) {
		if (reasons[i].code == code)
			return fg_error_set(err, reasons[i].status, "%s %s (%s)", s->db.name,
					    reasons[i].words, sqlite3_errmsg(s->handle));
	}
	return fg_error_set(err, FG_EDB, "%s: %s", s->db.name, sqlite3_errmsg(s->handle));
}

static void close_session(struct fg_db *db)
{
	struct sqlite_db *s = (struct sqlite_db *)db;

	for (size_t i = 0; i < FG_SQL_COUNT; i++)
		(void)sqlite3_finalize(s->statements[i]);
	(void)sqlite3_close_v2(s->handle);
	free(s);
}

static int run_script(struct fg_db *db, const char *sql, struct fg_error *err)
{
	struct sqlite_db *s = (struct sqlite_db *)db;

	if (sqlite3_exec(s->handle, sql, NULL, NULL, NULL) != SQLITE_OK)
		return failed(s, err);
	return FG_OK;
}

static int begin(struct fg_db *db, enum fg_db_mode mode, struct fg_error *err)
{
	return run_script(db, mode == FG_DB_READS ? "BEGIN" : "BEGIN IMMEDIATE", err);
}

static int prepare(struct sqlite_db *s, enum fg_sql sql)
{
	const int code = sqlite3_prepare_v3(s->handle, fg_sql_texts[sql].text, -1,
					    SQLITE_PREPARE_PERSISTENT, &s->statements[sql], NULL);

	for (int i = 0; i < FG_QUERY_MAX_PARAMETERS && code == SQLITE_OK; i++) {
		char name[16];

		(void)snprintf(name, sizeof(name), "$%d", i + 1);
		s->places[sql][i] = (uint8_t)sqlite3_bind_parameter_index(s->statements[sql], name);
	}
	return code;
}

static void query_begin(struct fg_query *query)
{
	struct sqlite_db *s = of(query);

	FG_ASSERT(!s->busy[query->sql]);
	if (!s->statements[query->sql] && prepare(s, query->sql) != SQLITE_OK) {
		fg_log(FG_LOG_STORE, 1, "prepare %s: %s", fg_sql_texts[query->sql].name,
		       sqlite3_errmsg(s->handle));
		query->failed = FG_EDB;
		return;
	}
	query->statement = s->statements[query->sql];
	s->busy[query->sql] = true;
}

/* Returns SQLite's index of the next parameter. */
static int place(const struct fg_query *query)
{
	return of(query)->places[query->sql][query->parameters];
}

static void check_bind(struct fg_query *query, int code)
{
	if (code != SQLITE_OK)
		query->failed = FG_EDB;
}

static void bind_int(struct fg_query *query, int64_t value)
{
	if (query->statement)
		check_bind(query, sqlite3_bind_int64(query->statement, place(query), value));
}

static void bind_double(struct fg_query *query, double value)
{
	if (query->statement)
		check_bind(query, sqlite3_bind_double(query->statement, place(query), value));
}

static void bind_bytes(struct fg_query *query, const void *data, size_t size, bool is_text)
{
	if (!query->statement)
		return;
	if (is_text)
		check_bind(query, sqlite3_bind_text64(query->statement, place(query), data, size,
						      SQLITE_STATIC, SQLITE_UTF8));
	else
		check_bind(query, sqlite3_bind_blob64(query->statement, place(query),
						      size ? data : "", size, SQLITE_STATIC));
}

static void bind_null(struct fg_query *query)
{
	if (query->statement)
		check_bind(query, sqlite3_bind_null(query->statement, place(query)));
}

static int step(struct fg_query *query, struct fg_error *err)
{
	if (query->failed != FG_OK) {
		(void)failed(of(query), err);
		fg_error_prefix(err, "query %s", fg_sql_texts[query->sql].name);
		return query->failed;
	}
	switch (sqlite3_step(query->statement)) {
	case SQLITE_ROW:
		return 1;
	case SQLITE_DONE:
		return FG_OK;
	default:
		return failed(of(query), err);
	}
}

static bool is_null(const struct fg_query *query, int column)
{
	return sqlite3_column_type(query->statement, column) == SQLITE_NULL;
}

static int64_t column_int(const struct fg_query *query, int column)
{
	return sqlite3_column_int64(query->statement, column);
}

static double column_double(const struct fg_query *query, int column)
{
	return sqlite3_column_double(query->statement, column);
}

static const void *column_bytes(const struct fg_query *query, int column, size_t *size)
{
	const void *data = sqlite3_column_type(query->statement, column) == SQLITE_BLOB
				   ? sqlite3_column_blob(query->statement, column)
				   : sqlite3_column_text(query->statement, column);

	*size = (size_t)sqlite3_column_bytes(query->statement, column);
	return data ? data : "";
}

static void query_end(struct fg_query *query)
{
	if (!query->statement)
		return;
	(void)sqlite3_reset(query->statement);
	(void)sqlite3_clear_bindings(query->statement);
	of(query)->busy[query->sql] = false;
	query->statement = NULL;
}

static const struct fg_db_ops ops = {
	.name = "sqlite",
	.id = "INTEGER PRIMARY KEY",
	.text = "TEXT",
	.bytes = "BLOB",
	.clustered = "WITHOUT ROWID",
	FG_DB_OPS_OF_THIS_FILE,
};

static int read_pragma(struct sqlite_db *s, const char *sql, int64_t *value, struct fg_error *err)
{
	sqlite3_stmt *statement = NULL;
	int status = FG_OK;

	if (sqlite3_prepare_v2(s->handle, sql, -1, &statement, NULL) != SQLITE_OK)
		return failed(s, err);
	if (sqlite3_step(statement) == SQLITE_ROW)
		*value = sqlite3_column_int64(statement, 0);
	else
		status = failed(s, err);
	(void)sqlite3_finalize(statement);
	return status;
}

static int make_folder(const char *path, struct fg_error *err)
{
	char *folder = fg_fs_parent(path);
	int status = FG_OK;

	if (*folder && !fg_fs_is_folder(folder))
		status = fg_fs_make_folders(folder, FOLDER_MODE, err);
	free(folder);
	return status;
}

/*
 * Refuses a file with views or triggers, because their code might run forever. Triggers are allowed
 * for readers, which do not run them, and on a server, whose administrator made them.
 */
static int refuse_code(struct sqlite_db *s, unsigned flags, struct fg_error *err)
{
	int64_t count = 0;
	const int status = read_pragma(
		s,
		flags & (FG_DB_DURABLE | FG_DB_READ_ONLY)
			? "SELECT count(*) FROM sqlite_schema WHERE type = 'view'"
			: "SELECT count(*) FROM sqlite_schema WHERE type IN ('view', 'trigger')",
		&count, err);

	if (status != FG_OK || count == 0)
		return status;
	return fg_error_set(
		err, FG_EDB,
		"%s is not a fastgate store: it has views or triggers, which a store does not have",
		s->db.name);
}

/*
 * Refuses another program's database before changing anything in it. Tables are counted first,
 * because a process that creates the store at the same time writes the owner before the tables.
 */
static int check_owner(struct sqlite_db *s, bool *is_new, struct fg_error *err)
{
	int64_t owner = 0;
	int64_t tables = 0;
	int status = FG_OK;

	FG_TRY_OUT(read_pragma(s, "SELECT count(*) FROM sqlite_schema", &tables, err));
	FG_TRY_OUT(read_pragma(s, "PRAGMA application_id", &owner, err));
	if (owner != APPLICATION_ID && (owner != 0 || tables > 0))
		status = fg_error_set(
			err, FG_EDB,
			"%s is not a fastgate store: it is a database of another program",
			s->db.name);
out:
	*is_new = owner == 0;
	return status;
}

/*
 * Makes a new file. Small pages waste less space after each run's values; large pages need fewer
 * steps for a server's many rows.
 */
static int make_file(struct sqlite_db *s, unsigned flags, struct fg_error *err)
{
	char text[64];
	const int status = run_script(
		&s->db,
		flags & FG_DB_DURABLE ? "PRAGMA page_size = 8192; PRAGMA journal_mode = WAL"
				      : "PRAGMA page_size = 2048; PRAGMA journal_mode = WAL",
		err);

	if (status != FG_OK)
		return status;
	(void)snprintf(text, sizeof(text), "PRAGMA application_id = %d", APPLICATION_ID);
	return run_script(&s->db, text, err);
}

/*
 * Retries, because entering WAL mode needs exclusive access, for which SQLite does not wait: the
 * statement fails at once while another process creates the same store.
 */
static int check_or_make_file(struct sqlite_db *s, unsigned flags, int timeout_ms,
			      struct fg_error *err)
{
	const int64_t until_ns = fg_clock_monotonic_ns() + timeout_ms * FG_NS_PER_MS;
	bool is_new = false;
	int status = FG_OK;

	do {
		status = check_owner(s, &is_new, err);
		if (status == FG_OK && is_new && !(flags & FG_DB_READ_ONLY))
			status = make_file(s, flags, err);
	} while (status == FG_EBUSY && fg_clock_monotonic_ns() < until_ns &&
		 sqlite3_sleep(RETRY_MS) >= 0);
	return status != FG_OK ? status : refuse_code(s, flags, err);
}

static int configure(struct sqlite_db *s, unsigned flags, struct fg_error *err)
{
	const int timeout_ms = flags & FG_DB_BOUNDED ? BOUNDED_TIMEOUT_MS : BUSY_TIMEOUT_MS;
	const struct {
		unsigned flags; /* flags that must all be set */
		const char *text;
	} settings[] = {
		{0, "PRAGMA synchronous = NORMAL; PRAGMA foreign_keys = ON; "
		    "PRAGMA cache_size = -32768; PRAGMA wal_autocheckpoint = 4000; "
		    "PRAGMA trusted_schema = OFF"},
		/* Savepoints need a temporary store for one transaction: keep it in memory. */
		{FG_DB_DURABLE, "PRAGMA synchronous = FULL; PRAGMA temp_store = MEMORY"},
		{FG_DB_READ_ONLY, "PRAGMA query_only = ON"},
	};
	int status = FG_OK;

	(void)sqlite3_extended_result_codes(s->handle, 0);
	(void)sqlite3_busy_timeout(s->handle, timeout_ms);
	status = check_or_make_file(s, flags, timeout_ms, err);
	for (size_t i = 0; i < FG_ARRAY_SIZE(settings) && status == FG_OK; i++) {
		if ((flags & settings[i].flags) == settings[i].flags)
			status = run_script(&s->db, settings[i].text, err);
	}
	return status;
}

/*
 * Returns true for a file without a WAL in a folder that is not writable: the file is then the
 * whole database.
 */
static bool is_frozen(const char *location)
{
	char *folder = fg_fs_parent(location);
	char *log = fg_xasprintf("%s-wal", location);
	const bool frozen = access(folder, W_OK) != 0 && !fg_fs_exists(log);

	free(log);
	free(folder);
	return frozen;
}

/*
 * Opens the file as immutable: in WAL mode, even a reader would otherwise create a file next to it.
 */
static int open_frozen(const char *location, sqlite3 **handle)
{
	struct fg_strbuf uri = {0};
	int code = SQLITE_OK;

	fg_strbuf_add_text(&uri, "file:");
	for (const char *c = location; *c; c++) {
		if (strchr("%?#", *c))
			fg_strbuf_printf(&uri, "%%%02x", (unsigned)*c);
		else
			fg_strbuf_add_char(&uri, *c);
	}
	fg_strbuf_add_text(&uri, "?immutable=1");
	code = sqlite3_open_v2(fg_strbuf_text(&uri), handle,
			       SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_READONLY | SQLITE_OPEN_URI, NULL);
	fg_strbuf_release(&uri);
	return code;
}

static int open_handle(struct sqlite_db *s, unsigned flags)
{
	const int mode = SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_READWRITE;

	if (!(flags & FG_DB_READ_ONLY))
		return sqlite3_open_v2(s->db.location, &s->handle, mode | SQLITE_OPEN_CREATE, NULL);
	if (is_frozen(s->db.location))
		return open_frozen(s->db.location, &s->handle);
	return sqlite3_open_v2(s->db.location, &s->handle, mode, NULL);
}

int fg_sqlite_open(const char *location, unsigned flags, struct fg_db **db, struct fg_error *err)
{
	struct sqlite_db *s = NULL;

	if (flags & FG_DB_READ_ONLY) {
		if (!fg_fs_exists(location))
			return fg_error_set(err, FG_ENOENT, "there is no store at '%s'", location);
	} else {
		FG_TRY(make_folder(location, err));
	}
	if (fg_fs_is_planted(location))
		return fg_error_set(
			err, FG_EIO,
			"store '%s' cannot be opened: it is a link that another user made",
			location);
	s = fg_xcalloc(1, sizeof(*s));
	s->db.ops = &ops;
	s->db.location = fg_xstrdup(location);
	s->db.name = fg_xasprintf("store '%s'", location);
	s->db.read_only = flags & FG_DB_READ_ONLY;
	*db = &s->db;
	return open_handle(s, flags) == SQLITE_OK ? configure(s, flags, err) : failed(s, err);
}
