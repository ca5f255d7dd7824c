/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the store and its runs, exports runs as files, and sends runs to the perfdb server and
 * results to the targets in report.post of fastgate.yml.
 */
#ifndef FG_CLI_SESSION_STORED_H
#define FG_CLI_SESSION_STORED_H

#include "cli/framework/command.h"
#include "cli/session/session.h"
#include "gate/chain.h"
#include "gate/creep_functions.h"
#include "perfdb/client/client.h"
#include "reporters/reporter.h"
#include "store/serving/chain.h"
#include "store/store.h"

/* Rows for option tables: --store FILE and --project NAME. */
#define FG_CLI_STORE_OPTION(type, member) \
 FG_ROW_FILE(type, member, "store", 0,    \
	     "the store to use instead of .fastgate/store.db of this project")
#define FG_CLI_PROJECT_OPTION(type, member) \
 FG_ROW_TEXT(type, member, "project", 0, "NAME", "only runs of this project")
/* --store and --project. */
#define FG_CLI_STORED_OPTIONS(type) \
 FG_CLI_STORE_OPTION(type, store), FG_CLI_PROJECT_OPTION(type, project)
/* The forms of a RUN argument, for help and errors. */
#define FG_CLI_STORED_RUN_WORDS \
 "an id or its first digits, latest, latest~2, a tag, a branch, a commit, or an exported file"

/*
 * Returns the path of the store, which the caller frees: `given`, or else .fastgate/store.db in
 * this folder or in the nearest parent that has such a file, or else in this folder.
 */
char *fg_cli_store_path(const char *given);
int fg_cli_open_store(const char *given, unsigned flags, struct fg_store **store,
		      struct fg_error *err) FG_NODISCARD;
/*
 * Loads a run by any of its names (see fg_store_find), or an exported run by its path. `words` may
 * be NULL.
 */
int fg_cli_load_run(const char *store_path, const char *project, const char *words,
		    struct fg_stored_run *stored, struct fg_error *err) FG_NODISCARD;

/* Writes a run in the format of `fastgate runs export`, which `import` and a perfdb server read. */
int fg_cli_run_to_text(const struct fg_stored_run *stored, struct fg_strbuf *text,
		       struct fg_error *err) FG_NODISCARD;
int fg_cli_run_from_file(const char *path, struct fg_stored_run *stored, struct fg_error *err)
	FG_NODISCARD;
/* Writes the run to the file `path` ("-": stdout) and prints the path. */
int fg_cli_export_run(const struct fg_cli *cli, const struct fg_stored_run *stored,
		      const char *path, struct fg_error *err) FG_NODISCARD;
/* Puts the run into the spool, from which it will be pushed. */
int fg_cli_spool_run(const char *spool, const struct fg_stored_run *stored, struct fg_error *err)
	FG_NODISCARD;
/* Returns the path of the folder "spool" next to the store. The caller frees the path. */
char *fg_cli_spool_path(const char *store);

/*
 * Prints "comparing 1a2b3c4d5e6f (main) with 6f5e4d3c2b1a (uncommitted changes)": this side of one
 * run, and the candidate of the same or another run.
 */
void fg_cli_say_sides(const struct fg_cli *cli, const struct fg_run *baseline, enum fg_arm arm,
		      const struct fg_run *candidate);

/* Reads the verdict from a run's report. FG_ENOENT: the run has no report. */
int fg_stored_run_verdict(const struct fg_stored_run *stored, struct fg_verdict *verdict,
			  struct fg_error *err) FG_NODISCARD;

/* ---- deliver.c ---- */

struct fg_cli_server {
	const char *url;
	const char *token_env;
	const char *ca_file;
	unsigned attempts;
	int64_t timeout_ns;
};

/* NOLINTBEGIN(bugprone-macro-parentheses): members cannot stand in parentheses */
/* Rows for option tables; `member` is a struct fg_cli_server. */
#define FG_CLI_SERVER_OPTIONS(type, member)                                                        \
 FG_ROW_TEXT(type, member.url, "url", 0, "URL",                                                    \
	     "the perfdb server (default: perfdb.url of fastgate.yml)"),                           \
	 FG_ROW_TEXT(type, member.token_env, "token-env", 0, "NAME",                               \
		     "the environment variable that holds the token (default: perfdb.token_env)"), \
	 FG_ROW_FILE(type, member.ca_file, "ca-file", 0,                                           \
		     "certificates to trust instead of the system's (default: perfdb.ca_file)"),   \
	 FG_ROW_DURATION(type, member.timeout_ns, "timeout", "60s", "time limit for one request")
/* NOLINTEND(bugprone-macro-parentheses) */

/*
 * Settings missing on the command line come from fastgate.yml, if it exists, then from PERFDB_URL.
 * FG_EINVAL: there is a token, but only a checkout names this server.
 */
int fg_cli_server_options(struct fg_cli *cli, const struct fg_cli_server *given,
			  const struct fg_perfdb *perfdb, struct fg_push_options *options,
			  struct fg_error *err) FG_NODISCARD;

/*
 * Spools the stored run if the plan names a server, and pushes pending runs if `may_send`. A failed
 * upload is a warning, and the run stays in the spool for `fastgate push`. False: the upload
 * failed, and the plan requires it.
 */
bool fg_upload_run(struct fg_cli *cli, const struct fg_perfdb *perfdb, const char *state_folder,
		   struct fg_store *store, const char *id, bool may_send) FG_NODISCARD;

/*
 * `json` is the report as written, or NULL to generate it from `report`. Tries every target; a
 * failure is a warning. Returns false if a required target failed.
 */
bool fg_posts_send(const struct fg_cli *cli, const struct fg_plan *plan,
		   const struct fg_report *report, const char *json);
/*
 * Posts a report.json at `path` that another job has written. It is shown but not trusted: project,
 * pull request and commit come from this job. Returns the exit code.
 */
int fg_posts_send_file(const struct fg_cli *cli, const struct fg_plan *plan, const char *path,
		       struct fg_error *err);

/* ---- creep.c ---- */

/* A benchmark's metric. */
struct fg_chained_metric {
	const char *project;
	const char *benchmark;
	const char *name;
	const char *label;
	enum fg_better better;
};

struct fg_chained {
	struct fg_chain_edges edges;
	struct fg_chain chain;          /* ends at the newest commit */
	struct fg_creep_verdict *creep; /* NULL if there are too few steps */
	struct fg_arena *arena;         /* memory for `creep`; NULL: the edges' arena */
	struct fg_creep_pool *pool;     /* also gets this benchmark's functions; may be NULL */
};

/*
 * `own` is a run that is not stored yet, or NULL; its strings must outlive the result. Without
 * `policy`, the creep settings of the newest run are used. An empty chain is not an error.
 */
int fg_chained_load(struct fg_store *store, const struct fg_chained_metric *metric,
		    const struct fg_policy *policy, const struct fg_chain_edge *own,
		    struct fg_chained *chained, struct fg_error *err) FG_NODISCARD;
void fg_chained_release(struct fg_chained *chained);

/* Looks up the functions of the first rises, at most 10; returns how many the store has. */
size_t fg_creep_name(struct fg_store *store, const struct fg_creep_rise *rises, size_t count,
		     struct fg_arena *arena, struct fg_creep_function **named);

/*
 * Call after fg_gate_decide(): adds to the verdict the creep that ends with this run, and notes
 * whether an anchor is wanted. A store that cannot be read is only a warning.
 */
void fg_session_add_creep(struct fg_session *session, const struct fg_gate_input *input);

#endif
