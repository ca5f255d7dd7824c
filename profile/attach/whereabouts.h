/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where a program that hangs stands, just before it is ended: every thread of all its processes,
 * its stack with names and lines, and the system call it waits in.
 */
#ifndef FG_OUTSIDE_WHEREABOUTS_H
#define FG_OUTSIDE_WHEREABOUTS_H

#include "base/error.h"
#include "binary/symbolizer.h"

#include <sys/types.h>

/* Both texts are to be freed. */
struct fg_whereabouts {
	/* "1 thread in main → read_all → read (pipe:[123], nobody else writes)" */
	char *summary;
	char *stacks; /* lines: a process, its threads, their frames; the leaf first */
};

struct fg_whereabouts_request {
	pid_t root;      /* it, its descendants and its process group */
	bool below_root; /* not the root itself: it only starts the program */
	struct fg_symbolizer *symbolizer;
};

/* The processes go on when it returns. */
int fg_whereabouts_find(const struct fg_whereabouts_request *request, struct fg_whereabouts *where,
			struct fg_error *err) FG_NODISCARD;

#endif
