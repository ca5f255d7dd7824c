/* SPDX-License-Identifier: Apache-2.0 */
/* A finished run on its way to the team's server. */
#ifndef FG_CLI_UPLOAD_H
#define FG_CLI_UPLOAD_H

#include "cli/command.h"
#include "model/plan.h"
#include "store/store.h"

/*
 * Spool the run beside the store, then try to send all that waits there.  What cannot be sent now stays in the spool for
 * `fastgate push`.  Does nothing when the plan names no server.  FG_ENET: it could not be sent; `plan->perfdb.upload` says
 * whether that matters.
 */
int fg__upload_run(struct fg_cli *cli, const struct fg_plan *plan, const char *store_path,
		   const struct fg_stored_run *stored, struct fg_error *err) FG_NODISCARD;

#endif
