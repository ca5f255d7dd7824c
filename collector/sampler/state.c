// SPDX-License-Identifier: Apache-2.0
#include "collector/sampler/state.h"

#include "collector/counting/count_hooks.h"

struct fg_global fg_g;
_Thread_local struct fg_thread *fg_self;
const struct fg_count_hooks *fg_count_hooks;
const struct fg_fd_hooks *fg_fd_hooks;
