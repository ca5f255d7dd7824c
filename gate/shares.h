/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of a change, in its own unit and as shares of the whole.  Private to gate/. */
#ifndef FG_GATE_SHARES_H
#define FG_GATE_SHARES_H

#include "model/verdict.h"

/*
 * Fill in what the functions leave of blame->total_delta, and each sure function's share of it.
 * There are no shares where the whole did not surely change, nor where one of them, that of
 * everything else included, would be beyond twice the whole.
 */
void fg_shares_set(struct fg_blame *blame, bool whole_changed);

#endif
