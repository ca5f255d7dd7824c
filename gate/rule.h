/* SPDX-License-Identifier: Apache-2.0 */
/* The sequential rule over the differences of one metric; see rule.c.  Private to gate/. */
#ifndef FG_GATE_RULE_H
#define FG_GATE_RULE_H

#include "gate/finding.h"

/* `final`: no more pairs will come; the next look is then taken early. */
void fg_rule_apply(const struct fg_rule *rule, const double *difference, size_t count, bool final,
		   struct fg_rule_finding *finding);

#endif
