/* SPDX-License-Identifier: Apache-2.0 */
/* Which secrets a configuration may use. */
#ifndef FG_CLI_SESSION_TOKENS_H
#define FG_CLI_SESSION_TOKENS_H

#include "base/error.h"
#include "model/plan.h"

/* Takes the usual secrets out of the environment: before any program is started. */
void fg_tokens_take(void);
/*
 * Takes those that a plan names.  A checkout can be anybody's, so it may only name variables that
 * begin with FASTGATE_ or PERFDB_, a host's own token for its own kind of post, and what
 * FASTGATE_TRUSTED_VARIABLES lists; FG_EINVAL otherwise.
 */
int fg_tokens_take_planned(const struct fg_plan *plan, struct fg_error *err) FG_NODISCARD;
/*
 * May the server that a checkout names get a token?  Not if PERFDB_URL, the user's own choice,
 * names another one.
 */
int fg_tokens_check_url(const char *url, struct fg_error *err) FG_NODISCARD;

#endif
