/* SPDX-License-Identifier: Apache-2.0 */
/* Every measured value of a benchmark, with its profile, for a page.  Private to reporters/. */
#ifndef FG_REPORTERS_PAGE_DATA_H
#define FG_REPORTERS_PAGE_DATA_H

#include "base/json_write.h"
#include "reporters/reporter.h"

void fg_report_add_page_data(const struct fg_report *report, size_t benchmark,
			     struct fg_json_writer *w);

#endif
