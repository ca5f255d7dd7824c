/* SPDX-License-Identifier: Apache-2.0 */
/* Where libmicrohttpd calls us.  Inside perfdb/server/ only. */
#ifndef FG_PERFDB_SERVER_HTTP_H
#define FG_PERFDB_SERVER_HTTP_H

#include <microhttpd.h>

/* Makes the request when its first line is there. */
void *fg_http_line(void *context, const char *line, struct MHD_Connection *connection);
enum MHD_Result fg_http_access(void *context, struct MHD_Connection *connection, const char *url,
			       const char *method, const char *version, const char *data,
			       size_t *size, void **request);
void fg_http_completed(void *context, struct MHD_Connection *connection, void **request,
		       enum MHD_RequestTerminationCode code);

#endif
