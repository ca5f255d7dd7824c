/* SPDX-License-Identifier: Apache-2.0 */
/* People named by a trusted proxy; programs have tokens.  Inside perfdb/server/ only. */
#ifndef FG_PERFDB_SERVER_PEOPLE_H
#define FG_PERFDB_SERVER_PEOPLE_H

#include "perfdb/server/request.h"

/* By the name, and the groups, in the headers of --user-header and --groups-header. */
int fg_people_admit(struct fg_request *rq, struct fg_error *err) FG_NODISCARD;

#endif
