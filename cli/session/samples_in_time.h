/* SPDX-License-Identifier: Apache-2.0 */
/* The kept samples of a run in time order, for its page. */
#ifndef FG_CLI_SESSION_SAMPLES_IN_TIME_H
#define FG_CLI_SESSION_SAMPLES_IN_TIME_H

#include "model/time_order.h"
#include "store/store.h"

/*
 * One entry per series, of the pair with the median difference; NULL where nothing was kept.
 * Unreadable samples count as not kept. To be released.
 */
struct fg_time_orders *fg_samples_in_time(const char *store, const struct fg_run *run,
					  const struct fg_profile_set *const *profiles);
void fg_samples_in_time_release(struct fg_time_orders *orders, const struct fg_run *run);

#endif
