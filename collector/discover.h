/* SPDX-License-Identifier: Apache-2.0 */
/* Threads that nobody told us of: those that were not made by pthread_create(). */
#ifndef FG_COLLECTOR_DISCOVER_H
#define FG_COLLECTOR_DISCOVER_H

#include "collector/state.h"

/* One step of looking for them, where it is time for one.  From a handler. */
void fg_threads_discover(struct fg_thread *thread);

#endif
