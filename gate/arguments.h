/* SPDX-License-Identifier: Apache-2.0 */
/* The tables of arguments that a verdict shows.  Private to gate/. */
#ifndef FG_GATE_ARGUMENTS_H
#define FG_GATE_ARGUMENTS_H

#include "gate/input.h"
#include "model/verdict.h"

/* The room of a run is shared by its benchmarks. */
void fg_gate_add_arguments(const struct fg_gate_input *input, struct fg_verdict *verdict);

#endif
