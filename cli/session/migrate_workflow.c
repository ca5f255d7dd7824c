// SPDX-License-Identifier: Apache-2.0
/* Workflows of GitHub: scripts in their steps, and actions that read what these scripts wrote. */
#include "cli/session/migrate_parts.h"
#include "config/yaml_tree.h"

static const struct {
	const char *tool; /* of github-action-benchmark */
	enum fg_harness harness;
} action_tools[] = {
	{.tool = "cargo", .harness = FG_HARNESS_CARGO_BENCH},
	{.tool = "go", .harness = FG_HARNESS_GO},
	{.tool = "googlecpp", .harness = FG_HARNESS_GOOGLE_BENCHMARK},
	{.tool = "catch2", .harness = FG_HARNESS_CATCH2},
	{.tool = "pytest", .harness = FG_HARNESS_PYTEST},
	{.tool = "jmh", .harness = FG_HARNESS_JMH},
	{.tool = "benchmarkjs", .harness = FG_HARNESS_BENCHMARK_JS},
	{.tool = "benchmarkdotnet", .harness = FG_HARNESS_BENCHMARK_DOTNET},
	{.tool = "customSmallerIsBetter", .harness = FG_HARNESS_SMALLER_IS_BETTER},
	{.tool = "customBiggerIsBetter", .harness = FG_HARNESS_BIGGER_IS_BETTER},
};

/* The text of a key below others; NULL: it is not there. */
static const struct fg_yaml_node *scalar_of(const struct fg_yaml_node *node, const char *key)
{
	const struct fg_yaml_node *value = node ? fg_yaml_get(node, key) : NULL;

	return value && value->kind == FG_YAML_SCALAR ? value : NULL;
}

static const char *text_of(const struct fg_yaml_node *node, const char *key)
{
	const struct fg_yaml_node *value = scalar_of(node, key);

	return value ? value->text : NULL;
}

static void take_environment(const struct fg_yaml_node *node, struct fg_script *script)
{
	const struct fg_yaml_node *variables = fg_yaml_get(node, "env");

	for (size_t i = 0; variables && variables->kind == FG_YAML_MAPPING && i < variables->count;
	     i++) {
		if (variables->items[i]->kind == FG_YAML_SCALAR &&
		    !strstr(variables->items[i]->text, "${{") &&
		    script->variable_count < FG_SCRIPT_MAX_VARIABLES)
			script->variables[script->variable_count++] = (struct fg_script_variable){
				.name = variables->keys[i]->text,
				.value = variables->items[i]->text,
			};
	}
}

/* Which file the job's action reads, and as what. */
static void take_action(const struct fg_yaml_node *step, struct fg_script *script)
{
	const struct fg_yaml_node *with = fg_yaml_get(step, "with");
	const char *uses = text_of(step, "uses");
	const char *tool = NULL;

	if (!uses || !with || !strstr(uses, "github-action-benchmark"))
		return;
	tool = text_of(with, "tool");
	script->results_path = text_of(with, "output-file-path");
	for (size_t i = 0; tool && i < FG_ARRAY_SIZE(action_tools); i++) {
		if (strcmp(action_tools[i].tool, tool) == 0)
			script->results_kind = action_tools[i].harness;
	}
	if (script->results_kind == FG_HARNESS_NONE)
		fg_migration_note(script->migration, step->place.line,
				  "github-action-benchmark: there is no harness for tool '%s'",
				  tool ? tool : "");
}

static void take_step(const struct fg_yaml_node *step, const struct fg_script *job)
{
	const struct fg_yaml_node *with = fg_yaml_get(step, "with");
	const char *uses = text_of(step, "uses");
	const bool is_codspeed = uses && with && strstr(uses, "CodSpeedHQ/");
	const struct fg_yaml_node *source = is_codspeed ? with : step;
	const struct fg_yaml_node *run = scalar_of(source, "run");
	struct fg_script script = *job;
	const char *folder = text_of(source, "working-directory");

	if (!run)
		return;
	if (folder)
		script.folder = folder;
	take_environment(step, &script);
	/* A block begins in the line after its "|". */
	script.line = run->place.line + (strchr(run->text, '\n') ? 1 : 0);
	fg_script_read(&script, run->text);
}

static void take_job(struct fg_migration *migration, const struct fg_yaml_node *top,
		     const struct fg_yaml_node *job)
{
	const struct fg_yaml_node *steps =
		job->kind == FG_YAML_MAPPING ? fg_yaml_get(job, "steps") : NULL;
	struct fg_script script = {.migration = migration, .take = fg_migrate_command};

	if (!steps || steps->kind != FG_YAML_LIST)
		return;
	take_environment(top, &script);
	take_environment(job, &script);
	for (size_t i = 0; i < steps->count; i++) {
		if (steps->items[i]->kind == FG_YAML_MAPPING)
			take_action(steps->items[i], &script);
	}
	for (size_t i = 0; i < steps->count; i++) {
		if (steps->items[i]->kind == FG_YAML_MAPPING)
			take_step(steps->items[i], &script);
	}
}

int fg_migrate_workflow(struct fg_migration *migration, const char *text, size_t size,
			struct fg_error *err)
{
	const struct fg_yaml_text source = {.origin = migration->path, .data = text, .size = size};
	struct fg_config_report report = {0};
	struct fg_yaml_node *top = NULL;
	const struct fg_yaml_node *jobs = NULL;
	int status = FG_OK;

	if (!fg_yaml_parse(&source, migration->arena, &report, &top)) {
		status = fg_error_set(err, FG_EPARSE, "%s",
				      report.count ? report.items[0].text : "it is no YAML");
		goto out;
	}
	jobs = top && top->kind == FG_YAML_MAPPING ? fg_yaml_get(top, "jobs") : NULL;
	if (!jobs || jobs->kind != FG_YAML_MAPPING) {
		status =
			fg_error_set(err, FG_EINVAL,
				     "'%s' has no 'jobs': expected a workflow of GitHub, a script, "
				     "a Cargo.toml or what hyperfine exports",
				     migration->path);
		goto out;
	}
	for (size_t i = 0; i < jobs->count; i++)
		take_job(migration, top, jobs->items[i]);
out:
	fg_config_report_release(&report);
	return status;
}
