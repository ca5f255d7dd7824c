/* SPDX-License-Identifier: Apache-2.0 */
/* Exact numbers of calls, shown in views of another measure: by function, and by caller. */
#ifndef FG_VIEWS_CALLS_H
#define FG_VIEWS_CALLS_H

#include "base/map.h"
#include "profile/calltree.h"

/* Zero: calls are not known. */
struct fg_view_calls {
	bool known;
	struct fg_map functions; /* name, library → index of a number */
	struct fg_map edges;     /* both of the caller, then of the callee → likewise */
	double *numbers;
	size_t count, capacity;
};

/* Counts the calls that the query keeps.  A profile without calls is not an error. */
int fg_view_calls_init(struct fg_view_calls *calls, const struct fg_profile *profile,
		       const struct fg_calltree_query *query, struct fg_error *err) FG_NODISCARD;
void fg_view_calls_release(struct fg_view_calls *calls);
/* 0: none was counted. */
double fg_view_calls_of(const struct fg_view_calls *calls, const struct fg_label *function);
double fg_view_calls_between(const struct fg_view_calls *calls, const struct fg_label *caller,
			     const struct fg_label *callee);

#endif
