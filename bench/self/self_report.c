// SPDX-License-Identifier: Apache-2.0
/* Writing the JSON report, alone and with a page's data. */
#include "bench/self/self.h"
#include "gate/gate.h"
#include "reporters/reporter.h"

enum {
	TIMES = 10
};

int main(void)
{
	const struct fg_report_options options = {0};
	struct fg_stored_run stored = {0};
	struct fg_policy policy;
	struct fg_measuring measure;
	struct fg_verdict verdict = {0};
	struct fg_error err = {0};
	size_t bytes = 0;

	fg_self_run(&stored, 1);
	fg_policy_defaults(&policy);
	/* A decision without functions is quick; self_decide measures a decision with them. */
	policy.functions = FG_FUNCTIONS_OFF;
	fg_measuring_defaults(&measure);
	{
		const struct fg_gate_input input = {
			.run = &stored.run, .policy = &policy, .measure = &measure};

		fg_self_must(fg_gate_decide(&input, &verdict, &err), &err);
	}
	for (int i = 0; i < TIMES; i++) {
		const struct fg_report report = {
			.run = &stored.run,
			.verdict = &verdict,
			.profiles = (const struct fg_profile_set *const *)stored.profiles};
		const struct fg_reporter *json = fg_reporter_find("json", &err);
		struct fg_strbuf text = {0};

		json->write(&report, &options, &text);
		fg_report_page_json(&report, true, &text);
		bytes += text.length;
		fg_strbuf_release(&text);
	}
	fg_verdict_release(&verdict);
	fg_stored_run_release(&stored);
	(void)printf("%zu bytes\n", bytes);
	return bytes > 0 ? 0 : 1;
}
