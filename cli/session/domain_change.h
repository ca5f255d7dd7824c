/* SPDX-License-Identifier: Apache-2.0 */
/* What is different in the arguments that both sides call functions with. */
#ifndef FG_CLI_SESSION_DOMAIN_CHANGE_H
#define FG_CLI_SESSION_DOMAIN_CHANGE_H

#include "profile/profile.h"

/* What one side calls each function with: its call paths together, by argument. */
struct fg_domain_sums {
	struct fg_map index; /* "pow #2" → item */
	struct fg_domain *items;
	size_t *paths; /* how many call paths there are to each item */
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
/*
 * The functions that are called most: "exp: 1000 arguments in [-1000, -1], from 1 call path; ...";
 * NULL: there are none.  Yours to free.
 */
char *fg_domain_sums_text(const struct fg_domain_sums *sums);
/* As `view -V domains` says it of the call paths that are taken most; NULL: nothing. */
char *fg_domain_hints_text(const struct fg_profile *profile);

#endif
