/* SPDX-License-Identifier: Apache-2.0 */
/* A profile's samples of time in the order in which they were taken. */
#ifndef FG_PROFILE_TIME_ORDER_H
#define FG_PROFILE_TIME_ORDER_H

#include "model/time_order.h"
#include "profile/profile.h"

/*
 * `order` is empty before, and stays so where the profile has no times.  Of a long execution only
 * every Nth sample is taken, for the time of N, so that there are at most FG_TIME_NODES_MAX nodes.
 */
enum {
	FG_TIME_NODES_MAX = 40000
};
void fg_time_order_make(const struct fg_profile *profile, struct fg_time_order *order);

#endif
