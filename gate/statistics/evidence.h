/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Evidence that may be checked at any time: an e-value (Shafer 2021) for "these values lie above
 * zero".
 *
 * A bettor starts with 1 and bets on the sign of each value in turn, against a fair coin. If the
 * values are symmetric about zero or a negative value, given the values before them, the bets are
 * not favourable: by Ville's inequality the probability that the capital ever reaches 1 / alpha is
 * at most alpha. So it is valid to stop early, to continue, and to multiply the capitals of several
 * sessions.
 */
#ifndef FG_STATS_EVIDENCE_H
#define FG_STATS_EVIDENCE_H

#include <stddef.h>

/* Returns the logarithm of the capital after `count` values that all agree. */
double fg_evidence_max(size_t count);
/* Returns the logarithm of the capital after all values, in their order; 0 without values. */
double fg_evidence(const double *values, size_t count);

#endif
