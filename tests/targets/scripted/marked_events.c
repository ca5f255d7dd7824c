// SPDX-License-Identifier: Apache-2.0
#include <fastgate/region.h>
__attribute__((noinline)) static void work(void)
{
	for (volatile int i = 0; i < 2000000; i++) {
	}
}
int main(void)
{
	for (unsigned i = 0; i < 20; i++) {
		fg_unit_begin("event", i);
		FG_REGION_BEGIN("outer");
		work();
		FG_REGION_BEGIN("inner");
		work();
		fg_region_end();
		fg_region_end();
		fg_unit_end();
	}
	return 0;
}
