/* SPDX-License-Identifier: Apache-2.0 */
/* Which secrets a configuration may use. */
#ifndef FG_CLI_SESSION_TOKENS_H
#define FG_CLI_SESSION_TOKENS_H

#include "base/error.h"
#include "model/plan.h"

#include <sys/types.h>

/* Takes the usual secrets out of the environment: before any program is started. */
void fg_tokens_take(void);
/*
 * Takes those that a plan names.  A checkout can be anybody's, so it may only name variables that
 * begin with FASTGATE_ or PERFDB_, a host's own token for its own kind of post, and what
 * FASTGATE_TRUSTED_VARIABLES lists; FG_EINVAL otherwise.
 */
int fg_tokens_take_planned(const struct fg_plan *plan, struct fg_error *err) FG_NODISCARD;
/*
 * May a secret go to an address that a checkout names?  Only if the user's environment says so:
 * PERFDB_URL is the address, or FASTGATE_TRUSTED_URLS lists it or what it begins with.
 */
bool fg_tokens_may_go(const char *url);
/*
 * The name of a token that a process above this one has in its environment, where programs under
 * test can read it; to be freed.  NULL: there is none, or it cannot be read.
 */
char *fg_tokens_above(const struct fg_plan *plan, pid_t *pid);

#endif
