// SPDX-License-Identifier: Apache-2.0
/*
 * Writes the complete verdict for programs: fastgate-report/1, described in docs/formats/report.md
 * and its JSON Schema.
 */
#include "reporters/formats.h"
#include "reporters/page_data.h"
#include "reporters/verdict_exchange.h"

void fg_report_add_json(const struct fg_report *report, bool for_page, struct fg_json_writer *w)
{
	const struct fg_verdict_context context = {.report = report, .for_page = for_page};
	struct fg_verdict verdict = *report->verdict;

	fg_json_begin_object(w, NULL);
	fg_json_text(w, "schema", FG_REPORT_SCHEMA);
	fg_verdict_exchange(&(struct fg_exchange){.w = w, .context = &context}, &verdict);
	fg_json_end(w);
}

void fg_report_json(const struct fg_report *report, const struct fg_report_options *options,
		    struct fg_strbuf *text)
{
	struct fg_json_writer w = {0};

	(void)options;
	fg_json_writer_init(&w, text, 2);
	fg_report_add_json(report, false, &w);
	fg_strbuf_add_char(text, '\n');
}
