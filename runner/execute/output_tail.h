/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The last words of a program that failed, fit to be shown: of stderr, or of stdout where it said
 * nothing there.
 */
#ifndef FG_RUNNER_OUTPUT_TAIL_H
#define FG_RUNNER_OUTPUT_TAIL_H

#include "base/process.h"

/*
 * Valid UTF-8 without control characters or a newline at the end; NULL when it said nothing at all.
 * To be freed.
 */
char *fg_output_tail(const struct fg_process_result *result, unsigned lines_max, size_t bytes_max);

#endif
