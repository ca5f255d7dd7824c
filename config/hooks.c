// SPDX-License-Identifier: Apache-2.0
/* Checks rules that span several keys, and builds structs of model/ from scratch values. */
#include "config/hooks.h"

#include "base/clock.h"
#include "base/fs.h"
#include "base/map.h"
#include "base/text.h"
#include "config/bind.h"
#include "config/messages.h"
#include "config/schema.h"
#include "config/yaml_tree.h"
#include "model/measure.h"

#include <math.h>

/* ---- commands ---- */

static void finish_command(struct fg_binder *binder, const struct fg_yaml_node *node,
			   const char *key, bool shell, struct fg_command *command)
{
	const struct fg_yaml_node *value = fg_yaml_get(node, key);
	const size_t length = binder->path.length;

	if (!value)
		return;
	fg_strbuf_printf(&binder->path, ".%s", key);
	fg_bind_command(binder, value, shell, command);
	binder->path.length = length;
	binder->path.data[length] = '\0';
}

void fg_finish_build(struct fg_binder *binder, const struct fg_yaml_node *node, void *values,
		     void *target)
{
	struct fg_build_scratch *scratch = values;

	finish_command(binder, node, "command", scratch->shell, &scratch->build.command);
	*(struct fg_build *)target = scratch->build;
}

/* ---- measure ---- */

void fg_finish_measure(struct fg_binder *binder, const struct fg_yaml_node *node, void *values,
		       void *target)
{
	const struct fg_measuring *measure = values;
	const struct fg_yaml_node *pairs = fg_yaml_get(node, "pairs");

	(void)target;
	if (measure->min_pairs > measure->max_pairs)
		fg_bind_error(binder, pairs ? pairs : node, "pairs",
			      "found min %u above max %u, expected the smaller number as min",
			      measure->min_pairs, measure->max_pairs);
}

/* ---- gate ---- */

void fg_prepare_metric_policy(struct fg_binder *binder, void *values, const char *name)
{
	struct fg_metric_policy *policy = values;
	const struct fg_policy defaults = {0};

	(void)binder;
	/* An existing policy belongs to the plan; a benchmark overrides its keys. */
	if (policy->name)
		return;
	*policy = fg_policy_metric(&defaults, name);
	if (fg_metric_find_builtin(name) || !fg_measure_is_known(name))
		return;
	/* Naming a measure of the profile gates it. */
	*policy = fg_policy_measure(&defaults, name);
	policy->gated = true;
}

void fg_prepare_accept(struct fg_binder *binder, void *values, const char *name)
{
	(void)binder;
	(void)name;
	((struct fg_accept *)values)->up_to = (double)NAN;
}

void fg_finish_accept(struct fg_binder *binder, const struct fg_yaml_node *node, void *values,
		      void *target)
{
	struct fg_accept *accept = target;

	(void)values;
	if (node->place.line > 0)
		accept->source =
			fg_arena_printf(binder->arena, "%s:%u", fg_fs_base_name(node->place.origin),
					node->place.line);
	else
		accept->source = fg_arena_strdup(binder->arena, node->place.origin);
	if (accept->until_ns != 0 && accept->until_ns < fg_clock_wall_ns())
		fg_config_warning(binder->report, &node->place,
				  "%s: this exception has expired and no longer applies",
				  fg_strbuf_text(&binder->path));
}

/* ---- benchmarks ---- */

void fg_prepare_benchmark(struct fg_binder *binder, void *values, const char *name)
{
	struct fg_benchmark_scratch *scratch = values;

	(void)name;
	scratch->benchmark.measure = binder->plan->measure;
	scratch->benchmark.policy = binder->plan->policy;
}

void fg_finish_benchmark(struct fg_binder *binder, const struct fg_yaml_node *node, void *values,
			 void *target)
{
	struct fg_benchmark_scratch *scratch = values;
	struct fg_benchmark *b = &scratch->benchmark;
	const struct {
		const char *key;
		struct fg_command *command;
	} commands[] = {
		{.key = "command", .command = &b->command},
		{.key = "baseline_command", .command = &b->baseline_command},
		{.key = "setup", .command = &b->setup},
		{.key = "prepare", .command = &b->prepare},
		{.key = "cleanup", .command = &b->cleanup},
	};

	for (size_t i = 0; i < FG_ARRAY_SIZE(commands); i++)
		finish_command(binder, node, commands[i].key, scratch->shell, commands[i].command);
	for (size_t i = 0; i < b->metric_count; i++) {
		const struct fg_yaml_node *metrics = fg_yaml_get(node, "metrics");

		if (b->metrics[i].name && fg_metric_find_builtin(b->metrics[i].name))
			fg_bind_error(binder, metrics->items[i], "metrics",
				      "'%s' is the name of a built-in metric; choose another",
				      b->metrics[i].name);
		for (size_t k = 0; k < i; k++) {
			if (b->metrics[i].name && b->metrics[k].name &&
			    strcmp(b->metrics[i].name, b->metrics[k].name) == 0)
				fg_bind_error(binder, metrics->items[i], "metrics",
					      "duplicate metric '%s'", b->metrics[i].name);
		}
	}
	*(struct fg_benchmark *)target = *b;
}

void fg_finish_user_metric(struct fg_binder *binder, const struct fg_yaml_node *node, void *values,
			   void *target)
{
	const bool has_regex = fg_yaml_get(node, "regex") != NULL;
	const bool has_json = fg_yaml_get(node, "json") != NULL;

	(void)values;
	(void)target;
	if (has_regex == has_json)
		fg_bind_error(binder, node, NULL,
			      "found %s, expected either 'regex' or 'json' to locate the number",
			      has_regex ? "both" : "neither");
}

/* ---- baseline ---- */

void fg_finish_baseline(struct fg_binder *binder, const struct fg_yaml_node *node, void *values,
			void *target)
{
	const struct fg_baseline_scratch *scratch = values;
	const struct {
		const char *value;
		enum fg_baseline_kind kind;
	} kinds[] = {
		{scratch->against, FG_BASELINE_GIT}, {scratch->branch, FG_BASELINE_BRANCH},
		{scratch->tag, FG_BASELINE_TAG},     {scratch->run, FG_BASELINE_RUN},
		{scratch->file, FG_BASELINE_FILE},
	};
	struct fg_baseline baseline = {.required = scratch->required};
	unsigned given = 0;

	for (size_t i = 0; i < FG_ARRAY_SIZE(kinds); i++) {
		if (!kinds[i].value)
			continue;
		baseline.kind = kinds[i].kind;
		baseline.value = kinds[i].value;
		given++;
	}
	if (given > 1)
		fg_bind_error(binder, node, NULL,
			      "found %u of the keys 'against', 'branch', 'tag', 'run' and 'file', "
			      "expected exactly one",
			      given);
	*(struct fg_baseline *)target = baseline;
}

/* True if the file sets this key and neither the command line nor the environment overrides it. */
static bool is_from_file(const struct fg_yaml_node *node, const char *key)
{
	const struct fg_yaml_node *value =
		node && node->kind == FG_YAML_MAPPING ? fg_yaml_get(node, key) : NULL;

	return value && value->place.line > 0;
}

/* ---- report ---- */

void fg_finish_post(struct fg_binder *binder, const struct fg_yaml_node *node, void *values,
		    void *target)
{
	const struct fg_post_scratch *scratch = values;
	const struct fg_post_target targets[] = {
		{.kind = "github", .value = scratch->github, .token_env = "GITHUB_TOKEN"},
		{.kind = "gitlab", .value = scratch->gitlab, .token_env = "GITLAB_TOKEN"},
		{.kind = "webhook", .value = scratch->webhook, .format = "json"},
	};
	struct fg_post_target *post = target;
	unsigned given = 0;

	for (size_t i = 0; i < FG_ARRAY_SIZE(targets); i++) {
		if (!fg_yaml_get(node, targets[i].kind))
			continue;
		*post = targets[i];
		post->from_file = is_from_file(node, targets[i].kind);
		given++;
	}
	if (scratch->token_env)
		post->token_env = scratch->token_env;
	if (scratch->format && scratch->webhook)
		post->format = scratch->format;
	else if (scratch->format)
		fg_bind_error(
			binder, fg_yaml_get(node, "format"), "format",
			"only a webhook has a format: comments are Markdown, and a commit status "
			"is one line");
	post->required = scratch->required;
	if (given != 1)
		fg_bind_error(
			binder, node, NULL,
			"found %u of the keys 'github', 'gitlab' and 'webhook', expected exactly "
			"one",
			given);
}

void fg_finish_report(struct fg_binder *binder, const struct fg_yaml_node *node, void *values,
		      void *target)
{
	const struct fg_report_scratch *scratch = values;
	struct fg_plan *plan = target;
	const struct fg_section *section = fg_section_find(binder->schema, "report")->section;
	struct fg_report_target *reports = NULL;
	size_t count = 0;

	for (const struct fg_key *key = section->keys; key->name; key++)
		count++;
	reports = fg_arena_array(binder->arena, count, sizeof(reports[0]));
	count = 0;
	for (const struct fg_key *key = section->keys; key->name; key++) {
		const void *value = (const char *)values + key->offset;
		const char *path = key->kind == FG_KEY_PATH ? *(const char *const *)value : NULL;

		if (path)
			reports[count++] = (struct fg_report_target){
				.format = key->name,
				.path = path,
				.from_file = is_from_file(node, key->name)};
	}
	plan->reports = reports;
	plan->report_count = count;
	plan->posts = scratch->posts;
	plan->post_count = scratch->post_count;
	plan->hide_source = !scratch->source;
}

/* ---- whole file ---- */

static bool has_harness(const struct fg_plan *plan)
{
	for (size_t i = 0; i < plan->benchmark_count; i++) {
		if (plan->benchmarks[i].harness != FG_HARNESS_NONE)
			return true;
	}
	return false;
}

static bool knows_metric(const struct fg_benchmark *benchmark, const char *name)
{
	for (size_t i = 0; i < benchmark->metric_count; i++) {
		if (benchmark->metrics[i].name && strcmp(benchmark->metrics[i].name, name) == 0)
			return true;
	}
	return false;
}

static bool plan_knows_metric(const struct fg_plan *plan, const char *name)
{
	if (fg_metric_find_builtin(name) || fg_measure_is_known(name))
		return true;
	for (size_t i = 0; i < plan->benchmark_count; i++) {
		if (knows_metric(&plan->benchmarks[i], name))
			return true;
	}
	return false;
}

static void report_unknown_metric(struct fg_binder *binder, const struct fg_yaml_node *key)
{
	const char *names[FG_METRIC_BUILTIN_COUNT + 1] = {NULL};
	const char *nearest = NULL;

	for (int i = 0; i < FG_METRIC_BUILTIN_COUNT; i++)
		names[i] = fg_metric_builtin((enum fg_metric_id)i)->name;
	nearest = fg_text_nearest(key->text, names);
	fg_bind_error(binder, key, "gate.metrics", "no benchmark has a metric '%.100s'%s%s%s",
		      key->text, nearest ? "; did you mean '" : "", nearest ? nearest : "",
		      nearest ? "'?" : "");
}

static const struct fg_yaml_node *metrics_of(const struct fg_yaml_node *node)
{
	const struct fg_yaml_node *gate = fg_yaml_get(node, "gate");
	const struct fg_yaml_node *metrics = gate ? fg_yaml_get(gate, "metrics") : NULL;

	return metrics && metrics->kind == FG_YAML_MAPPING ? metrics : NULL;
}

static void check_metric_names(struct fg_binder *binder, const struct fg_yaml_node *owner)
{
	const struct fg_yaml_node *metrics = metrics_of(owner);

	for (size_t i = 0; metrics && i < metrics->count; i++) {
		if (!plan_knows_metric(binder->plan, metrics->keys[i]->text))
			report_unknown_metric(binder, metrics->keys[i]);
	}
}

static void check_benchmark_names(struct fg_binder *binder, const struct fg_yaml_node *list)
{
	const struct fg_plan *plan = binder->plan;
	struct fg_map seen = {0};

	for (size_t i = 0; i < plan->benchmark_count; i++) {
		const char *name = plan->benchmarks[i].name;
		bool is_new = true;
		uint64_t *first = *name ? fg_map_add_text(&seen, name, i, &is_new) : NULL;

		if (!is_new)
			fg_bind_error(binder, list->items[i], "benchmarks",
				      "duplicate benchmark '%s'; the first is on line %u", name,
				      list->items[*first]->place.line);
	}
	fg_map_release(&seen);
}

static void check_accepts(struct fg_binder *binder, const struct fg_yaml_node *gate)
{
	const struct fg_plan *plan = binder->plan;
	const struct fg_yaml_node *list = gate ? fg_yaml_get(gate, "accept") : NULL;

	if (!list || list->kind != FG_YAML_LIST)
		return;
	for (size_t i = 0; i < list->count; i++) {
		const char *benchmark = plan->policy.accepts[i].benchmark;
		const char *metric = plan->policy.accepts[i].metric;

		if (benchmark && strcmp(benchmark, "*") != 0 && !fg_plan_find(plan, benchmark))
			fg_bind_error(binder, list->items[i], "gate.accept",
				      "unknown benchmark '%.100s'", benchmark);
		if (metric && strcmp(metric, "*") != 0 && !plan_knows_metric(plan, metric))
			fg_bind_error(binder, list->items[i], "gate.accept",
				      "no benchmark has a metric '%.100s'", metric);
	}
}

void fg_finish_plan(struct fg_binder *binder, const struct fg_yaml_node *node, void *values,
		    void *target)
{
	const struct fg_yaml_node *list = fg_yaml_get(node, "benchmarks");

	(void)values;
	(void)target;
	binder->plan->perfdb.url_from_file = is_from_file(fg_yaml_get(node, "perfdb"), "url");
	binder->plan->store_from_file = is_from_file(fg_yaml_get(node, "store"), "path");
	if (!list || list->kind != FG_YAML_LIST)
		return;
	if (list->count == 0)
		fg_bind_error(binder, list, "benchmarks",
			      "found an empty list, expected a benchmark");
	/* Benchmarks that could not be read have no name; the checks below compare names. */
	for (size_t i = 0; i < binder->plan->benchmark_count; i++) {
		if (!binder->plan->benchmarks[i].name)
			binder->plan->benchmarks[i].name = "";
	}
	check_benchmark_names(binder, list);
	/* The cases and metrics of a harness are known only during a run. */
	if (has_harness(binder->plan))
		return;
	check_metric_names(binder, node);
	for (size_t i = 0; i < list->count; i++)
		check_metric_names(binder, list->items[i]);
	check_accepts(binder, fg_yaml_get(node, "gate"));
}
