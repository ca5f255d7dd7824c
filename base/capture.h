/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The output of a program, caught in a pipe or in a file in memory: its beginning and its end are
 * kept, in half of the limit each.
 *
 * A pipe is what programs expect, and holds a megabyte: a program that prints more waits for its
 * reader, which on a busy machine may take its time.  A file never makes it wait; what is not
 * kept of a long one is given back to the system while the program runs.
 *
 * fg_capture_open() → fg_capture_read() whenever there may be something → fg_capture_take().
 */
#ifndef FG_BASE_CAPTURE_H
#define FG_BASE_CAPTURE_H

#include "base/base.h"
#include "base/error.h"
#include "base/strbuf.h"

struct fg_capture {
	int fd; /* to read from; -1: nothing is captured, or the pipe is at its end */
	bool in_file;
	struct fg_strbuf head;
	char *ring;         /* the newest bytes after the head, as many as that has */
	size_t ring_bytes;  /* that came after the head, kept or not */
	uint64_t file_read; /* bytes of the file that are read or passed over */
};

struct fg_captured {
	char *text; /* with a line about what was left out; NUL-terminated, to be freed */
	size_t size;
	uint64_t printed; /* bytes, kept or not */
	bool cut;
};

/* `write_fd` closes itself on exec.  limit_bytes 0: 1 MiB. */
int fg_capture_open(struct fg_capture *capture, bool in_file, size_t limit_bytes, int *write_fd,
		    struct fg_error *err) FG_NODISCARD;
/* Takes what is there, without waiting. */
void fg_capture_read(struct fg_capture *capture);
/* What to poll() for; -1: nothing will come, or poll() cannot tell. */
int fg_capture_poll_fd(const struct fg_capture *capture);
/* After the program has ended. */
struct fg_captured fg_capture_take(struct fg_capture *capture);
void fg_capture_release(struct fg_capture *capture);

#endif
