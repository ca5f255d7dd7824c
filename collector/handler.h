/* SPDX-License-Identifier: Apache-2.0 */
/* What happens when our signal arrives. */
#ifndef FG_COLLECTOR_HANDLER_H
#define FG_COLLECTOR_HANDLER_H

#include "collector/state.h"

void fg_on_signal(int signal, siginfo_t *info, void *context);

#endif
