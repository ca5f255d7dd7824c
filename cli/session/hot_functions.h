/* SPDX-License-Identifier: Apache-2.0 */
/* Functions of a profile set, ordered by their samples, for a closer look at their code. */
#ifndef FG_CLI_SESSION_HOT_FUNCTIONS_H
#define FG_CLI_SESSION_HOT_FUNCTIONS_H

#include "model/profile_set.h"
#include "runner/facts/code_facts.h"

/* Linkage names, most samples first; the strings belong to the set, the array is to be freed. */
void fg_session_hot_functions(const struct fg_profile_set *set, struct fg_code_names *names);

#endif
