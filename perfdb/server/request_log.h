/* SPDX-License-Identifier: Apache-2.0 */
/* One line of JSON per request.  Inside perfdb/server/ only. */
#ifndef FG_PERFDB_SERVER_REQUEST_LOG_H
#define FG_PERFDB_SERVER_REQUEST_LOG_H

#include "base/strbuf.h"

struct fg_request_log;

struct fg_request_log *fg_request_log_new(int fd);    /* negative: no log */
void fg_request_log_free(struct fg_request_log *log); /* NULL is fine; the descriptor stays open */
bool fg_request_log_is_on(const struct fg_request_log *log);
/*
 * A line with its '\n'.  Where the file takes no more (a full disk), lines are counted instead, and
 * the next one that fits is preceded by their number.
 */
void fg_request_log_write(struct fg_request_log *log, const char *line, size_t size);

#endif
