// SPDX-License-Identifier: Apache-2.0
#include "model/policy.h"

#include "base/strbuf.h"
#include "model/metric.h"

void fg_policy_defaults(struct fg_policy *policy)
{
	*policy = (struct fg_policy){
		.alpha = 0.001,
		.functions = FG_FUNCTIONS_EXPLAIN,
		.function_floor = 0.0025,
		.function_alpha = 0.01,
		.creep_window = 50,
		.creep_tolerated = 0.02,
	};
}

static const struct fg_metric_policy *find_row(const struct fg_policy *policy, const char *name)
{
	for (size_t i = 0; i < policy->metric_count; i++) {
		if (strcmp(policy->metrics[i].name, name) == 0)
			return &policy->metrics[i];
	}
	return NULL;
}

struct fg_metric_policy fg_policy_metric(const struct fg_policy *policy, const char *name)
{
	const struct fg_metric *builtin = fg_metric_find_builtin(name);
	const struct fg_metric_policy *row = find_row(policy, name);

	if (row)
		return *row;
	return (struct fg_metric_policy){
		.name = name,
		.gated = builtin ? builtin->gated : true,
		.min_effect = builtin ? builtin->min_effect : 0.05,
		.margin = builtin ? builtin->margin : 0.05,
	};
}

struct fg_metric_policy fg_policy_measure(const struct fg_policy *policy, const char *name)
{
	const struct fg_metric_policy *row = find_row(policy, name);

	if (row)
		return *row;
	return (struct fg_metric_policy){
		.name = name,
		.min_effect = 0.001,
		.margin = 0.01,
	};
}

static void add_settings(struct fg_strbuf *text, const struct fg_metric_policy *row)
{
	fg_strbuf_printf(text, "%s %d %.17g %.17g %.17g %.17g\n", row->name, row->gated,
			 row->min_effect, row->margin, row->tolerated, row->tolerance);
}

void fg_policy_digest(const struct fg_policy *policy, char hex[FG_SHA256_HEX_SIZE])
{
	struct fg_strbuf text = {0};

	fg_strbuf_printf(&text, "%.17g %d %.17g %.17g %d %d %d %u %.17g %d\n", policy->alpha,
			 policy->functions, policy->function_floor, policy->function_alpha,
			 policy->fail_on_inconclusive, policy->fail_on_placement,
			 policy->fail_on_exact, policy->creep_window, policy->creep_tolerated,
			 policy->fail_on_creep);
	for (size_t i = 0; i < policy->metric_count; i++)
		add_settings(&text, &policy->metrics[i]);
	fg_sha256_hex(text.data, text.length, hex);
	fg_strbuf_release(&text);
}
