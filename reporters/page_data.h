/* SPDX-License-Identifier: Apache-2.0 */
/* Writers for report.json and for the data that a page draws. Private to reporters/. */
#ifndef FG_REPORTERS_PAGE_DATA_H
#define FG_REPORTERS_PAGE_DATA_H

#include "base/json_write.h"
#include "model/profile_set.h"
#include "reporters/reporter.h"

/* Writes the whole report. `for_page` adds every measured value and the profile. */
void fg_report_add_json(const struct fg_report *report, bool for_page, struct fg_json_writer *w);
/* Writes every measured value of a benchmark, with its profile. */
void fg_report_add_page_data(const struct fg_report *report, size_t benchmark,
			     struct fg_json_writer *w);
/* Writes the profile as columns in the member `profile`; writes nothing without a profile. */
void fg_report_add_profile(const struct fg_profile_set *set, struct fg_json_writer *w);
/* Writes regions and units of work in the member `marked`; writes nothing without regions. */
void fg_report_add_marked(const struct fg_profile_set *set, struct fg_json_writer *w);

#endif
