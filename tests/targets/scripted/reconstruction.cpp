// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <cstdlib>
#include <fastgate/region.h>
#include <vector>

extern "C" double fit(double x, int n);

class Parser
{
      public:
	double step(double x);
};

static volatile double sink;
static std::vector<int> *kept;

static int compare(const void *a, const void *b)
{
	const int x = *static_cast<const int *>(a);
	const int y = *static_cast<const int *>(b);

	return (x > y) - (x < y);
}

int main()
{
	Parser parser;

	kept = new std::vector<int>(100000, 1);
	for (int event = 4990; event < 5020; event++) {
		fg_unit_begin("event", (uint64_t)event);
		FG_REGION_BEGIN("reco");
		for (int i = 0; i < 10000; i++)
			sink = parser.step(i * 1e-6) + fit(i, 200);
		fg_region_end();
		fg_unit_end();
	}
	qsort(kept->data(), kept->size(), sizeof(int), compare);
	if (FILE *file = fopen("out", "w")) {
		fputs("done\n", file);
		fclose(file);
	}
	return 0;
}
