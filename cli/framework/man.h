/* SPDX-License-Identifier: Apache-2.0 */
/* The tables of the commands as manual pages. */
#ifndef FG_CLI_FRAMEWORK_MAN_H
#define FG_CLI_FRAMEWORK_MAN_H

#include "cli/framework/command.h"

void fg_cli_man_overview(struct fg_strbuf *page);
void fg_cli_man_command(const struct fg_cli_command *command, struct fg_strbuf *page);

#endif
