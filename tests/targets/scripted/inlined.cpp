// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <cstdio>
static inline double half(double x)
{
	return 0.5 * x;
}
int main(int count, char **)
{
	double sum = half(count);
	for (int i = 0; i < 10; i++)
		sum += half(i + sum) + std::sqrt(i + count) + std::fabs(count - 5) + std::exp(i);
	std::printf("%g\n", sum);
	return 0;
}
