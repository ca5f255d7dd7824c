/* SPDX-License-Identifier: Apache-2.0 */
/* The profiles of the synthetic runs in fixture_report.h. */
#ifndef FG_TESTS_SUPPORT_FIXTURE_PROFILE_H
#define FG_TESTS_SUPPORT_FIXTURE_PROFILE_H

#include "model/profile_set.h"

/* Adds one repetition: self times in ms by node, from the first node on. */
void fg_fixture_add_row(struct fg_profile_set *set, unsigned arm, uint32_t pair, const double *self,
			size_t count);
/* Nine call paths; fit(Track&) takes 9.1 ms more in the candidate. */
void fg_fixture_make_profile(struct fg_profile_set *set, const char *program, unsigned pairs);

#endif
