/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the client's address behind proxies. Inside perfdb/server/ only. */
#ifndef FG_PERFDB_SERVER_PROXIES_H
#define FG_PERFDB_SERVER_PROXIES_H

#include "base/base.h"
#include "base/error.h"
#include "perfdb/server/ranges.h"

struct fg_proxies;

/* `ranges` are addresses or CIDR blocks, like 10.0.0.0/8 or ::1. */
int fg_proxies_new(const char *const *ranges, size_t count, struct fg_proxies **proxies,
		   struct fg_error *err) FG_NODISCARD;
void fg_proxies_free(struct fg_proxies *proxies); /* NULL is fine */
/* Is it the address of a trusted proxy? */
bool fg_proxies_trust(const struct fg_proxies *proxies, const char *peer);
/*
 * Gives the client's address: `peer`, unless that is a trusted proxy, which names its client. Each
 * proxy appends its client on the right, so the lists are read from there, past other trusted
 * proxies; addresses further left are the client's own claim. If the two headers disagree, one of
 * them was forged, and the answer is `peer`. The headers may be NULL.
 */
void fg_proxies_client(const struct fg_proxies *proxies, const char *peer, const char *forwarded,
		       const char *x_forwarded_for, char client[FG_ADDRESS_TEXT_SIZE]);

#endif
