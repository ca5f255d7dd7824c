/* SPDX-License-Identifier: Apache-2.0 */
/* No connection is held for ever by whoever says a byte now and then.  Inside perfdb/server/ only. */
#ifndef FG_PERFDB_SERVER_LINES_H
#define FG_PERFDB_SERVER_LINES_H

#include "base/base.h"
#include "base/error.h"

#include <microhttpd.h>

struct fg_lines;

/* Started before the daemon and stopped after it; NULL is fine for stop(), and *lines is set also on failure. */
int fg__lines_start(int64_t headers_ns, int64_t request_ns, struct fg_lines **lines,
		    struct fg_error *err) FG_NODISCARD;
void fg__lines_stop(struct fg_lines *lines);
/* For MHD_OPTION_NOTIFY_CONNECTION. */
void fg__lines_notice(void *context, struct MHD_Connection *connection, void **of_line,
		      enum MHD_ConnectionNotificationCode code);
/* The headers of a request are there, or all of it is over. */
void fg__lines_request(struct fg_lines *lines, struct MHD_Connection *connection, bool begins);

#endif
