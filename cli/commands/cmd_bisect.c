// SPDX-License-Identifier: Apache-2.0
#include "cli/bisect/search.h"
#include "cli/session/plan.h"
#include "cli/session/session.h"
#include "model/measure.h"

struct options {
	struct fg_cli_config config;
	struct fg_search_request request;
	const char *markdown;
	const char *html;
};

static int check(const struct fg_search_request *request, const struct fg_plan *plan,
		 struct fg_error *err)
{
	if (request->metric && (request->measure || request->function))
		return fg_error_set(err, FG_EINVAL,
				    "--metric cannot be combined with --measure or --function");
	if (request->measure &&
	    (!fg_measure_is_known(request->measure) || fg_metric_find_builtin(request->measure)))
		return fg_error_set(err, FG_EINVAL,
				    "--measure: '%.100s' is not an exact count; for a time use "
				    "--metric",
				    request->measure);
	if (plan->benchmark_count == 0)
		return fg_error_set(err, FG_EINVAL,
				    "%s has no benchmarks: there is nothing to measure",
				    plan->config_path);
	if (request->benchmark && !fg_plan_find(plan, request->benchmark))
		return fg_error_set(err, FG_EINVAL, "no benchmark '%s' in %s", request->benchmark,
				    plan->config_path);
	return FG_OK;
}

static int write_file(const struct fg_cli *cli, const struct fg_bisect_search *search,
		      const char *path, enum fg_search_format format, struct fg_error *err)
{
	struct fg_strbuf text = {0};
	int status = FG_OK;

	if (!path)
		return FG_OK;
	fg_search_write(search, format, &text);
	status = fg_cli_write(cli, path, &text, err);
	fg_strbuf_release(&text);
	return status;
}

static int report(const struct fg_cli *cli, const struct options *given,
		  struct fg_bisect_search *search, struct fg_error *err)
{
	struct fg_strbuf text = {0};
	int status = write_file(cli, search, given->markdown, FG_SEARCH_MARKDOWN, err);

	if (status == FG_OK)
		status = write_file(cli, search, given->html, FG_SEARCH_HTML, err);
	if (cli->json) {
		fg_search_json(search, &text);
		fg_cli_print(cli, &text);
	} else {
		fg_search_write(search, FG_SEARCH_TEXT, &text);
		fg_cli_print_escaped(cli, &text);
	}
	fg_strbuf_release(&text);
	return status;
}

static const enum fg_exit exits[] = {
	[FG_SEARCH_NOTHING] = FG_EXIT_PASS,
	[FG_SEARCH_FOUND] = FG_EXIT_REGRESSION,
	[FG_SEARCH_OPEN] = FG_EXIT_INCONCLUSIVE,
	[FG_SEARCH_STOPPED] = FG_EXIT_INCONCLUSIVE,
};

static int find(struct fg_cli *cli, const struct options *given, struct fg_plan *plan,
		struct fg_error *err)
{
	struct fg_bisect_search found = {0};
	int status = FG_OK;

	FG_TRY(check(&given->request, plan, err));
	status = fg_search(&found, cli, plan, &given->request, err);
	if (status == FG_EINTERRUPTED) {
		fg_cli_say(cli, "interrupted: `fastgate bisect --resume` continues the search");
		status = FG_EXIT_INTERRUPTED;
	} else if (status == FG_OK) {
		status = report(cli, given, &found, err);
		status = status == FG_OK ? (int)exits[found.state] : status;
	}
	fg_search_release(&found);
	return status;
}

static int run(struct fg_cli *cli, const void *values)
{
	struct options given = *(const struct options *)values;
	struct fg_error err = {0};
	struct fg_plan plan = {0};
	int status = FG_OK;

	given.request.good = cli->argument_count > 0 ? cli->arguments[0] : NULL;
	given.request.bad = cli->argument_count > 1 ? cli->arguments[1] : "HEAD";
	if (cli->argument_count == 0 && !given.request.resume)
		return fg_cli_usage(
			cli, "name a commit that was fast (GOOD): a tag, a branch or a hash");
	if (cli->argument_count > 0 && given.request.resume)
		return fg_cli_usage(cli,
				    "--resume uses the ends of the interrupted search: do not name "
				    "any");
	if (fg_cli_check_event(&err) != FG_OK)
		return fg_cli_fail(cli, &err);
	status = fg_cli_load_plan(cli, &given.config, false, &plan);
	if (status != FG_EXIT_PASS)
		return status;
	fg_cli_warn_of_tokens(cli, &plan);
	fg_cli_set_plan_root(&plan);
	if (fg_session_guard(cli, &status)) {
		status = find(cli, &given, &plan, &err);
		status = status < 0 ? fg_cli_fail(cli, &err) : status;
	}
	fg_plan_release(&plan);
	return status;
}

static const struct fg_option options[] = {
	FG_CLI_CONFIG_OPTIONS(struct options, config),
	FG_ROW_NAME(struct options, request.benchmark, "bench", 0, "NAME", FG_COMPLETE_BENCHMARK,
		    "search by this benchmark (default: the benchmark that is slower at BAD)"),
	FG_ROW_TEXT(struct options, request.metric, "metric", 'm', "NAME",
		    "search by this metric (default: the gated metric that got worse)"),
	FG_ROW_TEXT(struct options, request.function, "function", 'f', "NAME",
		    "search by the time (or --measure) of one function and everything it calls"),
	FG_ROW_TEXT(struct options, request.measure, "measure", 0, "NAME",
		    "search by an exact measure, such as instructions or heap.allocations: one "
		    "execution per commit and side"),
	FG_ROW_BUDGET(struct options, request.budget_ns, "60m",
		      "do not start another measurement after this time"),
	FG_ROW_FLAG(struct options, request.resume, "resume", 0,
		    "continue the search that was interrupted or ran out of budget"),
	FG_ROW_FILE(struct options, markdown, "markdown", 0, "also write the result as Markdown"),
	FG_ROW_FILE(struct options, html, "html", 0,
		    "also write a page with the probability of each commit"),
	{.name = NULL},
};

static const struct fg_cli_argument arguments[] = {
	{.name = "GOOD",
	 .help = "a commit that was fast",
	 .max = 1,
	 .complete = FG_COMPLETE_GIT_REF},
	{.name = "BAD",
	 .help = "a commit that is slower (default: HEAD)",
	 .max = 1,
	 .complete = FG_COMPLETE_GIT_REF},
	{.name = NULL},
};

static const struct fg_cli_example examples[] = {
	{"fastgate bisect v1.4", "which commit since v1.4 made the program slower?"},
	{"fastgate bisect v1.4 --measure instructions",
	 "compare instruction counts, which takes minutes on any machine and needs valgrind"},
	{"fastgate bisect v1.4 main --bench parse --budget 30m", "one benchmark, half an hour"},
	{"fastgate bisect --resume", "continue after Ctrl-C"},
	{NULL, NULL},
};

const struct fg_cli_command fg_cmd_bisect = {
	.name = "bisect",
	.group = FG_CLI_GROUP_GATE,
	.summary = "find the commit that made a benchmark slower",
	.description =
		"Gates BAD against GOOD; if that finds a regression, measures commits between "
		"them, each in pairs with GOOD, until it has identified, with a probability of "
		"95 %, one commit or several that together explain 70 % of the change. No commit "
		"is declared good or bad during the search: every pair is evidence about all "
		"commits, so a single noisy measurement does not mislead. Then gates each of "
		"these commits against its parent, to name the function.\n"
		"\n"
		"Configuration, benchmarks and inputs come from the work tree, so "
		"fastgate.yml may be newer than the range. Uncommitted changes are ignored. A "
		"commit that does not build or run is tried again if the answer depends on it; "
		"otherwise it is merged with its neighbour.\n"
		"\n"
		"Exit code 0: nothing got slower. 1: found. 3: undecided; the likely commits are "
		"printed.",
	FG_CLI_TABLES,
	.exits = FG_CLI_EXITS_OF_A_GATE & ~FG_CLI_EXIT(FG_EXIT_UPLOAD),
	.has_json = true,
	.stops_cleanly = true,
	.run = run,
};
