/* SPDX-License-Identifier: Apache-2.0 */
/* Input and output through libc's streams. */
#ifndef FG_COLLECTOR_IO_H
#define FG_COLLECTOR_IO_H

#include <stdio.h>

/* A stream that may be of another kind than stdout: counts its reads and writes too. */
void fg_io_watch_stream(FILE *stream);

#endif
