/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The functions that benchmarks execute, kept between runs: one text file each,
 * STATE/executed/BENCHMARK-BUILD-CONFIGURATION-ENVIRONMENT. The most recently used files of a
 * benchmark are kept.
 */
#ifndef FG_CLI_SESSION_EXECUTED_SETS_H
#define FG_CLI_SESSION_EXECUTED_SETS_H

#include "model/executed.h"
#include "runner/facts/executed.h"

/* FG_ENOENT: no set has this key; the message says how the closest one differs. */
int fg_executed_sets_load(const char *state_folder, const struct fg_executed_key *key,
			  struct fg_executed *executed, struct fg_error *err) FG_NODISCARD;
bool fg_executed_sets_has(const char *state_folder, const struct fg_executed_key *key);
/* Succeeds if there are none. */
void fg_executed_sets_remove(const char *state_folder, const struct fg_executed_key *key);
int fg_executed_sets_save(const char *state_folder, const struct fg_executed_key *key,
			  const struct fg_executed *executed, struct fg_error *err) FG_NODISCARD;

#endif
