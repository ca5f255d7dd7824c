/* SPDX-License-Identifier: Apache-2.0 */
/* The commands of the program perfdb and their options. */
#ifndef FG_PERFDB_SERVER_OPTIONS_H
#define FG_PERFDB_SERVER_OPTIONS_H

#include "base/error.h"
#include "base/option_rows.h"
#include "base/strbuf.h"
#include "perfdb/server/server.h"
#include "store/serving/access.h"

enum {
	FG_PERFDB_OK = 0,
	FG_PERFDB_FAILED = 1,
	FG_PERFDB_USAGE = 2,
};

struct fg_perfdb_options {
	const char *database;
	struct fg_server_options server; /* the options of `serve` */
	const char *listen;
	const char *project;
	const char *scope;
	const char *note;
	const char *to;
	int64_t expires;
	int64_t older_than;
	unsigned keep;
	unsigned most_runs;
	uint64_t most_bytes;
	bool with_secret;
	bool is_group;
	bool dry_run;
	bool quiet;
	bool open;
	bool help;
};

#define FG_PERFDB_DATABASE                                                        \
 {                                                                                \
  .name = "database", .letter = 'd', .kind = FG_OPTION_TEXT,                      \
  .offset = offsetof(struct fg_perfdb_options, database), .argument = "DATABASE", \
  .initial = "perfdb.db",                                                         \
  .help = "an SQLite file, or postgresql://USER@HOST/NAME "                       \
	  "(the password from PGPASSWORD or ~/.pgpass)"                           \
 }
#define FG_PERFDB_SCOPE                                                                         \
 {                                                                                              \
  .name = "scope", .kind = FG_OPTION_TEXT, .offset = offsetof(struct fg_perfdb_options, scope), \
  .argument = "SCOPE", .initial = "read",                                                       \
  .help = "read; upload (and read); triage (and read): notes, decisions; admin: everything"     \
 }
#define FG_PERFDB_HELP \
 FG_ROW_FLAG(struct fg_perfdb_options, help, "help", 'h', "show this help and exit")

struct fg_perfdb_command {
	const char *name;
	const char *summary;
	const struct fg_option *options;
	/* actions for the first word; NULL if the command takes no words */
	const struct fg_perfdb_action *actions;
	const char *usage; /* for commands with actions */
	/* For commands without actions; returns the exit code, an FG_PERFDB_... */
	int (*run)(const struct fg_perfdb_options *given);
};

extern const struct fg_perfdb_command fg_perfdb_serve; /* serve.c */
extern const struct fg_perfdb_command fg_perfdb_token; /* token.c */
extern const struct fg_perfdb_command fg_perfdb_role;  /* role.c */
extern const struct fg_perfdb_command fg_perfdb_limit; /* limit.c */
extern const struct fg_perfdb_command fg_perfdb_gc;    /* gc.c */
/* database.c */
extern const struct fg_perfdb_command fg_perfdb_migrate, fg_perfdb_backup, fg_perfdb_check;

/* All commands, NULL at the end. */
extern const struct fg_perfdb_command *const fg_perfdb_commands[];

/* Writes perfdb(1). (manual.c) */
void fg_perfdb_manual(struct fg_strbuf *page);

/* Input of an action. */
struct fg_perfdb_action_call {
	const struct fg_perfdb_options *given;
	char *word; /* the word after the action; may be NULL */
	struct fg_store *store;
	struct fg_strbuf output; /* printed after success */
};

struct fg_perfdb_action {
	const char *name;
	bool takes_word;
	bool changes; /* runs in one transaction with an entry in the audit log */
	int (*run)(struct fg_perfdb_action_call *call, struct fg_error *err);
	const char *remark; /* printed on standard error after success; may be NULL */
};

/* Runs the action named by the first word, by default the first action; returns the exit code. */
int fg_perfdb_act(const struct fg_perfdb_options *given, const struct fg_option_words *words,
		  const struct fg_perfdb_command *command);
/* Adds an action to the audit log, under the name of the local user, who owns the database. */
int fg_perfdb_note(struct fg_store *store, const char *project, const char *action,
		   const char *subject, struct fg_error *err) FG_NODISCARD;
/*
 * Adds a name from the database for display on a terminal, without control characters, padded to
 * `width`.
 */
void fg_perfdb_add_name(struct fg_strbuf *text, const char *name, size_t width);
/*
 * Creates the administrator's key for a database that never had a token, and writes the key next to
 * an SQLite file. Sets `key` to "" if there was a token.
 */
int fg_first_start(const char *database, char key[FG_TOKEN_TEXT_SIZE], struct fg_error *err)
	FG_NODISCARD;
/*
 * Returns the path of the key file, which the caller frees; NULL for PostgreSQL, where no key file
 * is written.
 */
char *fg_first_start_file(const char *database);
/* Prints the error on standard error; returns the exit code. */
int fg_perfdb_fail(const struct fg_error *err);

#endif
