/* SPDX-License-Identifier: Apache-2.0 */
/* What is different in the arguments that both sides call functions with. */
#ifndef FG_CLI_SESSION_DOMAIN_CHANGE_H
#define FG_CLI_SESSION_DOMAIN_CHANGE_H

#include "profile/profile.h"

/* What one side calls each function with: its call paths together, by argument. */
struct fg_domain_sums {
	struct fg_map index; /* "pow #2" → item */
	struct fg_domain *items;
	size_t count;
};

void fg_domain_sums_init(struct fg_domain_sums *sums, const struct fg_profile *profile);
void fg_domain_sums_release(struct fg_domain_sums *sums);
/*
 * For people: "log: 3 of 100 arguments are NaN, none in the baseline; exp: in [0, 5], in the
 * baseline in [0, 1]"; NULL: nothing is worth a word.  Yours to free.
 */
char *fg_domain_change_text(const struct fg_domain_sums *baseline,
			    const struct fg_domain_sums *candidate);

#endif
