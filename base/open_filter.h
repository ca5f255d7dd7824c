/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A filter that stops a traced program wherever it opens a file, and nowhere else: the tracer sees
 * PTRACE_EVENT_SECCOMP with one of these messages.
 */
#ifndef FG_BASE_OPEN_FILTER_H
#define FG_BASE_OPEN_FILTER_H

#include "base/base.h"

enum fg_open_event {
	FG_OPEN_EVENT = 1, /* open, openat, openat2, creat */
	FG_OPEN_UNSEEN,    /* files may be opened in a way that is not seen */
};

/*
 * For the calling process and whatever it starts; for good.  It needs a tracer with
 * PTRACE_O_TRACESECCOMP from then on.  False: this system or processor has no such filter.
 */
bool fg_open_filter_install(void);

#endif
