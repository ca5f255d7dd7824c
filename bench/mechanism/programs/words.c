// SPDX-License-Identifier: Apache-2.0
#include "planted.h"

static unsigned counts[4096];
HOT count(unsigned n)
{
	BEGIN;
	for (unsigned i = 0; i < 400000; i++) {
		unsigned word = fold(LOOK + n);
		counts[mix(word, i) & 4095]++;
		acc += word;
		PLANTS(i);
	}
	END;
}
MAIN(count)
