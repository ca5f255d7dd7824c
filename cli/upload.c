// SPDX-License-Identifier: Apache-2.0
#include "cli/upload.h"

#include "base/clock.h"
#include "cli/stored.h"
#include "perfdb/client/client.h"

/* Not to hold up a CI job: what does not go through soon waits in the spool. */
enum {
	ATTEMPTS = 3,
	TIMEOUT_S = 20,
};

static void tell(void *context, const char *file, const char *what)
{
	fg_cli_detail(context, "%s: %s", file, what);
}

int fg__upload_run(struct fg_cli *cli, const struct fg_plan *plan, const char *store_path,
		   const struct fg_stored_run *stored, struct fg_error *err)
{
	const struct fg_perfdb *perfdb = &plan->perfdb;
	const struct fg_push_options options = {
		.url = perfdb->url,
		.token = perfdb->token_env ? getenv(perfdb->token_env) : NULL,
		.ca_file = perfdb->ca_file,
		.attempts = ATTEMPTS,
		.timeout_ns = TIMEOUT_S * FG_NS_PER_S,
		.interrupted = cli->interrupted,
		.tell = tell,
		.context = cli,
	};
	struct fg_push_result result = {0};
	char *spool = NULL;
	int rc = FG_OK;

	if (!perfdb->url || perfdb->upload == FG_UPLOAD_NEVER)
		return FG_OK;
	spool = fg_cli_spool_path(store_path);
	rc = fg_cli_spool_run(spool, stored, err);
	if (rc == FG_OK)
		rc = fg_push_spool(spool, &options, &result, err);
	if (rc == FG_OK)
		fg_cli_say(cli, "uploaded to %s", perfdb->url);
	free(spool);
	return rc;
}
