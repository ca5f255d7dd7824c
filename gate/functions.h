/* SPDX-License-Identifier: Apache-2.0 */
/* The functions that a verdict names, with their call paths.  Private to gate/. */
#ifndef FG_GATE_FUNCTIONS_H
#define FG_GATE_FUNCTIONS_H

#include "gate/node_family.h"

/* `family` holds all rows; moved[row] is the cost that only moved within one. */
void fg_functions_add(const struct fg_node_context *c, const struct fg_node_family *family,
		      const double *moved, struct fg_blame *blame);

#endif
