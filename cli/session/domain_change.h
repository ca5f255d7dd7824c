/* SPDX-License-Identifier: Apache-2.0 */
/* What there is to say of the arguments that both sides call functions with: notes of a verdict. */
#ifndef FG_CLI_SESSION_DOMAIN_CHANGE_H
#define FG_CLI_SESSION_DOMAIN_CHANGE_H

#include "model/arguments.h"

/*
 * For people: "log: 3 of 100 arguments are NaN, none in the baseline; exp: in [0, 5], in the
 * baseline in [0, 1]"; NULL: nothing is worth a word.  Yours to free.
 */
char *fg_domain_change_text(const struct fg_argument_sums *sums);
/*
 * The functions that the candidate calls most: "exp: 1000 arguments in [-1000, -1], from 1 call
 * path; ..."; NULL: there are none.  Yours to free.
 */
char *fg_domain_sums_text(const struct fg_argument_sums *sums);
/* As `view -V domains` says it of the candidate's call paths that are taken most; NULL: nothing. */
char *fg_domain_hints_text(const struct fg_argument_sums *sums);

#endif
