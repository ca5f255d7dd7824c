/* SPDX-License-Identifier: Apache-2.0 */
/* The global options, and the properties of the terminal. */
#ifndef FG_CLI_FRAMEWORK_OUTPUT_H
#define FG_CLI_FRAMEWORK_OUTPUT_H

#include "cli/framework/command.h"

/* Values of the global options. */
struct fg_cli_globals {
	int color; /* enum fg_cli_color */
	bool quiet;
	bool verbose;
	bool json;
	bool help;
	bool version;
};

/* Sets terminal, colours and sizes from the global options and the environment. */
void fg_cli_init_output(struct fg_cli *cli, const struct fg_cli_globals *globals);
/* FG_EIO if stdout did not accept everything that was printed. */
int fg_cli_close_output(struct fg_error *err);
/* Did writing fail only because the reader closed the pipe early, as `| head` does? */
bool fg_cli_reader_left(void);

#endif
