/* SPDX-License-Identifier: Apache-2.0 */
/* report.json as part of a larger document. Private to reporters/. */
#ifndef FG_REPORTERS_JSON_H
#define FG_REPORTERS_JSON_H

#include "base/json_write.h"
#include "reporters/reporter.h"

/* `for_page` adds raw values and the profile, which a page draws. */
void fg_report_add_json(const struct fg_report *report, bool for_page, struct fg_json_writer *w);

#endif
