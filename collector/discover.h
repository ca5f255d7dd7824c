/* SPDX-License-Identifier: Apache-2.0 */
/* Threads that were not created by pthread_create(), so that nobody announced them. */
#ifndef FG_COLLECTOR_DISCOVER_H
#define FG_COLLECTOR_DISCOVER_H

#include "collector/state.h"

/* One step of looking for them, where it is time for one.  From a handler. */
void fg_threads_discover(struct fg_thread *thread);

#endif
