/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two profiles by function: before, after, and the difference. No verdict: two profiles without
 * repetitions do not show what is noise.
 */
#ifndef FG_VIEWS_DIFFERENCE_H
#define FG_VIEWS_DIFFERENCE_H

#include "profile/views/view.h"

/* `tree` is of fg_calltree_difference(). Release the table with fg_view_table_release(). */
void fg_view_difference(const struct fg_calltree *tree, const char *const titles[2],
			const struct fg_view_options *options, struct fg_view_table *table);

#endif
