/* SPDX-License-Identifier: Apache-2.0 */
/* Exact numbers of calls, by function and by caller, for views of another measure. */
#ifndef FG_VIEWS_CALLS_H
#define FG_VIEWS_CALLS_H

#include "profile/calltree.h"

/* Zero-initialised: calls are unknown. */
struct fg_view_calls {
	bool known;
	double *of_label;           /* indexed by label of the shown tree */
	struct fg_pair_index edges; /* caller's label, callee's label → index */
	double *between;
	size_t count, capacity;
};

/*
 * Counts the calls that the query keeps, by the labels of the shown tree, and adds the labels that
 * the tree lacks. A profile without calls is not an error.
 */
int fg_view_calls_init(struct fg_view_calls *calls, struct fg_calltree *shown,
		       const struct fg_profile *profile, const struct fg_calltree_query *query,
		       struct fg_error *err) FG_NODISCARD;
void fg_view_calls_release(struct fg_view_calls *calls);
/* Both functions return the number of calls; 0: no call was counted. */
double fg_view_calls_of(const struct fg_view_calls *calls, uint32_t label);
double fg_view_calls_between(const struct fg_view_calls *calls, uint32_t caller, uint32_t callee);

#endif
