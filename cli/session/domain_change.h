/* SPDX-License-Identifier: Apache-2.0 */
/* Notes of a verdict about the arguments with which both sides call functions. */
#ifndef FG_CLI_SESSION_DOMAIN_CHANGE_H
#define FG_CLI_SESSION_DOMAIN_CHANGE_H

#include "model/arguments.h"

/*
 * For people: "log: 3 of 100 arguments are NaN, none in the baseline; exp: in [0, 5], in the
 * baseline in [0, 1]"; NULL if nothing is worth reporting. To be freed.
 */
char *fg_domain_change_text(const struct fg_argument_sums *sums);
/*
 * The functions that the candidate calls most: "exp: 1000 arguments in [-1000, -1], from 1 call
 * path; ..."; NULL: there are none. To be freed.
 */
char *fg_domain_sums_text(const struct fg_argument_sums *sums);
/* The hints of `view -V domains` for the candidate's most frequent call paths; NULL: none. */
char *fg_domain_hints_text(const struct fg_argument_sums *sums);

#endif
