// SPDX-License-Identifier: Apache-2.0
/* A program with regions and units of work. usage: regions [whole|paused [UNIT_US]] */
#include "fastgate/region.h"
#include "work.h"

NOINLINE static void work(uint64_t work_us)
{
	spin_us(work_us);
}

int main(int argc, char **argv)
{
	const uint64_t unit = argument(argc, argv, 2, 5000);

	if (argc > 1 && strcmp(argv[1], "paused") == 0) {
		work(10 * unit);
		fg_resume();
	}
	for (uint64_t i = 0; i < 20; i++) {
		fg_unit_begin("event", i);
		FG_REGION_BEGIN("outer");
		work(unit);
		fg_region_begin("inner");
		work(3 * unit);
		fg_region_end();
		fg_region_end();
		fg_unit_end();
	}
	return 0;
}
