// SPDX-License-Identifier: Apache-2.0
/* A JSON report from anybody; what is taken must come out of every other format again. */
#include "reporters/reporter.h"
#include "tests/fuzz/fuzz.h"

static void write_all(const struct fg_verdict *verdict)
{
	static const char *const formats[] = {"terminal", "json", "junit", "markdown"};
	const struct fg_report_options options = {.width = 80};
	struct fg_run run = {0};
	const struct fg_report report = {.run = &run, .verdict = verdict};

	fg_run_init(&run);
	run.project = fg_xstrdup("fuzz");
	for (size_t i = 0; i < FG_ARRAY_SIZE(formats); i++) {
		struct fg_error err = {0};
		const struct fg_reporter *reporter = fg_reporter_find(formats[i], &err);
		struct fg_strbuf text = {0};

		FG_ASSERT(reporter);
		if (reporter->write(&report, &options, &text, &err) != FG_OK)
			FG_ASSERT(err.message[0] != '\0');
		fg_strbuf_release(&text);
	}
	fg_run_release(&run);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = fg_xmalloc(size + 1);
	struct fg_verdict verdict = {0};
	struct fg_error err = {0};

	if (size > 0)
		memcpy(text, data, size);
	text[size] = '\0';
	if (fg_report_read(text, size, &verdict, &err) == FG_OK) {
		write_all(&verdict);
		fg_verdict_release(&verdict);
	} else {
		FG_ASSERT(err.message[0] != '\0');
	}
	free(text);
	return 0;
}
