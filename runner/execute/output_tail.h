/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Takes the last lines that a failed program printed, safe to display: from stderr, or from stdout
 * if stderr is empty.
 */
#ifndef FG_RUNNER_OUTPUT_TAIL_H
#define FG_RUNNER_OUTPUT_TAIL_H

#include "base/process.h"

/*
 * Returns valid UTF-8 without control characters or a final newline, which the caller frees; NULL
 * if that output is empty or blank.
 */
char *fg_output_tail(const struct fg_process_result *result, unsigned lines_max, size_t bytes_max);

#endif
