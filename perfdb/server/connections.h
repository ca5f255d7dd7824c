/* SPDX-License-Identifier: Apache-2.0 */
/* Time limits of connections. Private to perfdb/server/. */
#ifndef FG_PERFDB_SERVER_CONNECTIONS_H
#define FG_PERFDB_SERVER_CONNECTIONS_H

#include "base/base.h"
#include "base/error.h"

#include <microhttpd.h>

struct fg_connections;

/*
 * Start before the daemon, and stop after the daemon. stop() accepts NULL; *connections is set even
 * on failure. From `busy_from` connections on, each new connection closes the connection that has
 * been idle longest.
 */
int fg_connections_start(int64_t headers_ns, int64_t request_ns, size_t busy_from,
			 struct fg_connections **connections, struct fg_error *err) FG_NODISCARD;
void fg_connections_stop(struct fg_connections *connections);
/* Pass this function to libmicrohttpd with MHD_OPTION_NOTIFY_CONNECTION. */
void fg_connections_notice(void *context, struct MHD_Connection *connection, void **slot,
			   enum MHD_ConnectionNotificationCode code);
/* Call when the headers of a request have arrived (`begins`) and when its answer was read. */
void fg_connections_request(struct fg_connections *connections, struct MHD_Connection *connection,
			    bool begins);
size_t fg_connections_count(struct fg_connections *connections);

#endif
