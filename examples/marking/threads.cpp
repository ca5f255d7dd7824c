// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <fastgate/region.h>
#include <thread>

struct region {
	explicit region(const char *name)
	{
		fg_region_begin(name);
	}
	~region()
	{
		fg_region_end();
	}
	region(const region &) = delete;
	region &operator=(const region &) = delete;
};

static double fit(int tracks)
{
	region in_fit("fit");
	double sum = 0;

	for (int i = 0; i < 100000 * tracks; i++)
		sum += std::exp(-i * 1e-6);
	return sum;
}

int main()
{
	double sums[2] = {};
	std::thread threads[2];

	for (int t = 0; t < 2; t++)
		threads[t] = std::thread([t, &sums] {
			for (int event = t; event < 100; event += 2) {
				fg_unit_begin("event", event);
				sums[t] += fit(event % 10);
				fg_unit_end();
			}
		});
	for (std::thread &thread : threads)
		thread.join();
	return sums[0] + sums[1] < 0;
}
