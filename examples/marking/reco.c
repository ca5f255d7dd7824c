/* SPDX-License-Identifier: Apache-2.0 */
#include <fastgate/region.h>
#include <math.h>

static double sink;

static void find_tracks(int hits)
{
	for (int i = 0; i < 200000 * hits; i++)
		sink += sqrt(i);
}

static void fit(int tracks)
{
	for (int i = 0; i < 100000 * tracks; i++)
		sink += exp(-i * 1e-6);
}

int main(void)
{
	for (int event = 1; event <= 100; event++) {
		fg_unit_begin("event", (uint64_t)event);
		FG_REGION_BEGIN("tracking");
		find_tracks(event % 10);
		FG_REGION_BEGIN("fit");
		fit(event % 10);
		fg_region_end();
		fg_region_end();
		fg_unit_end();
	}
	return sink < 0;
}
