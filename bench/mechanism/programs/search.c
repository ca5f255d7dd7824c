// SPDX-License-Identifier: Apache-2.0
#include "planted.h"

static unsigned sorted[256];
HOT search(unsigned n)
{
	BEGIN;
	for (unsigned i = 0; i < 256; i++)
		sorted[i] = i << 24;
	for (unsigned i = 0; i < 160000; i++) {
		const unsigned *from = sorted, key = LOOK;
		for (unsigned half = 128; half; half /= 2)
			from += from[half] <= key ? half : 0;
		acc += fold(mix((unsigned)(from - sorted), key));
		PLANTS(i);
	}
	END;
}
MAIN(search)
