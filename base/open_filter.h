/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A seccomp filter that stops a traced program only at system calls that open files: the tracer
 * gets PTRACE_EVENT_SECCOMP with one of the messages below.
 */
#ifndef FG_BASE_OPEN_FILTER_H
#define FG_BASE_OPEN_FILTER_H

#include "base/base.h"

enum fg_open_event {
	FG_OPEN_EVENT = 1, /* open, openat, openat2, creat */
	FG_OPEN_UNSEEN,    /* a call that may open files unseen by the filter */
};

/*
 * Permanently installs the filter in the calling process and in everything it starts. Without a
 * tracer that sets PTRACE_O_TRACESECCOMP, the filtered calls then fail with ENOSYS. Returns false
 * if the kernel refuses the filter, or if the processor is not x86-64.
 */
bool fg_open_filter_install(void);

#endif
