/* SPDX-License-Identifier: Apache-2.0 */
/* The settings in the environment (collector/sampler/collector_env.h). */
#ifndef FG_COLLECTOR_OPTIONS_H
#define FG_COLLECTOR_OPTIONS_H

#include "collector/sampler/state.h"

void fg_collector_options_parse(char *const *environment, struct fg_options *options);

#endif
