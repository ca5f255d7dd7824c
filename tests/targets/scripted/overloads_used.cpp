// SPDX-License-Identifier: Apache-2.0
#include "overloads.h"

#include <cstdio>
int main()
{
	double sum = 0, list[] = {1, 2, 3};
	text::Pair pair = {{1, 2, 3, 4}};
	text::Model model;
	for (int i = 1; i <= 5; i++)
		sum += text::fit(i * 0.5) + text::fit((float)i) + text::fit(pair, 77.0) +
		       text::fit(std::complex<double>(33, 44)) + text::fit(list, 1) +
		       text::any(8.0) + model.weigh(-1.5) + model.weigh(model, model, -2.5);
	std::printf("%g\n", sum);
	return 0;
}
