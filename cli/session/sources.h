/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The source and the instructions of the functions to blame, with what each line costs: read from
 * both trees and programs while they are there, so that every later report has it.  Only files of
 * the project are shown: what debug information names may lie anywhere.
 */
#ifndef FG_CLI_SESSION_SOURCES_H
#define FG_CLI_SESSION_SOURCES_H

#include "cli/session/session.h"

/* After the verdict.  Source that cannot be found is no error. */
void fg_session_add_sources(struct fg_session *session);

#endif
