/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fastgate's own hot paths, as programs that the fastgate.yml at the root measures: one path each,
 * on constant synthetic data, about a tenth of a second long. Generating the data is a small part
 * of that time.
 */
#ifndef FG_BENCH_SELF_H
#define FG_BENCH_SELF_H

#include "profile/calltree.h"
#include "store/store.h"

/* Ends the program on failure: a benchmark that measured nothing must not count. */
void fg_self_must(int status, const struct fg_error *err);

/*
 * Makes a trace of this many samples in the collector's format. The stacks are 120 frames deep and
 * share most of their frames. The caller frees it.
 */
char *fg_self_trace(size_t samples, size_t *size);
/* Makes a run of both arms with profiles: 1,000 functions, 4,000 call paths, 40 pairs. */
void fg_self_run(struct fg_stored_run *run, uint64_t seed);

#endif
