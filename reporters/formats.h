/* SPDX-License-Identifier: Apache-2.0 */
/* The writers in the table of registry.c. Private to reporters/. */
#ifndef FG_REPORTERS_FORMATS_H
#define FG_REPORTERS_FORMATS_H

#include "reporters/reporter.h"

#define FG_REPORT_ARGUMENTS \
 const struct fg_report *report, const struct fg_report_options *options, struct fg_strbuf *text

void fg_report_terminal(FG_REPORT_ARGUMENTS);
void fg_report_json(FG_REPORT_ARGUMENTS);
void fg_report_html(FG_REPORT_ARGUMENTS);
void fg_report_junit(FG_REPORT_ARGUMENTS);
void fg_report_markdown(FG_REPORT_ARGUMENTS);
void fg_report_comment(FG_REPORT_ARGUMENTS);
void fg_report_github(FG_REPORT_ARGUMENTS);
void fg_report_gitlab(FG_REPORT_ARGUMENTS);
void fg_report_csv(FG_REPORT_ARGUMENTS);
void fg_report_csv_raw(FG_REPORT_ARGUMENTS);

#endif
