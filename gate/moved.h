/* SPDX-License-Identifier: Apache-2.0 */
/* Cost that moved; see moved.c. Private to gate/. */
#ifndef FG_GATE_MOVED_H
#define FG_GATE_MOVED_H

#include "gate/node_context.h"

/*
 * Puts functions that exchanged cost into one row (c->row_of), fills blame->moved, and sets
 * moved[row] to the cost that moved within it. Group the context's matrix again afterwards.
 */
void fg_moved_join(const struct fg_node_context *c, struct fg_blame *blame, double *moved);

#endif
