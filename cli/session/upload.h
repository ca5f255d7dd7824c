/* SPDX-License-Identifier: Apache-2.0 */
/* Sends a run to the team's perfdb server as soon as it is stored. */
#ifndef FG_CLI_SESSION_UPLOAD_H
#define FG_CLI_SESSION_UPLOAD_H

#include "cli/framework/command.h"
#include "model/plan.h"
#include "store/store.h"

/*
 * Spools the stored run if the plan names a server, and pushes pending runs if it may send. A
 * failed upload is a warning, and the run stays in the spool for `fastgate push`. False: it failed,
 * and the plan requires it.
 */
bool fg_upload_run(struct fg_cli *cli, const struct fg_perfdb *perfdb, const char *state_folder,
		   struct fg_store *store, const char *id, bool may_send) FG_NODISCARD;

#endif
