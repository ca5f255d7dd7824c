// SPDX-License-Identifier: Apache-2.0
/* Writes the data of a page, on one line: report.json and the data of the charts. */
#include "reporters/page_data.h"

/* Adds the measures by which call paths can be drawn, because their values add up. */
static void add_measures(const struct fg_profile_set *set, struct fg_json_writer *w)
{
	fg_json_begin_array(w, "measures");
	for (size_t m = 0; m < fg_measure_count(&set->measures); m++) {
		const struct fg_measure *measure = fg_measure_at(&set->measures, (uint16_t)m);
		size_t row = 0;

		while (row < set->row_count && set->rows[row].measure != m)
			row++;
		if (row == set->row_count || measure->fold != FG_FOLD_SUM)
			continue;
		fg_json_begin_object(w, NULL);
		fg_json_text(w, "name", measure->name);
		fg_json_text(w, "unit", measure->unit);
		fg_json_end(w);
	}
	fg_json_end(w);
}

void fg_report_profile_json(const struct fg_profile_set *set, struct fg_strbuf *text)
{
	struct fg_json_writer w = {0};

	fg_json_writer_init(&w, text, 0);
	fg_json_begin_object(&w, NULL);
	fg_report_add_profile(set, &w);
	fg_report_add_marked(set, &w);
	add_measures(set, &w);
	fg_json_end(&w);
}

void fg_report_page_json(const struct fg_report *report, bool inside_html, struct fg_strbuf *text)
{
	struct fg_json_writer w = {0};

	fg_json_writer_init(&w, text, 0);
	w.for_html = inside_html;
	fg_report_add_json(report, true, &w);
}
