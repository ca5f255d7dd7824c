/* SPDX-License-Identifier: Apache-2.0 */
/* The arguments that functions were called with, by call path: what the collector saw of them. */
#ifndef FG_PROFILE_DOMAINS_H
#define FG_PROFILE_DOMAINS_H

#include "model/arguments.h"
#include "profile/profile.h"

/* The domain of this argument on this call path, added if it is new. */
struct fg_domain *fg_domain_of(struct fg_profile *profile, const struct fg_domain *key);
/* "pow", or "pow #2" for the second of its arguments; to be freed. */
char *fg_domain_name(const struct fg_domain *domain);
/* Adds what the profile saw as a side of the sums; call paths are those of functions, not lines. */
void fg_domains_sum_up(const struct fg_profile *profile, unsigned side,
		       struct fg_argument_sums *sums);

#endif
