/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A deterministic order of a profile's call paths and functions, independent of how they were
 * collected or stored: functions by name and library (the root's function stays first), paths depth
 * first, callees in the order of functions.
 */
#ifndef FG_REPORTERS_PROFILE_ORDER_H
#define FG_REPORTERS_PROFILE_ORDER_H

#include "model/profile_set.h"

struct fg_report_order {
	uint32_t *nodes;     /* node_count indexes; parents precede children */
	uint32_t *functions; /* function_count indexes */
};

void fg_report_order_init(struct fg_report_order *order, const struct fg_profile_set *set);
void fg_report_order_release(struct fg_report_order *order);

#endif
