// SPDX-License-Identifier: Apache-2.0
#include "gate/shares.h"

#include <math.h>

/* Is one of them beyond what says something? */
static bool do_mislead(const struct fg_blame *blame)
{
	const double most = FG_SHARE_MAX * fabs(blame->total_delta);

	if (fabs(blame->everything_else) > most)
		return true;
	for (size_t i = 0; i < blame->function_count; i++) {
		if (fg_standing_is_sure(blame->functions[i].standing) &&
		    fabs(blame->functions[i].delta) > most)
			return true;
	}
	return false;
}

void fg_shares_set(struct fg_blame *blame, bool whole_changed)
{
	double sure = 0.0;
	double named = 0.0;

	for (size_t i = 0; i < blame->function_count; i++) {
		const struct fg_node_verdict *node = &blame->functions[i];

		named += node->delta;
		sure += fg_standing_is_sure(node->standing) ? node->delta : 0.0;
	}
	blame->unattributed = blame->total_delta - named;
	blame->everything_else = blame->total_delta - sure;
	if (!whole_changed || do_mislead(blame))
		return;
	for (size_t i = 0; i < blame->function_count; i++) {
		struct fg_node_verdict *node = &blame->functions[i];

		if (fg_standing_is_sure(node->standing))
			node->share_of_change = node->delta / blame->total_delta;
	}
}
