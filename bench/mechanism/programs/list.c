// SPDX-License-Identifier: Apache-2.0
#include "planted.h"

static struct item {
	unsigned next, value;
} items[512];
HOT follow(unsigned n)
{
	unsigned here = n & 511;
	BEGIN;
	for (unsigned i = 0; i < 512; i++)
		items[i] = (struct item){(i * 5 + 1) & 511, i};
	for (unsigned i = 0; i < 350000; i++) {
		here = items[here].next;
		items[here].value += LOOK;
		acc = fold(mix(acc, items[here].value));
		PLANTS(i);
	}
	END;
}
MAIN(follow)
