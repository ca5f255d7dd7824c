/* SPDX-License-Identifier: Apache-2.0 */
/* Regions and units of work, for a page.  Private to reporters/. */
#ifndef FG_REPORTERS_PAGE_REGIONS_H
#define FG_REPORTERS_PAGE_REGIONS_H

#include "base/json_write.h"
#include "model/profile_set.h"

/* Adds the member `marked`; nothing without regions. */
void fg_report_add_marked(const struct fg_profile_set *set, struct fg_json_writer *w);

#endif
