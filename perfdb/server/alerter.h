/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The background threads that send alerts, and look for the change points that rules ask for.  Of
 * all threads of all servers on a database, one sends an alert.  Inside perfdb/server/ only.
 */
#ifndef FG_PERFDB_SERVER_ALERTER_H
#define FG_PERFDB_SERVER_ALERTER_H

#include "perfdb/delivery/delivery.h"
#include "perfdb/server/sessions.h"

struct fg_alerter;
struct fg_server_options;

/* *alerter is set also on failure. */
int fg_alerter_start(struct fg_sessions *sessions, const struct fg_server_options *options,
		     struct fg_alerter **alerter, struct fg_error *err) FG_NODISCARD;
/* Waits for requests in progress: ten seconds at most.  NULL is fine. */
void fg_alerter_stop(struct fg_alerter *alerter);
/* There may be something to do. */
void fg_alerter_wake(struct fg_alerter *alerter);
/* Since the start: alerts that arrived, and runs of metrics that were searched. */
unsigned long long fg_alerter_sent(const struct fg_alerter *alerter);
unsigned long long fg_alerter_searched(const struct fg_alerter *alerter);
/* What can be sent where. */
const struct fg_delivery_options *fg_alerter_delivery(const struct fg_alerter *alerter);

#endif
