/* SPDX-License-Identifier: Apache-2.0 */
/* Sending a run to the team's perfdb server as soon as it is stored. */
#ifndef FG_CLI_SESSION_UPLOAD_H
#define FG_CLI_SESSION_UPLOAD_H

#include "cli/framework/command.h"
#include "model/plan.h"
#include "store/store.h"

/*
 * Spool the stored run and push what waits, if the plan says so.  A failed upload is a warning, and
 * the run stays in the spool for `fastgate push`; where the plan requires it, a pass becomes
 * FG_EXIT_UPLOAD.  The verdict's own exit code always goes first.
 */
int fg_upload_run(struct fg_cli *cli, const struct fg_perfdb *perfdb, const char *state_folder,
		  struct fg_store *store, const char *id, int exit_code);

#endif
