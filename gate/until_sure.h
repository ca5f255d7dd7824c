/* SPDX-License-Identifier: Apache-2.0 */
/* The decision by bets, for `until_sure`; see until_sure.c.  Private to gate/. */
#ifndef FG_GATE_UNTIL_SURE_H
#define FG_GATE_UNTIL_SURE_H

#include "gate/finding.h"

/*
 * `count` is FG_PAIRS_MIN or more.  Without a decision the finding holds the estimate of all pairs.
 */
void fg_until_sure_apply(const struct fg_rule *rule, const double *difference, size_t count,
			 struct fg_rule_finding *finding);

#endif
