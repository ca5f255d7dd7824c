/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A host laid out as a folder of files like those of /proc and /sys, for what reads a host "below a
 * root".
 */
#ifndef FG_TESTS_UNIT_RUNNER_FAKE_HOST_H
#define FG_TESTS_UNIT_RUNNER_FAKE_HOST_H

#include "tests/support/scratch.h"

struct fg_fake_file {
	const char *path; /* absolute, seen from the host's root */
	const char *text;
};

extern struct fg_scratch fg_fake_host; /* the one of this test */

/* A new host with these files; a NULL path ends them. */
int fg_fake_host_set_up(const struct fg_fake_file *files);
int fg_fake_host_tear_down(void **state);
/* One more file, or another text in it; folders are made as needed. */
void fg_fake_host_put(const char *path, const char *text);

#endif
