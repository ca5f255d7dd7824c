// SPDX-License-Identifier: Apache-2.0
#include "cli/session/server.h"

#include "base/secrets.h"
#include "cli/session/tokens.h"

static void tell(void *context, const char *file, const char *what)
{
	fg_cli_detail(context, "%s: %s", file, what);
}

static const char *server_of_environment(void)
{
	const char *url = getenv("PERFDB_URL");

	return url && *url ? url : NULL;
}

int fg_cli_server_options(struct fg_cli *cli, const struct fg_cli_server *given,
			  const struct fg_perfdb *perfdb, struct fg_push_options *options,
			  struct fg_error *err)
{
	const char *token_env = given->token_env ? given->token_env : perfdb->token_env;
	const char *planned = perfdb->url ? perfdb->url : server_of_environment();

	*options = (struct fg_push_options){
		.url = given->url ? given->url : planned,
		.token = token_env ? fg_secret(token_env) : NULL,
		.ca_file = given->ca_file ? given->ca_file : perfdb->ca_file,
		.attempts = given->attempts,
		.timeout_ns = given->timeout_ns,
		.interrupted = cli->interrupted,
		.tell = tell,
		.context = cli,
	};
	if (!options->token || given->url || !perfdb->url_from_file ||
	    fg_tokens_may_go(perfdb->url))
		return FG_OK;
	return fg_error_set(err, FG_EINVAL,
			    "only fastgate.yml names %s, and $%s is not sent where a checkout "
			    "says: name it in PERFDB_URL, or by --url",
			    perfdb->url, token_env);
}
