/* SPDX-License-Identifier: Apache-2.0 */
/* One execution per side in order of time, as columns, for a page. Private to reporters/. */
#ifndef FG_REPORTERS_PAGE_TIME_H
#define FG_REPORTERS_PAGE_TIME_H

#include "base/json_write.h"
#include "model/time_order.h"

/* Adds the member `in_time`; nothing without samples. */
void fg_report_add_in_time(const struct fg_time_orders *orders, struct fg_json_writer *w);

#endif
