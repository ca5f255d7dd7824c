// SPDX-License-Identifier: Apache-2.0
#include "cli/session/server.h"

#include "base/secrets.h"
#include "cli/session/tokens.h"

static void tell(void *context, const char *file, const char *what)
{
	fg_cli_detail(context, "%s: %s", file, what);
}

int fg_cli_server_options(struct fg_cli *cli, const struct fg_cli_server *given,
			  const struct fg_perfdb *perfdb, struct fg_push_options *options,
			  struct fg_error *err)
{
	const char *token_env = given->token_env ? given->token_env : perfdb->token_env;

	*options = (struct fg_push_options){
		.url = given->url ? given->url : perfdb->url,
		.token = token_env ? fg_secret(token_env) : NULL,
		.ca_file = given->ca_file ? given->ca_file : perfdb->ca_file,
		.attempts = given->attempts,
		.timeout_ns = given->timeout_ns,
		.interrupted = cli->interrupted,
		.tell = tell,
		.context = cli,
	};
	return given->url ? FG_OK : fg_tokens_check_url(perfdb->url, err);
}
