// SPDX-License-Identifier: Apache-2.0
#include "cli/session/profile_command.h"

const struct fg_cli_argument fg_cli_run_arguments[] = {
	{.name = "RUN", .help = FG_CLI_RUN_WORDS, .max = 1, .complete = FG_COMPLETE_FILE},
	{.name = NULL},
};

int fg_cli_use_profile(struct fg_cli *cli, const struct fg_cli_profile_options *options,
		       const char *words, const struct fg_cli_profile_use *use,
		       struct fg_error *err)
{
	struct fg_calltree_query query = {0};
	struct fg_cli_run_options source = options->run;
	struct fg_profile profile;
	int status = FG_OK;

	source.prefers_samples =
		source.prefers_samples || fg_cli_query_needs_samples(&options->query);
	source.repetition = options->query.repetition;
	status = fg_cli_load_profile(cli, &source, words, &profile, err);

	if (status != FG_OK)
		return status;
	status = fg_cli_make_query(cli, &options->query, &profile, &query, err);
	if (status == FG_OK)
		status = use->run(cli, use->context, &profile, &query, err);
	fg_profile_release(&profile);
	return status;
}

int fg_cli_end(const struct fg_cli *cli, int status, const struct fg_error *err)
{
	return status == FG_OK ? FG_EXIT_PASS : fg_cli_fail(cli, err);
}

int fg_cli_run_on_profile(struct fg_cli *cli, const struct fg_cli_profile_options *options,
			  const struct fg_cli_profile_use *use)
{
	struct fg_error err = {0};

	return fg_cli_end(cli, fg_cli_use_profile(cli, options, cli->arguments[0], use, &err),
			  &err);
}
