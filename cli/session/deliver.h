/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sends a stored run to the perfdb server, and its result to the targets in report.post of
 * fastgate.yml.
 */
#ifndef FG_CLI_SESSION_DELIVER_H
#define FG_CLI_SESSION_DELIVER_H

#include "cli/framework/command.h"
#include "model/plan.h"
#include "perfdb/client/client.h"
#include "reporters/reporter.h"
#include "store/store.h"

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
	 FG_ROW_DURATION(type, member.timeout_ns, "timeout", "60s",                                \
			 "how long one request may take")
/* NOLINTEND(bugprone-macro-parentheses) */

/*
 * Settings missing on the command line come from fastgate.yml, if it exists, then from PERFDB_URL.
 * FG_EINVAL: there is a token, but only a checkout says that it may go to this server.
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

#endif
