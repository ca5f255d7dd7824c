// SPDX-License-Identifier: Apache-2.0
#include "cli/session/plan.h"
#include "config/config.h"

#include <unistd.h>

struct options {
	struct fg_cli_config config;
	bool check;
	bool explain;
	bool reference;
	bool json_schema;
	bool benchmarks;
	bool show;
};

static int check(struct fg_cli *cli, const struct options *given)
{
	struct fg_plan plan = {0};
	const int code = fg_cli_load_plan(cli, &given->config, false, &plan);

	if (code != FG_EXIT_PASS)
		return code;
	fg_cli_say(cli, "%s is valid: %zu benchmark%s, project '%s'", plan.config_path,
		   plan.benchmark_count, plan.benchmark_count == 1 ? "" : "s", plan.project);
	for (size_t i = 0; i < plan.benchmark_count; i++)
		fg_cli_detail(cli, "  %s: %s", plan.benchmarks[i].name,
			      plan.benchmarks[i].command.text);
	fg_plan_release(&plan);
	return FG_EXIT_PASS;
}

static int list_benchmarks(struct fg_cli *cli, const struct options *given)
{
	struct fg_strbuf text = {0};
	struct fg_plan plan = {0};
	const int code = fg_cli_load_plan(cli, &given->config, false, &plan);

	if (code != FG_EXIT_PASS)
		return code;
	for (size_t i = 0; i < plan.benchmark_count; i++)
		fg_strbuf_printf(&text, "%s\n", plan.benchmarks[i].name);
	fg_cli_page(cli, &text);
	fg_strbuf_release(&text);
	fg_plan_release(&plan);
	return FG_EXIT_PASS;
}

static int show(struct fg_cli *cli, const struct options *given)
{
	const struct fg_config_source source = {
		.path = given->config.path,
		.settings = given->config.settings.items,
		.setting_count = given->config.settings.count,
		.environment = environ,
	};
	struct fg_strbuf text = {0};
	struct fg_plan plan = {0};
	struct fg_error err = {0};
	int code = fg_cli_load_plan(cli, &given->config, false, &plan);

	if (code != FG_EXIT_PASS)
		return code;
	if (fg_config_show(&source, &text, &err) == FG_OK)
		fg_cli_page(cli, &text);
	else
		code = fg_cli_fail(cli, &err);
	fg_strbuf_release(&text);
	fg_plan_release(&plan);
	return code;
}

static int explain(struct fg_cli *cli)
{
	struct fg_strbuf text = {0};
	struct fg_error err = {0};
	int code = FG_EXIT_PASS;

	if (fg_config_explain(cli->argument_count > 0 ? cli->arguments[0] : "", cli->columns, &text,
			      &err) == FG_OK)
		fg_cli_page(cli, &text);
	else
		code = fg_cli_fail(cli, &err);
	fg_strbuf_release(&text);
	return code;
}

static int generate(struct fg_cli *cli, void (*make)(struct fg_strbuf *text))
{
	struct fg_strbuf text = {0};

	make(&text);
	fg_cli_page(cli, &text);
	fg_strbuf_release(&text);
	return FG_EXIT_PASS;
}

static int run(struct fg_cli *cli, const void *values)
{
	const struct options *given = values;
	const int wishes = given->check + given->explain + given->reference + given->json_schema +
			   given->benchmarks + given->show;

	if (wishes > 1)
		return fg_cli_usage(cli,
				    "--check, --explain, --show, --benchmarks, --reference and "
				    "--json-schema cannot be combined");
	if (cli->argument_count > 0 && !given->explain)
		return fg_cli_usage(cli, "a KEY needs --explain: fastgate config --explain %s",
				    cli->arguments[0]);
	if (given->explain)
		return explain(cli);
	if (given->benchmarks)
		return list_benchmarks(cli, given);
	if (given->show)
		return show(cli, given);
	if (given->reference)
		return generate(cli, fg_config_reference);
	if (given->json_schema)
		return generate(cli, fg_config_json_schema);
	return check(cli, given);
}

static const struct fg_option options[] = {
	FG_ROW_FLAG(struct options, check, "check", 0,
		    "check fastgate.yml and report every mistake (the default)"),
	FG_ROW_FLAG(struct options, explain, "explain", 0,
		    "explain KEY: its default, its range and every way to set it; without KEY: "
		    "list all keys"),
	FG_ROW_FLAG(struct options, show, "show", 0,
		    "print the configuration in effect, defaults and overrides included"),
	FG_ROW_FLAG(struct options, benchmarks, "benchmarks", 0,
		    "print the names of the benchmarks, one per line"),
	FG_ROW_FLAG(struct options, reference, "reference", 0,
		    "print the reference of all keys, in Markdown"),
	FG_ROW_FLAG(struct options, json_schema, "json-schema", 0,
		    "print a JSON Schema of the file, for editors"),
	FG_CLI_CONFIG_OPTIONS(struct options, config),
	{.name = NULL},
};

static const struct fg_cli_argument arguments[] = {
	{.name = "KEY",
	 .help = "a key of fastgate.yml, such as gate.alpha",
	 .max = 1,
	 .complete = FG_COMPLETE_KEY},
	{.name = NULL},
};

static const struct fg_cli_example examples[] = {
	{"fastgate config --check", "is fastgate.yml valid?"},
	{"fastgate config --explain gate.alpha", "what does this key mean?"},
	{"fastgate config --show", "which settings are in effect, defaults included?"},
	{"fastgate config --check --set gate.alpha=0.001", "is this override valid?"},
	{NULL, NULL},
};

const struct fg_cli_command fg_cmd_config = {
	.name = "config",
	.group = FG_CLI_GROUP_SETUP,
	.summary = "check fastgate.yml, or explain its keys",
	.description = "Reads fastgate.yml, overridden by the environment and the command line, "
		       "and reports every mistake with its line and column, what was found, what "
		       "was expected, and the nearest known name. Nothing is run.",
	FG_CLI_TABLES,
	.run = run,
};
