/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A file by which a user switches a recording off and on, and asks for dumps, while the program
 * runs.  The program never touches it: whoever empties a file that is mapped kills the process that
 * reads there.  We read the file whenever it changes and keep what it says in a page of memory that
 * cannot shrink (struct fg_control_page); the program maps that.
 *
 * The first byte is the state: '0' is off, any other is on.  Each line "dump" that was not there
 * before asks for a dump.  A file that is empty, gone, or no file any more changes nothing.
 */
#ifndef FG_RUNNER_CONTROL_FILE_H
#define FG_RUNNER_CONTROL_FILE_H

#include "base/base.h"
#include "base/error.h"

struct fg_control_file;

/*
 * Makes the file if there is none, with "1" in it if it is empty, and reads it once; `*control` is
 * to be closed.  FG_EINVAL: a folder, a link, a pipe or a device is in its place.
 */
int fg_control_file_open(const char *path, struct fg_control_file **control, struct fg_error *err)
	FG_NODISCARD;
/* Where programs find the page (FG_ENV_CONTROL), as long as it is open. */
const char *fg_control_file_page(const struct fg_control_file *control);
/* Read it again now. */
void fg_control_file_look(struct fg_control_file *control);
/*
 * From now on, whenever it changes, in a thread that takes no signals.  Where there can be none,
 * what was read last holds.  NULL does nothing.
 */
void fg_control_file_watch(struct fg_control_file *control);
/* Ends that thread.  NULL does nothing. */
void fg_control_file_close(struct fg_control_file *control);

#endif
