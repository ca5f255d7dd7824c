/* SPDX-License-Identifier: Apache-2.0 */
/* Cost that changed its place without growing; see moved.c.  Private to gate/. */
#ifndef FG_GATE_MOVED_H
#define FG_GATE_MOVED_H

#include "gate/node_context.h"

/*
 * Finds the significant changes that only moved: fills verdict->moved and sets moved[f] for every
 * function that is part of a move.
 */
void fg_moved_find(const struct fg_node_context *context, struct fg_blame *blame, bool *moved);

#endif
