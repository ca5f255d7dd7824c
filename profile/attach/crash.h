/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where a program crashes: it is run once more, traced, and looked at when the signal that ends it
 * is delivered, before anything of it is gone.  No handler inside the program, no core file.
 *
 * Why once more: a traced program stops at every signal, and a sampled one gets a thousand a
 * second, so tracing every repetition would cost what is to be measured.
 */
#ifndef FG_OUTSIDE_CRASH_H
#define FG_OUTSIDE_CRASH_H

#include "base/error.h"
#include "base/process.h"
#include "profile/attach/whereabouts.h"

/* Is this one of the signals of a crash: SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT? */
bool fg_crash_is_signal(int signal);
struct fg_crash_request {
	const struct fg_process_options *options;
	int signal;
	struct fg_symbolizer *symbolizer;
	bool no_python; /* Python functions are not named */
};

/*
 * The program's output is dropped.  FG_ENOENT: it did not crash by this signal again; FG_ETIMEOUT:
 * nor did it end within request->options->timeout_ns.  The crash may be in any process that it
 * starts.
 */
int fg_crash_find(const struct fg_crash_request *request, struct fg_whereabouts *where,
		  struct fg_error *err) FG_NODISCARD;

#endif
