/* SPDX-License-Identifier: Apache-2.0 */
/* Cost that changed its place without growing; see moved.c.  Private to gate/. */
#ifndef FG_GATE_MOVED_H
#define FG_GATE_MOVED_H

#include "gate/node_context.h"

/*
 * Which of the significant changes only moved: fills blame->moved and sets moved[f] for every
 * function that is part of such a move.
 */
void fg_moved_find(const struct fg_node_context *context, struct fg_blame *blame, bool *moved);

#endif
