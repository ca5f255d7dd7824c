/* SPDX-License-Identifier: Apache-2.0 */
/* The kept samples of a run in the order of time, for its page. */
#ifndef FG_CLI_SESSION_SAMPLES_IN_TIME_H
#define FG_CLI_SESSION_SAMPLES_IN_TIME_H

#include "model/time_order.h"
#include "store/store.h"

/*
 * One entry a series, of the pair whose difference is the middle one; NULL where nothing was kept.
 * Samples that cannot be read are as good as not kept.  To be released.
 */
struct fg_time_orders *fg_samples_in_time(const char *store, const struct fg_run *run,
					  const struct fg_profile_set *const *profiles);
void fg_samples_in_time_release(struct fg_time_orders *orders, const struct fg_run *run);

#endif
