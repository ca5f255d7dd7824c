/* SPDX-License-Identifier: Apache-2.0 */
/* Shell completions, generated from the command tables. */
#ifndef FG_CLI_FRAMEWORK_COMPLETION_H
#define FG_CLI_FRAMEWORK_COMPLETION_H

#include "base/strbuf.h"

void fg_completion_bash(struct fg_strbuf *text);
void fg_completion_zsh(struct fg_strbuf *text);
void fg_completion_fish(struct fg_strbuf *text);

#endif
