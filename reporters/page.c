// SPDX-License-Identifier: Apache-2.0
/* A page's data: report.json with the data of its pictures, on one line. */
#include "reporters/page_data.h"

void fg_report_profile_json(const struct fg_profile_set *set, struct fg_strbuf *text)
{
	struct fg_json_writer w = {0};

	fg_json_writer_init(&w, text, 0);
	fg_json_begin_object(&w, NULL);
	fg_report_add_profile(set, &w);
	fg_report_add_marked(set, &w);
	fg_json_end(&w);
}

void fg_report_page_json(const struct fg_report *report, bool inside_html, struct fg_strbuf *text)
{
	struct fg_json_writer w = {0};

	fg_json_writer_init(&w, text, 0);
	w.for_html = inside_html;
	fg_report_add_json(report, true, &w);
}
