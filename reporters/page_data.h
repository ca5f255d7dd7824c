/* SPDX-License-Identifier: Apache-2.0 */
/* What a page draws beyond report.json.  Private to reporters/. */
#ifndef FG_REPORTERS_PAGE_DATA_H
#define FG_REPORTERS_PAGE_DATA_H

#include "base/json_write.h"
#include "reporters/reporter.h"

/* Every measured value of a benchmark, with its profile. */
void fg_report_add_page_data(const struct fg_report *report, size_t benchmark,
			     struct fg_json_writer *w);
/* The profile as columns, `profile`; nothing without one. */
void fg_report_add_profile(const struct fg_profile_set *set, struct fg_json_writer *w);
/* Regions and units of work, `marked`; nothing without any. */
void fg_report_add_marked(const struct fg_profile_set *set, struct fg_json_writer *w);
/* Rounded to what a picture can show. */
double fg_report_four_digits(double value);

#endif
