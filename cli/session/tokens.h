/* SPDX-License-Identifier: Apache-2.0 */
/* The secrets that a configuration may use. */
#ifndef FG_CLI_SESSION_TOKENS_H
#define FG_CLI_SESSION_TOKENS_H

#include "base/error.h"
#include "model/plan.h"

#include <sys/types.h>

/* Takes the usual secrets out of the environment. Call before any program is started. */
void fg_tokens_take(void);
/*
 * Takes the secrets that a plan names. A checkout can come from anybody, so it may only name
 * variables that begin with FASTGATE_ or PERFDB_, a host's own token for its own kind of post, and
 * variables in FASTGATE_TRUSTED_VARIABLES; FG_EINVAL otherwise.
 */
int fg_tokens_take_planned(const struct fg_plan *plan, struct fg_error *err) FG_NODISCARD;
/*
 * May a secret be sent to an address that a checkout names? Only if the user's environment allows
 * it: PERFDB_URL is the address, or FASTGATE_TRUSTED_URLS lists it or a prefix of it.
 */
bool fg_tokens_may_go(const char *url);
/*
 * The name of a token in the environment of a parent process, where programs under test can read
 * it; to be freed. NULL: there is none, or it cannot be read.
 */
char *fg_tokens_above(const struct fg_plan *plan, pid_t *pid);

#endif
