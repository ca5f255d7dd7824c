/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The source and the instructions of the functions to blame, with the cost of each line: read from
 * both trees and programs while they still exist, so that every later report has them. Only files
 * of the project are shown, because debug information can name any path.
 */
#ifndef FG_CLI_SESSION_SOURCES_H
#define FG_CLI_SESSION_SOURCES_H

#include "cli/session/session.h"

/* Call after the verdict. Missing source is not an error. */
void fg_session_add_sources(struct fg_session *session);

#endif
