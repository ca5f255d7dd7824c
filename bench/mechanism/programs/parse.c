// SPDX-License-Identifier: Apache-2.0
#include "planted.h"

static unsigned number(const char *text)
{
	unsigned x = 0;
	while (*text >= '0')
		x = x * 10 + (unsigned)(*text++ - '0');
	return x;
}
HOT parse(unsigned n)
{
	char text[] = "4711 ";
	BEGIN;
	for (unsigned i = 0; i < 250000; i++) {
		text[i & 3] = (char)('0' + (LOOK & 7));
		acc = mix(acc, fold(number(text)));
		PLANTS(i);
	}
	END;
}
MAIN(parse)
