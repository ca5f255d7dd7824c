/* SPDX-License-Identifier: Apache-2.0 */
/* The style of a report for its destination: terminal or file. */
#ifndef FG_CLI_SESSION_REPORT_STYLE_H
#define FG_CLI_SESSION_REPORT_STYLE_H

#include "cli/framework/command.h"
#include "reporters/reporter.h"

/*
 * For standard output, or for a file (no colours, unlimited width, UTF-8). `source_root`:
 * annotations name files relative to this checkout; NULL: $GITHUB_WORKSPACE.
 */
struct fg_report_options fg_cli_report_style(const struct fg_cli *cli, bool to_stdout,
					     const char *source_root);

#endif
