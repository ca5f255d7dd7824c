/* SPDX-License-Identifier: Apache-2.0 */
/* Turns a handler's result into an HTTP response. Inside perfdb/server/ only. */
#ifndef FG_PERFDB_SERVER_ANSWER_H
#define FG_PERFDB_SERVER_ANSWER_H

#include "perfdb/server/request.h"

#include <microhttpd.h>

/*
 * Everything but sending: an error becomes the body, the request is counted and logged, and the
 * session is given back.
 */
void fg_answer_settle(struct fg_request *rq, const struct fg_error *err);
enum MHD_Result fg_answer_send(struct fg_request *rq);
void fg_answer_release(struct fg_request *rq);

#endif
