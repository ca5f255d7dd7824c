// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <complex>
namespace text
{
struct Pair {
	double first[4];
};
double fit(double x);
float fit(float x);
double fit(Pair pair, double x);
double fit(std::complex<double> z);
double fit(const double *x, int n);
template <class T> T any(T x);
extern template double any(double);
struct Model {
	double weigh(double x) const;
	double weigh(const Model &other, const Model &third, double x) const;
};
} // namespace text
