// SPDX-License-Identifier: Apache-2.0
#include "planted.h"

static unsigned a[64][64], b[64][64];
HOT multiply(unsigned n)
{
	BEGIN;
	for (unsigned i = 0; i < 120000; i++) {
		unsigned *row = a[i & 63];
		for (unsigned k = 0; k < 8; k++)
			acc += row[k] * b[k][i >> 6 & 63];
		row[i & 7] = mix(LOOK, acc);
		b[i & 7][n & 63] = fold(acc);
		PLANTS(i);
	}
	END;
}
MAIN(multiply)
