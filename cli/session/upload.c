// SPDX-License-Identifier: Apache-2.0
#include "cli/session/upload.h"

#include "base/clock.h"
#include "base/fs.h"
#include "cli/session/server.h"
#include "cli/session/stored.h"
#include "perfdb/client/client.h"

enum {
	REQUIRED_ATTEMPTS = 5,
	OTHER_ATTEMPTS = 2,
	TIMEOUT_S = 60
};

static int spool_and_push(struct fg_cli *cli, const struct fg_perfdb *perfdb, const char *spool,
			  const struct fg_stored_run *run, bool may_send, struct fg_error *err)
{
	const struct fg_cli_server given = {
		.attempts =
			perfdb->upload == FG_UPLOAD_REQUIRED ? REQUIRED_ATTEMPTS : OTHER_ATTEMPTS,
		.timeout_ns = TIMEOUT_S * FG_NS_PER_S,
	};
	struct fg_push_options options = {0};
	struct fg_push_result result = {0};
	int status = fg_cli_spool_run(spool, run, err);

	if (status != FG_OK || !may_send)
		return status;
	status = fg_cli_server_options(cli, &given, perfdb, &options, err);
	if (status != FG_OK)
		return status;
	status = fg_push_spool(spool, &options, &result, err);
	if (status != FG_OK)
		return status;
	fg_cli_say(cli, "sent run %.8s to %s", run->run.id, options.url);
	return status;
}

bool fg_upload_run(struct fg_cli *cli, const struct fg_perfdb *perfdb, const char *state_folder,
		   struct fg_store *store, const char *id, bool may_send)
{
	struct fg_stored_run run = {0};
	struct fg_error err = {0};
	char *spool = NULL;
	int status = FG_OK;

	if (!perfdb->url || perfdb->upload == FG_UPLOAD_NEVER || !store)
		return true;
	spool = fg_fs_join(state_folder, "spool");
	status = fg_store_load(store, id, &run, &err);
	if (status == FG_OK)
		status = spool_and_push(cli, perfdb, spool, &run, may_send, &err);
	if (status != FG_OK)
		fg_cli_warn(cli, "the run was not sent%s: %s (`fastgate push` tries again)",
			    perfdb->upload == FG_UPLOAD_REQUIRED
				    ? ", and perfdb.upload is 'required'"
				    : "",
			    err.message);
	fg_stored_run_release(&run);
	free(spool);
	return status == FG_OK || perfdb->upload != FG_UPLOAD_REQUIRED;
}
