// SPDX-License-Identifier: Apache-2.0
#include "cli/session/report_style.h"

#include <strings.h>

/* Checks the usual variables in order of precedence; if none is set, the C locale applies. */
static bool locale_is_utf8(void)
{
	static const char *const variables[] = {"LC_ALL", "LC_CTYPE", "LANG"};

	for (size_t i = 0; i < FG_ARRAY_SIZE(variables); i++) {
		const char *value = getenv(variables[i]);
		const char *codeset = NULL;

		if (!value || !*value)
			continue;
		codeset = strchr(value, '.');
		return codeset && (strncasecmp(codeset + 1, "utf-8", 5) == 0 ||
				   strncasecmp(codeset + 1, "utf8", 4) == 0);
	}
	return false;
}

struct fg_report_options fg_cli_report_style(const struct fg_cli *cli, bool to_stdout,
					     const char *source_root)
{
	const bool to_terminal = to_stdout && cli->out_is_terminal;

	return (struct fg_report_options){
		.verbose = cli->verbose,
		.color = to_stdout && cli->color_out,
		.ascii = to_terminal && !locale_is_utf8(),
		.width = to_terminal ? cli->columns : 0,
		.source_root = source_root ? source_root : getenv("GITHUB_WORKSPACE"),
	};
}
