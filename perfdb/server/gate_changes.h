/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Changes that a gate opens.  A paired verdict is the strongest evidence there is, so a regression
 * is an open change from its first run on; a change point of the same direction nearby confirms it.
 * Inside perfdb/server/ only.
 */
#ifndef FG_PERFDB_SERVER_GATE_CHANGES_H
#define FG_PERFDB_SERVER_GATE_CHANGES_H

#include "perfdb/server/watcher.h"
#include "store/serving/history.h"

/*
 * Adds the regressions of a history to its change points; the newest FG_WATCHED_CHANGES stay.  A
 * later run of the same branch against the same baseline takes the place of an earlier one; an
 * improvement that takes back at least half of a regression undoes it.
 */
void fg_gate_changes_add(const struct fg_history *history, struct fg_watched *watched);

#endif
