/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The server: reads messages from standard input, one on each line, until it ends or a signal stops
 * it; then it ends the calls that run. Nothing else may write to standard output meanwhile.
 */
#ifndef FG_CLI_MCP_SERVER_H
#define FG_CLI_MCP_SERVER_H

#include "cli/mcp/tools.h"

/* FG_EIO: standard input or output failed. */
int fg_mcp_serve(const struct fg_mcp_rights *rights, struct fg_error *err) FG_NODISCARD;

#endif
