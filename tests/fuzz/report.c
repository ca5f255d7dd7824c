// SPDX-License-Identifier: Apache-2.0
/*
 * An untrusted report.json (an uploaded run carries one): an accepted verdict is written in every
 * format without a crash, and survives a round trip as JSON.
 */
#include "reporters/reporter.h"
#include "tests/fuzz/fuzz.h"

static void write_json(const struct fg_report *report, struct fg_strbuf *text)
{
	const struct fg_report_options options = {0};

	fg_reporter_find("json", NULL)->write(report, &options, text);
}

static void write_all(const struct fg_report *report)
{
	const struct fg_report_options options = {.verbose = true, .color = true, .width = 72};
	size_t count = 0;
	const struct fg_reporter *table = fg_reporter_table(&count);

	for (size_t i = 0; i < count; i++) {
		struct fg_strbuf text = {0};

		if (strcmp(table[i].name, "html") ==
		    0) /* the page's script is larger than any input */
			fg_report_page_json(report, true, &text);
		else
			table[i].write(report, &options, &text);
		fg_strbuf_release(&text);
	}
}

/* A verdict that is written and read again must stay the same. */
static void check_round(struct fg_run *run, const struct fg_verdict *verdict)
{
	const struct fg_report report = {.run = run, .verdict = verdict};
	struct fg_verdict again = {0};
	const struct fg_report second = {.run = run, .verdict = &again};
	struct fg_strbuf first_text = {0};
	struct fg_strbuf second_text = {0};
	struct fg_error err = {0};

	write_json(&report, &first_text);
	FG_ASSERT(fg_report_read(fg_strbuf_text(&first_text), first_text.length, &again, &err) ==
		  FG_OK);
	write_json(&second, &second_text);
	FG_ASSERT(first_text.length == second_text.length &&
		  memcmp(first_text.data, second_text.data, first_text.length) == 0);
	fg_strbuf_release(&first_text);
	fg_strbuf_release(&second_text);
	fg_verdict_release(&again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fg_verdict verdict = {0};
	struct fg_error err = {0};
	struct fg_run run;

	if (fg_report_read((const char *)data, size, &verdict, &err) != FG_OK) {
		FG_ASSERT(err.message[0] != '\0');
		return 0;
	}
	fg_run_init(&run);
	run.project = fg_xstrdup("fuzz");
	write_all(&(struct fg_report){.run = &run, .verdict = &verdict});
	check_round(&run, &verdict);
	fg_run_release(&run);
	fg_verdict_release(&verdict);
	return 0;
}
