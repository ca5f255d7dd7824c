/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Signing in through an OpenID Connect server: authorization code with PKCE.
 *
 *	fg_oidc_new()
 *	fg_oidc_begin() → the browser goes to `url` and comes back with a code → fg_oidc_finish()
 *	fg_oidc_free()
 *
 * The attempt is kept by the browser, in a cookie: any server can finish what another began.  The
 * identity server is asked over HTTPS, or on this machine.  Each call may wait for it, ten seconds
 * at most; several threads may call at once.
 */
#ifndef FG_PERFDB_IDENTITY_OIDC_H
#define FG_PERFDB_IDENTITY_OIDC_H

#include "base/base.h"
#include "base/error.h"

struct fg_oidc;

struct fg_oidc_options {
	const char *issuer;
	const char *client;
	const char *secret;       /* NULL: a public client */
	const char *redirect_url; /* where the browser comes back to */
	const char *scopes;       /* NULL: "openid profile email" */
	const char *name_claim;   /* NULL: "email", which must be verified */
	const char *groups_claim; /* NULL: "groups" */
	const char *ca_file;      /* NULL: the system's */
};

enum {
	FG_OIDC_RANDOM_SIZE = 65
};

struct fg_oidc_attempt {
	char state[FG_OIDC_RANDOM_SIZE];
	char nonce[FG_OIDC_RANDOM_SIZE];
	char verifier[FG_OIDC_RANDOM_SIZE];
};

typedef void fg_oidc_visit(void *context, const char *name, bool is_group);

int fg_oidc_new(const struct fg_oidc_options *options, struct fg_oidc **oidc, struct fg_error *err)
	FG_NODISCARD;
/* `*url` is to be freed. */
int fg_oidc_begin(struct fg_oidc *oidc, struct fg_oidc_attempt *attempt, char **url,
		  struct fg_error *err) FG_NODISCARD;
/*
 * Tells the person's name, then those of the groups.  FG_EPARSE: the identity server's answer
 * proves nothing, or it knows no such code; FG_ENET: it does not answer.
 */
int fg_oidc_finish(struct fg_oidc *oidc, const struct fg_oidc_attempt *attempt, const char *code,
		   fg_oidc_visit *visit, void *context, struct fg_error *err) FG_NODISCARD;
void fg_oidc_free(struct fg_oidc *oidc); /* NULL is fine */

#endif
