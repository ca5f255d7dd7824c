/* SPDX-License-Identifier: Apache-2.0 */
/* A host laid out as a folder of files like those of /proc and /sys, for what reads a host "below a root". */
#ifndef FG_TESTS_UNIT_RUNNER_FAKE_HOST_H
#define FG_TESTS_UNIT_RUNNER_FAKE_HOST_H

#include "tests/support/scratch.h"

/* An absolute path below the scratch folder; folders are made as needed. */
void fg_fake_host_put(const struct fg_scratch *host, const char *path, const char *text);

#endif
