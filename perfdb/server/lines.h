/* SPDX-License-Identifier: Apache-2.0 */
/*
 * No connection is held for ever by whoever says a byte now and then.  Inside perfdb/server/ only.
 */
#ifndef FG_PERFDB_SERVER_LINES_H
#define FG_PERFDB_SERVER_LINES_H

#include "base/base.h"
#include "base/error.h"

#include <microhttpd.h>

struct fg_connections;

/*
 * Started before the daemon and stopped after it; NULL is fine for stop(), and *lines is set also
 * on failure.
 */
int fg_connections_start(int64_t headers_ns, int64_t request_ns, struct fg_connections **lines,
			 struct fg_error *err) FG_NODISCARD;
void fg_connections_stop(struct fg_connections *lines);
/* For MHD_OPTION_NOTIFY_CONNECTION. */
void fg_connections_notice(void *context, struct MHD_Connection *connection, void **of_line,
			   enum MHD_ConnectionNotificationCode code);
/* The headers of a request are there, or all of it is over. */
void fg_connections_request(struct fg_connections *lines, struct MHD_Connection *connection,
			    bool begins);

#endif
