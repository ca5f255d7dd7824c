// SPDX-License-Identifier: Apache-2.0
#include "cli/prove/prove.h"
#include "cli/session/plan.h"

struct options {
	struct fg_cli_config config;
	struct fg_prove_request request;
};

static void report(const struct fg_cli *cli, const struct fg_prove *prove)
{
	struct fg_strbuf text = {0};

	if (cli->json) {
		fg_prove_json(prove, &text);
		fg_cli_print(cli, &text);
	} else {
		fg_prove_write(prove, &text);
		fg_cli_print_escaped(cli, &text);
	}
	fg_strbuf_release(&text);
}

/*
 * Fails if the gate certainly raises more false alarms than `gate.alpha` allows or has stopped
 * finding slowdowns. The result is inconclusive if no run shows the gate's power.
 */
static enum fg_exit judge(const struct fg_prove *prove)
{
	if (prove->card.is_broken)
		return FG_EXIT_REGRESSION;
	return prove->card.size_count > 0 ? FG_EXIT_PASS : FG_EXIT_INCONCLUSIVE;
}

static int prove_it(struct fg_cli *cli, const struct options *given, struct fg_plan *plan)
{
	struct fg_error err = {0};
	struct fg_prove prove = {0};
	int status = fg_prove_run(&prove, cli, plan, &given->request, &err);

	if (status == FG_OK || prove.card.runs > 0)
		report(cli, &prove);
	if (status == FG_OK)
		fg_prove_publish(&prove);
	if (status == FG_EINTERRUPTED)
		status = FG_EXIT_INTERRUPTED;
	else if (status != FG_OK)
		status = fg_cli_fail(cli, &err);
	else
		status = (int)judge(&prove);
	fg_prove_release(&prove);
	return status;
}

static int run(struct fg_cli *cli, const void *values)
{
	const struct options *given = values;
	struct fg_error err = {0};
	struct fg_plan plan = {0};
	int status = FG_OK;

	if (fg_cli_check_event(&err) != FG_OK)
		return fg_cli_fail(cli, &err);
	status = fg_cli_load_plan(cli, &given->config, false, &plan);
	if (status != FG_EXIT_PASS)
		return status;
	fg_cli_warn_of_tokens(cli, &plan);
	fg_cli_set_plan_root(&plan);
	if (fg_session_guard(cli, &status))
		status = prove_it(cli, given, &plan);
	fg_plan_release(&plan);
	return status;
}

static const struct fg_option options[] = {
	FG_CLI_CONFIG_OPTIONS(struct options, config),
	FG_ROW_NAME(struct options, request.benchmark, "bench", 0, "NAME", FG_COMPLETE_BENCHMARK,
		    "use this benchmark only (default: all in turn)"),
	FG_ROW_BUDGET(struct options, request.budget_ns, "30m",
		      "do not start a run that is unlikely to end within this time"),
	FG_ROW_FLAG(struct options, request.nightly, "nightly", 0,
		    "add the runs to this runner's newest card, in a nightly job"),
	{.name = NULL},
};

static const struct fg_cli_example examples[] = {
	{"fastgate prove", "half an hour: can the gate be trusted on this machine?"},
	{"fastgate prove --bench parse --budget 2h", "one benchmark, narrower bounds"},
	{"fastgate prove --nightly --budget 20m", "in a nightly job: the card grows"},
	{NULL, NULL},
};

const struct fg_cli_command fg_cmd_prove = {
	.name = "prove",
	.group = FG_CLI_GROUP_GATE,
	.summary = "measure how far the gate can be trusted here: false alarms, slowdowns found",
	.description =
		"Gates HEAD against itself, again and again, in complete runs with the settings "
		"of fastgate.yml. The candidate is HEAD unchanged, HEAD linked again with code "
		"that is never called, or HEAD with a slowdown of 1, 2, 5 or 10 % planted in a "
		"function that it executes, so the right answer is known. If fastgate.yml "
		"compares with a stored run, HEAD is also compared with its earlier runs. Prints "
		"a card that shows how often the gate was right, with exact bounds, and remedies "
		"that would let it find smaller slowdowns.\n"
		"\n"
		"The slowdown is a loop at the function's entry, added by repeating the link of "
		"the build and calibrated by measuring; if no such loop can be added, the "
		"sampler delays the whole program, which proves less. No source file is changed. "
		"Uncommitted changes are ignored. The runs are kept in the store for the card, "
		"and are not part of the history.\n"
		"\n"
		"Exit code 0: the card is printed. 1: the gate is broken: it has more false alarms "
		"than gate.alpha allows for the gated metrics, or misses slowdowns that it used to "
		"find. 3: no slowdown was planted; the card says why.",
	.options = options,
	.options_size = sizeof(struct options),
	.examples = examples,
	.exits = FG_CLI_EXITS_OF_A_GATE & ~FG_CLI_EXIT(FG_EXIT_UPLOAD),
	.has_json = true,
	.stops_cleanly = true,
	.run = run,
};
