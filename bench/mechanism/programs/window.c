// SPDX-License-Identifier: Apache-2.0
#include "planted.h"

HOT slide(unsigned n)
{
	unsigned ring[8] = {0};
	BEGIN;
	for (unsigned i = 0; i < 400000; i++) {
		acc += LOOK - ring[i & 7];
		ring[i & 7] = mix(acc, i);
		acc = fold(acc);
		PLANTS(i);
	}
	END;
}
MAIN(slide)
