/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The file in which a JIT compiler describes its code for profilers, jit-PID.dump ("jitdump", of
 * perf).  It may lie in any folder; the compiler maps a page of it as executable, to be found.
 */
#ifndef FG_COLLECTOR_JIT_DUMPS_H
#define FG_COLLECTOR_JIT_DUMPS_H

#include "collector/sampler/state.h"

/*
 * A sample met code of no module that was not met before: the 1st, 16th, 256th and 4096th time the
 * mappings are searched, until the file is found.  Signal-safe.
 */
void fg_jit_dump_met_code(struct fg_thread *thread);
/* The process ends: searched once more, if there was such code.  Not in a handler. */
void fg_jit_dump_at_end(struct fg_thread *thread);
/* In a child of fork: its trace knows nothing yet. */
void fg_jit_dump_forget(void);

#endif
