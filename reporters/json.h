/* SPDX-License-Identifier: Apache-2.0 */
/* report.json as part of a larger text.  Private to reporters/. */
#ifndef FG_REPORTERS_JSON_H
#define FG_REPORTERS_JSON_H

#include "base/json_write.h"
#include "reporters/reporter.h"

/* `for_page`: with what a page draws, the raw values and the profile. */
void fg_report_add_json(const struct fg_report *report, bool for_page, struct fg_json_writer *w);

#endif
