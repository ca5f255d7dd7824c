// SPDX-License-Identifier: Apache-2.0
#include "overloads.h"
double text::fit(double x)
{
	return x;
}
float text::fit(float x)
{
	return x;
}
double text::fit(Pair pair, double x)
{
	return pair.first[3] + x;
}
double text::fit(std::complex<double> z)
{
	return z.imag();
}
double text::fit(const double *x, int n)
{
	return x[n];
}
template <class T> T text::any(T x)
{
	return x;
}
template double text::any(double);
double text::Model::weigh(double x) const
{
	return x;
}
double text::Model::weigh(const Model &, const Model &, double x) const
{
	return x;
}
