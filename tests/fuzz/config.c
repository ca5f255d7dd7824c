// SPDX-License-Identifier: Apache-2.0
/*
 * An untrusted fastgate.yml. A first line "#set KEY=VALUE" becomes an override, to test overrides
 * as well; the file begins with the next line.
 */
#include "config/config.h"

#include "base/text.h"
#include "tests/fuzz/fuzz.h"

static void load(const char *text, size_t size, const char *setting)
{
	const struct fg_config_source source = {.path = "fastgate.yml",
						.text = text,
						.text_size = size,
						.settings = &setting,
						.setting_count = setting ? 1 : 0};
	struct fg_config_report report = {0};
	struct fg_plan plan = {0};
	struct fg_error err = {0};
	const int status = fg_config_load(&source, &plan, &report, &err);

	FG_ASSERT((status == FG_OK) == (report.error_count == 0) || status == FG_ELIMIT);
	FG_ASSERT(status == FG_OK || err.message[0] != '\0');
	for (size_t i = 0; status == FG_OK && i < plan.benchmark_count; i++)
		FG_ASSERT(plan.benchmarks[i].name && plan.benchmarks[i].command.argc > 0);
	fg_plan_release(&plan);
	fg_config_report_release(&report);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char start[] = "#set ";
	const size_t skip = sizeof(start) - 1;
	char *text = fg_fuzz_text(data, size);
	char *end = NULL;

	end = strchr(text, '\n');
	if (end && fg_text_starts_with(text, start)) {
		*end = '\0';
		load(end + 1, size - (size_t)(end + 1 - text), text + skip);
	} else {
		load(text, size, NULL);
	}
	free(text);
	return 0;
}
