/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From an interrupted thread to the id of its call path.  Signal-safe; one walk a thread at a time.
 */
#ifndef FG_COLLECTOR_WALK_H
#define FG_COLLECTOR_WALK_H

#include "collector/state.h"

struct fg_walk_result {
	uint32_t path; /* 0: no stack */
	bool truncated;
};

struct fg_walk_result fg_stack_walk(struct fg_thread *thread, const ucontext_t *context);

#endif
