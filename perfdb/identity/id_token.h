/* SPDX-License-Identifier: Apache-2.0 */
/* Checks an ID token of OpenID Connect.  Inside perfdb/identity/ only. */
#ifndef FG_PERFDB_IDENTITY_ID_TOKEN_H
#define FG_PERFDB_IDENTITY_ID_TOKEN_H

#include "base/error.h"
#include "base/json.h"

struct fg_id_token_expected {
	const char *issuer;
	const char *client;
	const char *nonce;
	int64_t now_s;
};

/*
 * `keys` is the issuer's key set.  On success `*claims` is to be deleted.  FG_ENOENT: signed with a
 * key that is not in the set, which may be old; FG_EPARSE: refused.
 */
int fg_id_token_check(const char *text, const cJSON *keys,
		      const struct fg_id_token_expected *expected, cJSON **claims,
		      struct fg_error *err) FG_NODISCARD;

#endif
