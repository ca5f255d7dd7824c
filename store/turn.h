/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A transaction among all of this process: what is given in one holds for the same session as long
 * as none is undone, also before the commit.
 */
#ifndef FG_STORE_TURN_H
#define FG_STORE_TURN_H

#include "base/base.h"

struct fg_turn {
	uint64_t session; /* 0: none */
	uint64_t number;
};

#endif
