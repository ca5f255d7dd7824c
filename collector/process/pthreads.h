/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Threads created by pthread_create() and thrd_create() are sampled from before their start
 * function to the last round of their destructors.
 */
#ifndef FG_COLLECTOR_PTHREADS_H
#define FG_COLLECTOR_PTHREADS_H

void fg_pthreads_init(void);
/* Arranges that the collector is called when the calling thread ends. */
void fg_pthreads_watch_end(void);

/* Call when the calling thread has changed its name. */
void fg_pthreads_renamed(void);

#endif
