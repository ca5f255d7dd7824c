/* SPDX-License-Identifier: Apache-2.0 */
<<<<<<< HEAD
/* A finished run on its way to the team's server. */
=======
/* Sending a run to the team's perfdb server as soon as it is stored. */
>>>>>>> ready/store
#ifndef FG_CLI_UPLOAD_H
#define FG_CLI_UPLOAD_H

#include "cli/command.h"
#include "model/plan.h"
#include "store/store.h"

/*
<<<<<<< HEAD
 * Spool the run beside the store, then try to send all that waits there.  What cannot be sent now stays in the spool for
 * `fastgate push`.  Does nothing when the plan names no server.  FG_ENET: it could not be sent; `plan->perfdb.upload` says
 * whether that matters.
 */
int fg__upload_run(struct fg_cli *cli, const struct fg_plan *plan, const char *store_path,
		   const struct fg_stored_run *stored, struct fg_error *err) FG_NODISCARD;
=======
 * Spool the stored run and push what waits, if the plan says so.  A failed upload is a warning, and the run stays in
 * the spool for `fastgate push`; where the plan requires it, a pass becomes FG_EXIT_UPLOAD.  The verdict's own exit
 * code always goes first.
 */
int fg__upload_run(struct fg_cli *cli, const struct fg_perfdb *perfdb, const char *state_folder,
		   struct fg_store *store, const char *id, int exit_code);
>>>>>>> ready/store

#endif
