/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A host as a folder of files like those in /proc and /sys, for code that examines a host "below a
 * root".
 */
#ifndef FG_TESTS_UNIT_RUNNER_FAKE_HOST_H
#define FG_TESTS_UNIT_RUNNER_FAKE_HOST_H

#include "tests/support/scratch.h"

struct fg_fake_file {
	const char *path; /* absolute, seen from the host's root */
	const char *text;
};

extern struct fg_scratch fg_fake_host; /* the current test's host */

/* Creates a new host with these files; a NULL path ends the list. */
int fg_fake_host_set_up(const struct fg_fake_file *files);
int fg_fake_host_tear_down(void **state);
/* Adds a file, or replaces its text; creates folders as needed. */
void fg_fake_host_put(const char *path, const char *text);

#endif
