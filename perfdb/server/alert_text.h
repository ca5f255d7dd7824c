/* SPDX-License-Identifier: Apache-2.0 */
/* An alert for people to read.  Inside perfdb/server/ only. */
#ifndef FG_PERFDB_SERVER_ALERT_TEXT_H
#define FG_PERFDB_SERVER_ALERT_TEXT_H

#include "base/strbuf.h"

/* One line, and a few, of an alert's JSON body. */
void fg_alert_text(const char *body, struct fg_strbuf *subject, struct fg_strbuf *text);

#endif
