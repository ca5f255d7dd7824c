// SPDX-License-Identifier: Apache-2.0
#include <cmath>

extern "C" double fit(double x, int n)
{
	for (int i = 0; i < n; i++)
		x = x * 0.5 + 1;
	return x;
}

class Parser
{
      public:
	double step(double x);
};

double Parser::step(double x)
{
	return std::exp(-x) + std::log(x + 1) + std::sin(x) + std::pow(x, 2.5);
}
