/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Captures the output of a program in a pipe or in a file in memory. Its beginning and its end are
 * kept, each up to half of the limit.
 *
 * Programs expect a pipe, but a pipe holds a megabyte at most: a program that prints more waits for
 * its reader, which may be slow on a busy machine. A file never makes a program wait; the dropped
 * middle of a long file is returned to the system while the program runs.
 *
 * fg_capture_open() → fg_capture_read() when output may be available → fg_capture_take().
 */
#ifndef FG_BASE_CAPTURE_H
#define FG_BASE_CAPTURE_H

#include "base/base.h"
#include "base/error.h"
#include "base/strbuf.h"

struct fg_capture {
	int fd; /* read end; -1: nothing is captured, or the pipe has ended */
	bool in_file;
	struct fg_strbuf head;
	char *ring;         /* the newest bytes after the head */
	size_t ring_bytes;  /* bytes received after the head, kept or not */
	uint64_t file_read; /* bytes of the file read or skipped */
	int copy_fd;        /* output from the pipe is also written here; 0: nowhere */
	size_t copied;
};

struct fg_captured {
	char *text; /* includes a line about omitted output; NUL-terminated, owned by the caller */
	size_t size;
	uint64_t printed; /* bytes of output, kept or not */
	bool cut;
};

/* `write_fd` closes itself on exec.  limit_bytes 0: 1 MiB. */
int fg_capture_open(struct fg_capture *capture, bool in_file, size_t limit_bytes, int *write_fd,
		    struct fg_error *err) FG_NODISCARD;
/* Takes the available output, without waiting. */
void fg_capture_read(struct fg_capture *capture);
/* Returns the descriptor to poll(); -1: no more output will come, or poll() cannot tell. */
int fg_capture_poll_fd(const struct fg_capture *capture);
/* Call after the program has ended. */
struct fg_captured fg_capture_take(struct fg_capture *capture);
void fg_capture_release(struct fg_capture *capture);

#endif
