/* SPDX-License-Identifier: Apache-2.0 */
/* The arguments that functions were called with, by call path: what the collector saw of them. */
#ifndef FG_PROFILE_DOMAINS_H
#define FG_PROFILE_DOMAINS_H

#include "base/strbuf.h"
#include "profile/profile.h"

/* The domain of this argument on this call path, added if it is new. */
struct fg_domain *fg_domain_of(struct fg_profile *profile, const struct fg_domain *key);
/* Adds what was seen of `more` to it. */
void fg_domain_join(struct fg_domain *domain, const struct fg_domain *more);
/* "pow", or "pow #2" for the second of its arguments; to be freed. */
char *fg_domain_name(const struct fg_domain *domain);
/* How many values are finite: those that have a least, a most and a mean. */
double fg_domain_finite(const struct fg_domain *domain);
/* The range of a bin, for people: "[2^-3, 2^-2)". */
const char *fg_domain_bin_text(unsigned bin, char text[FG_NUMBER_TEXT_SIZE]);
/*
 * Appends what there is to say of it, one hint a line: a range that a polynomial would do for, an
 * argument that hardly changes, values that are no numbers.  Appends nothing where nothing is true.
 */
void fg_domain_hint(const struct fg_domain *domain, struct fg_strbuf *text);

#endif
