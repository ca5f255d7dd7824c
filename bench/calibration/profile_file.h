/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Recorded pairs with their profiles, as a text file:
 *
 *	E <arm> <key> <value>           a fact about a build: which libraries are the same in both
 *	F <name> <library>              the next function (the first one after the root is number 1)
 *	N <parent> <function>           the next node
 *	R <pair> <arm> <cpu ns> <load> <total ns> <count> [<node> <samples> <self ns>]...
 *	                                a repetition
 *
 * Fields are separated by tabs, those in brackets by spaces.
 */
#ifndef FG_BENCH_CALIBRATION_PROFILE_FILE_H
#define FG_BENCH_CALIBRATION_PROFILE_FILE_H

#include "base/error.h"
#include "model/profile_set.h"
#include "model/run.h"

struct profile_file {
	struct fg_run run;         /* one series */
	struct fg_profile_set set; /* row i belongs to repetition i */
};

void profile_file_init(struct profile_file *file);
/*
 * Replaces the contents of `file` (initialised); FG_ENOENT if the file is missing. Unchanged on
 * failure.
 */
int profile_file_load(struct profile_file *file, const char *path, struct fg_error *err);
int profile_file_save(const struct profile_file *file, const char *path, struct fg_error *err);
/* Returns the number of pairs: one more than the largest pair number. */
uint32_t profile_file_pairs(const struct profile_file *file);
void profile_file_release(struct profile_file *file);

#endif
