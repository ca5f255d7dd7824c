// SPDX-License-Identifier: Apache-2.0
/* Recurses to the given depth, and works at the bottom. usage: deep [DEPTH [MS]] */
#include "work.h"

NOINLINE static void at_the_bottom(uint64_t work_us)
{
	spin_us(work_us);
}

NOINLINE static void descend(unsigned depth, uint64_t work_us)
{
	volatile char frame[16];

	frame[0] = (char)depth;
	if (depth == 0)
		at_the_bottom(work_us);
	else
		descend(depth - 1, work_us);
	frame[1] = frame[0];
}

int main(int argc, char **argv)
{
	const unsigned depth = (unsigned)argument(argc, argv, 1, 300);

	descend(depth, argument(argc, argv, 2, 200) * 1000);
	return 0;
}
