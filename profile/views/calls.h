/* SPDX-License-Identifier: Apache-2.0 */
/* Exact numbers of calls, by function and by caller, for views of another measure. */
#ifndef FG_VIEWS_CALLS_H
#define FG_VIEWS_CALLS_H

#include "base/map.h"
#include "profile/calltree.h"

/* Zero-initialised: calls are unknown. */
struct fg_view_calls {
	bool known;
	struct fg_map functions; /* name, library → index of a number */
	struct fg_map edges;     /* name, library of caller and callee → index */
	double *numbers;
	size_t count, capacity;
};

/* Counts the calls that the query keeps.  A profile without calls is not an error. */
int fg_view_calls_init(struct fg_view_calls *calls, const struct fg_profile *profile,
		       const struct fg_calltree_query *query, struct fg_error *err) FG_NODISCARD;
void fg_view_calls_release(struct fg_view_calls *calls);
/* These return the number of calls; 0: none was counted. */
double fg_view_calls_of(const struct fg_view_calls *calls, const struct fg_label *function);
double fg_view_calls_between(const struct fg_view_calls *calls, const struct fg_label *caller,
			     const struct fg_label *callee);

#endif
