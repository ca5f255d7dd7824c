/* SPDX-License-Identifier: Apache-2.0 */
/* The profile as columns, for a page.  Private to reporters/. */
#ifndef FG_REPORTERS_PAGE_PROFILE_H
#define FG_REPORTERS_PAGE_PROFILE_H

#include "base/json_write.h"
#include "model/profile_set.h"

/* Adds the member `profile`; nothing without a profile. */
void fg_report_add_profile(const struct fg_profile_set *set, struct fg_json_writer *w);

#endif
