/* SPDX-License-Identifier: Apache-2.0 */
/* The address at which a server listens. Inside perfdb/server/ only. */
#ifndef FG_PERFDB_SERVER_LISTEN_H
#define FG_PERFDB_SERVER_LISTEN_H

#include "perfdb/server/server_private.h"

enum {
	FG_LISTEN_CONNECTIONS = 4096
};

/* The address listened on: the option, or 127.0.0.1. */
const char *fg_listen_address(const struct fg_server_options *options);
bool fg_listen_is_loopback(const struct fg_server_options *options);
/* Starts libmicrohttpd; sets the server's daemon and port. */
int fg_listen_start(struct fg_server *server, struct fg_error *err) FG_NODISCARD;

#endif
