/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A file with which a user switches a recording off and on, and requests dumps, while the program
 * runs. The program never touches it: emptying a mapped file kills the process that reads it. We
 * read the file whenever it changes and keep its state in a page of memory that cannot shrink
 * (struct fg_control_page), which the program maps.
 *
 * The first byte is the state: '0' is off, anything else is on. Each new line "dump" requests a
 * dump. The state stays as it is if the file becomes empty, is removed, or is replaced by something
 * other than a regular file.
 */
#ifndef FG_RUNNER_CONTROL_FILE_H
#define FG_RUNNER_CONTROL_FILE_H

#include "base/base.h"
#include "base/error.h"

struct fg_control_file;

/*
 * Creates the file if it does not exist, writes "1" if it is empty, and reads it once; `*control`
 * must be closed. FG_EINVAL: the path is a pipe or device. FG_EIO: the path is a folder or link, or
 * cannot be created.
 */
int fg_control_file_open(const char *path, struct fg_control_file **control, struct fg_error *err)
	FG_NODISCARD;
/* Returns the path of the page for programs (FG_ENV_CONTROL); valid until closed. */
const char *fg_control_file_page(const struct fg_control_file *control);
/* Rereads the file now. */
void fg_control_file_look(struct fg_control_file *control);
/*
 * Starts a thread that rereads the file whenever it changes; the thread blocks all signals. If it
 * cannot be started, the last state read stays in force. NULL does nothing.
 */
void fg_control_file_watch(struct fg_control_file *control);
/* Ends the thread and frees everything but the file itself. NULL does nothing. */
void fg_control_file_close(struct fg_control_file *control);

#endif
