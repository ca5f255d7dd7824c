/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Looking more than once without fooling oneself.
 *
 * Spending: a fixed list of looks shares the error allowance alpha out, half of it by the
 * increments of the O'Brien-Fleming type spending function (Lan and DeMets 1983), which keeps most
 * of it for the end, half of it evenly, which lets a plain case end early.  The shares sum to
 * alpha, so by Boole's inequality the whole is safe whatever the dependence between the looks.
 *
 * E-process: a bettor who starts with 1 and bets on "the next difference is positive" cannot expect
 * to gain while that has at most even chance.  So P(wealth ever reaches 1/alpha) <= alpha (Ville
 * 1939), at any time, however often one looks and however the run is continued (Waudby-Smith and
 * Ramdas 2024).  The wealth is the mean of nine bettors with fixed stakes 0.1 ... 0.9.  Wealth
 * carries over from one session to the next: multiply, that is, go on pushing.
 */
#ifndef FG_STATS_SEQUENTIAL_H
#define FG_STATS_SEQUENTIAL_H

#include <stddef.h>

/*
 * The O'Brien-Fleming type spending function at information fraction t (0..1), for a one-sided
 * alpha.
 */
double fg_obrien_fleming(double alpha, double fraction);

/* shares[i] = what look i may spend; looks[] are sample sizes, ascending. */
void fg_spending_shares(const size_t *looks, size_t count, double alpha, double *shares);

#define FG_EPROCESS_BETTORS 9

/* Zero is a fresh one. */
struct fg_eprocess {
	double log_wealth[FG_EPROCESS_BETTORS];
	size_t bets;
	size_t ties;
};

/* The next outcome: > 0 wins, < 0 loses, 0 is a tie and moves nothing. */
void fg_eprocess_push(struct fg_eprocess *process, double outcome);
/* ln of the wealth; evidence against "not positive" at level alpha when it is >= -ln(alpha). */
double fg_eprocess_log_wealth(const struct fg_eprocess *process);

#endif
