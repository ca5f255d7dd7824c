/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the client's address behind proxies. Inside perfdb/server/ only. */
#ifndef FG_PERFDB_SERVER_PROXIES_H
#define FG_PERFDB_SERVER_PROXIES_H

#include "base/base.h"
#include "base/error.h"
#include "perfdb/server/ranges.h"

/* Is the peer a trusted proxy? */
bool fg_proxies_trust(const struct fg_ranges *proxies, const char *peer);
/*
 * Sets `client` to the client's address: `peer`, unless the peer is a trusted proxy, which names
 * its client in X-Forwarded-For (NULL: not given). Each proxy appends its client on the right, so
 * the list is read from the right, past other trusted proxies; addresses further left are the
 * client's own claim.
 */
void fg_proxies_client(const struct fg_ranges *proxies, const char *peer, const char *forwarded_for,
		       char client[FG_ADDRESS_TEXT_SIZE]);

#endif
