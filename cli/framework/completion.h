/* SPDX-License-Identifier: Apache-2.0 */
/* The tables of the commands as completions for one shell each. */
#ifndef FG_CLI_FRAMEWORK_COMPLETION_H
#define FG_CLI_FRAMEWORK_COMPLETION_H

#include "base/strbuf.h"

void fg_completion_bash(struct fg_strbuf *text);
void fg_completion_zsh(struct fg_strbuf *text);
void fg_completion_fish(struct fg_strbuf *text);

#endif
